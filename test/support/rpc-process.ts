import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseScriptLine } from "@tiller/ai/providers/script-notation";
import { afterAll, afterEach } from "vitest";
import { brief, type Frame, isRecord } from "./frame.ts";
import { createSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";
import { StdoutCheck, type StdoutCheckOptions } from "./stdout-check.ts";

/** The real program over pipes, in a sandbox, with every frame checked. */

export const repoRoot = join(fileURLToPath(import.meta.url), "../../..");
export const cliPath = (): string => process.env.TILLER_CLI ?? join(repoRoot, "packages/coding-agent/dist/cli.js");

export interface RpcOptions extends SandboxOptions {
  /** After `--mode rpc`. */
  args?: string[];
  /** Instead of `--mode rpc`; for other modes and for runs that fail to start. */
  mode?: string[];
  /** What the script model says, one answer an item, in its one-line notation; the process gets `--script FILE`. */
  script?: readonly string[];
  cli?: string;
  check?: StdoutCheckOptions;
}

export interface WaitOptions {
  timeoutMs?: number;
  /** Look at frames from this index on; `mark()` gives the current one. */
  since?: number;
}

export type Wanted = string | ((frame: Frame) => boolean);

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const SHUTDOWN_TIMEOUT_MS = 5_000;
const SCRIPT_FILE = "model-script.json";

export class RpcProcess {
  readonly sandbox: Sandbox;
  readonly frames: Frame[] = [];
  readonly exited: Promise<Exit>;
  stderr = "";
  /** All bytes of stdout, for tests about the bytes themselves. */
  stdoutBytes = 0;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly check: StdoutCheck;
  private readonly waiting = new Set<() => void>();
  private exit: Exit | undefined;
  private lastId = 0;
  private wasKilled = false;
  private isDisposed = false;
  /** The test closed stdout, so that the end of the stream is not to be seen. */
  private isDeaf = false;

  constructor(options: RpcOptions = {}) {
    this.sandbox = createSandbox({ ...options, agentFiles: withScript(options) });
    this.check = new StdoutCheck(checkOptions(options));
    const script = options.script === undefined ? [] : ["--script", join(this.sandbox.agentDir, SCRIPT_FILE)];
    const args = [options.cli ?? cliPath(), ...(options.mode ?? ["--mode", "rpc"]), ...script, ...(options.args ?? [])];
    this.child = spawn(process.execPath, args, { cwd: this.sandbox.cwd, env: this.sandbox.env });
    this.child.stdout.on("data", (chunk: Buffer) => this.read(chunk));
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    // A process that is already gone cannot be written to; its exit code tells the test more than EPIPE would.
    this.child.stdin.on("error", () => undefined);
    this.exited = new Promise((resolve, reject) => {
      this.child.on("error", reject);
      this.child.on("close", (code, signal) => {
        this.exit = { code, signal };
        this.wake();
        resolve(this.exit);
      });
    });
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  /** An object becomes one line; a string or bytes go out exactly as they are. */
  send(what: object | string | Uint8Array): void {
    const isRaw = typeof what === "string" || what instanceof Uint8Array;
    const data = isRaw ? what : `${JSON.stringify(what)}\n`;
    for (const command of isRaw ? commandsIn(what) : [what]) this.check.grammar.sent(command as Frame);
    this.child.stdin.write(data);
  }

  /** The first frame, from `since` on, that is wanted: a type, or whatever the function says. */
  async waitFor(wanted: Wanted, options: WaitOptions = {}): Promise<Frame> {
    const matches = typeof wanted === "string" ? (frame: Frame) => frame.type === wanted : wanted;
    let next = options.since ?? 0;
    const find = (): Frame | undefined => {
      while (next < this.frames.length) {
        const frame = this.frames[next++] as Frame;
        if (matches(frame)) return frame;
      }
      return undefined;
    };
    return await this.until(find, options.timeoutMs ?? DEFAULT_TIMEOUT_MS, `a frame for which ${wanted} holds`);
  }

  frame(index: number, timeoutMs: number): Promise<Frame> {
    return this.waitFor(() => true, { since: index, timeoutMs });
  }

  /** For `since`: what comes from now on. */
  mark(): number {
    return this.frames.length;
  }

  /** Sends a command, with an id if it has none, and resolves to its first response. */
  async call(command: { type: string; id?: string } & Record<string, unknown>, timeoutMs?: number): Promise<Frame> {
    this.lastId += 1;
    const id = command.id ?? `call-${this.lastId}`;
    const since = this.mark();
    this.send({ id, ...command });
    return await this.waitFor((frame) => frame.type === "response" && frame.id === id, { since, timeoutMs });
  }

  /** Sends a prompt and waits until the session has settled; resolves to the prompt_result and all frames on the way. */
  async prompt(
    message: string,
    fields: Record<string, unknown> = {},
    timeoutMs?: number,
  ): Promise<{ response: Frame; result: Frame; frames: Frame[] }> {
    const since = this.mark();
    const response = await this.call({ type: "prompt", message, ...fields }, timeoutMs);
    if (response.success !== true) throw new Error(`the prompt was refused: ${brief(response)}`);
    const isOurs = (frame: Frame): boolean => frame.type === "prompt_result" && frame.id === response.id;
    const result = await this.waitFor(isOurs, { since, timeoutMs });
    await this.waitFor("session_settled", { since: this.frames.indexOf(result), timeoutMs });
    return { response, result, frames: this.frames.slice(since) };
  }

  /** The types of all frames so far (or from `since` on), the quickest way to see what happened. */
  types(since = 0): string[] {
    return this.frames.slice(since).map((frame) => String(frame.type));
  }

  closeStdin(): void {
    this.child.stdin.end();
  }

  /** Stops reading, as a host does that is busy with something else. */
  pauseReading(): void {
    this.child.stdout.pause();
  }

  resumeReading(): void {
    this.child.stdout.resume();
  }

  /** Closes our end of the program's stdout, as a host does that goes away. */
  closeStdout(): void {
    this.isDeaf = true;
    this.child.stdout.destroy();
  }

  /** The same, as soon as what was read ends in the middle of a frame. */
  async closeStdoutInFrame(): Promise<void> {
    // More may be read before who waited goes on.
    while (!this.check.isInFrame) {
      await this.until(() => this.check.isInFrame || undefined, DEFAULT_TIMEOUT_MS, "the middle of a frame");
    }
    this.closeStdout();
  }

  kill(signal: NodeJS.Signals): void {
    if (signal === "SIGKILL") this.wasKilled = true;
    this.child.kill(signal);
  }

  async waitExit(timeoutMs = DEFAULT_TIMEOUT_MS): Promise<Exit> {
    return await this.until(() => this.exit, timeoutMs, "the exit of the process");
  }

  /** Ends the process if it still runs, and throws when anything was wrong with it. Safe to call twice. */
  async dispose(shutdownMs = SHUTDOWN_TIMEOUT_MS): Promise<void> {
    if (this.isDisposed) return;
    this.isDisposed = true;
    const problems = [...(await this.shutDown(shutdownMs)), ...(await this.killLeftovers())];
    if (!this.wasKilled && !this.isDeaf) this.check.finish();
    this.sandbox.remove();
    problems.unshift(...this.check.problems);
    if (problems.length > 0) throw new Error(this.report(problems.slice(0, 5).join("\n")));
  }

  private async shutDown(timeoutMs: number): Promise<string[]> {
    if (this.exit) return [];
    this.resumeReading();
    this.closeStdin();
    try {
      const { code } = await this.waitExit(timeoutMs);
      return code === 0 || this.wasKilled ? [] : [`exit code ${code} after stdin was closed`];
    } catch {
      this.kill("SIGKILL");
      await this.exited;
      return [`still running ${timeoutMs} ms after stdin was closed`];
    }
  }

  /** Children of a killed program are its victims, those of a program that ended by itself are its mistake. */
  private async killLeftovers(): Promise<string[]> {
    let left = this.sandbox.processes();
    for (let attempt = 0; attempt < 20 && left.length > 0; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      left = this.sandbox.processes();
    }
    for (const { pid } of left) process.kill(pid, "SIGKILL");
    return this.wasKilled ? [] : left.map(({ pid, command }) => `left running: ${pid} ${command}`);
  }

  private read(chunk: Buffer): void {
    this.stdoutBytes += chunk.length;
    this.frames.push(...this.check.push(chunk));
    this.wake();
  }

  private wake(): void {
    for (const look of [...this.waiting]) look();
  }

  /** Resolves as soon as `find` finds something; looks again at every frame and at the exit. */
  private until<T>(find: () => T | undefined, timeoutMs: number, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (action: () => void): void => {
        clearTimeout(timer);
        this.waiting.delete(look);
        action();
      };
      const fail = (why: string): void =>
        settle(() => reject(new Error(this.report(`${why} while waiting for ${what}`))));
      const look = (): void => {
        const found = find();
        if (found !== undefined) settle(() => resolve(found));
        else if (this.exit) fail(`the process exited with ${this.exit.code ?? this.exit.signal}`);
      };
      const timer = setTimeout(() => fail(`${timeoutMs} ms passed`), timeoutMs);
      this.waiting.add(look);
      look();
    });
  }

  private report(headline: string): string {
    const last = this.frames.slice(-8).map((frame) => `  ${brief(frame)}`);
    const frames = `last of ${this.frames.length} frames:\n${last.join("\n")}`;
    const problems = this.check.problems.filter((problem) => !headline.includes(problem)).slice(0, 3);
    return [headline, ...problems, frames, `stderr:\n${this.stderr.slice(-2000)}`].join("\n");
  }
}

function withScript({ agentFiles, script }: RpcOptions): Record<string, string> {
  if (script === undefined) return { ...agentFiles };
  return { ...agentFiles, [SCRIPT_FILE]: JSON.stringify({ turns: script.map(parseScriptLine) }) };
}

/** The order of frames depends on the dialect, and a test that asks for one need not say it twice. */
function checkOptions({ args = [], check }: RpcOptions): StdoutCheckOptions {
  const dialect = args[args.indexOf("--dialect") + 1] as StdoutCheckOptions["dialect"];
  return args.includes("--dialect") ? { dialect, ...check } : { ...check };
}

/** The commands in raw input, as far as they can be recognised; the rest is what such a test is about. */
function commandsIn(raw: string | Uint8Array): object[] {
  const text = typeof raw === "string" ? raw : Buffer.from(raw).toString("utf8");
  return text.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return isRecord(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

/**
 * For the top of a test file: gives a function that starts a process; whatever was started is ended and checked after
 * each test.
 */
export function useRpc(defaults: RpcOptions = {}): (options?: RpcOptions) => RpcProcess {
  const started: RpcProcess[] = [];
  afterEach(async () => {
    const results = await Promise.allSettled(started.splice(0).map((rpc) => rpc.dispose()));
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
  });
  return (options = {}) => {
    const rpc = new RpcProcess({ ...defaults, ...options });
    started.push(rpc);
    return rpc;
  };
}

/**
 * For the top of a group of tests whose stories can follow each other in one process: gives a function that returns it. It
 * is started by the first who asks for it, and ended and checked behind the last test.
 */
export function useProcessForAll(options: RpcOptions = {}): () => RpcProcess {
  let rpc: RpcProcess | undefined;
  afterAll(async () => {
    await rpc?.dispose();
  });
  return () => {
    rpc ??= new RpcProcess(options);
    return rpc;
  };
}
