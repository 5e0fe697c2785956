import { describe, expect, test } from "vitest";
import type { HookEvent } from "../session/ports.ts";
import { forHandlers } from "./for-handlers.ts";

describe("handlers cannot damage what they are told of", () => {
  const entry = (): object => ({ type: "message", message: { content: [{ text: "kept" }] } });
  const spoil = (value: unknown): void => {
    if (typeof value !== "object" || value === null || value instanceof AbortSignal) return;
    for (const name of Object.keys(value)) {
      spoil(Reflect.get(value, name));
      Reflect.set(value, name, "spoiled");
    }
  };
  const { signal } = new AbortController();

  test.each<[hook: Parameters<typeof forHandlers>[0], event: () => object]>([
    [
      "session_before_compact",
      () => ({ preparation: { messagesToSummarize: [entry()] }, branchEntries: [entry()], signal }),
    ],
    ["session.compacting", () => ({ sessionId: "s", messages: [entry()] })],
    ["session_compact", () => ({ compactionEntry: entry(), fromExtension: false })],
    ["session_before_tree", () => ({ preparation: { entriesToSummarize: [entry()] }, signal })],
    ["session_tree", () => ({ newLeafId: "a", oldLeafId: "b", summaryEntry: entry() })],
    ["model_select", () => ({ model: { id: "m", cost: { input: 1 } }, previousModel: { id: "n" }, source: "set" })],
  ])("%s", (hook, event) => {
    const ours = event() as HookEvent<typeof hook>;
    const shown = forHandlers(hook, ours);
    expect(shown).toEqual(event());
    for (const part of Object.values(shown)) spoil(part);
    expect(ours).toEqual(event());
  });

  test("what they may change in place is the very object", () => {
    const event = { toolName: "read", toolCallId: "1", input: {} };
    expect(forHandlers("tool_call", event)).toBe(event);
  });
});
