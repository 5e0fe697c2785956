import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { fail, type MockLlm, type Reply, say, startMockLlm } from "../support/mock-llm.ts";
import { cliPath, repoRoot } from "../support/rpc-process.ts";
import { createSandbox, type Sandbox, type SandboxOptions } from "../support/sandbox.ts";
import { proves } from "./proofs.ts";

/** The programs that the documents print, run as they stand: a link on the PATH is all that they get. */

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

interface Host {
  child: ChildProcessWithoutNullStreams;
  sandbox: Sandbox;
  output: { stdout: string; stderr: string };
  exit: Promise<number | null>;
}

/**
 * Starts a host program in a process group of its own, with our program on its PATH under the given name. `beside` lies next
 * to the working folder, not in it.
 */
function startHost(
  program: string[],
  linkName: string,
  { beside = {}, ...options }: SandboxOptions & { beside?: Record<string, string> } = {},
): Host {
  const sandbox = createSandbox(options);
  for (const [name, text] of Object.entries(beside)) writeFileSync(join(sandbox.root, name), text);
  const bin = join(sandbox.root, "bin");
  mkdirSync(bin);
  symlinkSync(cliPath(), join(bin, linkName));
  mkdirSync(join(sandbox.root, "node_modules"));
  symlinkSync(join(repoRoot, "packages/coding-agent"), join(sandbox.root, "node_modules/tiller"));
  const PATH = [bin, dirname(process.execPath), sandbox.env.PATH].join(delimiter);
  const [command = "", ...args] = program;
  const child = spawn(command, args, { cwd: sandbox.cwd, env: { ...sandbox.env, PATH }, detached: true });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  const exit = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  cleanup.push(() => endHost({ child, sandbox, output, exit }));
  return { child, sandbox, output, exit };
}

/** Ends the host, if it still runs. The agent notices by itself: its stdin closes. Nothing may be left. */
async function endHost({ child, sandbox, exit }: Host): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  await exit;
  const left = (): string[] => sandbox.processes().map(({ pid, command }) => `${pid} ${command}`);
  try {
    await expect.poll(left, { timeout: 5000 }).toEqual([]);
  } finally {
    for (const { pid } of sandbox.processes()) process.kill(pid, "SIGKILL");
    sandbox.remove();
  }
}

/** The programs name no model, so the user's configuration does. */
async function configured(...replies: Reply[]): Promise<{ llm: MockLlm; options: SandboxOptions }> {
  const llm = await startMockLlm();
  cleanup.push(() => llm.close());
  llm.reply(...replies);
  const settings = JSON.stringify({ defaultProvider: "mock", defaultModel: "mock-1" });
  return { llm, options: { agentFiles: { "models.json": llm.modelsJson(), "settings.json": settings } } };
}

describe("the README", () => {
  const readme = readFileSync(join(repoRoot, "README.md"), "utf8");
  const snippet = (name: string): string => {
    const found = new RegExp(`<!-- test: ${name} -->\\n\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
    if (found === undefined) throw new Error(`README.md has no snippet behind <!-- test: ${name} -->`);
    return found;
  };

  for (const [name, command, file] of [
    ["readme-python", "python3", "host.py"],
    ["readme-node", process.execPath, "host.mjs"],
    ["readme-client", process.execPath, "host.mjs"],
  ] as const) {
    it(`has a program that works: ${name}`, async () => {
      const files = { "treasure.txt": "gold" };
      const host = startHost([command, join("..", file)], "tiller", { files, beside: { [file]: snippet(name) } });
      expect(await host.exit).toBe(0);
      expect(host.output.stdout).toContain("treasure.txt");
      expect(host.output.stdout).toMatch(/^Listing `\.`\.\n.*\ncompleted\n$/s);
    });

    it(`has a program that says why a prompt has failed: ${name}`, async () => {
      const { options } = await configured(fail(400, "invalid_request_error", "no such model"));
      const host = startHost([command, join("..", file)], "tiller", { ...options, beside: { [file]: snippet(name) } });
      expect(await host.exit).toBe(0);
      expect(host.output.stdout).toMatch(/\n.*no such model.*\n$/);
    });
  }
});

describe("the examples of pi", () => {
  const fixture = (name: string): string => join(repoRoot, "test/conformance/fixtures", name);

  const ANSWER = "Hello from a model,\nin two lines.";

  proves("pi.example.python", "the Python program prints the answer and stops at agent_end", async () => {
    const { llm, options } = await configured(say(ANSWER, 5));
    const host = startHost(["python3", fixture("pi-example.py")], "pi", options);
    expect(await host.exit).toBe(0);
    expect(host.output).toEqual({ stdout: `${ANSWER}\n`, stderr: "" });
    expect(llm.requests).toHaveLength(1);
  });

  proves("pi.example.node", "the Node program prints the answer", async () => {
    const { llm, options } = await configured(say(ANSWER, 5));
    const host = startHost([process.execPath, fixture("pi-example.cjs")], "pi", options);
    await expect.poll(() => host.output.stdout, { timeout: 10_000 }).toBe(ANSWER);
    expect(llm.requests).toHaveLength(1);
    expect(host.output.stderr).toBe("");
  });

  /** Processes can be counted on Linux only. */
  const HOST_AND_AGENT = process.platform === "linux" ? 2 : 0;
  const unfinished: Reply = { steps: [{ type: "text", text: "Let me think" }, { type: "stall" }] };

  /** Waits for the first words, interrupts, and waits until the model was let go. */
  async function interrupt(signalTo: (pid: number) => number): Promise<Host> {
    const { llm, options } = await configured(unfinished);
    const host = startHost([process.execPath, fixture("pi-example.cjs")], "pi", options);
    await expect.poll(() => host.output.stdout, { timeout: 10_000 }).toBe("Let me think");
    expect(llm.requests[0]?.aborted).toBe(false);
    process.kill(signalTo(host.child.pid ?? 0), "SIGINT");
    await expect.poll(() => llm.requests[0]?.aborted, { timeout: 10_000 }).toBe(true);
    return host;
  }

  proves(
    "pi.example.node-abort",
    "Ctrl-C in a terminal, which both processes get, aborts the run and no more",
    async () => {
      const host = await interrupt((pid) => -pid);
      expect(host.sandbox.processes()).toHaveLength(HOST_AND_AGENT);
      expect([host.child.exitCode, host.child.signalCode]).toEqual([null, null]);
    },
  );

  proves("pi.example.node-abort", "a signal to the Node program alone becomes an abort command", async () => {
    const host = await interrupt((pid) => pid);
    expect(host.sandbox.processes()).toHaveLength(HOST_AND_AGENT);
  });
});
