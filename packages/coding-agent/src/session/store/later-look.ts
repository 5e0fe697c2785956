import { type EntryIndex, indexEntries } from "./entry-index.ts";
import { createEntryLog, type EntryLog } from "./entry-log.ts";
import { beginLaterRepair, type LaterRepair, lineOf } from "./later-repair.ts";
import { isBroken, loadEntries, soundnessOf } from "./loaded-entries.ts";
import type { ReadBlob } from "./migrations.ts";
import { type Damage, repairText } from "./salvage.ts";
import type { DiskSettings, RepairableDisk } from "./session-disk.ts";
import type { LaterLook } from "./session-store.ts";

export interface LaterLookOptions extends Pick<DiskSettings, "clock" | "onNotice"> {
  path: string;
  /** The file as it was read. */
  bytes: Buffer;
  index: EntryIndex;
  /** So many entries, the first ones, are still to be looked through. */
  unseen: number;
  disk: RepairableDisk;
  readBlob?: ReadBlob;
}

/** Whoever has opened a file wants something of it first. */
const FIRST_PAUSE_MS = 250;
/** A millisecond or two of work, after which everybody else has a turn. A line is looked at in one go. */
const SLICE_BYTES = 512 * 1024;
const PAUSE_MS = 5;

/**
 * Looking through all of a file takes too long for those who wait until it is open: what is left of it is looked through
 * afterwards, a slice at a time. Damage that is found is repaired as opening does it, all at once when the end is
 * reached. Undefined when there is nothing left.
 */
export function lookLater(options: LaterLookOptions): LaterLook | undefined {
  if (options.unseen === 0) return undefined;
  let cancel: (() => void) | undefined;
  let work: Generator<void, void> | undefined;
  let finish = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let isWorking = false;
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    cancel?.();
    // What it has begun it puts away.
    if (!isWorking) work?.return();
    finish();
  };
  const goOn = (ms: number): void => {
    cancel = options.clock.after(ms, () => {
      isWorking = true;
      const isOver = work?.next().done;
      isWorking = false;
      if (isOver || isStopped) stop();
      else goOn(PAUSE_MS);
    });
  };
  return {
    done,
    start(current, onRepaired) {
      work = lookAndRepair(options, current, onRepaired);
      goOn(FIRST_PAUSE_MS);
    },
    stop,
  };
}

type Start = Parameters<LaterLook["start"]>;

/** Stops after each slice. */
function* lookAndRepair(options: LaterLookOptions, current: Start[0], onRepaired: Start[1]): Generator<void, void> {
  const { path, disk, onNotice } = options;
  const damage = yield* lookThrough(options);
  if (damage.length === 0) return;
  const repair = disk.isLocked ? beginLaterRepair(options, damage) : undefined;
  try {
    if (repair) yield* repair.copy(SLICE_BYTES);
    const log = current();
    const written = repair !== undefined && disk.exchange(() => repair.finish(log));
    if (!repair || !written) onNotice("warning", leftText(path, damage, disk.isInUse));
    else {
      const fresh = reread(log, repair, options);
      disk.holds(fresh);
      onRepaired(fresh);
      onNotice("warning", repairText(path, { ...repair.plan, setAside: repair.setAside, written }));
    }
  } catch {
    // A read-only folder, a full disk: the file stays as it is, and so does what is in memory.
    onNotice("warning", leftText(path, damage, disk.isInUse));
  } finally {
    repair?.discard();
  }
}

function* lookThrough({ bytes, index, unseen, disk }: LaterLookOptions): Generator<void, Damage[]> {
  const { starts, ends } = index;
  const damage: Damage[] = disk.isInUse ? endedLines(bytes, index.damage) : [];
  let room = SLICE_BYTES;
  for (let at = unseen - 1; at >= 0; at--) {
    const [start, end] = [starts[at]!, ends[at]!];
    if (soundnessOf(bytes, index, at) === 0 && isBroken(bytes, index, at)) damage.push({ start, end });
    room -= end - start;
    if (room > 0) continue;
    yield;
    room = SLICE_BYTES;
  }
  return damage;
}

/** The last line of a file that somebody writes to may be half-written at this moment. */
function endedLines(bytes: Buffer, damage: readonly Damage[]): Damage[] {
  return damage.filter(({ end }) => end < bytes.length);
}

function leftText(path: string, damage: readonly Damage[], isInUse: boolean): string {
  const count = damage.reduce((sum, { start, end }) => sum + end - start, 0);
  const why = isInUse ? "another process is using it" : "it cannot be changed now";
  const lines = damage.length === 1 ? "a line" : `${damage.length} lines`;
  return `${path} is damaged: ${count} bytes in ${lines} cannot be read. They stay in it, as ${why}. Everything else is there.`;
}

/** The same session from its repaired bytes. The objects that were made of its entries stay: others hold them. */
function reread(log: EntryLog, repair: LaterRepair, { bytes: old, index, readBlob }: LaterLookOptions): EntryLog {
  // Who comes before its parent finds it only when all is read at once, as the next one does who opens the file.
  const { added, isNamedBefore } = repair;
  const bytes = isNamedBefore ? Buffer.concat([repair.bytes, ...added.map(lineOf)]) : repair.bytes;
  const fresh = indexEntries(bytes);
  const known: ReturnType<EntryLog["known"]>[] = [];
  let [at, next] = [0, 0];
  for (const { from, to, length } of moves(old, repair.plan.parts)) {
    for (; at < index.starts.length && index.starts[at]! < from + length; at++) {
      const start = index.starts[at]! - from + to;
      while (fresh.starts[next]! < start) next += 1;
      if (fresh.starts[next] === start) known[next] = log.known(at);
    }
  }
  if (isNamedBefore) for (const [n, entry] of added.entries()) known[fresh.starts.length - added.length + n] = entry;
  const loaded = loadEntries({ bytes, index: fresh, isWholeFile: true, readBlob });
  const repaired = createEntryLog(log.header, loaded, known);
  if (!isNamedBefore) for (const entry of added) repaired.append(entry);
  return repaired;
}

/** From where to where the parts of the old bytes have moved. */
function* moves(old: Buffer, parts: readonly Buffer[]): Generator<{ from: number; to: number; length: number }> {
  let to = 0;
  for (const { buffer, byteOffset, length } of parts) {
    if (buffer === old.buffer) yield { from: byteOffset - old.byteOffset, to, length };
    to += length;
  }
}
