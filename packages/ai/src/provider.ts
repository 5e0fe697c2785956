import type { Clock } from "@tiller/protocol/clock";
import type { LlmMessage, StopReason } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { ToolSpec } from "@tiller/protocol/tool";
import type { ProviderError } from "./errors.ts";

/** One request to a model, in neutral words. */
export interface ModelRequest {
  model: Model;
  systemPrompt: string;
  messages: readonly LlmMessage[];
  tools: readonly ToolSpec[];
  thinkingLevel: ThinkingLevel;
  maxTokens?: number;
  /**
   * Only that it is asked matters: all that is sent is the same, and the answer as short as the API allows. Families whose
   * limit changes nothing else take `maxTokens` for it.
   */
  wantsNoAnswer?: true;
  /** Undefined for providers that need none. */
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
  /** The folder the session works in (the offline model names it in its answers). */
  cwd: string;
  /** How long the provider may keep the prompt for the next request; absent means short. */
  cacheRetention?: "none" | "short" | "long";
  /** The same for all requests of a conversation: providers find their cache by it. */
  sessionId?: string;
  /** How long to wait for a provider before its answer counts as stalled. */
  patience?: { firstByteMs: number; idleMs: number };
  /**
   * Sees what is about to be sent, parsed; anything but undefined takes its place. Only for models behind HTTP that we
   * speak to ourselves: the offline model, scripts and packages of the AI SDK have no payload of ours.
   */
  onPayload?(payload: unknown, model: Model): Promise<unknown>;
  /** Called when an answer has begun, before its body is read; also for one that says no. For the same models. */
  onResponse?(response: HttpResponse, model: Model): Promise<void>;
  /** Called for each event of the answer, as it came: parsed if it is JSON, otherwise its text. For the same models. */
  onEvent?(data: unknown, model: Model): Promise<void>;
  clock: Clock;
  signal: AbortSignal;
}

/** The head of an answer. Names of headers are in lower case. */
export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
}

/** The pieces an answer arrives in. `index` counts the blocks of the message; a block is opened, grows and is closed. */
export type Delta =
  | {
      type: "open";
      index: number;
      block: { type: "text" } | { type: "thinking" } | { type: "toolCall"; id: string; name: string };
    }
  | { type: "grow"; index: number; text: string }
  /** The last word on a block: signatures, and for redacted thinking its opaque data. */
  | { type: "close"; index: number; signature?: string; redacted?: boolean }
  /** Totals so far, not increments. `input` is without what came from or went to the cache; `output` includes `reasoning`. */
  | {
      type: "usage";
      input?: number;
      output?: number;
      cacheRead?: number;
      /** All that was written to the cache; `cacheWrite1h` is the part of it that is kept for an hour. */
      cacheWrite?: number;
      cacheWrite1h?: number;
      reasoning?: number;
    }
  /** `model` is the name the provider answered with; the message keeps it when it is not the one that was asked. */
  | { type: "response"; id?: string; model?: string }
  | { type: "done"; stopReason: Extract<StopReason, "stop" | "length" | "toolUse"> }
  | { type: "error"; error: ProviderError };

/**
 * What a provider gives back: batches, one per piece that came over the wire, so that a burst costs one turn of the
 * event loop and not thousands. It never throws: a failure is a last `error` delta. It ends with exactly one `done` or
 * `error`; `streamAssistant` turns a stream that ends without either into an error.
 */
export type DeltaStream = AsyncIterable<readonly Delta[]>;

export type StreamModel = (request: ModelRequest) => DeltaStream;
