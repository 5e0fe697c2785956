import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { at } from "../support/frame.ts";
import { cliPath, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { createSandbox, type SandboxOptions } from "../support/sandbox.ts";

/** How the process ends, and what does not end it. Runs that are closed in order are told by the transcripts. */

const start = useRpc({ args: ["--no-session"] });
const ENDLESS = 'text "slow" + endless "." pace 5';
const SLEEPING = 'toolCall bash {"command":"echo begun; sleep 600"}';

const ASKED = 2000;
const MORE_THAN_THE_PIPE_HOLDS = `${JSON.stringify({ type: "get_state" })}\n`.repeat(ASKED);
const PROMPT = `${JSON.stringify({ type: "prompt", message: "go" })}\n`;

/** As soon as it is leaving the process stands still, for longer than closing may take. */
const STANDSTILL = `
  const stand = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1200);
  process.once("SIGTERM", () => setTimeout(stand));`;

async function startRun(script: string, options: { args?: string[] } = {}): Promise<RpcProcess> {
  const rpc = start({ script: [script], ...options });
  await rpc.call({ id: "1", type: "prompt", message: "go" });
  await rpc.waitFor(script === SLEEPING ? "tool_execution_update" : "message_update");
  return rpc;
}

describe("a signal", () => {
  const idle: [NodeJS.Signals, number][] = [
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ];
  for (const [signal, code] of idle) {
    it(`${signal} ends an idle process with ${code}`, async () => {
      const rpc = start();
      await rpc.call({ type: "get_state" });
      rpc.kill(signal);
      expect(await rpc.waitExit()).toEqual({ code, signal: null });
    });
  }

  for (const [signal, code] of idle.filter(([name]) => name !== "SIGINT")) {
    it(`${signal} during a shell command ends the command, closes the run and exits with ${code}`, async () => {
      const rpc = await startRun(SLEEPING);
      rpc.kill(signal);
      expect(await rpc.waitExit()).toEqual({ code, signal: null });
      expect(rpc.types().slice(-4)).toEqual(["agent_end", "agent_settled", "prompt_result", "session_settled"]);
      expect(rpc.frames.at(-2)).toMatchObject({
        id: "1",
        status: "aborted",
        error: { message: `Request was aborted: ${signal}` },
      });
      expect(rpc.sandbox.processes()).toEqual([]);
    });
  }

  it("SIGINT during a run aborts the run; a second one, now idle, exits with 130", async () => {
    const rpc = await startRun(ENDLESS);
    rpc.kill("SIGINT");
    expect(await rpc.waitFor("prompt_result")).toMatchObject({ id: "1", status: "aborted" });
    await rpc.waitFor("session_settled");
    expect(await rpc.call({ type: "get_state" })).toMatchObject({ data: { isStreaming: false, isSettled: true } });
    rpc.kill("SIGINT");
    expect(await rpc.waitExit()).toEqual({ code: 130, signal: null });
  });

  it("SIGINT ends a run whose model does not listen", async () => {
    const rpc = await startRun('text "slow" + ignoreAbort + endless "." pace 5');
    rpc.kill("SIGINT");
    expect(await rpc.waitFor("prompt_result")).toMatchObject({ id: "1", status: "aborted" });
  });

  it("SIGINT over and over ends a process that waits for a host that does not read", async () => {
    const child = startDeaf({ turns: [{ steps: [{ endless: "." }] }] });
    child.stdin.write(PROMPT + MORE_THAN_THE_PIPE_HOLDS);
    await new Promise((resolve) => child.stdout.once("readable", resolve));
    const pressing = setInterval(() => child.kill("SIGINT"), 50);
    const exit = await exitOf(child);
    clearInterval(pressing);
    expect(exit).toEqual([130, null]);
  });

  it("SIGTERM answers the shell command that it ends, also when the machine then gives the process no time", async () => {
    const rpc = start({ env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(STANDSTILL)}` } });
    rpc.send({ id: "1", type: "bash", command: "echo begun; sleep 600" });
    await rpc.waitFor("bash_execution_update");
    rpc.kill("SIGTERM");
    expect(await rpc.waitExit()).toEqual({ code: 143, signal: null });
    expect(rpc.frames.at(-1)).toMatchObject({ id: "1", type: "response", success: true, data: { cancelled: true } });
  });

  it("SIGINT during a shell command ends the command, and the process lives on", async () => {
    const rpc = await startRun(SLEEPING);
    rpc.kill("SIGINT");
    expect(await rpc.waitFor("prompt_result")).toMatchObject({ status: "aborted" });
    expect(await rpc.call({ type: "get_state" })).toMatchObject({ data: { isStreaming: false } });
    await expect.poll(() => rpc.sandbox.processes().length).toBeLessThan(2);
  });
});

describe("the end of stdin", () => {
  it("ends an idle process with 0", async () => {
    const rpc = start();
    rpc.closeStdin();
    expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
    expect(rpc.types()).toEqual(["ready", "notice"]);
  });

  it("ends a run in order, answers what was asked, and mentions the way to let it finish", async () => {
    const rpc = await startRun(SLEEPING);
    rpc.send({ id: "2", type: "get_state" });
    rpc.closeStdin();
    expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
    const result = rpc.frames.find((frame) => frame.type === "prompt_result");
    expect(result).toMatchObject({ status: "aborted", error: { message: expect.stringContaining("--finish-on-eof") } });
    expect(rpc.sandbox.processes()).toEqual([]);
  });

  it("with --finish-on-eof waits for a host that reads slowly", async () => {
    const rpc = start({ script: [`text "${"x".repeat(1_500_000)}"`], args: ["--finish-on-eof", "--no-session"] });
    rpc.send({ id: "1", type: "prompt", message: "talk" });
    rpc.closeStdin();
    await rpc.waitFor("turn_end");
    rpc.pauseReading();
    // Longer than a process may take to end that was asked to.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    rpc.resumeReading();
    expect(await rpc.waitExit()).toMatchObject({ code: 0 });
    expect(rpc.types().slice(-2)).toEqual(["prompt_result", "session_settled"]);
  });

  it("with --finish-on-eof does not hold up a signal", async () => {
    const rpc = await startRun(ENDLESS, { args: ["--no-session", "--finish-on-eof"] });
    rpc.closeStdin();
    const since = rpc.mark();
    await rpc.waitFor("message_update", { since });
    rpc.kill("SIGTERM");
    expect(await rpc.waitExit()).toEqual({ code: 143, signal: null });
    expect(rpc.frames.at(-1)).toMatchObject({ type: "session_settled" });
  });
});

describe("a host that does not read", () => {
  it("because it has closed stdout is no reason to fail: an answer that cannot be sent ends the process with 0", async () => {
    const rpc = start();
    await rpc.waitFor("ready");
    rpc.closeStdout();
    // The pipe closes a moment later than we ask for it: an answer or two may still get through.
    const asking = setInterval(() => rpc.send({ type: "get_state" }), 20);
    onTestFinished(() => clearInterval(asking));
    expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
    expect(rpc.stderr).not.toMatch(/EPIPE|Error/);
  });

  it("because it has closed stdout ends a run too, with its shell command", async () => {
    const rpc = await startRun('toolCall bash {"command":"while :; do echo more; sleep 0.02; done"}');
    rpc.closeStdout();
    expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
    expect(rpc.sandbox.processes()).toEqual([]);
  });

  it("cannot keep the process from ending when it closes stdin", async () => {
    const child = startDeaf({ turns: [{ steps: [{ endless: "." }] }] });
    child.stdin.end(PROMPT + MORE_THAN_THE_PIPE_HOLDS);
    expect(await exitOf(child)).toEqual([0, null]);
    // What is left in the pipe shows that the process did not wait until there was room for all.
    let text = "";
    for await (const chunk of child.stdout) text += chunk;
    expect(text.split("\n").length).toBeLessThan(ASKED);
  });

  it("and is slow gets every word of an answer that is larger than the pipe", async () => {
    const rpc = start({ script: ['text "0123456789" times 100000'] });
    rpc.send({ id: "1", type: "prompt", message: "everything" });
    await rpc.waitFor("message_start");
    rpc.pauseReading();
    await new Promise((resolve) => setTimeout(resolve, 100));
    rpc.resumeReading();
    await rpc.waitFor("session_settled");
    const end = rpc.frames.findLast((frame) => frame.type === "message_end");
    expect(end).toMatchObject({ message: { content: [{ text: "0123456789".repeat(100_000) }] } });
  });
});

/** A process whose stdout nobody reads. */
function startDeaf(script: object) {
  const options: SandboxOptions = { agentFiles: { "script.json": JSON.stringify(script) } };
  const sandbox = createSandbox(options);
  const args = ["--mode", "rpc", "--no-session", "--script", join(sandbox.agentDir, "script.json")];
  const child = spawn(process.execPath, [cliPath(), ...args], { cwd: sandbox.cwd, env: sandbox.env });
  child.stderr.resume();
  onTestFinished(() => {
    if (child.exitCode === null) child.kill("SIGKILL");
    sandbox.remove();
  });
  return child;
}

/** Of a process, not of its pipes: these may still hold what nobody read. */
function exitOf(child: ReturnType<typeof startDeaf>): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve) => child.once("exit", (code, signal) => resolve([code, signal])));
}

it.runIf(process.platform !== "win32")("a pipe that a tool is pointed at cannot hold the process", async () => {
  const turn = ["read", "write", "edit", "grep"].map((tool) => {
    const args = { path: "fifo", content: "x", oldText: "x", newText: "y", pattern: "x" };
    return `toolCall ${tool} ${JSON.stringify(args)}`;
  });
  const rpc = start({
    args: ["--no-session", "--tools", "read,write,edit,grep"],
    script: [turn.join(" + "), 'text "no"'],
  });
  execFileSync("mkfifo", [join(rpc.sandbox.cwd, "fifo")]);
  const { result, frames } = await rpc.prompt("look into the pipe");
  expect(result.status).toBe("completed");
  const ends = frames.filter((frame) => frame.type === "tool_execution_end");
  const said = ends.map((frame) => [frame.toolName, at(frame, "result", "content", 0, "text")]);
  const refusal = expect.stringContaining("Not a regular file: fifo");
  expect(said).toEqual([
    ["read", refusal],
    ["write", refusal],
    ["edit", refusal],
    ["grep", "No matches found"],
  ]);
});

it("whatever else prints in the process never reaches stdout", async () => {
  const stray = `
    setInterval(() => {
      console.log("stray log"); console.info("stray info"); console.debug("stray debug");
      console.dir("stray dir"); console.table(["stray table"]); process.stdout.write("stray write\\n");
    }, 5).unref();`;
  const rpc = start({
    script: ['text "slow" + delay 50 + text " answer"'],
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(stray)}` },
  });
  const { result } = await rpc.prompt("hi");
  expect(result.status).toBe("completed");
  rpc.closeStdin();
  await rpc.waitExit();
  // The harness has held every line of stdout against the protocol; here is where the others went.
  for (const kind of ["log", "info", "debug", "dir", "table", "write"]) expect(rpc.stderr).toContain(`stray ${kind}`);
});
