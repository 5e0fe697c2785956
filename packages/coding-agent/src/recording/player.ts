import { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import { ProviderError } from "@tiller/ai/errors";
import type { Clock } from "@tiller/protocol/clock";
import { type ActLine, bytesOf, type InputLine, isInput, type LogLine, toBuffer } from "./format.ts";
import { createFrameCheck } from "./frame-check.ts";
import { isHostEnd, isSameCommand, type LiveHost, recordedHostLines } from "./host-lines.ts";
import { createHop, createRounds } from "./rounds.ts";
import { createStandStill } from "./stand-still.ts";
import type { Tape, WorldCall } from "./tape.ts";

/**
 * Plays the world of a recording. An input is given to the program when everything that stands before it in the log has
 * happened, so that neither the speed of the machine nor that of the host has a part in it. See docs/decisions/0080.
 */

export interface PlayerOptions {
  log: readonly LogLine[];
  /** Its last line is the exit. */
  isComplete: boolean;
  startedAt: number;
  liveClock: Clock;
  /** Undefined: the recorded one. */
  host?: LiveHost;
  /** Everything that is written, for those who listen now. */
  onWrite?(chunk: string | Buffer): void;
  /** The first time that something is not as recorded. */
  onDifference(difference: string): void;
  /** What the world was asked for is not the same; the answer is given all the same. */
  onOtherCall(difference: string): void;
  redact(text: string): string;
}

export interface Player extends Tape {
  /** Begins to give inputs. */
  start(): void;
  /** The program has come to its end. */
  exit(code: number): void;
  /** Where it is in the log, from 1. */
  readonly line: number;
  readonly frames: number;
}

/** All that follows from one input within the same turn of the event loop is over after so many microtasks. */
const MICROTASKS = 1000;
/** Nothing but the program itself can go on while it is waited for; this long it takes only when it does something else. */
const STUCK_MS = 5000;
/** A host that wants to see more before it speaks than the recorded one did must get it in the end. */
const STAND_STILL_MS = 5000;
/** What is done at the same moment may come in another order: this far ahead it is looked for. */
const AHEAD = 60;

interface PendingCall {
  hear(value: unknown): void;
  resolve(value: unknown): void;
  reject(error: Error): void;
  unpackError(error: { message: string }): Error;
}

export function createPlayer(options: PlayerOptions): Player {
  const { log, startedAt, liveClock, host } = options;
  const hostLines = recordedHostLines(log);
  const frames = createFrameCheck(log, options.redact);
  const done = new Set<number>();
  const timers = new Map<number, { ms: number; fn(): void }>();
  const calls = new Map<number, PendingCall>();
  const writes = new Map<number, (error?: Error) => void>();
  const input = Object.assign(new EventEmitter(), { pause: () => undefined, resume: () => undefined });
  let at = 0;
  let now = startedAt;
  let hostLine = 0;
  let isGiving = false;
  let cancelStuck = (): void => undefined;
  /** The recording is left: what comes comes as it does. Since when. */
  let free: number | undefined;
  let isDifferent = false;
  const hop = createHop();
  let onRound = (): void => undefined;
  const rounds = createRounds(() => onRound());
  const turns = host && createStandStill();

  const differ = (text: string): void => {
    if (isDifferent) return;
    isDifferent = true;
    options.onDifference(text);
  };

  /** The line of the log that this act is, or undefined. */
  const find = (fits: (line: ActLine) => boolean): number | undefined => {
    for (let index = at; index < Math.min(log.length, free === undefined ? at + AHEAD : log.length); index++) {
      const line = log[index]!;
      if (!isInput(line) && !done.has(index) && fits(line)) return index;
    }
    return undefined;
  };
  const acted = (index: number | undefined, what: string): void => {
    rounds.mark(false);
    if (index !== undefined) done.add(index);
    else if (free === undefined) leave(`${expectedAt(at)}; got ${what}`);
    advance();
  };
  const expectedAt = (index: number): string => {
    const line = log[index];
    return `log.jsonl:${index + 1}: expected ${line ? brief(JSON.stringify(line)) : "the end of the recording"}`;
  };

  const advance = (): void => {
    cancelStuck();
    if (free !== undefined) return;
    while (at < log.length && done.has(at)) at += 1;
    const next = log[at];
    if (next === undefined) {
      if (!options.isComplete)
        leave(`line ${log.length} of the log: the recording is cut off there; until then it is identical`);
      return;
    }
    if (isInput(next)) void give(next);
    else cancelStuck = liveClock.after(STUCK_MS, () => leave(`${expectedAt(at)}; nothing happens`));
  };

  /** One input at a time. */
  const give = async (line: InputLine): Promise<void> => {
    if (isGiving) return;
    isGiving = true;
    await due(line);
    const chunk = await hostChunk(line);
    isGiving = false;
    if (free !== undefined) return;
    at += 1;
    now = startedAt + line.t;
    rounds.mark(true);
    // What follows from the last line of a recording that was cut off is not known.
    if (at === log.length) advance();
    dispatch(line, chunk);
    advance();
  };

  /** Resolves at the place in the event loop where the input came then. */
  const due = async (line: InputLine): Promise<void> => {
    if (line.same) {
      for (let step = 0; step < MICROTASKS; step++) await undefined;
      return;
    }
    await new Promise<void>((resolve) => {
      onRound = () => {
        if (rounds.passed >= line.rounds) resolve();
      };
      onRound();
    });
    onRound = () => undefined;
    await new Promise<void>(hop);
  };

  /** What the host says in this place: as recorded, or what the one that is there says when it has come to that. */
  const hostChunk = async (line: InputLine): Promise<Buffer> => {
    if (line.in !== "host" && !isHostEnd(line)) return toNothing;
    if (!host || !turns) return line.in === "host" ? toBuffer(line) : toNothing;
    turns.hold();
    const cancel = liveClock.after(STAND_STILL_MS, turns.goOn);
    const chunk = line.in === "host" ? await saidBy(host) : await endOf(host);
    cancel();
    turns.goOn();
    return chunk;
  };
  /** Undefined when it takes too long: a host that wants the answer to its first line before it says the second. */
  const soon = async <Value>(value: Promise<Value>): Promise<Value | undefined> => {
    let cancel = (): void => undefined;
    const late = new Promise<undefined>((resolve) => {
      cancel = liveClock.after(STAND_STILL_MS, () => resolve(undefined));
    });
    const first = await Promise.race([value, late]);
    cancel();
    return first;
  };
  const saidBy = async (host: LiveHost): Promise<Buffer> => {
    const expected = hostLines.get(at) ?? [];
    const got: string[] = [];
    for (const each of expected) {
      const taken = await (got.length === 0 ? host.take(1) : soon(host.take(1)));
      hostLine += 1;
      if (!taken) {
        const place = `line ${hostLine} of the host (log.jsonl:${at + 1})`;
        leave(`${place}: expected ${brief(each)} together with the line before it; nothing comes`, got);
        break;
      }
      const [line] = taken;
      const { same, sameId } =
        line === undefined ? { same: false, sameId: true } : isSameCommand(each, options.redact(line));
      if (!sameId) frames.stop();
      if (line !== undefined) got.push(line);
      if (same) continue;
      leave(
        `line ${hostLine} of the host (log.jsonl:${at + 1}): expected ${brief(each)}, got ${line === undefined ? "the end of its input" : brief(line)}`,
        got,
      );
      break;
    }
    return Buffer.from(got.map((each) => `${each}\n`).join(""));
  };
  const endOf = async (host: LiveHost): Promise<Buffer> => {
    const instead = await host.ended();
    if (instead !== undefined) {
      hostLine += 1;
      leave(
        `line ${hostLine} of the host (log.jsonl:${at + 1}): expected the end of its input, got ${brief(instead)}`,
        [instead],
      );
    }
    return toNothing;
  };

  const dispatch = (line: InputLine, chunk: Buffer): void => {
    if (line.in === "host") input.emit("data", chunk);
    else if (line.in === "host-end") input.emit("end");
    else if (line.in === "host-error") input.emit("error", new Error(line.message));
    else if (line.in === "signal") process.emit(line.signal);
    else if (line.in === "timer") fire(line.timer);
    else if (line.in === "written")
      written(line.write, line.error && Object.assign(new Error(line.error.message), line.error));
    else answer(line);
  };
  const fire = (number: number): void => {
    const timer = timers.get(number);
    timers.delete(number);
    if (timer) timer.fn();
    else differ(`log.jsonl:${at}: timer ${number} is over, and nobody waits for it`);
  };
  const written = (number: number, error?: Error): void => {
    const tell = writes.get(number);
    writes.delete(number);
    tell?.(error);
  };
  const answer = (line: InputLine & { call: number }): void => {
    const call = calls.get(line.call);
    if (line.in === "update") call?.hear(line.value);
    else if (line.in === "result") call?.resolve(line.value);
    else if (line.in === "threw") call?.reject(call.unpackError(line.error));
  };

  /** From here on the recording says only what the world answers, not when. */
  const leave = (text: string, hostSays: readonly string[] = []): void => {
    differ(text);
    if (free !== undefined || !host) return;
    free = liveClock.now();
    for (const line of hostSays) input.emit("data", Buffer.from(`${line}\n`));
    for (const { ms, fn } of timers.values()) liveClock.after(ms, fn);
    timers.clear();
    for (const number of [...writes.keys()]) written(number);
    for (const number of calls.keys()) playOut(number, at);
    host.freely(
      (line) => input.emit("data", Buffer.from(`${line}\n`)),
      () => input.emit("end"),
    );
  };
  /** Everything that the recording has for a call from a line on, one turn of the event loop each. */
  const playOut = (number: number, from: number): void => {
    const rest = log
      .slice(from)
      .filter((line): line is InputLine & { call: number } => isInput(line) && "call" in line && line.call === number);
    const next = (): void => {
      const line = rest.shift();
      if (!line) return;
      answer(line);
      setImmediate(next);
    };
    setImmediate(next);
  };

  return {
    get line() {
      return at + 1;
    },
    get frames() {
      return frames.count;
    },
    start: advance,
    exit(code) {
      acted(
        find((line) => line.act === "exit" && line.code === code),
        `exit code ${code}`,
      );
      const missing = frames.missing();
      if (missing !== undefined) differ(missing);
    },
    clock: {
      now: () => (free === undefined ? now : now + liveClock.now() - free),
      after(ms, fn) {
        if (free !== undefined) return liveClock.after(ms, fn);
        const index = find((line) => line.act === "timer" && sameMs(line.ms, ms));
        const line = index === undefined ? undefined : (log[index] as ActLine & { act: "timer" });
        const number = line?.timer ?? -timers.size - 1;
        timers.set(number, { ms, fn });
        acted(index, `a timer of ${ms} ms`);
        return () => void timers.delete(number);
      },
    },
    openInput() {
      acted(
        find((line) => line.act === "open"),
        "the beginning",
      );
      return input as unknown as Readable;
    },
    openOutput() {
      const output = new EventEmitter();
      const write = (chunk: string | Buffer, tell: (error?: Error) => void): boolean => {
        const problem = frames.take(chunk);
        if (problem !== undefined) differ(problem);
        options.onWrite?.(chunk);
        if (free !== undefined) {
          setImmediate(tell);
          return true;
        }
        const index = find((line) => line.act === "write");
        const line = index === undefined ? undefined : (log[index] as ActLine & { act: "write" });
        if (line?.done) process.nextTick(tell);
        else if (line) writes.set(line.write, tell);
        acted(index, `frames: ${brief(textOf(chunk))}`);
        return true;
      };
      return Object.assign(output, { write }) as unknown as Writable;
    },
    call<T>(wanted: WorldCall<T>): Promise<T> {
      const args = options.redact(JSON.stringify(wanted.args) ?? "");
      const isCall = (line: ActLine): line is ActLine & { act: "call" } =>
        line.act === "call" && line.name === wanted.name;
      const same = find((line) => isCall(line) && JSON.stringify(line.args) === args);
      const index = same ?? find(isCall);
      const line = index === undefined ? undefined : (log[index] as ActLine & { act: "call" });
      if (line && same === undefined) {
        options.onOtherCall(
          `log.jsonl:${(index ?? 0) + 1}: ${wanted.name}: expected ${brief(JSON.stringify(line.args))}, got ${brief(args)}`,
        );
      }
      return new Promise<T>((resolve, reject) => {
        if (line) {
          calls.set(line.call, {
            hear: wanted.hear as (value: unknown) => void,
            resolve: (value) => resolve(value as T),
            reject,
            unpackError: (error) => wanted.unpackError?.(error) ?? new Error(error.message),
          });
        } else reject(unanswered(wanted.name));
        const wasFree = free !== undefined;
        acted(index, `${wanted.name} ${brief(args)}`);
        if (wasFree && line) playOut(line.call, 0);
      });
    },
    value() {
      const index = find((line) => line.act === "value");
      acted(index, "a look at a running job");
      return index === undefined ? "" : (log[index] as ActLine & { act: "value" }).value;
    },
  };
}

const toNothing = Buffer.alloc(0);

/** JSON has no infinity. */
function sameMs(recorded: number | null, ms: number): boolean {
  return recorded === ms || (recorded === null && !Number.isFinite(ms));
}

function unanswered(name: string): Error {
  if (name === "request") {
    return new ProviderError("bad_request", "The recording that is played back has no answer to this request");
  }
  return new Error(`The recording that is played back has no result for this ${name}; nothing is run in a replay`);
}

function textOf(chunk: string | Buffer): string {
  const bytes = bytesOf(chunk);
  return "text" in bytes ? bytes.text : bytes.base64;
}

function brief(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}
