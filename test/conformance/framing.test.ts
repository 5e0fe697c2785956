import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { COMMAND_TABLE } from "@tiller/protocol/command-table.generated";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Frame, isRecord } from "../support/frame.ts";
import { cliPath, useRpc } from "../support/rpc-process.ts";
import { createSandbox } from "../support/sandbox.ts";
import { proves } from "./proofs.ts";

/** Lines in, lines out: what stands on the wire, before anyone asks what it means. */

const start = useRpc({ args: ["--no-session"] });

/** Gives a process its whole input at once; resolves to the bytes it wrote. */
function converse(input: string, turns: unknown[]): Buffer {
  const sandbox = createSandbox({ agentFiles: { "script.json": JSON.stringify({ turns }) } });
  onTestFinished(sandbox.remove);
  const args = ["--mode", "rpc", "--no-session", "--finish-on-eof", "--script", join(sandbox.agentDir, "script.json")];
  const { stdout, status } = spawnSync(process.execPath, [cliPath(), ...args], {
    input,
    cwd: sandbox.cwd,
    env: sandbox.env,
  });
  expect(status).toBe(0);
  return stdout;
}

proves("pi.overview.headless", "a whole piece of work is done over two pipes, without a terminal", async () => {
  const rpc = start({
    script: [
      'toolCall write {"path":"poem.txt","content":"roses"}',
      'toolCall bash {"command":"test ! -t 0 && test ! -t 1 && wc -c < poem.txt"}',
      'expect toolResult "5" + text "I wrote five letters."',
    ],
  });
  const { result } = await rpc.prompt("write a poem");
  expect(result.status).toBe("completed");
  expect(readFileSync(join(rpc.sandbox.cwd, "poem.txt"), "utf8")).toBe("roses");
  expect(await rpc.call({ type: "get_last_assistant_text" })).toMatchObject({
    data: { text: "I wrote five letters." },
  });
});

describe("what goes in", () => {
  proves("pi.framing.commands", "a command is one object on one line, however the bytes arrive", async () => {
    const rpc = start();
    rpc.send('{"id":1,"type":"get_last_assistant_text"}\n{"type":"get_last_assistant_text","id":2}\n');
    rpc.send(' { "id" : 3 , "type" : "get_last_assistant_text" } \r\n');
    await rpc.waitFor((frame) => frame.id === 3);
    rpc.send('{"type":"get_last');
    rpc.send('_assistant_text"}\n');
    await rpc.waitFor((frame) => frame.type === "response" && frame.id === undefined);
    const answers = rpc.frames.filter((frame) => frame.type === "response");
    expect(answers.map((frame) => [frame.id, frame.success])).toEqual([1, 2, 3, undefined].map((id) => [id, true]));
  });

  proves("pi.framing.commands", "an object over several lines is no command, nor are two on one line", async () => {
    const rpc = start();
    rpc.send('{\n"type":"get_state"\n}\n{"type":"get_state"} {"type":"get_state"}\n');
    const last = await rpc.call({ type: "get_last_assistant_text" });
    expect(last.success).toBe(true);
    expect(rpc.frames.flatMap((frame) => (frame.command === "parse" ? [frame.success] : []))).toEqual(
      Array(4).fill(false),
    );
  });
});

describe("what comes out", () => {
  const input = [
    { id: "1", type: "set_auto_retry", enabled: false },
    { id: "2", type: "get_last_assistant_text" },
    { id: "3", type: "set_auto_retry", enabled: "no" },
    { id: "4", type: "prompt", message: "first\nsecond" },
  ];
  const turns = [
    [{ text: "one\ntwo\r\n" }, { toolCall: { name: "bash", arguments: { command: "printf 'a\\nb\\n'" } } }],
    "done",
  ];
  const stdout = (): string =>
    converse(input.map((command) => `${JSON.stringify(command)}\n`).join(""), turns).toString();

  proves(
    ["omp.framing.newline", "omp.cli.one-object-per-line"],
    "is one JSON object after the other, each on a line that ends in LF",
    () => {
      const text = stdout();
      expect(text.endsWith("\n")).toBe(true);
      expect(text).not.toContain("\r");
      const lines = text.slice(0, -1).split("\n");
      expect(lines.length).toBeGreaterThan(20);
      for (const line of lines) {
        expect(line.trim()).toBe(line);
        expect(isRecord(JSON.parse(line))).toBe(true);
      }
    },
  );

  proves(
    ["omp.framing.no-envelope", "omp.framing.out-event", "pi.framing.responses"],
    "is the response or the event itself, with its kind in type",
    () => {
      const lines = stdout().trimEnd().split("\n");
      const frames = lines.map((line): Frame => JSON.parse(line));
      const responses = frames.filter((frame) => frame.type === "response");
      expect(responses.map(({ id, success }) => [id, success])).toEqual([
        ["1", true],
        ["2", true],
        ["3", false],
        ["4", true],
      ]);
      expect(frames.filter(({ type }) => typeof type !== "string" || type === "event")).toEqual([]);
      const event = (type: string) => frames.find((frame) => frame.type === type);
      expect(event("agent_start")).toEqual({
        type: "agent_start",
        promptId: expect.any(String),
        seq: expect.any(Number),
      });
      expect(event("message_start")).toMatchObject({ message: { role: "user", content: [{ text: "first\nsecond" }] } });
      expect(event("tool_execution_start")).toMatchObject({ toolName: "bash", args: { command: "printf 'a\\nb\\n'" } });
      expect(event("agent_end")).toMatchObject({ messages: { length: 4 } });
    },
  );

  proves(["omp.response.success", "omp.response.failure"], "a response has these fields and no others", async () => {
    const rpc = start();
    const answer = async (command: { type: string }): Promise<Frame> => await rpc.call({ id: "1", ...command });
    expect(await answer({ type: "abort" })).toEqual({ id: "1", type: "response", command: "abort", success: true });
    expect(await answer({ type: "get_last_assistant_text" })).toEqual({
      id: "1",
      type: "response",
      command: "get_last_assistant_text",
      success: true,
      data: {},
    });
    expect(await answer({ type: "set_model" })).toEqual({
      id: "1",
      type: "response",
      command: "set_model",
      success: false,
      error: expect.stringContaining("provider"),
    });
  });

  proves("pi.framing.events", "comes while the agent works, not when it has finished", async () => {
    const rpc = start({ script: ['text "one, two" + endless ", more" pace 5'] });
    await rpc.call({ type: "prompt", message: "count" });
    await rpc.waitFor((frame) => frame.type === "message_update" && JSON.stringify(frame).includes(", more, more"));
    const state = await rpc.call({ type: "get_state" });
    expect(state).toMatchObject({ data: { isStreaming: true } });
    expect(rpc.types()).not.toContain("agent_end");
    await rpc.call({ type: "abort" });
  });
});

describe("version 2 of the protocol", () => {
  it("long frames come in chunks, events and answers alike, and commands still come as one line", async () => {
    const rpc = start({ script: ['text "ok"'] });
    const message = "ä".repeat(700_000);
    await rpc.call({ type: "negotiate_protocol", protocolVersion: 2 });
    const { frames } = await rpc.prompt(message);
    const chunks = frames.filter(({ type }) => type === "rpc_chunk");
    // The user's message is told three times: as its start, as its end, and in the end of the run.
    expect(new Set(chunks.map(({ chunkId }) => chunkId)).size).toBe(3);
    expect(chunks.every((chunk) => JSON.stringify(chunk).length < 1_048_576)).toBe(true);
    const since = rpc.mark();
    const answer = await rpc.call({ type: "get_messages" });
    expect((answer.data as { messages: { content: { text: string }[] }[] }).messages[0]?.content[0]?.text).toBe(
      message,
    );
    expect(rpc.types(since)).toEqual([...Array(6).fill("rpc_chunk"), "response"]);
  });
});

describe("the id", () => {
  const everyCommand = Object.keys(COMMAND_TABLE);

  proves("pi.framing.id-echoed", "of each command there is comes back, in success and in failure", async () => {
    const rpc = start({ script: [] });
    for (const type of everyCommand) rpc.send({ id: `id of ${type}`, type });
    for (const type of everyCommand) {
      const answer = await rpc.waitFor((frame) => frame.id === `id of ${type}`);
      expect(answer).toMatchObject({ type: "response", command: type });
    }
  });

  proves("pi.framing.id-optional", "may be left out of each of them, and the answer has none then", async () => {
    const rpc = start({ script: [] });
    for (const type of everyCommand) {
      rpc.send({ type });
      const answer = await rpc.waitFor((frame) => frame.command === type);
      expect(answer).not.toHaveProperty("id");
    }
  });

  proves("pi.framing.id-echoed-always", "is never lost in the pi dialect, whatever the command is", async () => {
    const rpc = start({ script: [], args: ["--no-session", "--dialect", "pi"] });
    for (const type of [...everyCommand, "dance", "constructor", ""]) {
      const answer = await rpc.call({ type });
      expect(answer).toMatchObject({ type: "response", command: type });
    }
  });
});

describe("what nobody expected", () => {
  /** A program whose files were replaced under its feet: what is not needed at the start is loaded when it is. */
  function brokenInstallation(lostChunks: string): string {
    const { cwd, remove } = createSandbox();
    onTestFinished(remove);
    cpSync(dirname(cliPath()), cwd, { recursive: true });
    const chunks = join(cwd, "chunks");
    const lost = readdirSync(chunks).filter((name) => name.startsWith(lostChunks));
    expect(lost).not.toEqual([]);
    for (const name of lost) rmSync(join(chunks, name));
    return join(cwd, "cli.js");
  }

  proves(
    "omp.correlation.prompt-later-error",
    "a prompt that was accepted and then breaks gets a second, failed response",
    async () => {
      const rpc = start({ cli: brokenInstallation("run-machinery"), script: ['text "never"'] });
      const accepted = await rpc.call({ id: "1", type: "prompt", message: "hi" });
      expect(accepted).toMatchObject({ command: "prompt", success: true });
      const failed = await rpc.waitFor((frame) => frame.type === "response" && frame.success === false);
      expect(failed).toMatchObject({ id: "1", command: "prompt", error: expect.stringContaining("run-machinery") });
      expect(await rpc.waitFor("prompt_result")).toMatchObject({ id: "1", status: "error" });
      expect(await rpc.call({ type: "get_state" })).toMatchObject({ success: true, data: { isStreaming: false } });
    },
  );

  it("a refusal whose explanation breaks is an answer all the same", async () => {
    const rpc = start({ cli: brokenInstallation("check-") });
    expect(await rpc.call({ type: "set_model" })).toMatchObject({
      success: false,
      error: expect.stringContaining("check-"),
    });
  });

  /** Lets the first abort of a run fail as only a programming mistake could. */
  const mistake = `
    const abort = AbortController.prototype.abort;
    AbortController.prototype.abort = () => {
      AbortController.prototype.abort = abort;
      throw new Error("a mistake");
    };`;
  const withMistake = (...args: string[]) =>
    start({
      args: ["--no-session", ...args],
      script: ['endless "." pace 5'],
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(mistake)}` },
    });

  for (const dialect of ["omp", "xcsh"]) {
    proves(
      "omp.correlation.exception-is-parse",
      `an exception in a handler is a parse error in ${dialect}`,
      async () => {
        const rpc = withMistake("--dialect", dialect);
        await rpc.call({ type: "prompt", message: "go on" });
        const since = rpc.mark();
        // Without an id, as the answer has none: the harness holds every id against its answer.
        rpc.send({ type: "abort" });
        expect(await rpc.waitFor("response", { since })).toEqual({
          type: "response",
          command: "parse",
          success: false,
          error: "Failed to parse command: a mistake",
        });
        expect(await rpc.call({ type: "abort" })).toMatchObject({ success: true });
      },
    );
  }
});
