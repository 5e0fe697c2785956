import type { Readable, Writable } from "node:stream";
import type { Clock } from "@tiller/protocol/clock";
import type { Thrown } from "./format.ts";

/** The border between the program and the world: everything that comes from outside passes here, and is written down or played back. */
export interface Tape {
  /** Stands still between two lines of the log. */
  clock: Clock;
  openInput(): Readable;
  openOutput(): Writable;
  /** Something that the world does for us; it is not done in a replay. */
  call<T>(call: WorldCall<T>): Promise<T>;
  /** Something that is read of the world at once. */
  value(read: () => string): string;
}

export interface WorldCall<T> {
  name: string;
  args: unknown;
  /** Does it. Whatever is told on the way is heard only through `hear`. */
  run(tell: (update: unknown) => void): Promise<T>;
  hear(update: never): void;
  /** An error on its way into the log, and back. */
  packError?(error: unknown): Thrown;
  unpackError?(error: Thrown): Error;
  /** Not written down: the program will come to the same by itself. */
  isOwn?(error: unknown): boolean;
}
