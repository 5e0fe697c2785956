import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { scriptModel } from "@tiller/ai/catalogue";
import { ProviderError } from "@tiller/ai/errors";
import type { Delta, StreamModel } from "@tiller/ai/provider";
import { createScriptModel } from "@tiller/ai/providers/script";
import { parseScriptLine } from "@tiller/ai/providers/script-notation";
import type { Turn } from "@tiller/ai/providers/script-types";
import type { Clock } from "@tiller/protocol/clock";
import { type AnthropicAnswer, createAnswer, failureOf, type HttpFailure } from "./anthropic-answer.ts";
import { conversationOf } from "./anthropic-request.ts";

/** The script model for agents that are not ours: a server on loopback that speaks the Anthropic Messages API. */

export interface ModelServer {
  /** What an agent finds in the file where it looks for models. */
  readonly provider: Readonly<Record<string, unknown>>;
  /** Cuts what is under way; nothing of it runs on. */
  close(): Promise<void>;
}

const PATH = "/v1/messages";
const LONGEST_BODY = 64 * 1024 * 1024;
const MODEL = scriptModel("/");

export async function serveModel(lines: readonly string[], clock: Clock): Promise<ModelServer> {
  const timers = cancellable(clock);
  const play = createScriptModel({ turns: lines.map(turnOf) });
  let answers = 0;
  const server = createServer((request, response) => {
    const id = `msg_script_${++answers}`;
    // Whoever leaves in the middle does not want to hear what went wrong.
    reply({ request, response, id, play, clock: timers.clock }).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    provider: providerAt(port),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      timers.cancelAll();
      await closed;
    },
  };
}

/** How many messages there are is not to be seen here: the API has neighbours of one side in one message. */
function turnOf(line: string): Turn {
  const { expect, ...turn } = parseScriptLine(line);
  if (!expect) return turn;
  const { messages: _, ...seen } = expect;
  return { ...turn, expect: seen };
}

function providerAt(port: number): Record<string, unknown> {
  const { id, name, reasoning, input, contextWindow, maxTokens, cost } = MODEL;
  const models = [{ id, name, reasoning, input, contextWindow, maxTokens, cost }];
  return { baseUrl: `http://127.0.0.1:${port}`, api: "anthropic-messages", apiKey: "key", models };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  id: string;
  play: StreamModel;
  clock: Clock;
}

async function reply({ request, response, id, play, clock }: Exchange): Promise<void> {
  const body = await bodyOf(request);
  if (!("value" in body)) return refuse(response, body);
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const answer = createAnswer(id, MODEL.id);
  const around = { model: MODEL, thinkingLevel: "off" as const, cwd: "/", clock, signal: gone.signal };
  for await (const batch of play({ ...conversationOf(body.value), ...around })) {
    if (response.destroyed || !(await send(response, answer, batch))) return;
  }
  // Without a last word when the script cuts it.
  response.end();
}

/** False when nothing more can be sent. */
async function send(response: ServerResponse, answer: AnthropicAnswer, batch: readonly Delta[]): Promise<boolean> {
  let events = "";
  for (const delta of batch) {
    const error = delta.type === "error" ? delta.error : undefined;
    if (error && !answer.hasBegun) {
      if (isNoAnswer(error)) response.destroy();
      else refuse(response, failureOf(error));
      return false;
    }
    // What has begun and has no end is the failure, then.
    if (!error || !isNoAnswer(error)) events += answer.events(delta);
  }
  if (events === "") return true;
  if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
  if (!response.write(events)) await room(response);
  return true;
}

function isNoAnswer({ kind, status }: ProviderError): boolean {
  return status === undefined && (kind === "network" || kind === "stalled");
}

/** An agent that does not read is waited for. */
function room(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

function refuse(response: ServerResponse, { status, headers, body }: HttpFailure): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<{ value: unknown } | HttpFailure> {
  const { method, url = "" } = request;
  if (method !== "POST" || url.split("?")[0] !== PATH) {
    return failureOf(new ProviderError("bad_request", `there is only POST ${PATH}`, { status: 404 }));
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LONGEST_BODY) return failureOf(new ProviderError("overflow", `more than ${LONGEST_BODY} bytes`));
    chunks.push(chunk);
  }
  try {
    return { value: JSON.parse(Buffer.concat(chunks).toString("utf8")) };
  } catch {
    return failureOf(new ProviderError("bad_request", "the request is no JSON"));
  }
}

/** A script may be told to hear no abort: its timers are stopped all the same. */
function cancellable(clock: Clock): { clock: Clock; cancelAll(): void } {
  const open = new Set<() => void>();
  return {
    clock: {
      now: () => clock.now(),
      after(ms, fn) {
        const cancel = clock.after(ms, () => {
          open.delete(cancel);
          fn();
        });
        open.add(cancel);
        return () => {
          open.delete(cancel);
          cancel();
        };
      },
    },
    cancelAll() {
      for (const cancel of open) cancel();
      open.clear();
    },
  };
}
