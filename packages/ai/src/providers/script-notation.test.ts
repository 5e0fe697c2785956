import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseScript } from "./script.ts";
import { parseScriptLine } from "./script-notation.ts";
import type { Turn } from "./script-types.ts";

describe("one turn on one line", () => {
  const rows: readonly [line: string, turn: Turn][] = [
    [
      'model  toolCall bash {"command":"sleep 1"} + toolCall read {"path":"a"}',
      {
        steps: [
          { toolCall: { name: "bash", arguments: { command: "sleep 1" } } },
          { toolCall: { name: "read", arguments: { path: "a" } } },
        ],
      },
    ],
    ['model  text "changed course"', { steps: [{ text: "changed course" }] }],
    ['model  delay 50 + text "x"', { steps: [{ delay: 50 }, { text: "x" }] }],
    ['model  error 429 "slow down"', { steps: [{ error: { status: 429, message: "slow down" } }] }],
    ["model cut", { steps: [{ cut: true }] }],
    ['model endless "tick "', { steps: [{ endless: "tick " }] }],
    ['  text "a + b \\" {" chunk 2 pace 0.5  ', { steps: [{ text: 'a + b " {', chunk: 2, pace: 0.5 }] }],
    [
      'toolCall x {"a":{"b":["}","{"]}} id c7 perSecond 5',
      { steps: [{ toolCall: { name: "x", arguments: { a: { b: ["}", "{"] } }, id: "c7" }, perSecond: 5 }] },
    ],
    ['toolCallRaw x "{"', { steps: [{ toolCallRaw: { name: "x", json: "{" } }] }],
    ["toolCall ls", { steps: [{ toolCall: { name: "ls" } }] }],
    [
      'error overloaded "busy" retryAfterMs 10',
      { steps: [{ error: { kind: "overloaded", message: "busy", retryAfterMs: 10 } }] },
    ],
    ["error 500 retryAfterMs 10", { steps: [{ error: { status: 500, retryAfterMs: 10 } }] }],
    [
      'expect user "go" + expect isError true + text "a"',
      { expect: { user: "go", isError: true }, steps: [{ text: "a" }] },
    ],
    [
      'ignoreAbort + hang + stopReason length + usage {"input":1}',
      { steps: [{ ignoreAbort: true }, { hang: true }, { stopReason: "length" }, { usage: { input: 1 } }] },
    ],
  ];

  test.each(rows)("%s", (line, turn) => {
    expect(parseScriptLine(line)).toEqual(turn);
  });

  test.each([
    ["model", /a step begins with its kind/],
    ['"hello"', /a step begins with its kind/],
    ["text hello", /step 1: put what a text step says in double quotes/],
    ['text "a" + + cut', /step 2: a step begins with its kind/],
    ['text "a', /"a is not JSON/],
    ['toolCall bash {"command":', /is not JSON/],
    ["shout 3", /step 1 is of no known kind: {"shout":3}/],
    ['text "a" chunk', /expected "name value" pairs, not "chunk"/],
    ['text "a" loud true', /a text step has no field "loud"/],
    ["delay soon", /"delay" must be a number from 0 on, not "soon"/],
    ["delay", /"delay" must be a number from 0 on/],
  ])("%s is refused with a reason", (line, reason) => {
    expect(() => parseScriptLine(line)).toThrow(reason);
  });

  test("any text survives the line, and the turn survives the file", () => {
    const anyText = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(anyText, fc.dictionary(fc.string(), fc.jsonValue()), (text, args) => {
        const line = `model  text ${JSON.stringify(text)} + toolCall t ${JSON.stringify(args)}`;
        const turn = parseScriptLine(line);
        const onFile = JSON.parse(JSON.stringify(args));
        expect(turn).toEqual({ steps: [{ text }, { toolCall: { name: "t", arguments: onFile } }] });
        expect(parseScript(JSON.stringify({ turns: [turn] })).turns).toEqual([turn]);
      }),
    );
  });
});

test("every example in the documentation is a script", () => {
  const page = readFileSync(new URL("../../../../docs/script-model.md", import.meta.url), "utf8");
  const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => match[1]!);
  expect(blocks.length).toBeGreaterThan(1);
  for (const block of blocks) expect(parseScript(block).turns.length).toBeGreaterThan(0);
  const lines = page.split("\n").filter((line) => line.startsWith("model  "));
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) expect(() => parseScriptLine(line)).not.toThrow();
  const steps = [...page.matchAll(/^\| (`\{.*?`) \|/gm)].flatMap((row) =>
    [...row[1]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!),
  );
  expect(steps.length).toBeGreaterThan(12);
  for (const step of steps)
    expect(() => parseScript(`[[${step.replace("[...]", "[]").replaceAll("\\|", "|")}]]`), step).not.toThrow();
});
