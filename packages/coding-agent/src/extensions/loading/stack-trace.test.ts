import { expect, test } from "vitest";
import { placeInSource } from "./stack-trace.ts";

const ours = (): boolean => true;

test.each([
  ["slashes", "/".repeat(400_000)],
  ["words behind slashes", " /a".repeat(130_000)],
])("an error that quotes a lot of %s is told as it is", async (_what, quoted) => {
  expect(await placeInSource(`cannot read ${quoted}`, ours)).toBe(`cannot read ${quoted}`);
});

test("what is said behind a place stays, also when there is no better place", async () => {
  const text = `Error: no\n    at go (/nowhere/at all/x.ts:1:2)\n${"and so on\n".repeat(10_000)}`;
  expect(await placeInSource({ stack: text }, ours)).toBe(text);
});
