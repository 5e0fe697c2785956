import type { Delta, DeltaStream, ModelRequest, StreamModel } from "../provider.ts";
import { type Decision, decide } from "./offline/decide.ts";
import { abortedDelta, estimateInput, estimateTokens, nextTurn, pause } from "./offline/local-model.ts";

/** Provider `offline`, model `scout`: a rule-based assistant that needs no network and no key. See docs/offline-model.md. */

export interface OfflineOptions {
  /** Makes scout speak at a human pace, on the request's clock. Left out: as fast as it is read. */
  wordsPerSecond?: number;
}

const PIECES_PER_BATCH = 4;

export const streamOffline: StreamModel = createOffline();

export function createOffline(options: OfflineOptions = {}): StreamModel {
  return (request) => speak(request, options);
}

async function* speak(request: ModelRequest, { wordsPerSecond }: OfflineOptions): DeltaStream {
  const decision = decide(request);
  let unspent = wordsPerSecond ? 1 : PIECES_PER_BATCH;
  let batch: Delta[] = [];
  for (const delta of deltasOf(decision)) {
    if (request.signal.aborted) break;
    batch.push(delta);
    if (delta.type !== "grow" || --unspent > 0) continue;
    yield batch;
    batch = [];
    unspent = wordsPerSecond ? 1 : PIECES_PER_BATCH;
    await (wordsPerSecond ? pause(request.clock, 1000 / wordsPerSecond, request.signal) : nextTurn());
  }
  if (request.signal.aborted) yield [...batch, abortedDelta()];
  else
    yield [
      ...batch,
      usageOf(request, decision),
      { type: "done", stopReason: decision.toolCalls.length > 0 ? "toolUse" : "stop" },
    ];
}

function* deltasOf({ text, toolCalls }: Decision): Generator<Delta> {
  yield { type: "open", index: 0, block: { type: "text" } };
  for (const piece of wordsOf(text)) yield { type: "grow", index: 0, text: piece };
  yield { type: "close", index: 0 };
  for (const [i, call] of toolCalls.entries()) {
    const index = i + 1;
    yield { type: "open", index, block: { type: "toolCall", id: call.id, name: call.name } };
    yield { type: "grow", index, text: JSON.stringify(call.arguments) };
    yield { type: "close", index };
  }
}

/** Word-sized pieces that join to exactly the text. */
export function wordsOf(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

function usageOf(request: ModelRequest, { text, toolCalls }: Decision): Delta {
  const output = estimateTokens(text.length + (toolCalls.length > 0 ? JSON.stringify(toolCalls).length : 0));
  return { type: "usage", input: estimateInput(request), output };
}
