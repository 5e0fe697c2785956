import { describe, expect, it, onTestFinished } from "vitest";
import { at } from "../support/frame.ts";
import { type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { createLifeline, holding, type Lifeline } from "./lifeline.ts";
import { findProcesses, type Running, TREES, watchdogOf } from "./trees.ts";

/** Whatever a command starts, nothing of it is left when the command or the agent is ended, however that happens. */

const start = useRpc({ args: ["--no-session"] });
/** Without /proc nobody can count, and the second net is missing; the decision record says what is left there. */
function onLinux(name: string, test: () => Promise<void>): void {
  if (process.platform === "linux") it(name, test);
  else it(`${name} (cannot be seen here: there is no /proc)`, () => undefined);
}

let stories = 0;
/** A number of seconds that no other process here sleeps. */
function ownSeconds(): string {
  stories += 1;
  return `60.${process.pid}${stories}`;
}

/** An agent with a lifeline for what it starts. */
function startWithLifeline(options?: RpcOptions): { rpc: RpcProcess; lifeline: Lifeline } {
  const rpc = start(options);
  const lifeline = createLifeline(rpc.sandbox.cwd);
  onTestFinished(lifeline.close);
  return { rpc, lifeline };
}

const commandsWith = (seconds: string): string[] =>
  TREES.map(({ command }) => holding(command.replaceAll("SECONDS", seconds)));

/** All trees at once, each by a command of its own. */
async function growTrees(rpc: RpcProcess, seconds: string): Promise<void> {
  for (const [index, command] of commandsWith(seconds).entries()) rpc.send({ id: `t${index}`, type: "bash", command });
  for (const index of TREES.keys()) {
    await rpc.waitFor(
      ({ type, id, delta }) => type === "bash_execution_update" && id === `t${index}` && /ready/.test(String(delta)),
    );
  }
  expect(findProcesses(seconds).length).toBeGreaterThan(50);
}

/** All trees in one call of the tool. */
function toolCall(seconds: string, timeout?: number): string {
  const command = `${commandsWith(seconds)
    .map((tree) => `(${tree}) &`)
    .join("\n")}\nwait`;
  return `toolCall bash ${JSON.stringify({ command, timeout })}`;
}

interface Story {
  rpc: RpcProcess;
  lifeline: Lifeline;
  seconds: string;
  /** So many commands at least have taken hold of the lifeline. */
  commands?: number;
}

async function expectNobody({ rpc, lifeline, seconds, commands = 1 }: Story): Promise<void> {
  const mark = `TILLER_TEST_MARK=${rpc.sandbox.env.TILLER_TEST_MARK}`;
  const left = (): Running[] => findProcesses(seconds, mark).filter(({ pid }) => pid !== rpc.pid);
  // The lifeline is certain; the look has names, and knows those that the agent has started for itself.
  const look = () => ({ isHeld: lifeline.isHeld(), left: left() });
  try {
    await expect.poll(look, { timeout: 10_000, interval: 50 }).toEqual({ isHeld: false, left: [] });
    expect(lifeline.holders()).toBeGreaterThanOrEqual(commands);
  } finally {
    for (const { pid } of left()) process.kill(pid, "SIGKILL");
  }
}

describe("nothing survives", () => {
  onLinux("SIGKILL of the watchdog, and then of the agent", async () => {
    const { rpc, lifeline } = startWithLifeline();
    const seconds = ownSeconds();
    rpc.send({ id: "s", type: "bash", command: holding(`echo ready; exec sleep ${seconds}`) });
    await rpc.waitFor(({ type, delta }) => type === "bash_execution_update" && /ready/.test(String(delta)));
    const first = watchdogOf(rpc.pid);
    if (first === undefined) throw new Error("there is no watchdog to kill");
    process.kill(first, "SIGKILL");
    const next = (): number | undefined => {
      const found = watchdogOf(rpc.pid);
      return found === first ? undefined : found;
    };
    await expect.poll(next, { timeout: 5_000, interval: 20 }).toBeDefined();
    rpc.kill("SIGKILL");
    await rpc.exited;
    await expectNobody({ rpc, lifeline, seconds });
  });

  onLinux("abort_bash", async () => {
    const { rpc, lifeline } = startWithLifeline();
    const seconds = ownSeconds();
    await growTrees(rpc, seconds);
    await rpc.call({ type: "abort_bash" });
    for (const index of TREES.keys()) {
      const answer = await rpc.waitFor(({ type, id }) => type === "response" && id === `t${index}`);
      expect(answer).toMatchObject({ success: true, data: { cancelled: true } });
    }
    await expectNobody({ rpc, lifeline, seconds, commands: TREES.length });
  });

  onLinux("an abort of the run", async () => {
    const seconds = ownSeconds();
    const { rpc, lifeline } = startWithLifeline({ script: [toolCall(seconds)] });
    await rpc.call({ type: "prompt", message: "go" });
    await rpc.waitFor(
      (frame) => String(at(frame, "partialResult", "content", 0, "text")).split("ready").length > TREES.length,
    );
    await rpc.call({ type: "abort" });
    await expectNobody({ rpc, lifeline, seconds, commands: TREES.length });
  });

  onLinux("the timeout of a tool call", async () => {
    const seconds = ownSeconds();
    const { rpc, lifeline } = startWithLifeline({ script: [toolCall(seconds, 2), 'text "too slow"'] });
    const { frames } = await rpc.prompt("go");
    const end = frames.find(({ type }) => type === "tool_execution_end");
    expect(at(end, "result", "content", 0, "text")).toContain("timed out");
    await expectNobody({ rpc, lifeline, seconds });
  });

  for (const [how, code, end] of [
    ["the end of stdin", 0, (rpc: RpcProcess) => rpc.closeStdin()],
    ["SIGTERM", 143, (rpc: RpcProcess) => rpc.kill("SIGTERM")],
    ["SIGHUP", 129, (rpc: RpcProcess) => rpc.kill("SIGHUP")],
    ["SIGKILL of the agent itself", null, (rpc: RpcProcess) => rpc.kill("SIGKILL")],
  ] as const) {
    onLinux(how, async () => {
      const { rpc, lifeline } = startWithLifeline();
      const seconds = ownSeconds();
      await growTrees(rpc, seconds);
      const watchdog = watchdogOf(rpc.pid);
      expect(watchdog).toBeDefined();
      end(rpc);
      expect((await rpc.waitExit()).code).toBe(code);
      await expectNobody({ rpc, lifeline, seconds, commands: TREES.length });
      await expect.poll(() => findProcesses("tiller-watchdog").map(({ pid }) => pid)).not.toContain(watchdog);
    });
  }
});

describe("background jobs of the model", () => {
  onLinux("end with the agent, also by SIGKILL", async () => {
    const seconds = ownSeconds();
    const command = `${commandsWith(seconds)
      .map((tree) => `(${tree}) &`)
      .join("\n")}\nwait`;
    const script = [`toolCall bash ${JSON.stringify({ command, async: true })}`, 'text "They grow."'];
    const { rpc, lifeline } = startWithLifeline({ args: ["--no-session", "--set", "async.enabled=true"], script });
    await rpc.call({ type: "prompt", message: "go" });
    await rpc.waitFor("prompt_result");
    await expect.poll(() => findProcesses(seconds).length, { timeout: 10_000 }).toBeGreaterThan(50);
    await expect.poll(lifeline.holders).toBe(TREES.length);
    rpc.kill("SIGKILL");
    await rpc.waitExit();
    await expectNobody({ rpc, lifeline, seconds, commands: TREES.length });
  });
});

describe("background children", () => {
  onLinux("of a command that ended by itself live on, and end with the agent", async () => {
    const { rpc, lifeline } = startWithLifeline();
    const seconds = ownSeconds();
    const command = `sleep ${seconds} >/dev/null 2>&1 & env -i sleep ${seconds} >/dev/null 2>&1 & echo started`;
    expect(await rpc.call({ type: "bash", command: holding(command) })).toMatchObject({
      data: { output: "started\n", exitCode: 0 },
    });
    expect(await rpc.call({ type: "bash", command: "true" })).toMatchObject({ data: { exitCode: 0 } });
    await expect.poll(() => findProcesses(seconds).length).toBe(2);
    rpc.kill("SIGKILL");
    await rpc.waitExit();
    await expectNobody({ rpc, lifeline, seconds });
  });
});

describe("the watchdog", () => {
  onLinux("comes with the first command, once, and holds nothing of ours open", async () => {
    const rpc = start();
    await rpc.call({ type: "get_state" });
    expect(watchdogOf(rpc.pid)).toBeUndefined();
    await rpc.call({ type: "bash", command: "true" });
    const watchdog = watchdogOf(rpc.pid);
    expect(watchdog).toBeDefined();
    await rpc.call({ type: "bash", command: "true" });
    expect(watchdogOf(rpc.pid)).toBe(watchdog);
    rpc.closeStdin();
    // The exit is seen only when stdout and stderr are closed by everybody.
    expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
    await expect.poll(() => findProcesses("tiller-watchdog").map(({ pid }) => pid)).not.toContain(watchdog);
  });

  onLinux("is replaced when somebody ends it", async () => {
    const { rpc, lifeline } = startWithLifeline();
    await rpc.call({ type: "bash", command: "true" });
    const first = watchdogOf(rpc.pid);
    if (first === undefined) throw new Error("there is no watchdog");
    process.kill(first, "SIGKILL");
    // At once while that command is still watched, else with the next one.
    await expect.poll(() => watchdogOf(rpc.pid)).not.toBe(first);
    const seconds = ownSeconds();
    rpc.send({ id: "1", type: "bash", command: holding(`echo ready; sleep ${seconds}`) });
    await rpc.waitFor("bash_execution_update");
    await expect.poll(() => watchdogOf(rpc.pid)).toBeDefined();
    rpc.kill("SIGKILL");
    await rpc.waitExit();
    await expectNobody({ rpc, lifeline, seconds });
  });
});
