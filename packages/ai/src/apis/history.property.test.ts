import type { AssistantContent, ToolCall } from "@tiller/protocol/content";
import type { AssistantMessage, LlmMessage, StopReason } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answer, testModel } from "../testing.ts";
import { type HistoryRules, prepareHistory } from "./history.ts";
import { HISTORIES } from "./test-histories.ts";

/** Whatever a history looks like, what is made of it keeps the promises of `prepareHistory`. */

const words = fc.constantFrom("", " ", "\n", "Hello", "Look here", "✓");
const ids = fc.oneof(
  fc.constantFrom(
    "",
    "x",
    "x_2",
    "x|1",
    "call",
    "call_2",
    "call_abc|fc_def",
    "call_abc",
    "|fc",
    "|",
    "a b",
    "a_b",
    "é",
  ),
  fc.string({ maxLength: 6, unit: fc.constantFrom("a", "b", "|", "_", "-", "!", "2") }),
  fc.string({ minLength: 60, maxLength: 80, unit: fc.constantFrom("a", "|", "!") }),
);
const maybe = fc.option(fc.constantFrom("", "sig"), { nil: undefined });
const text = fc.record({ type: fc.constant("text" as const), text: words, textSignature: maybe });
const image = fc.constant({ type: "image" as const, data: "AAAA", mimeType: "image/png" });
const thinking = fc.record({
  type: fc.constant("thinking" as const),
  thinking: words,
  thinkingSignature: maybe,
  redacted: fc.option(fc.boolean(), { nil: undefined }),
});
const call = fc.record({
  type: fc.constant("toolCall" as const),
  id: ids,
  name: fc.constantFrom("ls", "read", "", "functions.read", "a b", "7", "r".repeat(65)),
  arguments: fc.constant({}),
  thoughtSignature: maybe,
});
const assistant = fc
  .record({
    content: fc.array(fc.oneof(text, thinking, call, call), { maxLength: 4 }),
    stopReason: fc.constantFrom<StopReason>("stop", "toolUse", "length", "error", "aborted"),
    author: fc.constantFrom(
      {},
      { responseModel: "alias" },
      { model: "other" },
      { provider: "other" },
      { api: "other" },
    ),
  })
  .map(({ content, stopReason, author }) => answer(content, { ...author, stopReason }));
const user = fc
  .oneof(words, fc.array(fc.oneof(text, image), { maxLength: 3 }))
  .map((content): LlmMessage => ({ role: "user", content, timestamp: 1 }));
const result = fc.record({ toolCallId: ids, content: fc.array(fc.oneof(text, image), { maxLength: 2 }) }).map(
  ({ toolCallId, content }): LlmMessage => ({
    role: "toolResult",
    toolCallId,
    toolName: "ls",
    content,
    isError: false,
    timestamp: 2,
  }),
);
/** An answer with the results of its calls, as a run leaves it, so that valid pairs are not rare. */
const round = assistant.map((message) => [
  message,
  ...callsOf(message).map((made): LlmMessage => resultOf(made, `for ${made.id}`)),
]);
const histories = fc
  .array(
    fc.oneof(
      user.map((one) => [one]),
      assistant.map((one) => [one]),
      result.map((one) => [one]),
      round,
    ),
    {
      maxLength: 8,
    },
  )
  .map((pieces) => pieces.flat());

const ruleSets: Readonly<Record<string, HistoryRules>> = {
  "no rules": {},
  "64 plain characters": { callIds: { forbidden: /[^a-zA-Z0-9_-]/g, longest: 64 }, startsWithUser: true },
  "exactly 9 letters and digits": { callIds: { forbidden: /[^a-zA-Z0-9]/, longest: 9, shortest: 9 } },
  "unsigned thoughts kept": { unsignedThinking: "keep" },
  "unsigned thoughts dropped": { unsignedThinking: "drop", callIds: { forbidden: /\|/, longest: 20 } },
};
const readers: readonly Model[] = [testModel(), testModel({ input: ["text"] })];

function callsOf(message: LlmMessage): ToolCall[] {
  return message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];
}

function resultOf(made: ToolCall, words: string): LlmMessage {
  return {
    role: "toolResult",
    toolCallId: made.id,
    toolName: made.name,
    content: [{ type: "text", text: words }],
    isError: false,
    timestamp: 3,
  };
}

function expectPromises(prepared: readonly LlmMessage[], model: Model, rules: HistoryRules): void {
  const due: string[] = [];
  const names: string[] = [];
  const seen = new Set<string>();
  for (const message of prepared) {
    if (message.role === "toolResult") {
      expect(message.toolCallId, "results stand in the order of their calls").toBe(due.shift());
    } else expect(due, "every call has a result before anything else comes").toEqual([]);
    for (const { id, name } of callsOf(message)) {
      expectValidId(id, seen, rules);
      expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
      due.push(id);
      names.push(name);
    }
    if (message.role === "toolResult") expect(message.toolName).toBe(names.shift());
    if (message.role === "assistant") expectReadable(message, model, rules);
    else if (typeof message.content !== "string" && !model.input.includes("image")) {
      expect(message.content.filter((block) => block.type === "image")).toEqual([]);
    }
    if (message.role === "user") expect(message.content).not.toSatisfy(hasNothing);
  }
  expect(due).toEqual([]);
  if (rules.startsWithUser && prepared.length > 0) expect(prepared[0]?.role).toBe("user");
}

function expectValidId(id: string, seen: Set<string>, { callIds }: HistoryRules): void {
  const part = id.split("|").find((piece) => piece !== "");
  expect(part, "no id is empty").toBeTruthy();
  expect(seen.has(part!), `${id} is there once`).toBe(false);
  seen.add(part!);
  if (!callIds) return;
  expect(id.replace(callIds.forbidden, "")).toBe(id);
  expect(id.length).toBeLessThanOrEqual(callIds.longest);
  expect(id.length).toBeGreaterThanOrEqual(callIds.shortest ?? 1);
}

function expectReadable(message: AssistantMessage, model: Model, rules: HistoryRules): void {
  expect(message.content).not.toEqual([]);
  expect(["error", "aborted"]).not.toContain(message.stopReason);
  const isAuthor = message.provider === model.provider && message.api === model.api && message.model === model.id;
  for (const block of message.content) {
    if (!isAuthor) expect(signaturesOf(block)).toEqual([]);
    if (block.type === "thinking") {
      expect(isAuthor).toBe(true);
      expect(block.thinkingSignature || rules.unsignedThinking === "keep").toBeTruthy();
    }
    if (block.type === "text") expect(block.textSignature || block.text.trim()).toBeTruthy();
  }
}

function signaturesOf(block: AssistantContent): string[] {
  if (block.type === "text") return block.textSignature ? [block.textSignature] : [];
  if (block.type === "thinking") return ["thinking itself"];
  return block.thoughtSignature ? [block.thoughtSignature] : [];
}

function hasNothing(content: unknown): boolean {
  if (typeof content === "string") return content.trim() === "";
  return (content as { text?: string }[]).every((block) => block.text?.trim() === "");
}

describe.each(Object.entries(ruleSets))("%s", (_name, rules) => {
  test("the promises hold for any history", () => {
    fc.assert(
      fc.property(histories, fc.constantFrom(...readers), (history, model) => {
        const before = structuredClone(history);
        const prepared = prepareHistory(history, model, rules);
        expectPromises(prepared, model, rules);
        expect(prepareHistory(prepared, model, rules), "twice is once").toEqual(prepared);
        expect(history, "the stored history is not touched").toEqual(before);
      }),
      { numRuns: 300 },
    );
  });

  test.each(Object.keys(HISTORIES))("the stored conversation: %s", (name) => {
    for (const model of readers) expectPromises(prepareHistory(HISTORIES[name]!, model, rules), model, rules);
  });
});

test("an id that is valid already is left alone, whatever stands beside it", () => {
  const callIds = { forbidden: /[^a-zA-Z0-9_-]/, longest: 64 };
  const used = assistant.filter(({ stopReason }) => stopReason !== "error" && stopReason !== "aborted");
  fc.assert(
    fc.property(fc.array(used, { maxLength: 6 }), (answers) => {
      const before = answers.flatMap(callsOf).map(({ id }) => id);
      const after = new Set(
        prepareHistory(answers, testModel(), { callIds })
          .flatMap(callsOf)
          .map(({ id }) => id),
      );
      for (const id of before.filter((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))) expect(after).toContain(id);
    }),
  );
});

test("what was prepared stays the same when the conversation goes on", () => {
  const rules: HistoryRules = { callIds: { forbidden: /[^a-zA-Z0-9_-]/, longest: 64 } };
  const rounds = fc.array(
    fc.oneof(
      user.map((one) => [one]),
      round,
    ),
    { maxLength: 6 },
  );
  const laterIds = fc.array(
    fc
      .constantFrom("call_abc|fc_def", "", "x y", "long!".repeat(20))
      .map((id) => [
        answer([{ type: "toolCall", id, name: "ls", arguments: {} }]),
        resultOf({ type: "toolCall", id, name: "ls", arguments: {} }, "later"),
      ]),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(rounds, laterIds, (earlier, later) => {
      const before = prepareHistory(earlier.flat(), testModel(), rules);
      const after = prepareHistory([...earlier, ...later].flat(), testModel(), rules);
      expect(after.slice(0, before.length)).toEqual(before);
    }),
  );
});
