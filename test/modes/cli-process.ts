import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseScriptLine } from "@tiller/ai/providers/script-notation";
import { afterEach } from "vitest";
import type { Frame } from "../support/frame.ts";
import { cliPath } from "../support/rpc-process.ts";
import { createSandbox, type Sandbox, type SandboxOptions } from "../support/sandbox.ts";

/** The real program as a person or a shell script starts it: arguments, text on stdin, text on stdout, an exit code. */

export interface CliOptions extends SandboxOptions {
  args: string[];
  /** What the script model says, one answer an item. */
  script?: readonly string[];
  /** Written to stdin, which is then closed. Undefined: it stays open. */
  stdin?: string | Uint8Array;
  /** A place that was used before, so that its sessions are there. */
  sandbox?: Sandbox;
}

export interface CliEnd {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningCli {
  child: ChildProcessWithoutNullStreams;
  sandbox: Sandbox;
  /** Resolves when the text has come. */
  seen(stream: "stdout" | "stderr", text: string): Promise<void>;
  ended: Promise<CliEnd>;
}

const SCRIPT_FILE = "model-script.json";

/** Each test ends what it has started. */
export function useCli(): (options: CliOptions) => RunningCli {
  const running: RunningCli[] = [];
  const sandboxes = new Set<Sandbox>();
  afterEach(async () => {
    for (const { child } of running) child.kill("SIGKILL");
    await Promise.all(running.map(({ ended }) => ended));
    for (const sandbox of sandboxes) sandbox.remove();
    running.length = 0;
    sandboxes.clear();
  });
  return (options) => {
    const script = { turns: (options.script ?? []).map(parseScriptLine) };
    const agentFiles = { ...options.agentFiles, ...(options.script && { [SCRIPT_FILE]: JSON.stringify(script) }) };
    const sandbox = options.sandbox ?? createSandbox({ ...options, agentFiles });
    sandboxes.add(sandbox);
    const cli = start(options, sandbox);
    running.push(cli);
    return cli;
  };
}

function start({ args, script, stdin }: CliOptions, sandbox: Sandbox): RunningCli {
  const scripted = script === undefined ? [] : ["--script", join(sandbox.agentDir, SCRIPT_FILE)];
  const child = spawn(process.execPath, [cliPath(), ...scripted, ...args], { cwd: sandbox.cwd, env: sandbox.env });
  const texts = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
      for (const look of waiting) look();
    });
  }
  child.stdin.on("error", () => undefined);
  if (stdin !== undefined) child.stdin.end(stdin);
  const ended = new Promise<CliEnd>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...texts }));
  });
  const seen = (stream: "stdout" | "stderr", text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!texts[stream].includes(text)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { child, sandbox, seen, ended };
}

/** Every line of stdout as what it says. */
export function linesOf({ stdout }: CliEnd): Frame[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Frame);
}

export function sessionFiles({ agentDir }: Sandbox): string[] {
  const paths = readdirSync(agentDir, { recursive: true, encoding: "utf8" });
  return paths.filter((path) => path.endsWith(".jsonl")).map((path) => join(agentDir, path));
}
