import type { AssistantContent } from "@tiller/protocol/content";
import type { AssistantMessage, LlmMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assistant, callsOf, histories } from "../../../../test/support/random-histories.ts";
import { testModel } from "../testing.ts";
import { type HistoryRules, hasFailed, prepareHistory } from "./history.ts";
import { HISTORIES } from "./test-histories.ts";

/** Whatever a history looks like, what is made of it keeps the promises of `prepareHistory`. */

const ruleSets: Readonly<Record<string, HistoryRules>> = {
  "no rules": {},
  "64 plain characters": { callIds: { forbidden: /[^a-zA-Z0-9_-]/g, longest: 64 }, startsWithUser: true },
  "exactly 9 letters and digits": { callIds: { forbidden: /[^a-zA-Z0-9]/, longest: 9, shortest: 9 } },
  "unsigned thoughts kept": { unsignedThinking: "keep" },
  "unsigned thoughts dropped": { unsignedThinking: "drop", callIds: { forbidden: /\|/, longest: 20 } },
};
const readers: readonly Model[] = [testModel(), testModel({ input: ["text"] })];

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
      { numRuns: 150 },
    );
  });

  test.each(Object.keys(HISTORIES))("the stored conversation: %s", (name) => {
    for (const model of readers) expectPromises(prepareHistory(HISTORIES[name]!, model, rules), model, rules);
  });
});

test("who comes first keeps a valid id, and everybody finds one near to the own", () => {
  const callIds = { forbidden: /[^a-zA-Z0-9_-]/, longest: 64 };
  const used = assistant.filter((message) => !hasFailed(message));
  fc.assert(
    fc.property(fc.array(used, { maxLength: 6 }), (answers) => {
      const before = answers.flatMap(callsOf).map(({ id }) => id);
      const after = prepareHistory(answers, testModel(), { callIds })
        .flatMap(callsOf)
        .map(({ id }) => id);
      expect(after).toHaveLength(before.length);
      for (const [at, id] of before.entries()) {
        const isFree = /^[a-zA-Z0-9_-]{1,64}$/.test(id) && !after.slice(0, at).includes(id);
        if (isFree) expect(after[at]).toBe(id);
      }
    }),
  );
});

test("what was prepared stays the same when the conversation goes on with an answer", () => {
  const rules: HistoryRules = { callIds: { forbidden: /[^a-zA-Z0-9_-]/, longest: 64 } };
  const next = assistant.filter((message) => !hasFailed(message));
  fc.assert(
    fc.property(histories, next, histories, (earlier, message, later) => {
      const before = prepareHistory(earlier, testModel(), rules);
      const after = prepareHistory([...earlier, message, ...later], testModel(), rules);
      expect(after.slice(0, before.length)).toEqual(before);
    }),
    { numRuns: 150 },
  );
});
