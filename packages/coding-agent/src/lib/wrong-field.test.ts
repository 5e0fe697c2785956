import { expect, test } from "vitest";
import { blankField, wrongField } from "./wrong-field.ts";

const KINDS = { label: "text", hidden: "yesOrNo", timeoutMs: "milliseconds" } as const;

test.each<[fields: Record<string, unknown>, problem: string | undefined]>([
  [{}, undefined],
  [{ label: null, hidden: null, timeoutMs: null, stranger: 7 }, undefined],
  [{ label: "", hidden: false, timeoutMs: 0.5 }, undefined],
  [{ label: 5 }, '"label" of it must be a string, got 5'],
  [{ label: ["a"] }, '"label" of it must be a string, got an array'],
  [{ hidden: "yes" }, '"hidden" of it must be true or false, got "yes"'],
  [{ hidden: 1 }, '"hidden" of it must be true or false, got 1'],
  [{ hidden: {} }, '"hidden" of it must be true or false, got an object'],
  [{ hidden: "x".repeat(1000) }, `"hidden" of it must be true or false, got "${"x".repeat(60)}"`],
  [{ timeoutMs: 0 }, '"timeoutMs" of it must be a number of milliseconds above 0, got 0'],
  [{ timeoutMs: "5" }, '"timeoutMs" of it must be a number of milliseconds above 0, got "5"'],
  [{ timeoutMs: Number.NaN }, '"timeoutMs" of it must be a number of milliseconds above 0, got NaN'],
  [{ hidden: 1, label: 5 }, '"label" of it must be a string, got 5'],
])("%j", (fields, problem) => {
  expect(wrongField(fields, KINDS, "it")).toBe(problem);
});

test.each<[value: string, problem: string | undefined]>([
  ["", '"path" must be the path of a file, got ""'],
  [" ", '"path" must be the path of a file, got " "'],
  ["a", undefined],
])("a text %j", (value, problem) => {
  expect(blankField("path", value, "the path of a file")).toBe(problem);
});

test("without a word whose fields they are", () => {
  expect(wrongField({ isError: "no" }, { isError: "yesOrNo" })).toBe('"isError" must be true or false, got "no"');
});
