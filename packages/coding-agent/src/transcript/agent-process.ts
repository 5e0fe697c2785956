import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { parseScriptLine } from "@tiller/ai/providers/script-notation";
import type { Clock } from "@tiller/protocol/clock";
import type { Env } from "../config/paths.ts";
import { sleep } from "../lib/clock.ts";
import { createLineSplitter } from "../lib/jsonl.ts";
import { brief, type Frame, isRecord } from "./frame.ts";
import type { StoryAgent, StorySetting } from "./play.ts";
import { createSandbox } from "./sandbox.ts";

/** Any agent that speaks the protocol on its standard streams, in a sandbox. */

export interface AgentCommand {
  file: string;
  /** Before `--mode rpc`. */
  args: readonly string[];
  /** It is not this program: where its configuration lies has another name. */
  isOther: boolean;
  /** The model of the story over HTTP, for those that do not know `--script`: the entry of it in the file of models. */
  provider?: Readonly<Record<string, unknown>>;
  machine: Env;
  clock: Clock;
}

type Exit = Awaited<ReturnType<StoryAgent["waitExit"]>>;

const EXIT_MS = 10_000;
const SHUTDOWN_MS = 5_000;
const LONGEST_LINE_BYTES = 256 * 1024 * 1024;
const SCRIPT_FILE = "model-script.json";
const MODELS_FILE = "models.json";
/** Of the model, too. */
const PROVIDER = "script";
/** So that others do not look for news of themselves at the start. */
const OTHERS = { PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1" };
const QUOTED_STDERR = 1000;
const KEPT_STDERR = 64 * 1024;
/** Whoever prints more of what is no frame does not mean to stop. */
const MOST_NOISE = 100;

export function startAgent(command: AgentCommand, setting: StorySetting): StoryAgent {
  const { file, args, isOther, provider, machine, clock } = command;
  const agentFiles = provider ? withProvider(setting, provider) : withScript(setting);
  const sandbox = createSandbox({ ...setting, machine, agentFiles });
  const script = setting.script ? ["--script", join(sandbox.agentDir, SCRIPT_FILE)] : [];
  const model = provider ? ["--provider", PROVIDER, "--model", PROVIDER] : script;
  const child = spawn(file, [...args, "--mode", "rpc", ...model, ...setting.args], {
    cwd: sandbox.cwd,
    env: { ...(isOther && { ...OTHERS, PI_CODING_AGENT_DIR: sandbox.agentDir }), ...sandbox.env },
  });
  const frames: Frame[] = [];
  const problems: string[] = [];
  let stderr = "";
  let exit: Exit | undefined;
  /** Looks again at every frame and at the end. */
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const look of [...waiting]) look();
  };
  readLines(child, {
    line: (text) => {
      if (problems.length >= MOST_NOISE) return;
      const frame = frameIn(text);
      if (typeof frame === "string") problems.push(frame);
      else frames.push(frame);
      if (problems.length >= MOST_NOISE) giveUp(child);
      wake();
    },
    complain: (text) => {
      stderr = (stderr + text).slice(-KEPT_STDERR);
    },
    ended: (how, failure) => {
      exit ??= how;
      if (failure) problems.push(`${file} cannot be started: ${failure}`);
      wake();
    },
  });
  const until = <T>(find: () => T | undefined, timeoutMs: number, what: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const settle = (action: () => void): void => {
        cancel();
        waiting.delete(look);
        action();
      };
      const fail = (why: string): void => settle(() => reject(new Error([why, ...problems].join("\n"))));
      const look = (): void => {
        const found = find();
        if (found !== undefined) settle(() => resolve(found));
        else if (exit) fail(`the process ended with ${exit.code ?? exit.signal}`);
      };
      const cancel = clock.after(timeoutMs, () => fail(`${timeoutMs} ms passed while waiting for ${what}`));
      waiting.add(look);
      look();
    });

  return {
    sandbox,
    frames,
    get stderr() {
      return stderr;
    },
    get problem() {
      return problems[0];
    },
    send: (text) => void child.stdin.write(text),
    kill: (signal) => void child.kill(signal),
    closeStdin: () => void child.stdin.end(),
    frame: (index, timeoutMs) => until(() => frames[index], timeoutMs, "a frame"),
    waitExit: () => until(() => exit, EXIT_MS, "the exit of the process"),
    async dispose() {
      child.stdin.end();
      await until(() => exit, SHUTDOWN_MS, "the end").catch(() => problems.push("it still ran after stdin was closed"));
      child.kill("SIGKILL");
      // What it has started goes with it.
      for (const { pid } of sandbox.processes()) killQuietly(pid);
      await sleep(clock, 0);
      sandbox.remove();
      if (problems.length > 0) throw new Error(`${problems[0]}\nstderr: ${stderr.slice(-QUOTED_STDERR)}`);
    },
  };
}

/** What it has started may hold the pipe open, and goes on printing. */
function giveUp(child: ChildProcessWithoutNullStreams): void {
  child.stdout.destroy();
  child.kill("SIGKILL");
}

interface Hearing {
  line(text: string): void;
  complain(text: string): void;
  ended(exit: Exit, failure?: string): void;
}

function readLines(child: ChildProcessWithoutNullStreams, hearing: Hearing): void {
  const splitter = createLineSplitter({
    maxBytes: LONGEST_LINE_BYTES,
    onLine: hearing.line,
    onTooLong: () => hearing.complain(`a line of more than ${LONGEST_LINE_BYTES} bytes\n`),
  });
  child.stdout.on("data", (chunk: Buffer) => splitter.push(chunk));
  child.stderr.setEncoding("utf8").on("data", hearing.complain);
  // Who is already gone cannot be written to; its exit code says more than EPIPE would.
  child.stdin.on("error", () => undefined);
  child.on("error", (error) => hearing.ended({ code: null, signal: null }, error.message));
  child.on("close", (code, signal) => hearing.ended({ code, signal }));
}

/** Or what is wrong with the line. */
function frameIn(text: string): Frame | string {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? (value as Frame) : `a line on stdout is no object: ${brief(text)}`;
  } catch {
    return `a line on stdout is no JSON: ${brief(text)}`;
  }
}

function withScript({ agentFiles, script }: StorySetting): Record<string, string> {
  if (script === undefined) return agentFiles;
  return { ...agentFiles, [SCRIPT_FILE]: JSON.stringify({ turns: script.map(parseScriptLine) }) };
}

/** Beside the providers that the story has itself. */
function withProvider(
  { agentFiles }: StorySetting,
  provider: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const known: unknown = JSON.parse(agentFiles[MODELS_FILE] ?? "{}");
  const file = isRecord(known) ? known : {};
  const providers = { ...(isRecord(file.providers) && file.providers), [PROVIDER]: provider };
  return { ...agentFiles, [MODELS_FILE]: JSON.stringify({ ...file, providers }) };
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already, which is what was wanted.
  }
}
