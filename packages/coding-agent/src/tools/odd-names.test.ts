import { afterEach, beforeEach, expect, it } from "vitest";
import { createToolFixture, type ToolFixture } from "./test-fixture.ts";

const ODD = ["\u001b]0;pwn\u0007.txt", "a\nb.txt:1: foo", "u\u202etxt"];
/** The marks of single letters in Hebrew are part of a name; and one may look like what is made of another. */
const USUAL = ["Grün 日本.txt", "\u200fשלום\u200e.txt", "a\\nb.txt:1: foo"];
const SHOWN = ['"\\u{1b}]0;pwn\\u{7}.txt"', '"a\\nb.txt:1: foo"', '"u\\u{202e}txt"', ...USUAL];

let fixture: ToolFixture;
beforeEach(() => {
  fixture = createToolFixture(Object.fromEntries([...ODD, ...USUAL].map((name) => [name, "foo\n"])));
});
afterEach(() => fixture.remove());

/** A name is somebody else's text: it steers no terminal and is one line, so that it cannot make up another result. */
it.runIf(process.platform !== "win32").each<[tool: string, args: object, line: (name: string) => string]>([
  ["ls", {}, (name) => name],
  ["find", { pattern: "*" }, (name) => name],
  ["grep", { pattern: "foo" }, (name) => `${name}:1: foo`],
])("%s shows names with control characters as one line each", async (tool, args, line) => {
  const text = await fixture.text(tool, args);
  expect(text.split("\n").sort()).toEqual(SHOWN.map(line).sort());
});
