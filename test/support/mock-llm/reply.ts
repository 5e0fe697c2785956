/** What a test tells the model to say, in words that belong to no vendor. */

/** Parts of the answer itself; each dialect has its own way to write them. */
export type ContentStep =
  | { type: "text"; text: string /** Characters per delta; default: all at once. */; size?: number }
  | {
      type: "thinking";
      text: string;
      /** The proof that goes back with the next request; where it stands differs from vendor to vendor. */
      signature?: string;
      /** Thinking that nobody may read: sent in place of the text. */
      encrypted?: string;
      size?: number;
    }
  | {
      type: "toolUse";
      name: string;
      input: unknown;
      id?: string;
      /** Sent instead of the JSON of `input`. */
      rawInput?: string;
      /** Characters of the arguments per delta; default 8. */
      size?: number;
    }
  /** The model does not want to: its words, where the dialect has room for them. */
  | { type: "refusal"; text: string };

/** An error inside the stream. */
export interface ErrorStep {
  type: "errorEvent";
  kind: string;
  message: string;
}

/** What happens to the connection, the same for all dialects. */
export type ServerStep =
  | { type: "delay"; ms: number }
  /** Goes on when the test says so. */
  | { type: "until"; promise: Promise<unknown> }
  /** The connection breaks here. */
  | { type: "cut" }
  /** The stream ends here, politely, but without its closing events. */
  | { type: "endEarly" }
  /** Nothing more comes, and the connection stays open. */
  | { type: "stall" }
  /** From here on one byte at a time, with this pause before each. */
  | { type: "drip"; ms: number }
  /** Bytes as they are, as often as asked. */
  | { type: "raw"; data: string | Uint8Array; times?: number };

export type ReplyStep = ContentStep | ErrorStep | ServerStep;

/** Tokens in neutral words: the kinds of input do not overlap, `reasoning_tokens` is a part of `output_tokens`. */
export interface ReplyUsage {
  input_tokens?: number;
  output_tokens?: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
  reasoning_tokens?: number;
}

export interface ReplyError {
  type: string;
  message: string;
  /** Only the dialects of OpenAI have one. */
  code?: string;
}

export interface Reply {
  steps?: ReplyStep[];
  /** Anything but 200 is answered with an error in the JSON of the vendor. */
  status?: number;
  error?: ReplyError;
  headers?: Record<string, string>;
  /** Sent as it is, with any status, in place of an answer or an error. */
  body?: string | Uint8Array;
  /** `stop`, `length`, `toolUse` or `refusal` are put into the words of the dialect, anything else is sent as it is. */
  stopReason?: string;
  usage?: ReplyUsage;
  /** The name the model answers with; default: the one that was asked. */
  model?: string;
  /** The stream is compressed, and flushed after each step. */
  gzip?: boolean;
  /** Waits before the head of the answer; `Infinity` never sends it. A promise: until the test says so. */
  delayHead?: number | Promise<unknown>;
}

export const say = (text: string, size?: number): Reply => ({ steps: [{ type: "text", text, size }] });
export const useTool = (name: string, input: unknown): Reply => ({ steps: [{ type: "toolUse", name, input }] });
export const fail = (status: number, type: string, message: string, headers: Record<string, string> = {}): Reply => ({
  status,
  error: { type, message },
  headers,
});
/** Not an API that answers but something in between, such as a proxy or a login page. */
export const htmlPage = (status: number, html: string): Reply => ({
  status,
  body: html,
  headers: { "content-type": "text/html; charset=utf-8" },
});
export const redirect = (location: string, status = 302): Reply => ({ status, body: "", headers: { location } });
export const emptyBody = (status = 200): Reply => ({ status, body: "" });
/** A stream as it is, for example one of the files beside. */
export const stream = (data: string | Uint8Array): Reply => ({
  body: data,
  headers: { "content-type": "text/event-stream" },
});
