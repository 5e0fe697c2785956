import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repoRoot } from "../../../../test/support/rpc-process.ts";
import { playTranscript } from "../../../../test/support/transcript.ts";
import type { Frame } from "./frame.ts";
import { difference, namedTexts, normalise, record } from "./match.ts";
import { parseItems, parseTranscript } from "./parse.ts";

const cli = join(repoRoot, "test/support/fixtures/fake-server.mjs");
const parse = (...lines: string[]) => parseTranscript("story", lines.join("\n"));
const play = (lines: string[], update = false): Promise<string[]> =>
  playTranscript(parse(...lines), { cli, update, timeoutMs: 1500 });

const PROMPT = '>  {"id":"1","type":"prompt","message":"hi"}';

describe("the notation", () => {
  test("a line may hold several items", () => {
    const items = parseItems(
      'agent_start … tool_execution_end {"a":"}{"} {"type":"x"} message_update text "h\\"i" message_update toolcall read {"p":[1]}',
    );
    expect(items).toEqual([
      { kind: "frame", partial: { type: "agent_start" }, source: "agent_start" },
      { kind: "skip" },
      {
        kind: "frame",
        partial: { type: "tool_execution_end", a: "}{" },
        source: 'tool_execution_end {"a":"}{"}',
      },
      { kind: "frame", partial: { type: "x" }, source: '{"type":"x"}' },
      { kind: "block", block: "text", text: 'h"i', source: 'message_update text "h\\"i"' },
      {
        kind: "block",
        block: "toolcall",
        call: { name: "read", arguments: { p: [1] } },
        source: 'message_update toolcall read {"p":[1]}',
      },
    ]);
  });

  test("the head of a story", () => {
    const story = parse(
      "# a title",
      "proves: pi.a, pi.b",
      "args  --no-session --thinking off",
      "env   A=b=c",
      'setup sub/a.txt "one\\n"',
      'agent models.json {"providers":{}}',
      'model text "hi"',
      "exit 143",
      "file user, assistant",
    );
    expect(story).toMatchObject({
      title: "a title",
      args: ["--no-session", "--thinking", "off"],
      env: { A: "b=c" },
      files: { "sub/a.txt": "one\n" },
      agentFiles: { "models.json": '{"providers":{}}' },
      model: ['text "hi"'],
      exit: 143,
      file: ["user", "assistant"],
    });
    expect(story.proves).toEqual(["pi.a", "pi.b"]);
  });

  test("lines that belong together are one block", () => {
    const { steps } = parse(PROMPT, "<  a b", "<  c", "eof", "<  d");
    expect(steps.map((step) => [step.kind, step.line])).toEqual([
      ["send", 1],
      ["expect", 2],
      ["eof", 4],
      ["expect", 5],
    ]);
  });

  test.each([
    ["a word nobody knows", ["dance"], /story:1: unknown word "dance"/],
    ["JSON without end", ["", '<  x {"a":'], /story:2: unfinished JSON/],
  ])("%s is named with its line", (_name, lines, says) => {
    expect(() => parse(...lines)).toThrow(says);
  });
});

describe("a frame fits", () => {
  const cases: [expected: unknown, actual: unknown, says: string | undefined][] = [
    [{ a: 1 }, { a: 1, b: 2 }, undefined],
    [{ a: { b: 1 } }, { a: { b: 2 } }, "a.b is 2"],
    [{ a: [1, 2] }, { a: [1, 2, 3] }, "a has 3 items"],
    [{ a: [1, "…"] }, { a: [1, 2, 3] }, undefined],
    [{ a: [{ b: 1 }] }, { a: [{ c: 1 }] }, "a[0].b is missing"],
    [{ a: "<any>" }, { a: null }, undefined],
    [{ a: "<any>" }, {}, "a is missing"],
    [{ a: "<absent>" }, { a: 1 }, "a is there"],
    [{ a: "<absent>" }, {}, undefined],
    [{ a: "<=name>" }, { a: "text" }, undefined],
    [{ a: "<=name>" }, { a: 1 }, "a is 1, which is no text"],
    [{ a: null }, { a: 0 }, "a is 0"],
    [{ a: "no: …" }, { a: "no: because" }, undefined],
    [{ a: "no: …" }, { a: "yes" }, 'a is "yes"'],
  ];
  test.each(cases)("%j against %j", (expected, actual, says) => {
    expect(difference(expected, actual)).toBe(says);
  });

  test("a text gets the name that the story gives it", () => {
    const expected = { data: { entries: [{ id: "<=first>" }, { id: "<any>" }], file: "<=file>", size: "<=size>" } };
    const actual = { data: { entries: [{ id: "1a2b" }, { id: "3c4d" }], file: "/tmp/x/a", size: 7 } };
    expect(namedTexts(expected, actual)).toEqual({ first: "1a2b", file: "/tmp/x/a" });
    expect(namedTexts(expected, { data: null })).toEqual({});
  });

  test("folders, ids and times have names", () => {
    const frame = { path: "/tmp/x/a", id: "0190b3c4-0000-7000-8000-00000000abcd", timestamp: 17 };
    expect(normalise(frame, { cwd: "/tmp/x" })).toEqual({ path: "<cwd>/a", id: "<uuid>", timestamp: "<time>" });
  });
});

describe("playing", () => {
  test("a story that holds", async () => {
    await play([
      PROMPT,
      '<  {"id":"1","type":"response","success":true}',
      '<  agent_start turn_start message_start {"message":{"role":"user"}} message_end message_start',
      '<  message_update text "echo: hi" message_end … prompt_result {"status":"completed"} session_settled',
    ]);
  });

  test("pieces of an answer need not be mentioned", async () => {
    await play([PROMPT, '<  … message_start {"message":{"role":"assistant"}} message_end turn_end …']);
  });

  const failing: [name: string, lines: string[], says: RegExp][] = [
    ["the wrong frame", [PROMPT, "<  response agent_end"], /story:2: type is "agent_start"\nexpected: agent_end/],
    ["the wrong field", [PROMPT, '<  … prompt_result {"status":"error"}'], /no frame came that fits/],
    [
      "the wrong text",
      [PROMPT, '<  response agent_start turn_start message_start message_end message_start message_update text "no"'],
      /the text is "echo: hi"/,
    ],
    ["frames nobody expected", [PROMPT, "<  … agent_end"], /more frames came; "< {2}…"/],
    ["the exit code", [PROMPT, "<  …", "exit 3"], /story:3: it is 0\nexpected: exit 3/],
    ["nothing recorded yet", [PROMPT, "<"], /UPDATE_TRANSCRIPTS=1/],
  ];
  test.each(failing)("a story that fails on %s shows where", async (_name, lines, says) => {
    await expect(play(lines)).rejects.toThrow(says);
  });

  test("recording writes what came and leaves what holds", async () => {
    const story = ["# echo", PROMPT, "<", '>  {"id":"2","type":"abort"}', '<  {"type":"response"}', "", "exit 4"];
    const lines = await play(story, true);
    expect(lines).toEqual([
      "# echo",
      PROMPT,
      '<  {"type":"response","command":"prompt","id":"1","success":true,"data":{"disposition":"started"}}',
      "<  agent_start turn_start",
      '<  message_start {"message":{"role":"user"}}',
      '<  message_end {"message":{"role":"user"}}',
      '<  message_start {"message":{"role":"assistant"}}',
      '<  message_update text "echo: hi"',
      '<  message_end {"message":{"role":"assistant","stopReason":"stop"}}',
      "<  turn_end",
      '<  agent_end {"willRetry":false}',
      '<  agent_settled {"aborted":false}',
      '<  prompt_result {"id":"1","status":"completed"}',
      "<  session_settled",
      '>  {"id":"2","type":"abort"}',
      '<  {"type":"response"}',
      "",
      "exit 0",
    ]);
    await play(lines);
  });

  test("a tool call is recorded with its arguments", () => {
    const update = (event: object): Frame => ({ type: "message_update", assistantMessageEvent: event });
    const toolCall = { type: "toolCall", id: "1", name: "read", arguments: { path: "/tmp/x/a" } };
    const frames = [
      update({ type: "toolcall_start", contentIndex: 0 }),
      update({ type: "toolcall_end", contentIndex: 0, toolCall }),
    ];
    expect(record(frames, { cwd: "/tmp/x" })).toEqual(['<  message_update toolcall read {"path":"<cwd>/a"}']);
  });
});
