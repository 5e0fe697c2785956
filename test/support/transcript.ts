import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brief, type Frame } from "./frame.ts";
import { RpcProcess, repoRoot } from "./rpc-process.ts";
import {
  blockDifference,
  difference,
  expandPlaces,
  isProgress,
  namedTexts,
  normalise,
  type Places,
  record,
  streamedBlock,
} from "./transcript-match.ts";
import type { Item, Step, Transcript } from "./transcript-parse.ts";

/** Plays a transcript against the real program. The format is described in transcript-parse.ts. */

export interface PlayOptions {
  /** Write down what comes where the expectation does not hold, instead of failing. */
  update?: boolean;
  cli?: string;
  timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 8_000;
/** While recording: so long without a frame means that nothing more comes by itself. */
const QUIET_MS = 500;

/** Where the extensions lie that stories load. */
const EXTENSIONS = join(repoRoot, "test/fixtures/extensions");

type Expect = Extract<Step, { kind: "expect" }>;

class Mismatch extends Error {}

/** Resolves to the lines of the file, rewritten if asked for. */
export async function playTranscript(transcript: Transcript, options: PlayOptions = {}): Promise<string[]> {
  const player = new Player(transcript, options);
  try {
    return await player.play();
  } catch (error) {
    await player.abandon();
    throw error;
  }
}

class Player {
  private readonly transcript: Transcript;
  private readonly options: PlayOptions;
  private readonly rpc: RpcProcess;
  private places: Places;
  /** Recorded lines by the line they replace. */
  private readonly rewritten = new Map<number, { lines: number; with: string[] }>();
  private cursor = 0;
  /** When the current item must have been found; an endless answer would be passed over for ever. */
  private deadline = 0;
  private skipping = false;
  private isClosed = false;

  constructor(transcript: Transcript, options: PlayOptions) {
    this.transcript = transcript;
    this.options = options;
    const { env, files, agentFiles, extensions, model } = transcript;
    const args = [...extensions.flatMap((path) => ["-e", join(EXTENSIONS, path)]), ...transcript.args];
    const script = model.length > 0 ? model : undefined;
    // An extension may start a run by itself.
    const check = { runsWithoutPrompt: extensions.length > 0, ...transcript.check };
    const cli = options.cli ? { cli: options.cli } : {};
    this.rpc = new RpcProcess({ args, env, files, agentFiles, script, check, ...cli });
    const { cwd, agentDir, home } = this.rpc.sandbox;
    this.places = { cwd, agent: agentDir, home, extensions: EXTENSIONS };
  }

  async play(): Promise<string[]> {
    for (const step of this.transcript.steps) await this.step(step);
    if (!this.isClosed) this.rpc.closeStdin();
    const { code, signal } = await this.rpc.waitExit();
    this.checkRest();
    this.checkOutcome("exit", String(this.transcript.exit ?? 0), String(code ?? signal));
    if (this.transcript.file) this.checkOutcome("file", kinds(this.transcript.file), kinds(this.sessionEntries()));
    await this.rpc.dispose();
    return this.result();
  }

  /** After a failure: ends the process without further complaints, the first one is the interesting one. */
  async abandon(): Promise<void> {
    this.rpc.kill("SIGKILL");
    await this.rpc.dispose().catch(() => undefined);
  }

  private async step(step: Step): Promise<void> {
    if (step.kind === "send") this.rpc.send(`${expandPlaces(step.text, this.places)}\n`);
    if (step.kind === "signal") this.rpc.kill(step.signal);
    if (step.kind === "eof") {
      this.rpc.closeStdin();
      this.isClosed = true;
    }
    if (step.kind === "expect") await this.expect(step);
  }

  private async expect(step: Expect): Promise<void> {
    const begin = this.cursor;
    try {
      if (step.items.length === 0) throw new Mismatch(`nothing is expected here; record it with UPDATE_TRANSCRIPTS=1`);
      for (const { item, line } of step.items) await this.match(item, line);
    } catch (error) {
      if (!this.options.update || !(error instanceof Mismatch)) throw error;
      await this.quiet();
      this.rewritten.set(step.line, { lines: step.lines, with: record(this.rpc.frames.slice(begin), this.places) });
      this.cursor = this.rpc.frames.length;
      this.skipping = false;
    }
  }

  private async match(item: Item, line: number): Promise<void> {
    if (item.kind === "skip") {
      this.skipping = true;
      return;
    }
    this.deadline = Date.now() + (this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    for (;;) {
      const frame = await this.frameAt(this.cursor, item, line);
      const problem = item.kind === "block" ? await this.blockProblem(item, line) : this.frameProblem(item, frame);
      if (problem === undefined) {
        // First: a path may hold a folder that has a name too.
        if (item.kind === "frame") this.places = { ...namedTexts(item.partial, frame), ...this.places };
        break;
      }
      const mayPass = this.skipping || isProgress(frame) || (this.cursor === 0 && frame.type === "ready");
      if (!mayPass) throw this.mismatch(line, item.source, problem);
      this.cursor += 1;
    }
    this.cursor += item.kind === "block" ? (streamedBlock(this.rpc.frames, this.cursor)?.length ?? 1) : 1;
    this.skipping = false;
  }

  private frameProblem(item: Extract<Item, { kind: "frame" }>, frame: Frame): string | undefined {
    return difference(normalise(item.partial, this.places), normalise(frame, this.places));
  }

  private async blockProblem(item: Extract<Item, { kind: "block" }>, line: number): Promise<string | undefined> {
    const type = String((this.rpc.frames[this.cursor]?.assistantMessageEvent as Frame | undefined)?.type);
    if (!/^(text|thinking|toolcall)_start$/.test(type)) return "no block begins here";
    for (let last = this.cursor; ; last++) {
      const block = streamedBlock(this.rpc.frames, this.cursor);
      const problem = block && blockDifference(item, block, this.places);
      // A block of the right kind must also say the right thing: passing over it would hide the difference.
      if (problem && block?.kind === item.block && !this.skipping) throw this.mismatch(line, item.source, problem);
      if (block) return problem;
      if ((await this.frameAt(last, item, line)).type === "message_end") return "the block has no end";
    }
  }

  private async frameAt(index: number, item: Exclude<Item, { kind: "skip" }>, line: number): Promise<Frame> {
    const timeoutMs = this.deadline - Date.now();
    try {
      if (timeoutMs < 0) throw new Error("too late");
      return await this.rpc.waitFor(() => true, {
        since: index,
        timeoutMs: this.options.update ? QUIET_MS : timeoutMs,
      });
    } catch {
      throw this.mismatch(line, item.source, "no frame came that fits");
    }
  }

  /** Until no frame has come for a while. */
  private async quiet(): Promise<void> {
    for (let before = -1; before !== this.rpc.frames.length; ) {
      before = this.rpc.frames.length;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    }
  }

  private checkRest(): void {
    if (this.skipping) return;
    const rest = this.rpc.frames.slice(this.cursor).filter((frame) => !isProgress(frame) && frame.type !== "ready");
    if (rest.length === 0) return;
    this.cursor = this.rpc.frames.indexOf(rest[0] as Frame);
    const end = this.transcript.source.length;
    if (!this.options.update) {
      throw this.mismatch(end, "the end of the story", `more frames came; "<  …" as last line ignores them`);
    }
    this.append(record(rest, this.places));
  }

  /** Adds recorded lines after the last step of the story. */
  private append(recorded: string[]): void {
    const last = this.transcript.steps.at(-1);
    const line = last?.line ?? this.transcript.source.length;
    const lines = last?.kind === "expect" ? last.lines : 1;
    const before = this.rewritten.get(line)?.with ?? this.transcript.source.slice(line - 1, line - 1 + lines);
    this.rewritten.set(line, { lines, with: [...before, ...recorded] });
  }

  private checkOutcome(word: "exit" | "file", expected: string, actual: string): void {
    if (expected === actual) return;
    const line = this.transcript.source.findIndex((text) => text.startsWith(`${word} `)) + 1;
    if (this.options.update && line > 0) this.rewritten.set(line, { lines: 1, with: [`${word} ${actual}`] });
    else throw this.mismatch(line, `${word} ${expected}`, `it is ${actual}`);
  }

  private sessionEntries(): string[] {
    const folder = join(this.rpc.sandbox.agentDir, "sessions");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".jsonl"));
    return files.flatMap((path) => {
      const lines = readFileSync(join(folder, path), "utf8").trimEnd().split("\n").slice(1);
      return lines.map((line) => {
        const entry = JSON.parse(line);
        return entry.type === "message" ? entry.message.role : entry.type;
      });
    });
  }

  private mismatch(line: number, expected: string, problem: string): Mismatch {
    const around = this.rpc.frames.slice(Math.max(0, this.cursor - 4), this.cursor + 6);
    const frames = around.map((frame) => {
      const mark = frame === this.rpc.frames[this.cursor] ? "→" : " ";
      return `  ${mark} ${brief(normalise(frame, this.places), 160)}`;
    });
    const where = `${this.transcript.name}:${line}`;
    const stderr = this.rpc.stderr === "" ? [] : [`stderr: ${this.rpc.stderr.slice(-1000)}`];
    return new Mismatch([`${where}: ${problem}`, `expected: ${expected}`, "frames:", ...frames, ...stderr].join("\n"));
  }

  private result(): string[] {
    const lines: string[] = [];
    for (let number = 1; number <= this.transcript.source.length; number++) {
      const change = this.rewritten.get(number);
      lines.push(...(change?.with ?? [this.transcript.source[number - 1] as string]));
      number += (change?.lines ?? 1) - 1;
    }
    return lines;
  }
}

function kinds(entries: readonly string[]): string {
  return entries.length === 0 ? "none" : entries.join(", ");
}
