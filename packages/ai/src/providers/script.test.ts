import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scriptModel } from "../catalogue.ts";
import { grownText, readAll, requestOf, toolResult, user } from "./offline/test-support.ts";
import { createScriptModel, parseScript, streamScript } from "./script.ts";
import type { OnEnd, Turn } from "./script-types.ts";

const DOCS = new URL("../../../../docs/", import.meta.url);

async function said(model: ReturnType<typeof createScriptModel>, request = requestOf([user("go")])): Promise<string> {
  const { deltas } = await readAll(model(request));
  const last = deltas.at(-1);
  return last?.type === "error" ? `error: ${last.error.message}` : grownText(deltas);
}

describe("a script file", () => {
  test("short forms are spelled out", () => {
    expect(parseScript('["a", {"text":"b"}, ["c", {"cut":true}], {"repeat":2,"steps":["d"]}]').turns).toEqual([
      { steps: [{ text: "a" }] },
      { steps: [{ text: "b" }] },
      { steps: [{ text: "c" }, { cut: true }] },
      { repeat: 2, steps: [{ text: "d" }] },
    ]);
  });

  test("what it gives can be written and read again", () => {
    for (const name of readdirSync(new URL("examples/", DOCS)).filter((file) => file.endsWith(".script.json"))) {
      const script = parseScript(readFileSync(new URL(`examples/${name}`, DOCS), "utf8"));
      expect(parseScript(JSON.stringify(script)), name).toEqual(script);
    }
  });

  test.each([
    ["{", /^The script is not JSON: /],
    ["42", /A script must be an object with "turns" or a list of turns, not 42\./],
    ["{}", /The script has no "turns"/],
    ['{"turns":[]}', /"turns" must be a list with at least one turn, not \[\]/],
    ['{"turns":["a"],"onEnd":"stop"}', /"onEnd" must be one of error, repeat-last, loop, not "stop"/],
    ["[1]", /Script turn 1 must be a text, a list of steps or an object with "steps", not 1\./],
    [
      '["a",[{"text":"b"},{"txet":"c"}]]',
      /Script turn 2, step 2 is of no known kind: \{"txet":"c"\}\. A step has one of text,/,
    ],
    ['[{"text":"a","chunk":0}]', /Script turn 1, step 1: "chunk" must be a whole number from 1 on, not 0\./],
    [
      '[{"text":"a","chunks":1}]',
      /Script turn 1, step 1: a text step has no field "chunks"\. It may have text, chunk,/,
    ],
    ['[{"text":7}]', /"text" must be a text or a list of texts, not 7/],
    ['[{"toolCall":{"arguments":{}}}]', /"toolCall" must be an object with a "name"/],
    ['[{"toolCall":{"name":"a","arguments":"{}"}}]', /"toolCall" must be an object whose "arguments" is an object/],
    ['[{"error":{"kind":"boom"}}]', /"error" must be an object whose "kind" is one of aborted, auth,/],
    ['[{"error":{"status":42}}]', /"error" must be an object whose "status" is an HTTP status/],
    [
      '[[{"repeat":2,"steps":["a",{"delay":-1}]}]]',
      /Script turn 1, step 1\.2: "delay" must be a number from 0 on, not -1/,
    ],
    ['[[{"repeat":2}]]', /Script turn 1, step 1: a repeat step needs "steps"/],
    ['[{"steps":["a"],"expect":{"user":{"matches":"("}}}]', /Script turn 1, expect: "user" must be a text or one of/],
    ['[{"steps":["a"],"expect":{"who":"x"}}]', /Script turn 1, expect: an expectation has no field "who"/],
    ['[{"stopReason":"error"}]', /"stopReason" must be one of stop, length, toolUse, not "error"/],
    ['[{"cut":false}]', /"cut" must be true, not false/],
  ])("%s is refused with a reason", (text, reason) => {
    expect(() => parseScript(text)).toThrow(reason);
  });
});

describe("call by call", () => {
  const turns: Turn[] = [{ steps: [{ text: "one" }] }, { repeat: 2, steps: [{ text: "two" }] }];

  test.each<[OnEnd | undefined, string[]]>([
    [undefined, ["one", "two", "two", "error: The script has 2 turns, and this is call 4 of the model."]],
    ["error", ["one", "two", "two", "error: The script has 2 turns, and this is call 4 of the model."]],
    ["repeat-last", ["one", "two", "two", "two", "two"]],
    ["loop", ["one", "two", "two", "one", "two", "two", "one"]],
  ])("the next turn is played; at the end: %s", async (onEnd, expected) => {
    const model = createScriptModel({ turns, onEnd });
    for (const text of expected) expect(await said(model)).toContain(text);
  });

  test("an unmet expectation fails with both sides, and is not to be retried", async () => {
    const model = createScriptModel(
      parseScript('[{"expect":{"user":"stop","tools":["bash","fly"],"messages":3,"toolResult":"x"},"steps":["a"]}]'),
    );
    const { deltas } = await readAll(model(requestOf([user("go\non")], {}, ["bash"])));
    expect(deltas).toHaveLength(1);
    expect(deltas[0]).toMatchObject({ type: "error", error: { kind: "bad_request", retryable: false } });
    expect(deltas[0]).toHaveProperty(
      "error.message",
      `Script turn 1 does not fit the conversation.
newest user text (includes):
  - stop
  + go
  + on
newest tool result (includes):
  - x
  + (there is none)
tools on offer:
  - bash, fly
  + bash
number of messages:
  - 3
  + 1`,
    );
  });

  test.each([
    ['{"user":"lo wor"}', true],
    ['{"user":{"equals":"hello"}}', false],
    ['{"user":{"equals":"hello world"}}', true],
    ['{"user":{"matches":"^h.*d$"}}', true],
    ['{"user":{"includes":"x"}}', false],
    ['{"toolResult":"no such","toolName":"read","isError":true}', true],
    ['{"toolName":"bash"}', false],
    ['{"isError":false}', false],
    ['{"system":"test","tools":["ls"],"messages":2}', true],
  ])("expect %s: %s", async (expectation, fits) => {
    const model = createScriptModel(parseScript(`[{"expect":${expectation},"steps":["fits"]}]`));
    const result = toolResult({ id: "1", name: "read", arguments: {} }, "no such file", true);
    const text = await said(model, requestOf([user("hello world"), result]));
    expect(text === "fits").toBe(fits);
  });
});

describe("from a file on disk", () => {
  test("it is read once and goes on turn by turn; a missing file is a clear error", async () => {
    const folder = mkdtempSync(join(tmpdir(), "script-"));
    try {
      const path = join(folder, "with space.script.json");
      const request = requestOf([user("go")], { model: scriptModel(path) });
      expect(await said(streamScript, request)).toMatch(/^error: Cannot play the script file:.*with%20space.*ENOENT/);
      writeFileSync(path, '["one","two"]');
      expect(await said(streamScript, request)).toBe("one");
      rmSync(path);
      expect(await said(streamScript, request)).toBe("two");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
