import type { Clock } from "@tiller/protocol/clock";
import { isPlainObject } from "../config/setting-value.ts";

/** JSON-RPC 2.0 as MCP speaks it: our requests and who waits for their answers. Knows no process and no network. */

export type Message = Readonly<Record<string, unknown>>;

/** The server has answered with an error. */
export class McpError extends Error {
  readonly code: number | undefined;
  constructor(message: string, code?: number) {
    super(message);
    this.name = "McpError";
    this.code = code;
  }
}

export interface RequestHow {
  /** Without an answer, or a word of progress, for so long, it has failed. */
  timeoutMs: number;
  signal?: AbortSignal;
  onProgress?(text: string): void;
}

export interface Peer {
  /** The result, which is always an object. Rejects with what people and models shall read. */
  request(method: string, params: Message, how: RequestHow): Promise<Message>;
  notify(method: string, params?: Message): void;
  /** Whatever has come in. Gives back false when it is no message. */
  receive(given: unknown): boolean;
  /** There will be no answer to anything any more. */
  close(error: Error): void;
}

export interface PeerOptions {
  /** Rejects when the message cannot be delivered. The signal aborts when nobody waits for the answer any more. */
  send(message: Message, signal: AbortSignal): Promise<void>;
  clock: Clock;
  /** What the server says in errors and of its progress, as it may be shown. */
  words(said: string): string;
  onNotification(method: string, params: Message): void;
}

interface Waiting {
  settle(outcome: { result: Message } | { error: Error }): void;
  progress(params: Message): void;
}

const METHOD_NOT_FOUND = -32601;

export function createPeer({ send, clock, words, onNotification }: PeerOptions): Peer {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let closed: Error | undefined;
  const never = new AbortController().signal;
  /** What nobody waits for may get lost. */
  const tell = (message: Message): void => void send({ jsonrpc: "2.0", ...message }, never).catch(() => undefined);

  const request: Peer["request"] = (method, params, { timeoutMs, signal, onProgress }) =>
    new Promise((resolve, reject) => {
      if (closed) return reject(closed);
      if (signal?.aborted) return reject(aborted());
      lastId += 1;
      const id = lastId;
      const over = new AbortController();
      const settle: Waiting["settle"] = (outcome) => {
        if (!waiting.delete(id)) return;
        cancelTimer();
        signal?.removeEventListener("abort", onAbort);
        if ("error" in outcome) reject(outcome.error);
        else resolve(outcome.result);
      };
      const giveUp = (error: Error): void => {
        settle({ error });
        // The handshake may not be cancelled.
        if (method !== "initialize")
          tell({ method: "notifications/cancelled", params: { requestId: id, reason: error.message } });
        over.abort();
      };
      const onAbort = (): void => giveUp(aborted());
      const late = (): void => giveUp(new Error(`it did not answer ${method} within ${timeoutMs / 1000} s`));
      let cancelTimer = clock.after(timeoutMs, late);
      waiting.set(id, {
        settle,
        progress(said) {
          cancelTimer();
          cancelTimer = clock.after(timeoutMs, late);
          onProgress?.(words(progressText(said)));
        },
      });
      signal?.addEventListener("abort", onAbort, { once: true });
      const meta = onProgress ? { _meta: { ...(params._meta as object | undefined), progressToken: id } } : {};
      const message = { jsonrpc: "2.0", id, method, params: { ...params, ...meta } };
      send(message, over.signal).catch((error: Error) => settle({ error }));
    });

  const answered = ({ id, result, error }: Message): void => {
    const asked = typeof id === "number" ? waiting.get(id) : undefined;
    if (error !== undefined) asked?.settle({ error: errorOf(error, words) });
    else if (isPlainObject(result)) asked?.settle({ result });
    else asked?.settle({ error: new Error("it answered with a result that is no object") });
  };

  const receiveOne = (given: unknown): boolean => {
    if (!isPlainObject(given) || given.jsonrpc !== "2.0") return false;
    const { id, method } = given;
    const params = isPlainObject(given.params) ? given.params : {};
    if (typeof method !== "string") {
      if (id === undefined || !("result" in given || "error" in given)) return false;
      answered(given);
    } else if (id !== undefined) {
      const refusal = { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` };
      tell(method === "ping" ? { id, result: {} } : { id, error: refusal });
    } else if (method === "notifications/progress") {
      const { progressToken } = params;
      if (typeof progressToken === "number") waiting.get(progressToken)?.progress(params);
    } else onNotification(method, params);
    return true;
  };
  /** Several may come in one list, which holds no lists. */
  const receive = (given: unknown): boolean =>
    Array.isArray(given) ? given.length > 0 && given.map(receiveOne).every(Boolean) : receiveOne(given);

  return {
    request,
    notify: (method, params) => tell({ method, ...(params && { params }) }),
    receive,
    close(error) {
      closed ??= error;
      for (const { settle } of [...waiting.values()]) settle({ error });
    },
  };
}

function aborted(): Error {
  return new Error("Request was aborted");
}

function errorOf(error: unknown, words: PeerOptions["words"]): McpError {
  const { code, message } = isPlainObject(error) ? error : { message: error };
  const number = typeof code === "number" ? code : undefined;
  const text =
    typeof message === "string" && message !== "" ? words(message) : "it answered with an error without words";
  return new McpError(text, number);
}

function progressText({ progress, total, message }: Message): string {
  if (typeof message === "string" && message !== "") return message;
  const done = typeof progress === "number" ? String(progress) : "?";
  return typeof total === "number" ? `${done} of ${total}` : done;
}

/** Undefined when the text is no JSON. */
export function parseMessage(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
