import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { at } from "../support/frame.ts";
import { say, startMockLlm, useTool } from "../support/mock-llm.ts";
import { cliPath, repoRoot } from "../support/rpc-process.ts";
import { createSandbox } from "../support/sandbox.ts";
import { type HostTool, SmallHost } from "./small-host.ts";

/** The short story of a host that is asked. The long one, with many crashes, is in crashing-host.test.ts. */

const parameters = { type: "object", properties: { at: { type: "string" } } };
const lent = (description: string, answer: string): HostTool => ({ description, parameters, run: async () => answer });
const TOOLS = {
  depth: lent("Sounds the depth", "7 fathoms"),
  pilot: lent("Calls a pilot", "on his way"),
  flags: lent("Shows flags", "shown"),
};
const PLAN = [{ id: "p", name: "Voyage", tasks: [{ id: "t1", content: "Leave the harbour", status: "in_progress" }] }];
const BASE = ["--model", "mock/mock-1", "--thinking", "off", "--set", "retry.enabled=false", "--mode", "rpc-ui"];

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function setUp() {
  const llm = await startMockLlm();
  cleanUps.push(() => llm.close());
  const sandbox = createSandbox({ agentFiles: { "models.json": llm.modelsJson() } });
  cleanUps.push(() => sandbox.remove());
  return { llm, sandbox };
}

it("lends three tools, seeds the plan, answers what it is asked, late and not at all, and dies; nothing runs that nobody approved", async () => {
  const { llm, sandbox } = await setUp();
  const questions: string[] = [];
  let answers: (string | undefined)[] = [];
  const start = (...more: string[]): SmallHost => {
    const host = new SmallHost({
      program: cliPath(),
      args: [...BASE, ...more],
      cwd: sandbox.cwd,
      env: sandbox.env,
      tools: TOOLS,
      delay: () => (questions.length * 7) % 20,
      approve(question) {
        questions.push(question);
        return answers.shift();
      },
    });
    cleanUps.push(() => host.kill());
    return host;
  };
  const results = (host: SmallHost): unknown[] =>
    host.frames
      .filter(({ type }) => type === "tool_execution_end")
      .map((frame) => [frame.toolName, frame.isError, String(at(frame, "result", "content", 0, "text")).slice(0, 12)]);

  let host = start();
  await host.begin(PLAN);
  llm.reply(
    {
      steps: [
        { type: "toolUse", name: "depth", input: { at: "the bar" } },
        { type: "toolUse", name: "pilot", input: {} },
        { type: "toolUse", name: "flags", input: {} },
      ],
    },
    useTool("depth", { at: "the buoy" }),
    say("Clear."),
  );
  answers = ["Always approve", "Deny", "Approve"];
  expect(await host.prompt("leg 1")).toMatchObject({ status: "completed" });
  expect(questions).toEqual([
    'Allow tool: depth\nArguments: {"at":"the bar"}',
    "Allow tool: pilot",
    "Allow tool: flags",
  ]);
  expect(results(host).toSorted()).toEqual([
    ["depth", false, "7 fathoms"],
    ["depth", false, "7 fathoms"],
    ["flags", false, "shown"],
    ["pilot", true, 'Tool "pilot"'],
  ]);

  // It thinks about it, and drops dead meanwhile.
  llm.reply(useTool("bash", { command: "touch ran" }));
  const running = host.prompt("leg 2").catch((error: Error) => error.message);
  await expect.poll(() => questions.length).toBe(4);
  host.crash();
  expect([await running, await host.exitCode]).toEqual(["the host has crashed", 0]);
  expect(existsSync(join(sandbox.cwd, "ran"))).toBe(false);

  // What was approved for good went with the process.
  host = start("--continue");
  expect(await host.begin(PLAN)).toEqual(PLAN);
  llm.reply(useTool("depth", { at: "home" }), say("Home."));
  answers = ["Approve"];
  expect(await host.prompt("leg 3")).toMatchObject({ status: "completed" });
  expect([questions.length, results(host)]).toEqual([5, [["depth", false, "7 fathoms"]]]);
  host.close();
  expect(await host.exitCode).toBe(0);
});

it("a host that is killed leaves nothing behind: not the agent, not the command that it approved", async () => {
  const { llm, sandbox } = await setUp();
  llm.reply(useTool("bash", { command: "echo $$ > pid; exec sleep 300" }));
  const script = join(repoRoot, "test/host/host-process.mjs");
  const host = spawn(process.execPath, [script, cliPath(), ...BASE], { cwd: sandbox.cwd, env: sandbox.env });
  cleanUps.push(() => host.kill("SIGKILL"));
  let said = "";
  host.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  const pidFile = join(sandbox.cwd, "pid");
  const sleeping = (): number => (existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8")) : 0);
  await expect.poll(sleeping, { timeout: 10_000 }).toBeGreaterThan(0);
  const pids = [Number(/^agent (\d+)/.exec(said)?.[1]), sleeping()];
  expect([said, pids.map(isAlive)]).toEqual([expect.stringContaining("Command: echo $$ > pid"), [true, true]]);
  host.kill("SIGKILL");
  await expect.poll(() => pids.map(isAlive), { timeout: 10_000 }).toEqual([false, false]);
});
