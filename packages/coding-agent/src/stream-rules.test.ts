import type { CustomMessage } from "@tiller/protocol/message";
import { expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { readRule } from "./rules/rule-file.ts";
import type { SessionEvent } from "./session/session-event.ts";
import { createSessionStore } from "./session/store/session-store.ts";
import { countingIds, loadedLog, messageEntry, type PlainEntry, plain, user } from "./session/store/test-sessions.ts";
import { createStreamRules, type RuleSettings } from "./stream-rules.ts";

const USUAL: RuleSettings = { contextMode: "discard", interruptMode: "always", repeatMode: "once", repeatGap: 10 };

async function desk(headers: Record<string, string>, settings: Partial<RuleSettings> = {}, lines: PlainEntry[] = []) {
  const read = Object.entries(headers).map(([name, header]) => {
    const path = `/elsewhere/${name}.md`;
    const source = { provider: "native", providerName: "native", path, level: "user" } as const;
    return readRule(`---\n${header}\n---\nNo ${name}.\n`, source);
  });
  const rules = (await Promise.all(read)).map(({ rule }) => rule!);
  const clock = new FakeClock();
  const store = createSessionStore({ clock, ids: countingIds(), first: { log: loadedLog(lines) } });
  const events: SessionEvent[] = [];
  const emit = (event: SessionEvent) => events.push(event);
  const at = createStreamRules({ rules, settings: { ...USUAL, ...settings }, store, clock, emit });
  /** One answer; gives back why it was ended. */
  const write = (words: string, part: "text" | "thinking" = "text"): string | undefined => {
    const look = at.watch();
    const end =
      look?.({ type: `${part}_start`, contentIndex: 0 }) ??
      look?.({ type: `${part}_delta`, contentIndex: 0, delta: words }) ??
      look?.({ type: "complete" });
    if (end === undefined) store.appendMessage(user("an answer"));
    return end;
  };
  const correct = (): CustomMessage | undefined => {
    const told = at.takeReminder();
    if (told) store.appendMessage(told);
    return told;
  };
  return { ...at, rules: at, store, events, write, correct };
}

const fired = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === "ttsr_triggered" ? [event.rules.map(({ name }) => name).join("+")] : []));

it("tells the host and then the model, and keeps that it did", async () => {
  const { write, correct, events, store, rules } = await desk({ 'an"y': "condition: any", foo: "condition: foo" });
  expect(write("x: any foo")).toBe('Interrupted by the stream rule "an"y"');
  expect(fired(events)).toEqual(['an"y']);
  expect(rules.hasObjections).toBe(true);
  expect(correct()).toMatchObject({
    customType: "ttsr-injection",
    display: false,
    details: { rules: ['an"y'] },
    content: `<system-interrupt reason="rule_violation" rule="an&quot;y" path="/elsewhere/an&quot;y.md">
Your answer was stopped because it goes against a rule. Begin it again and follow the rule:

No an"y.
</system-interrupt>`,
  });
  expect(rules.hasObjections).toBe(false);
  expect(correct()).toBeUndefined();
  expect(store.branch()).toMatchObject([
    { type: "ttsr_injection", injectedRules: ['an"y'] },
    { type: "custom_message", customType: "ttsr-injection" },
  ]);
});

it("fires once in a session, each rule for itself, and costs nothing when all have", async () => {
  const { write, correct, events, rules } = await desk({ a: "condition: aa", b: "condition: bb" });
  write("aa");
  correct();
  expect(write("aa bb")).toContain('"b"');
  correct();
  expect(rules.watch()).toBeUndefined();
  expect(fired(events)).toEqual(["a", "b"]);
});

it("fires again when the model was never told: after an abort, or an answer that failed", async () => {
  const { write, events, rules } = await desk({ a: "condition: aa" });
  write("aa");
  write("aa");
  expect(fired(events)).toEqual(["a", "a"]);
  rules.watch();
  expect(rules.hasObjections).toBe(false);
});

it("knows from the file what was told before, on this branch", async () => {
  const told = plain("2", "1", { type: "ttsr_injection", injectedRules: ["a"] });
  const lines = [messageEntry("1", null, user("go")), told, messageEntry("3", "2", user("on"))];
  const { write, store } = await desk({ a: "condition: aa" }, {}, lines);
  expect(write("aa")).toBeUndefined();
  store.moveTo(0);
  expect(write("aa")).toBeDefined();
  const odd = plain("2", "1", { type: "ttsr_injection", injectedRules: "a" as unknown as string[] });
  expect((await desk({ a: "condition: aa" }, {}, [lines[0]!, odd])).write("aa")).toBeDefined();
});

it("fires again after so many messages", async () => {
  const { write, correct, events } = await desk({ a: "condition: aa" }, { repeatMode: "after-gap", repeatGap: 2 });
  write("aa");
  correct();
  expect([write("aa"), write("aa")]).toEqual([undefined, undefined]);
  expect(write("aa")).toBeDefined();
  correct();
  expect(write("aa")).toBeUndefined();
  expect(fired(events)).toEqual(["a", "a"]);
});

it.each<[mode: string, text: boolean, tool: boolean]>([
  ["always", true, true],
  ["prose-only", true, false],
  ["tool-only", false, true],
  ["never", false, false],
])("%s", async (mode, text, tool) => {
  for (const own of [true, false]) {
    const header = `condition: aa\nscope: thinking, tool${own ? `\ninterruptMode: ${mode}` : ""}`;
    const settings = own ? {} : { interruptMode: mode as RuleSettings["interruptMode"] };
    const { rules, write, correct } = await desk({ a: header }, settings);
    expect(write("aa", "thinking") !== undefined).toBe(text);
    expect(rules.hasObjections).toBe(true);
    const look = rules.watch();
    look?.({ type: "toolcall_start", contentIndex: 0, id: "c", toolName: "bash" });
    expect(look?.({ type: "toolcall_delta", contentIndex: 0, delta: "aa" }) !== undefined).toBe(tool);
    expect(correct()?.content).toContain(tool ? "was stopped" : "last answer goes against");
  }
});

it("tells all that came together, also what would not have interrupted", async () => {
  const { write, correct, events } = await desk({ a: "condition: aa\ninterruptMode: never", b: "condition: bb" });
  expect(write("aa bb")).toBe('Interrupted by the stream rules "a", "b"');
  expect(fired(events)).toEqual(["a", "b"]);
  expect(correct()?.details).toEqual({ rules: ["a", "b"] });
});
