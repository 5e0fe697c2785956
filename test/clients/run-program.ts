import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { cliPath } from "../support/rpc-process.ts";
import { createSandbox, type SandboxOptions } from "../support/sandbox.ts";

/** Runs a program of a host to its end, in an empty home, with `tiller` on its PATH. Nothing that it started may be left. */

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Processes that it has left behind, and that are ended now. */
  left: string[];
}

const TIMEOUT_MS = 60_000;

export async function runProgram(program: readonly string[], options: SandboxOptions = {}): Promise<Ended> {
  const sandbox = createSandbox(options);
  const bin = join(sandbox.root, "bin");
  mkdirSync(bin);
  symlinkSync(cliPath(), join(bin, "tiller"));
  const PATH = [bin, dirname(process.execPath), sandbox.env.PATH].join(delimiter);
  const [command = "", ...args] = program;
  const child = spawn(command, args, { cwd: sandbox.cwd, env: { ...sandbox.env, PATH }, timeout: TIMEOUT_MS });
  child.stdin.end();
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const processes = sandbox.processes();
  for (const { pid } of processes) process.kill(pid, "SIGKILL");
  sandbox.remove();
  return { code, ...output, left: processes.map((left) => left.command) };
}
