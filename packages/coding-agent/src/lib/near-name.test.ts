import { describe, expect, it } from "vitest";
import { editDistance, nearNames } from "./near-name.ts";

describe("the distance of two words", () => {
  it.each([
    ["", "", 0],
    ["abc", "abc", 0],
    ["abc", "ab", 1],
    ["ab", "abc", 1],
    ["abc", "axc", 1],
    ["abcd", "abdc", 1],
    ["", "abc", 3],
    ["doctor", "dcotor", 1],
    ["models", "config", 5],
  ])("from %j to %j is %i", (a, b, expected) => {
    expect([editDistance(a, b), editDistance(b, a)]).toEqual([expected, expected]);
  });
});

describe("what was meant", () => {
  const names = ["defaultModel", "retry.enabled", "retry.maxRetries", "compaction.enabled", "sessionDir"];
  it.each<[string, string[]]>([
    ["defaultmodel", ["defaultModel"]],
    ["defualtModel", ["defaultModel"]],
    ["retry.maxRetires", ["retry.maxRetries"]],
    ["maxRetries", ["retry.maxRetries"]],
    ["enabeld", ["retry.enabled", "compaction.enabled"]],
    ["session", ["sessionDir"]],
    ["colour", []],
    ["", []],
    ["x".repeat(1000), []],
  ])("by %j", (word, expected) => {
    expect(nearNames(word, names)).toEqual(expected);
  });
});
