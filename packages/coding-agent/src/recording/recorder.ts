import type { Readable, Writable } from "node:stream";
import type { Clock } from "@tiller/protocol/clock";
import { type ActLine, bytesOf, type InputLine, type Thrown } from "./format.ts";
import type { LogWriter } from "./log-writer.ts";
import { createHop, createRounds } from "./rounds.ts";
import type { Tape, WorldCall } from "./tape.ts";

/** Writes down what passes the border, in one order. Changes nothing of it. */

export interface RecorderOptions {
  writer: LogWriter;
  startedAt: number;
  liveClock: Clock;
  openStdin(): Readable;
  openStdout(): Writable;
  signals: readonly NodeJS.Signals[];
}

export interface Recorder extends Tape {
  exit(code: number): void;
}

/** Each member of a union without these fields. */
type Without<Union, Field extends PropertyKey> = Union extends unknown ? Omit<Union, Field> : never;

export function createRecorder(options: RecorderOptions): Recorder {
  const { writer, startedAt, liveClock } = options;
  let now = startedAt;
  const counts = { timer: 0, write: 0, call: 0 };
  const rounds = createRounds();
  const hop = createHop();

  /** From here on it is later. */
  const input = (line: Without<InputLine, "t" | "rounds">): void => {
    now = liveClock.now();
    const same = rounds.isSameTurn ? { same: true } : {};
    writer.line({ ...line, t: now - startedAt, rounds: rounds.passed, ...same });
    rounds.mark(true);
  };
  const act = (line: Without<ActLine, "t">): void => {
    writer.line({ ...line, t: liveClock.now() - startedAt });
    rounds.mark(false);
  };

  for (const signal of options.signals) process.prependListener(signal, () => input({ in: "signal", signal }));

  return {
    clock: {
      now: () => now,
      after(ms, fn) {
        const timer = ++counts.timer;
        act({ act: "timer", timer, ms });
        return liveClock.after(ms, () => {
          input({ in: "timer", timer });
          fn();
        });
      },
    },
    openInput() {
      act({ act: "open" });
      return heard(options.openStdin(), input);
    },
    openOutput() {
      const output = options.openStdout();
      const write = output.write.bind(output) as (chunk: unknown, done: (error?: Error | null) => void) => boolean;
      const recorded = (chunk: string | Buffer, tell: (error?: Error | null) => void): boolean => {
        const number = ++counts.write;
        let isDone = false;
        const hasRoom = write(chunk, (error) => {
          const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
          if (!isDone) input({ in: "written", write: number, ...(error && { error: { code, message } }) });
          tell(error);
        });
        // What the system has taken at once is told of at once: that is no news from outside.
        isDone = output.writableLength === 0;
        act({ act: "write", write: number, ...(isDone && { done: true as const }), ...bytesOf(chunk) });
        return hasRoom;
      };
      return Object.assign(output, { write: recorded });
    },
    /** What comes of it is given on in turns of its own, as it will be in a replay. */
    call(wanted) {
      const call = ++counts.call;
      act({ act: "call", call, name: wanted.name, args: wanted.args });
      return new Promise((resolve, reject) => {
        const tell = (value: unknown): void =>
          hop(() => {
            input({ in: "update", call, value });
            wanted.hear(value as never);
          });
        wanted.run(tell).then(
          (value) =>
            hop(() => {
              input({ in: "result", call, value });
              resolve(value);
            }),
          (error: unknown) => {
            if (wanted.isOwn?.(error)) reject(error);
            else
              hop(() => {
                input({ in: "threw", call, error: thrown(wanted, error) });
                reject(error);
              });
          },
        );
      });
    },
    value(read) {
      const value = read();
      act({ act: "value", value });
      return value;
    },
    exit: (code) => act({ act: "exit", code }),
  };
}

function thrown<T>({ packError }: WorldCall<T>, error: unknown): Thrown {
  return packError?.(error) ?? { message: error instanceof Error ? error.message : String(error) };
}

function heard(stream: Readable, input: (line: Without<InputLine, "t" | "rounds">) => void): Readable {
  const emit = stream.emit.bind(stream);
  const emitHeard = (event: string | symbol, ...args: unknown[]): boolean => {
    if (event === "data") input({ in: "host", ...bytesOf(args[0] as Buffer) });
    if (event === "end") input({ in: "host-end" });
    if (event === "error") input({ in: "host-error", message: (args[0] as Error).message });
    return emit(event, ...args);
  };
  return Object.assign(stream, { emit: emitHeard });
}
