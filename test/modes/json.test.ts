import { describe, expect, it } from "vitest";
import { at } from "../support/frame.ts";
import { linesOf, sessionFiles, useCli } from "./cli-process.ts";

/** `tiller --mode json`: the events of RPC mode for those who only listen. */

const start = useCli();

const run = (options: Parameters<typeof start>[0]) => start({ stdin: "", ...options }).ended;
const types = (end: Parameters<typeof linesOf>[0]): unknown[] => linesOf(end).map(({ type }) => type);

it("begins with the header of the session, then tells every event to the last", async () => {
  const cli = start({ args: ["--mode", "json", "--updates", "delta", "hi"], script: ['text "Good day"'], stdin: "" });
  const end = await cli.ended;
  expect([end.code, end.stderr]).toEqual([0, ""]);
  const [header, ...events] = linesOf(end);
  expect(header).toEqual({
    type: "session",
    version: 3,
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    cwd: cli.sandbox.cwd,
  });
  expect(sessionFiles(cli.sandbox)).toEqual([expect.stringContaining(String(header?.id))]);
  expect(events.map(({ type, assistantMessageEvent }) => at(assistantMessageEvent, "type") ?? type)).toEqual([
    "agent_start",
    "turn_start",
    "message_start",
    "message_end",
    "message_start",
    "start",
    "text_start",
    "text_delta",
    "text_end",
    "done",
    "message_end",
    "turn_end",
    "agent_end",
    "agent_settled",
    "prompt_result",
    "session_settled",
  ]);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
});

it.each([[[]], [[" "]]])("with nothing to ask says so on stderr alone (%j)", async (words) => {
  const end = await run({ args: ["--mode", "json", ...words], script: [] });
  expect([end.code, end.stdout]).toEqual([2, ""]);
  expect(end.stderr).toMatch(/^Error: there is nothing to ask: .+\n$/);
});

it("takes its only prompt from stdin", async () => {
  const end = await start({ args: ["--mode", "json"], stdin: "hi\n", script: ['expect user "hi" + text "1"'] }).ended;
  expect([end.code, types(end)[0], types(end).at(-1)]).toEqual([0, "session", "session_settled"]);
});

it("carries the message so far unless it is told otherwise", async () => {
  const end = await run({ args: ["--mode", "json", "hi"], script: ['text "Good" + text " day" newBlock true'] });
  const updates = linesOf(end).filter(({ type }) => type === "message_update");
  expect(at(updates.at(-2), "message", "content")).toEqual([
    { type: "text", text: "Good" },
    { type: "text", text: " day" },
  ]);
});

it("runs prompts one after the other, with text from stdin before the first", async () => {
  const script = ['expect user "log\\n\\none" + text "1"', 'expect user "two" + text "2"'];
  const end = await start({ args: ["--mode", "json", "one", "two"], stdin: "log\n", script }).ended;
  const results = linesOf(end).filter(({ type }) => type === "prompt_result");
  expect([end.code, results.map(({ status }) => status)]).toEqual([0, ["completed", "completed"]]);
});

it("speaks the dialect", async () => {
  const end = await run({ args: ["--mode", "json", "--dialect", "pi", "hi"], script: ['text "x"'] });
  expect(types(end)).not.toContain("prompt_result");
  expect([end.code, types(end)[0], types(end).at(-1)]).toEqual([0, "session", "agent_settled"]);
});

describe("what goes wrong", () => {
  it("in the model is told by its events, and by the exit code", async () => {
    const end = await run({ args: ["--mode", "json", "hi"], script: ['error 400 "bad"'] });
    expect(end.code).toBe(1);
    expect(linesOf(end).find(({ type }) => type === "prompt_result")).toMatchObject({
      status: "error",
      error: { message: expect.stringContaining("bad") },
    });
  });

  it("before the model is asked is a notice", async () => {
    const end = await run({ args: ["--mode", "json", "--no-offline-model", "hi"] });
    expect([end.code, types(end)]).toEqual([1, ["session", "notice"]]);
    expect(linesOf(end)[1]).toMatchObject({ level: "error", message: expect.stringContaining("No model selected") });
    expect(end.stderr).toContain("Error: No model selected");
  });

  it("by SIGTERM still closes what was begun", async () => {
    const cli = start({ args: ["--mode", "json", "hi"], script: ['text "begun" + hang'], stdin: "" });
    await cli.seen("stdout", '"delta":"begun"');
    cli.child.kill("SIGTERM");
    const end = await cli.ended;
    expect([end.code, types(end).slice(-2)]).toEqual([143, ["prompt_result", "session_settled"]]);
    expect(linesOf(end).at(-2)).toMatchObject({ status: "aborted" });
  });
});

it("ends quietly when nobody reads any more", async () => {
  const cli = start({ args: ["--mode", "json", "hi"], script: ['endless "word " pace 1'], stdin: "" });
  await cli.seen("stdout", '"delta"');
  cli.child.stdout.destroy();
  expect(await cli.ended).toMatchObject({ code: 0, stderr: "" });
  expect(cli.sandbox.processes()).toEqual([]);
});
