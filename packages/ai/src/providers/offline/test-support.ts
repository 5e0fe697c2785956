import type { Clock } from "@tiller/protocol/clock";
import type { AssistantMessage, LlmMessage, ToolResultMessage, UserMessage } from "@tiller/protocol/message";
import { OFFLINE_MODEL } from "../../catalogue.ts";
import type { Delta, DeltaStream, ModelRequest } from "../../provider.ts";

/** Conversations and clocks for the tests of the models that need no network. */

export function user(text: string): UserMessage {
  return { role: "user", content: text, timestamp: 0 };
}

export interface MadeCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export function assistant(text: string, toolCalls: readonly MadeCall[] = []): AssistantMessage {
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
  return {
    role: "assistant",
    content: [{ type: "text", text }, ...toolCalls.map((call) => ({ type: "toolCall" as const, ...call }))],
    api: "offline",
    provider: "offline",
    model: "scout",
    usage: { ...usage, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
    stopReason: toolCalls.length > 0 ? "toolUse" : "stop",
    timestamp: 0,
  };
}

export function toolResult(call: MadeCall, text: string, isError = false): ToolResultMessage {
  const content = [{ type: "text" as const, text }];
  return { role: "toolResult", toolCallId: call.id, toolName: call.name, content, isError, timestamp: 0 };
}

export const ALL_TOOLS = ["read", "bash", "edit", "write", "grep", "find", "ls"];

export function requestOf(
  messages: readonly LlmMessage[],
  changes: Partial<ModelRequest> = {},
  tools = ALL_TOOLS,
): ModelRequest {
  return {
    model: OFFLINE_MODEL,
    systemPrompt: "You are a test.",
    messages,
    tools: tools.map((name) => ({ name, description: name, parameters: {} })),
    thinkingLevel: "off",
    cwd: "/home/someone/demo",
    clock: new TestClock(),
    signal: new AbortController().signal,
    ...changes,
  };
}

/** Stands still until `advance`; whoever waits is called in the order of their times. */
export class TestClock implements Clock {
  private time = 0;
  private waiting: { at: number; fn: () => void }[] = [];

  now(): number {
    return this.time;
  }

  after(ms: number, fn: () => void): () => void {
    const entry = { at: this.time + ms, fn };
    this.waiting.push(entry);
    return () => {
      this.waiting = this.waiting.filter((other) => other !== entry);
    };
  }

  get sleepers(): number {
    return this.waiting.length;
  }

  /** Time leaps, as after a long sleep of the machine: whoever waits wakes up late. */
  async jump(ms: number): Promise<void> {
    this.time += ms;
    await this.advance(0);
  }

  /** Moves time on and lets everything that follows from it happen. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      await settle();
      const next = this.waiting.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.time = Math.max(this.time, next.at);
      this.waiting = this.waiting.filter((other) => other !== next);
      next.fn();
    }
    this.time = end;
  }
}

/** Lets promises and immediates that are under way run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}

export interface Reading {
  batches: (readonly Delta[])[];
  deltas: Delta[];
  /** Resolves when the stream has ended. */
  ended: Promise<void>;
}

/** Reads a stream in the background and keeps everything. */
export function reading(stream: DeltaStream): Reading {
  const batches: (readonly Delta[])[] = [];
  const deltas: Delta[] = [];
  const ended = (async () => {
    for await (const batch of stream) {
      batches.push(batch);
      for (const delta of batch) deltas.push(delta);
    }
  })();
  return { batches, deltas, ended };
}

export async function readAll(stream: DeltaStream): Promise<Reading> {
  const result = reading(stream);
  await result.ended;
  return result;
}

/** All text that the blocks grew by, joined. */
export function grownText(deltas: readonly Delta[]): string {
  return deltas.map((delta) => (delta.type === "grow" ? delta.text : "")).join("");
}
