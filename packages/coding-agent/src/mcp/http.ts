import { cutWords } from "@tiller/ai/cut-words";
import { ProviderError } from "@tiller/ai/errors";
import type { HttpBody } from "@tiller/ai/http/body";
import type { Answer, Exchange } from "@tiller/ai/http/call";
import { exchange } from "@tiller/ai/http/exchange";
import { failureIn } from "@tiller/ai/http/request";
import { createSseDecoder } from "@tiller/ai/http/sse";
import { isPlainObject } from "../config/setting-value.ts";
import { sleep } from "../lib/clock.ts";
import { type Message, parseMessage } from "./json-rpc.ts";
import { LONGEST_MESSAGE, type Transport, type TransportEvents } from "./transport.ts";

/** A server behind a URL ("streamable HTTP"): each message is a POST, answers are JSON or a stream of events. */

export interface Endpoint {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** The server has forgotten the session: whoever asked may begin another one and ask again. */
export class SessionLost extends Error {}

/** How long an answer may take is for whoever waits for it. */
const PATIENT = { connectMs: 30_000, firstByteMs: 2 ** 31 - 1, idleMs: 2 ** 31 - 1 };
/** Some servers send the rest of an answer only to those who ask again. */
const IMPATIENT = { ...PATIENT, firstByteMs: 30_000, idleMs: 5000 };
/** Before the rest of an answer is asked for, if the server does not say how long. */
const RESUME_MS = 1000;
const SOONEST_RESUME_MS = 50;
/** Between two tries to listen to what the server says by itself. */
const LISTEN_AGAIN_MS = 5000;
/** The first version that has no sessions, and wants to see in the headers what a request is about. */
export const STATELESS_VERSION = "2026-07-28";

/** Without a body it is a GET. */
type AskHow = { body?: string } & Partial<Pick<Exchange, "isOnce" | "timeouts">>;

export function openHttp({ url, headers }: Endpoint, events: TransportEvents): Transport {
  const { clock, onMessage } = events;
  const life = new AbortController();
  let session: string | undefined;
  let version: string | undefined;

  const ask = (signal: AbortSignal, about: Record<string, string>, { body, ...rest }: AskHow = {}) =>
    exchange({
      method: body === undefined ? "GET" : "POST",
      url,
      headers: {
        ...headers,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(version !== undefined && { "mcp-protocol-version": version }),
        ...(session !== undefined && { "mcp-session-id": session }),
        ...about,
      },
      ...(body !== undefined && { body: [body] }),
      clock,
      signal,
      timeouts: PATIENT,
      ...rest,
    });

  const send: Transport["send"] = async (message, given) => {
    const signal = AbortSignal.any([life.signal, given]);
    const about = { accept: "application/json, text/event-stream", ...routing(message, version) };
    const answer = await ask(signal, about, { body: JSON.stringify(message), isOnce: message.method === "tools/call" });
    const { status, body } = answer;
    const begun = answer.headers["mcp-session-id"];
    if (typeof begun === "string") session = begun;
    if (status === 404 && session !== undefined) {
      body.destroy();
      throw new SessionLost("its session has ended");
    }
    if (message.id === undefined || message.method === undefined) return body.release();
    if (isStream(answer)) await follow(answer, message.id, signal);
    else await readAnswer(answer, message.id, { url, hasSession: session !== undefined, ...events });
    // Whatever is missing now will not come: of a request that was answered nobody waits any more.
    throw new Error("it ended its answer without a result");
  };

  /** An answer as events. Where they have numbers, the rest of a stream that was cut is asked for. */
  const follow = async (first: Answer, id: unknown, signal: AbortSignal): Promise<void> => {
    let isAnswered = false;
    const hear = (message: unknown): boolean => {
      if (isPlainObject(message) && message.id === id && message.method === undefined) isAnswered = true;
      return onMessage(message);
    };
    const marks: Marks = {};
    for (let answer = first; isStream(answer); ) {
      await readEvents(answer.body, hear, marks).catch((error: unknown) => {
        const isCut = error instanceof ProviderError && ["network", "stalled"].includes(error.kind);
        if (!isCut || !marks.id) throw error;
      });
      if (isAnswered || !marks.id) return;
      await sleep(clock, Math.max(Number(marks.retry) || RESUME_MS, SOONEST_RESUME_MS), signal);
      answer = await ask(signal, { accept: "text/event-stream", "last-event-id": marks.id }, { timeouts: IMPATIENT });
      if (!isStream(answer)) answer.body.destroy();
    }
  };

  /** Servers that have nothing to say by themselves refuse this. */
  const listen = async (): Promise<void> => {
    while (!life.signal.aborted) {
      const answer = await ask(life.signal, { accept: "text/event-stream" });
      if (!isStream(answer)) return answer.body.destroy();
      await readEvents(answer.body, onMessage).catch(() => undefined);
      await sleep(clock, LISTEN_AGAIN_MS, life.signal);
    }
  };

  return {
    send,
    agreed(given) {
      version = given;
      if (given < STATELESS_VERSION) void listen().catch(() => undefined);
    },
    close: () => life.abort(),
    said: () => "",
  };
}

/** What a request is about, for those in between who cannot look inside. */
function routing({ method, params }: Message, version: string | undefined): Record<string, string> {
  if (version !== STATELESS_VERSION || typeof method !== "string") return {};
  const { name } = (params ?? {}) as { name?: unknown };
  return { "mcp-method": method, ...(typeof name === "string" && { "mcp-name": name }) };
}

function isStream({ status, headers }: Answer): boolean {
  return status === 200 && /^text\/event-stream\b/i.test(headers["content-type"] ?? "");
}

/** Where a stream is, and how long to wait before the rest of it is asked for. */
interface Marks {
  id?: string;
  retry?: string;
}

async function readEvents(body: HttpBody, onMessage: TransportEvents["onMessage"], marks: Marks = {}): Promise<void> {
  const decoder = createSseDecoder((name, value) => {
    marks[name] = value;
  });
  const hear = (datas: readonly string[]): void => {
    for (const data of datas) onMessage(parseMessage(data));
  };
  try {
    for (let piece = await body.next(); piece; piece = await body.next()) hear(decoder.push(piece));
  } catch (error) {
    body.destroy();
    throw error;
  }
  hear(decoder.end());
}

/** JSON, also with a status that is no success: an error of the protocol says more than the number. */
async function readAnswer(
  answer: Answer,
  id: unknown,
  { url, hasSession, clock, onMessage, hide }: TransportEvents & { url: string; hasSession: boolean },
): Promise<void> {
  const isJson = /\bjson\b/i.test(answer.headers["content-type"] ?? "");
  if (!isJson) throw new Error(hide((await failureIn(answer, { url, clock })).message) + adviceFor(answer.status));
  const pieces: Buffer[] = [];
  let size = 0;
  for (let piece = await answer.body.next(); piece; piece = await answer.body.next()) {
    size += piece.length;
    if (size > LONGEST_MESSAGE) {
      answer.body.destroy();
      throw new Error(`it sent a message of more than ${LONGEST_MESSAGE / 1024 / 1024} MB`);
    }
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString("utf8");
  // Many servers say it like this instead of with a 404.
  if (hasSession && answer.status === 400 && /\bsession/i.test(text)) throw new SessionLost("its session has ended");
  const message = parseMessage(text);
  // Who could not read the question does not know its id.
  const isNameless = isPlainObject(message) && message.error !== undefined && (message.id ?? null) === null;
  if (onMessage(isNameless ? { ...message, id } : message)) return;
  throw new Error(hide(`it answered ${answer.status} with ${cutWords(text, 200)}`) + adviceFor(answer.status));
}

function adviceFor(status: number): string {
  return status === 401 || status === 403 ? '; it wants to know who asks: give it a key in "headers"' : "";
}
