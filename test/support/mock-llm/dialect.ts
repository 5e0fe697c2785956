import type { IncomingHttpHeaders } from "node:http";
import type { ContentStep, ErrorStep, Reply, ReplyError, ReplyUsage, ServerStep } from "./reply.ts";

/** What a request asked for, as far as it shows in the answer. */
export interface Asked {
  model: string;
  body: Record<string, unknown>;
}

/** Writes one answer, part by part, as text of the event stream. Pure: it counts its own events and knows nothing else. */
export interface StreamWriter {
  open(): string;
  content(step: ContentStep): string;
  error(step: ErrorStep): string;
  close(): string;
}

/** One wire format, as its vendor speaks it. */
export interface Dialect {
  /** The value of `api` in a models.json. */
  family: string;
  /** Name in `modelsJson()`. */
  provider: string;
  /** What comes after the address of the server in `baseUrl`. */
  basePath: string;
  /** Recognises its own path, without the query. */
  path: RegExp;
  write(reply: Reply, asked: Asked): StreamWriter;
  /** The body of an answer that is no success. */
  errorBody(status: number, error: ReplyError): object;
  keyIn(headers: IncomingHttpHeaders, query: URLSearchParams): string | undefined;
  wrongKey: { status: number; error: ReplyError };
  /** The answer to the question which models there are. */
  modelList(ids: readonly string[]): object;
}

/** What the server plays: text and bytes to send, and between them what is done to the connection. */
export type Piece = string | ServerStep;

export function render(dialect: Dialect, reply: Reply, asked: Asked): Piece[] {
  const writer = dialect.write(reply, asked);
  const pieces = (reply.steps ?? []).map((step): Piece => {
    switch (step.type) {
      case "text":
      case "thinking":
      case "toolUse":
      case "refusal":
        return writer.content(step);
      case "errorEvent":
        return writer.error(step);
      default:
        return step;
    }
  });
  return [writer.open(), ...pieces, writer.close()];
}

export const json = (value: unknown): string => JSON.stringify(value);
export const dataEvent = (value: unknown): string => `data: ${json(value)}\n\n`;
export const namedEvent = (value: { type: string; [field: string]: unknown }): string =>
  `event: ${value.type}\n${dataEvent(value)}`;

/** The text in pieces of a size; an empty text is one empty piece. */
export function slices(text: string, size = text.length): string[] {
  const parts: string[] = [];
  for (let i = 0; i < text.length; i += size) parts.push(text.slice(i, i + size));
  return parts.length > 0 ? parts : [text];
}

export const argumentsOf = (step: ContentStep & { type: "toolUse" }): string => step.rawInput ?? json(step.input);

/** Every count, with the defaults of an answer that says nothing about it. */
export function usageOf(reply: Reply): Required<ReplyUsage> {
  return {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    ...reply.usage,
  };
}

/** The neutral stop reason: said by the test, or what follows from the steps. */
export function stopReasonOf(reply: Reply): string {
  if (reply.stopReason !== undefined) return reply.stopReason;
  const has = (type: string): boolean => reply.steps?.some((step) => step.type === type) ?? false;
  return has("refusal") ? "refusal" : has("toolUse") ? "toolUse" : "stop";
}

export const bearerIn = (headers: IncomingHttpHeaders): string | undefined =>
  headers.authorization?.startsWith("Bearer ") ? headers.authorization.slice("Bearer ".length) : undefined;

/** Answers of one server have the same birthday. */
export const CREATED = 1_735_689_600;
