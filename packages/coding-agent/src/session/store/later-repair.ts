import type { Clock } from "@tiller/protocol/clock";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import type { EntryIndex } from "./entry-index.ts";
import type { EntryLog } from "./entry-log.ts";
import { type Damage, keepAside, planRepair, type RepairPlan } from "./salvage.ts";
import { beginNewFile, checkWritable, removeLeftovers, roomFor } from "./whole-file.ts";

/** A file is repaired while it is in use: what it should be is written beside it, bit by bit, and then takes its place. */
export interface LaterRepair {
  plan: RepairPlan;
  /** What was in the file, repaired; whole when `copy` has come to its end. */
  bytes: Buffer;
  /** What was added to the session since it was read. Filled by `finish`. */
  added: SessionEntry[];
  /** Some of that stands for entries that were lost, and that others may name which stand before it. Known after `finish`. */
  readonly isNamedBefore: boolean;
  /** The file with the bad bytes, if there are any. Known after `finish`. */
  readonly setAside: string | undefined;
  /** Stops whenever this many bytes are done. */
  copy(slice: number): Generator<void, void>;
  /** Adds what was added meanwhile, sets the bad bytes aside and puts the new file in place. Gives back its size. */
  finish(log: EntryLog): number;
  /** Takes away what was not put in place. */
  discard(): void;
}

export interface LaterRepairOptions {
  path: string;
  /** The file as it was read. */
  bytes: Buffer;
  index: EntryIndex;
  clock: Clock;
}

/** Undefined when nothing can be written there. */
export function beginLaterRepair(
  { path, bytes: old, index, clock }: LaterRepairOptions,
  damage: readonly Damage[],
): LaterRepair | undefined {
  const plan = planRepair(old, index, damage);
  const size = plan.parts.reduce((sum, { length }) => sum + length, 0);
  const bytes = roomFor(size);
  const added: SessionEntry[] = [];
  let isNamedBefore = false;
  let setAside: string | undefined;
  const file = tryTo(() => {
    checkWritable(path);
    removeLeftovers(path);
    return beginNewFile(path);
  });
  if (!file) return undefined;
  return {
    plan,
    bytes,
    added,
    get isNamedBefore() {
      return isNamedBefore;
    },
    get setAside() {
      return setAside;
    },
    *copy(slice) {
      let [filled, room] = [0, slice];
      for (const part of plan.parts) {
        for (let from = 0; from < part.length; from += slice) {
          const piece = part.subarray(from, from + slice);
          file.write(piece);
          filled += piece.copy(bytes, filled);
          room -= piece.length;
          if (room > 0) continue;
          yield;
          room = slice;
        }
      }
    },
    finish(log) {
      let end = size;
      const write = (entry: SessionEntry): void => {
        const line = lineOf(entry);
        file.write(line);
        end += line.length;
        added.push(entry);
      };
      for (let at = log.loadedLength; at < log.length; at++) {
        const entry = log.entry(at)!;
        const standIn = plan.standIns.entryFor(entry, log.id(at - 1));
        if (standIn) {
          isNamedBefore = true;
          write(standIn);
        }
        write(entry);
      }
      setAside = keepAside(plan.bad, { path, bytes: old, clock });
      file.putInPlace();
      return end;
    },
    discard: file.discard,
  };
}

export function lineOf(entry: SessionEntry): Buffer {
  return Buffer.from(`${JSON.stringify(entry)}\n`);
}

function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
