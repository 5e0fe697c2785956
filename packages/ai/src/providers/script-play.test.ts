import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "../../../../test/support/any-text.ts";
import type { Delta, ModelRequest } from "../provider.ts";
import { assistant, grownText, readAll, reading, requestOf, settle, TestClock, user } from "./offline/test-support.ts";
import { chunksOf } from "./script-actions.ts";
import { parseScriptLine } from "./script-notation.ts";
import { playTurn } from "./script-play.ts";

/** Deltas in one line each: `open text`, `grow "a"`, `close`, `done stop` ... */
function brief(deltas: readonly Delta[]): string[] {
  return deltas.map((delta) => {
    if (delta.type === "open")
      return `open ${delta.block.type}${delta.block.type === "toolCall" ? ` ${delta.block.name} ${delta.block.id}` : ""}`;
    if (delta.type === "grow") return `grow ${JSON.stringify(delta.text)}`;
    if (delta.type === "done") return `done ${delta.stopReason}`;
    if (delta.type === "error") return `error ${delta.error.kind} ${delta.error.message}`;
    return delta.type;
  });
}

async function play(line: string, changes: Partial<ModelRequest> = {}): Promise<string[]> {
  const { deltas } = await readAll(playTurn(parseScriptLine(line), requestOf([user("go")], changes)));
  return brief(deltas);
}

describe("steps without time", () => {
  const rows: readonly [line: string, deltas: string[]][] = [
    ['text "hello"', ["open text", 'grow "hello"', "close", "usage", "done stop"]],
    ['text "hello" chunk 2', ["open text", 'grow "he"', 'grow "ll"', 'grow "o"', "close", "usage", "done stop"]],
    [
      'text ["a","b"] times 2',
      ["open text", 'grow "a"', 'grow "b"', 'grow "a"', 'grow "b"', "close", "usage", "done stop"],
    ],
    ['text "a" + text "b"', ["open text", 'grow "a"', 'grow "b"', "close", "usage", "done stop"]],
    [
      'text "a" + text "b" newBlock true',
      ["open text", 'grow "a"', "close", "open text", 'grow "b"', "close", "usage", "done stop"],
    ],
    [
      'thinking "hm" + text "a"',
      ["open thinking", 'grow "hm"', "close", "open text", 'grow "a"', "close", "usage", "done stop"],
    ],
    [
      'toolCall bash {"command":"ls"} + toolCall read id mine',
      [
        "open toolCall bash script_1",
        'grow "{\\"command\\":\\"ls\\"}"',
        "close",
        "open toolCall read mine",
        'grow "{}"',
        "close",
        "usage",
        "done toolUse",
      ],
    ],
    ['toolCallRaw bash "{\\"com"', ["open toolCall bash script_1", 'grow "{\\"com"', "close", "usage", "done toolUse"]],
    ['text "half" + cut', ["open text", 'grow "half"']],
    ['text "half" + error 529 "busy"', ["open text", 'grow "half"', "error overloaded busy"]],
    ['text "a" + stopReason length', ["open text", 'grow "a"', "close", "usage", "done length"]],
  ];

  test.each(rows)("%s", async (line, expected) => {
    expect(await play(line)).toEqual(expected);
  });

  test.each([
    ['error 429 "slow"', { kind: "rate_limit", status: 429, message: "slow", retryable: true }],
    ['error 429 "slow" retryAfterMs 50', { kind: "rate_limit", retryAfterMs: 50 }],
    ["error 401", { kind: "auth", message: "The script says: 401", retryable: false }],
    ["error 500", { kind: "server", retryable: true }],
    ["error 400", { kind: "bad_request" }],
    ['error overflow "too long"', { kind: "overflow", status: undefined, retryable: false }],
    ['error "just so"', { kind: "server", message: "just so" }],
  ])("%s", async (line, error) => {
    const { deltas } = await readAll(playTurn(parseScriptLine(line), requestOf([user("go")])));
    expect(deltas).toMatchObject([{ type: "error", error }]);
  });

  test("thinking keeps its signature until its block closes", async () => {
    const line = 'thinking "a" signature s1 redacted true + text "b"';
    const { deltas } = await readAll(playTurn(parseScriptLine(line), requestOf([user("go")])));
    expect(deltas.filter((delta) => delta.type === "close")).toEqual([
      { type: "close", index: 0, signature: "s1", redacted: true },
      { type: "close", index: 1 },
    ]);
  });

  test("given usage replaces the estimate", async () => {
    const { deltas } = await readAll(
      playTurn(parseScriptLine('usage {"input":7} + text "a"'), requestOf([user("go")])),
    );
    expect(deltas.filter((delta) => delta.type === "usage")).toEqual([{ type: "usage", input: 7 }]);
  });

  test("calls are counted through the conversation", async () => {
    const earlier = assistant("", [{ id: "script_4", name: "ls", arguments: {} }]);
    const { deltas } = await readAll(playTurn(parseScriptLine("toolCall ls"), requestOf([user("go"), earlier])));
    expect(deltas[0]).toMatchObject({ block: { id: "script_5" } });
  });

  test("50,000 pieces without a pace come in one batch", async () => {
    const { batches, deltas } = await readAll(
      playTurn(parseScriptLine('text "abcd" times 50000'), requestOf([user("go")])),
    );
    expect(batches).toHaveLength(1);
    expect(deltas.filter((delta) => delta.type === "grow")).toHaveLength(50_000);
  });

  test("with a pace of 0 each piece comes alone", async () => {
    const { batches } = await readAll(playTurn(parseScriptLine('text "abcd" chunk 1 pace 0'), requestOf([user("go")])));
    expect(batches.map((batch) => grownText(batch))).toEqual(["a", "b", "c", "d"]);
  });
});

describe("steps in time", () => {
  function start(line: string) {
    const clock = new TestClock();
    const abort = new AbortController();
    const read = reading(playTurn(parseScriptLine(line), requestOf([user("go")], { clock, signal: abort.signal })));
    return { clock, abort, ...read, text: () => grownText(read.deltas), last: () => brief(read.deltas).at(-1) };
  }

  test("a delay holds back what follows, and only that", async () => {
    const { clock, text, last } = start('text "a" + delay 50 + text "b"');
    await clock.advance(49);
    expect(text()).toBe("a");
    await clock.advance(1);
    expect(text()).toBe("ab");
    expect(last()).toBe("done stop");
  });

  test("an abort ends a delay at once and leaves no timer behind", async () => {
    const { clock, abort, text, last, ended } = start('text "a" + delay 50000 + text "b"');
    await settle();
    abort.abort();
    await ended;
    expect(text()).toBe("a");
    expect(last()).toBe("error aborted Request was aborted");
    expect(clock.sleepers).toBe(0);
  });

  test("a pace stands between pieces, across steps", async () => {
    const { clock, text } = start('pace 10 + text "ab" chunk 1 + text "c"');
    await settle();
    expect(text()).toBe("a");
    await clock.advance(10);
    expect(text()).toBe("ab");
    await clock.advance(10);
    expect(text()).toBe("abc");
  });

  test("a rate is kept on average: who wakes up late catches up in one batch", async () => {
    const { clock, text, batches } = start('text "x" times 2000 perSecond 200');
    await clock.advance(1000);
    expect(text().length).toBe(201);
    const before = batches.length;
    await clock.jump(500);
    expect(text().length).toBe(301);
    expect(batches.length).toBe(before + 1);
  });

  test("an endless stream goes on until it is aborted", async () => {
    const { clock, abort, text, last, ended } = start('endless "tick "');
    await clock.advance(200);
    expect(text()).toBe("tick ".repeat(11));
    abort.abort();
    await ended;
    expect(last()).toBe("error aborted Request was aborted");
    expect(clock.sleepers).toBe(0);
  });

  test("hanging ends by an abort", async () => {
    const { clock, abort, last, ended } = start('text "a" + hang');
    await clock.advance(1_000_000);
    expect(last()).toBe('grow "a"');
    abort.abort();
    await ended;
    expect(last()).toBe("error aborted Request was aborted");
  });

  test("who ignores an abort goes on streaming", async () => {
    const { clock, abort, text, last } = start('ignoreAbort + text "abc" chunk 1 pace 10');
    await settle();
    abort.abort();
    await clock.advance(10);
    expect(text()).toBe("ab");
    await clock.advance(10);
    expect(last()).toBe("done stop");
  });

  test("who ignores an abort and hangs never ends", async () => {
    const { clock, abort, last } = start('ignoreAbort + text "a" + hang');
    await settle();
    abort.abort();
    await clock.advance(1_000_000);
    expect(last()).toBe('grow "a"');
  });

  test("an abort before the beginning leaves nothing but the abort", async () => {
    expect(await play('text "a"', { signal: AbortSignal.abort() })).toEqual(["error aborted Request was aborted"]);
  });
});

test("pieces of any size join to the text and split no character", () => {
  fc.assert(
    fc.property(anyText(), fc.integer({ min: 1, max: 9 }), (text, size) => {
      const chunks = chunksOf(text, size);
      expect(chunks.join("")).toBe(text);
      for (const chunk of chunks) expect(Array.from(chunk).length).toBeLessThanOrEqual(size);
      if (text.isWellFormed()) expect(chunks.every((chunk) => chunk.isWellFormed())).toBe(true);
    }),
  );
});
