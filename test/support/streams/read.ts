import { anthropicMessages } from "@tiller/ai/apis/anthropic-messages/family";
import type { ApiFamily } from "@tiller/ai/apis/api";
import { googleGenerativeAi } from "@tiller/ai/apis/google/family";
import { openaiChat } from "@tiller/ai/apis/openai-chat/family";
import { openaiResponses } from "@tiller/ai/apis/openai-responses/family";
import { createAssembly } from "@tiller/ai/assemble";
import type { ProviderError } from "@tiller/ai/errors";
import { createSseDecoder } from "@tiller/ai/http/sse";
import type { Delta } from "@tiller/ai/provider";
import { testModel } from "@tiller/ai/testing";
import type { AssistantMessage } from "@tiller/protocol/message";
import type { Family } from "./expected.ts";

/** Streams of every family through our own reader, from bytes to a message, without a connection. */

export interface Reader {
  read(events: readonly string[]): Delta[];
  /** The event with which the answer counts as complete. */
  terminal: RegExp;
}

function readerOf<State>(family: ApiFamily<State>, terminal: RegExp): Reader {
  const read = (events: readonly string[]): Delta[] => {
    const state = family.initial();
    const out: Delta[] = [];
    for (const event of events) family.step(state, event, out);
    family.finish(state, out);
    return out;
  };
  return { read, terminal };
}

export const READERS: Record<Family, Reader> = {
  "anthropic-messages": readerOf(anthropicMessages, /"type":"message_stop"/),
  "openai-completions": readerOf(openaiChat, /"finish_reason":"/),
  "openai-responses": readerOf(openaiResponses, /"type":"response\.completed"/),
  "google-generative-ai": readerOf(googleGenerativeAi, /"finishReason"/),
};

export function decode(...pieces: Uint8Array[]): string[] {
  const decoder = createSseDecoder();
  const events = pieces.flatMap((piece) => decoder.push(piece));
  return [...events, ...decoder.end()];
}

const isTerminal = (delta: Delta | undefined): boolean => delta?.type === "done" || delta?.type === "error";

/** The message that comes of the deltas. Throws when they do not end with their only `done` or `error`. */
export function assembled(deltas: readonly Delta[]): { message: AssistantMessage; error: ProviderError | undefined } {
  const ends = deltas.filter(isTerminal).length;
  const last = deltas.at(-1);
  if (ends !== 1 || !isTerminal(last))
    throw new Error(`expected one end, and it last; got ${ends}, last ${last?.type}`);
  const assembly = createAssembly(testModel(), 0);
  for (const delta of deltas) assembly.apply(delta);
  if (last?.type === "done") assembly.finish(last.stopReason);
  if (last?.type === "error") assembly.fail(last.error);
  return { message: assembly.message, error: last?.type === "error" ? last.error : undefined };
}
