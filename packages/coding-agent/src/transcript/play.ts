import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import { sleep } from "../lib/clock.ts";
import { brief, type Frame } from "./frame.ts";
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
} from "./match.ts";
import type { Item, Step, StoryChecks, Transcript } from "./parse.ts";
import type { Sandbox } from "./sandbox.ts";

/** Plays a transcript against a program. The format is described in parse.ts. */

/** The program, started in a sandbox of its own. */
export interface StoryAgent {
  readonly sandbox: Pick<Sandbox, "cwd" | "agentDir" | "home">;
  readonly frames: readonly Frame[];
  readonly stderr: string;
  /** What is wrong with the program itself: it cannot be started, or prints something else than frames. */
  readonly problem?: string;
  /** Goes out as it is. */
  send(text: string): void;
  kill(signal: NodeJS.Signals): void;
  closeStdin(): void;
  /** The frame with this number, from 0; rejects when it does not come in time. */
  frame(index: number, timeoutMs: number): Promise<Frame>;
  waitExit(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Ends it if it still runs. Rejects when something was wrong with it. */
  dispose(): Promise<void>;
}

/** What a story says about the start of the program. */
export interface StorySetting {
  args: string[];
  env: Record<string, string>;
  files: Record<string, string>;
  agentFiles: Record<string, string>;
  /** Undefined when the story has no `model` lines. */
  script: readonly string[] | undefined;
  check: StoryChecks;
}

export interface PlayOptions {
  start(setting: StorySetting): StoryAgent;
  clock: Clock;
  /** Where the extensions lie that stories load. */
  extensionsFolder: string;
  /** Write down what comes where the expectation does not hold, instead of failing. */
  update?: boolean;
  timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 8_000;
/** While recording: so long without a frame means that nothing more comes by itself. */
const QUIET_MS = 500;

type Expect = Extract<Step, { kind: "expect" }>;

class Mismatch extends Error {}

/** Resolves to the lines of the file, rewritten if asked for. */
export async function playTranscript(transcript: Transcript, options: PlayOptions): Promise<string[]> {
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
  private readonly agent: StoryAgent;
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
    const { extensionsFolder } = options;
    this.agent = options.start({
      args: [...extensions.flatMap((path) => ["-e", join(extensionsFolder, path)]), ...transcript.args],
      env,
      files,
      agentFiles,
      script: model.length > 0 ? model : undefined,
      // An extension may start a run by itself.
      check: { runsWithoutPrompt: extensions.length > 0, ...transcript.check },
    });
    const { cwd, agentDir, home } = this.agent.sandbox;
    this.places = { cwd, agent: agentDir, home, extensions: extensionsFolder };
  }

  async play(): Promise<string[]> {
    for (const step of this.transcript.steps) await this.step(step);
    if (!this.isClosed) this.agent.closeStdin();
    const { code, signal } = await this.agent.waitExit();
    this.checkRest();
    this.checkOutcome("exit", String(this.transcript.exit ?? 0), String(code ?? signal));
    if (this.transcript.file) this.checkOutcome("file", kinds(this.transcript.file), kinds(this.sessionEntries()));
    await this.agent.dispose();
    return this.result();
  }

  /** After a failure: ends the process without further complaints, the first one is the interesting one. */
  async abandon(): Promise<void> {
    this.agent.kill("SIGKILL");
    await this.agent.dispose().catch(() => undefined);
  }

  private async step(step: Step): Promise<void> {
    if (step.kind === "send") this.agent.send(`${expandPlaces(step.text, this.places)}\n`);
    if (step.kind === "signal") this.agent.kill(step.signal);
    if (step.kind === "eof") {
      this.agent.closeStdin();
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
      this.rewritten.set(step.line, { lines: step.lines, with: record(this.agent.frames.slice(begin), this.places) });
      this.cursor = this.agent.frames.length;
      this.skipping = false;
    }
  }

  private async match(item: Item, line: number): Promise<void> {
    if (item.kind === "skip") {
      this.skipping = true;
      return;
    }
    this.deadline = this.options.clock.now() + (this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
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
    this.cursor += item.kind === "block" ? (streamedBlock(this.agent.frames, this.cursor)?.length ?? 1) : 1;
    this.skipping = false;
  }

  private frameProblem(item: Extract<Item, { kind: "frame" }>, frame: Frame): string | undefined {
    return difference(normalise(item.partial, this.places), normalise(frame, this.places));
  }

  private async blockProblem(item: Extract<Item, { kind: "block" }>, line: number): Promise<string | undefined> {
    const type = String((this.agent.frames[this.cursor]?.assistantMessageEvent as Frame | undefined)?.type);
    if (!/^(text|thinking|toolcall)_start$/.test(type)) return "no block begins here";
    for (let last = this.cursor; ; last++) {
      const block = streamedBlock(this.agent.frames, this.cursor);
      const problem = block && blockDifference(item, block, this.places);
      // A block of the right kind must also say the right thing: passing over it would hide the difference.
      if (problem && block?.kind === item.block && !this.skipping) throw this.mismatch(line, item.source, problem);
      if (block) return problem;
      if ((await this.frameAt(last, item, line)).type === "message_end") return "the block has no end";
    }
  }

  private async frameAt(index: number, item: Exclude<Item, { kind: "skip" }>, line: number): Promise<Frame> {
    const timeoutMs = this.deadline - this.options.clock.now();
    try {
      if (timeoutMs < 0) throw new Error("too late");
      return await this.agent.frame(index, this.options.update ? QUIET_MS : timeoutMs);
    } catch {
      throw this.mismatch(line, item.source, "no frame came that fits");
    }
  }

  /** Until no frame has come for a while. */
  private async quiet(): Promise<void> {
    for (let before = -1; before !== this.agent.frames.length; ) {
      before = this.agent.frames.length;
      await sleep(this.options.clock, QUIET_MS);
    }
  }

  private checkRest(): void {
    if (this.skipping) return;
    const rest = this.agent.frames.slice(this.cursor).filter((frame) => !isProgress(frame) && frame.type !== "ready");
    if (rest.length === 0) return;
    this.cursor = this.agent.frames.indexOf(rest[0] as Frame);
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
    const folder = join(this.agent.sandbox.agentDir, "sessions");
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
    const around = this.agent.frames.slice(Math.max(0, this.cursor - 4), this.cursor + 6);
    const frames = around.map((frame) => {
      const mark = frame === this.agent.frames[this.cursor] ? "→" : " ";
      return `  ${mark} ${brief(normalise(frame, this.places), 160)}`;
    });
    const where = `${this.transcript.name}:${line}`;
    const stderr = this.agent.stderr === "" ? [] : [`stderr: ${this.agent.stderr.slice(-1000)}`];
    const wrong = this.agent.problem === undefined ? [] : [this.agent.problem];
    const lines = [`${where}: ${problem}`, ...wrong, `expected: ${expected}`, "frames:", ...frames, ...stderr];
    return new Mismatch(lines.join("\n"));
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
