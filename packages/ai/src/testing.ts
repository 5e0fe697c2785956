import type { Clock } from "@tiller/protocol/clock";
import type { AssistantMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { emptyUsage } from "./cost.ts";
import type { Delta, DeltaStream, ModelRequest } from "./provider.ts";

/** Small helpers for the tests of this package. */

export interface FakeClock extends Clock {
  /** Moves the time and runs what is due, in order. */
  advance(ms: number): void;
}

export function fakeClock(start = 1_700_000_000_000): FakeClock {
  let now = start;
  const due: { at: number; fn: () => void }[] = [];
  return {
    now: () => now,
    after(ms, fn) {
      const entry = { at: now + ms, fn };
      due.push(entry);
      return () => {
        const place = due.indexOf(entry);
        if (place !== -1) due.splice(place, 1);
      };
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        due.sort((a, b) => a.at - b.at);
        const next = due[0];
        if (!next || next.at > end) break;
        due.shift();
        now = next.at;
        next.fn();
      }
      now = end;
    },
  };
}

export function testModel(fields: Partial<Model> = {}): Model {
  return {
    id: "claude-test",
    name: "Claude Test",
    api: "anthropic-messages",
    provider: "anthropic",
    baseUrl: "https://api.anthropic.com",
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    contextWindow: 200_000,
    maxTokens: 64_000,
    ...fields,
  };
}

export function testRequest(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: testModel(),
    systemPrompt: "",
    messages: [{ role: "user", content: "Hello", timestamp: 0 }],
    tools: [],
    thinkingLevel: "off",
    cwd: "/project",
    clock: fakeClock(),
    signal: new AbortController().signal,
    ...fields,
  };
}

/** An answer of the test model. */
export function answer(content: AssistantMessage["content"], fields: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    role: "assistant",
    content,
    api: "anthropic-messages",
    provider: "anthropic",
    model: "claude-test",
    usage: emptyUsage(),
    stopReason: "stop",
    timestamp: 0,
    ...fields,
  };
}

export async function collect(stream: DeltaStream): Promise<Delta[]> {
  const deltas: Delta[] = [];
  for await (const batch of stream) deltas.push(...batch);
  return deltas;
}
