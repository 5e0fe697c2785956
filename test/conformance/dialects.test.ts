import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Frame } from "../support/frame.ts";
import { cliPath, type RpcOptions, RpcProcess } from "../support/rpc-process.ts";
import { ended, isIncrement, ofType, stateOf } from "./looking.ts";

/**
 * The same stories in every dialect, chosen by flag and by the name of the program, one process for all stories of a
 * choice. What differs is in `EXPECTED`, with the number of the decision; whatever else is asserted holds for all.
 */

type Name = "union" | "pi" | "omp" | "xcsh";

const PI_BUSY = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";
const OMP_BUSY = "Agent is already processing. Use steer() or followUp() to queue messages, or wait for completion.";

const EXPECTED = {
  /*        1                4                     5                   9                          13                 */
  union: { ready: true, hasResult: true, echoesId: false, interrupt: "wait", thinking: "medium", busy: PI_BUSY },
  pi: { ready: false, hasResult: false, echoesId: true, interrupt: "immediate", thinking: "medium", busy: PI_BUSY },
  omp: { ready: true, hasResult: true, echoesId: false, interrupt: "immediate", thinking: "high", busy: OMP_BUSY },
  xcsh: { ready: true, hasResult: true, echoesId: false, interrupt: "wait", thinking: "high", busy: OMP_BUSY },
} as const;

const CHOICES: [how: string, dialect: Name, options: (folder: string) => RpcOptions][] = [
  ["union, unasked", "union", () => ({})],
  ["union by flag", "union", () => ({ args: ["--dialect", "union"] })],
  ...(["pi", "omp", "xcsh"] as const).flatMap((name): typeof CHOICES => [
    [`${name} by flag`, name, () => ({ args: ["--dialect", name] })],
    [`${name} by the name of the program`, name, (folder) => ({ cli: join(folder, name), check: { dialect: name } })],
  ]),
  ["union by flag, though the program is called pi", "union", (folder) => overruled(folder)],
];

const overruled = (folder: string): RpcOptions => ({ cli: join(folder, "pi"), args: ["--dialect", "union"] });

/** Links to the program under the names of the three systems. */
let links = "";
beforeAll(() => {
  links = mkdtempSync(join(tmpdir(), "tiller-links-"));
  for (const name of ["pi", "omp", "xcsh"]) symlinkSync(cliPath(), join(links, name));
});
afterAll(() => rmSync(links, { recursive: true, force: true }));

it.each(["pi", "omp", "xcsh"])(
  "%s --version says whose version it is: it is no old %s that wants an update",
  (name) => {
    const versionOf = (program: string): string =>
      spawnSync(process.execPath, [program, "--version"], { encoding: "utf8" }).stdout;
    expect(versionOf(cliPath())).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(versionOf(join(links, name))).toBe(versionOf(cliPath()).replace("\n", " (tiller)\n"));
  },
);

/** One answer for each model call, in the order of the stories. */
const SCRIPT = [
  'text "Hello."',
  'toolCall read {"path":"a.txt"} id c1',
  'expect toolResult "A" + text "It says A."',
  'text "half" + hang',
];

describe.each(CHOICES)("%s", (_how, dialect, choose) => {
  const expected = EXPECTED[dialect];
  let rpc: RpcProcess;
  beforeAll(() => {
    const { args = [], ...rest } = choose(links);
    rpc = new RpcProcess({ script: SCRIPT, files: { "a.txt": "A\n" }, ...rest, args: [...args, "--no-session"] });
  });
  afterAll(() => rpc.dispose());

  /** From the answer to the last frame of the run, whatever that is in this dialect. */
  const prompt = async (id: string): Promise<Frame[]> => {
    const since = rpc.mark();
    await rpc.call({ id, type: "prompt", message: "go" });
    await rpc.waitFor(expected.hasResult ? "session_settled" : "agent_settled", { since });
    return rpc.frames.slice(since);
  };
  const endings = (status: string): string[] =>
    expected.hasResult
      ? ["agent_end", "agent_settled", `prompt_result ${status}`, "session_settled"]
      : ["agent_end", "agent_settled"];
  const endingsIn = (frames: readonly Frame[]): string[] =>
    frames
      .filter(({ type }) => /^(agent_end|agent_settled|prompt_result|session_settled)$/.test(String(type)))
      .map(({ type, status }) => (status === undefined ? String(type) : `${type} ${status}`));

  it("get_state, and an unknown command (decisions 1, 5, 9, 13)", async () => {
    expect(await stateOf(rpc)).toMatchObject({
      interruptMode: expected.interrupt,
      thinkingLevel: expected.thinking,
      steeringMode: "one-at-a-time",
      isStreaming: false,
    });
    expect(rpc.frames[0]?.type).toBe(expected.ready ? "ready" : "response");
    if (expected.ready) {
      expect(rpc.frames[0]).toEqual({
        type: "ready",
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        dialect,
        protocolVersion: 1,
        supportedProtocolVersions: [1, 2],
        maxFrameBytes: 1048576,
        maxReassembledFrameBytes: 67108864,
        limits: {
          maxLineBytes: 256 * 1024 * 1024,
          maxFrameBytes: 1048576,
          maxReassembledFrameBytes: 67108864,
        },
      });
    }
    const { data } = await rpc.call({ type: "get_capabilities" });
    expect(data).toMatchObject({ dialect, protocolVersion: 1, supportedProtocolVersions: [1, 2] });
    expect((data as { events: string[] }).events.includes("prompt_result")).toBe(expected.hasResult);
    rpc.send({ id: "u", type: "dance" });
    expect(await rpc.waitFor(({ command }) => command === "dance")).toEqual({
      ...(expected.echoesId ? { id: "u" } : {}),
      type: "response",
      command: "dance",
      success: false,
      error: "Unknown command: dance",
    });
  });

  it("a plain prompt, and how it ends (decisions 3, 4)", async () => {
    const frames = await prompt("p");
    expect(frames[0]).toEqual({
      id: "p",
      type: "response",
      command: "prompt",
      success: true,
      data: { disposition: "started" },
    });
    expect(ended(frames, "assistant")).toMatchObject({ stopReason: "stop", content: [{ text: "Hello." }] });
    expect(endingsIn(frames)).toEqual(endings("completed"));
    const seqs = frames.flatMap(({ seq }) => (typeof seq === "number" ? [seq] : []));
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  });

  it("a prompt with a tool", async () => {
    const frames = await prompt("t");
    expect(ofType(frames, "tool_execution_end")).toMatchObject([{ toolCallId: "c1", isError: false }]);
    expect(ofType(frames, "turn_end")).toHaveLength(2);
    expect(endingsIn(frames)).toEqual(endings("completed"));
  });

  it("a second prompt while the first one runs, and an abort (decisions 4, 18)", async () => {
    const since = rpc.mark();
    await rpc.call({ id: "r", type: "prompt", message: "go" });
    await rpc.waitFor(isIncrement("text_delta"), { since });
    expect(await rpc.call({ id: "q", type: "prompt", message: "and this" })).toEqual({
      id: "q",
      type: "response",
      command: "prompt",
      success: false,
      error: expected.busy,
    });
    const aborted = await rpc.call({ id: "a", type: "abort" });
    expect(aborted).toEqual({ id: "a", type: "response", command: "abort", success: true });
    const before = rpc.frames.slice(since, rpc.frames.indexOf(aborted));
    expect(endingsIn(before)).toEqual(endings("aborted"));
    expect(ofType(before, "agent_settled")).toMatchObject([{ aborted: true }]);
    expect(ended(before, "assistant")).toMatchObject({
      stopReason: "aborted",
      errorMessage: "Request was aborted",
      content: [{ text: "half" }],
    });
  });
});
