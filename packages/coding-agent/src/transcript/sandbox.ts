import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Env } from "../config/paths.ts";
import { randomHex } from "../lib/clock.ts";

/** A place of its own for one process: home, configuration and working folder are empty, and no key is in the environment. */
export interface Sandbox {
  root: string;
  home: string;
  agentDir: string;
  cwd: string;
  env: Record<string, string>;
  /** Processes that carry this sandbox's mark, whoever started them. Linux only, elsewhere always empty. */
  processes(): { pid: number; command: string }[];
  remove(): void;
}

export interface SandboxOptions {
  /** Of this machine; what a process needs of it is handed on. */
  machine: Env;
  env?: Record<string, string | undefined>;
  /** Files in the working folder: path and content. */
  files?: Record<string, string | Uint8Array>;
  /** Files in the configuration folder, for example settings.json or models.json. */
  agentFiles?: Record<string, string>;
}

/** What a process needs from the machine; everything else (keys, proxies, the user's settings) stays outside. */
const INHERITED = ["PATH", "LANG", "SystemRoot", "ComSpec"];
const MARK = "TILLER_TEST_MARK";

function writeFiles(folder: string, files: Record<string, string | Uint8Array>): void {
  for (const [path, content] of Object.entries(files)) {
    const full = join(folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
  }
}

function environment(root: string, mark: string, { machine, env: extra }: SandboxOptions): Record<string, string> {
  const env: Record<string, string | undefined> = {
    ...Object.fromEntries(INHERITED.map((name) => [name, machine[name]])),
    HOME: join(root, "home"),
    TILLER_DIR: join(root, "agent"),
    // What it leaves there goes with the sandbox, also when it is killed.
    TMPDIR: join(root, "tmp"),
    [MARK]: mark,
    ...extra,
  };
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** The text of a file in /proc; empty when the process is gone or not ours. */
function procText(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

function markedProcesses(mark: string): { pid: number; command: string }[] {
  if (!existsSync("/proc/self/environ")) return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => procText(pid, "environ").includes(`${MARK}=${mark}`))
    .map((pid) => ({ pid: Number(pid), command: procText(pid, "cmdline").replaceAll("\0", " ").trim() }));
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tiller-test-")));
  const mark = randomHex(32);
  const sandbox = { root, home: join(root, "home"), agentDir: join(root, "agent"), cwd: join(root, "cwd") };
  for (const folder of [sandbox.home, sandbox.agentDir, sandbox.cwd, join(root, "tmp")]) mkdirSync(folder);
  writeFiles(sandbox.cwd, options.files ?? {});
  writeFiles(sandbox.agentDir, options.agentFiles ?? {});
  return {
    ...sandbox,
    env: environment(root, mark, options),
    processes: () => markedProcesses(mark),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
