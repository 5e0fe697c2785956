import type { SessionEntry } from "@tiller/protocol/session-entry";
import { type EntryIndex, findId, idAt } from "./entry-index.ts";

/**
 * Entries name their parent. Where that one was lost, all that was said before would no longer belong to their
 * conversation: an entry that says nothing takes its place. Its parent is that of the lost one, if this can still be read,
 * else what stands before it in the file. Pure.
 */

/** A damaged range and what was found in it, as parts of the bytes of the file. */
export interface Spot {
  start: number;
  end: number;
  good: readonly Buffer[];
  bad: readonly Buffer[];
}

export type ReadLine = (line: Buffer) => Readonly<Record<string, unknown>> | undefined;

export interface StandIns {
  /** The lines, by the place of the entry before which each stands. */
  lines: ReadonlyMap<number, Buffer>;
  /** For an entry that was added since; undefined when its parent is there. `before` is the id of the one before it. */
  entryFor(entry: SessionEntry, before: string): SessionEntry | undefined;
}

/** More questions than this are worth a list of all ids. */
const FEW = 16;

/** `spots` are in order; `read` gives nothing for what cannot be read. */
export function standInsFor(bytes: Buffer, index: EntryIndex, spots: readonly Spot[], read: ReadLine): StandIns {
  const { starts, ends, parents } = index;
  const gone = new Set(spots.flatMap(({ start }) => positionAt(starts, start) ?? []));
  const saved = spots.flatMap(({ good }) => good.map((line) => readSaved(line, bytes, read)));
  const firstSpot = spots[0]?.start ?? bytes.length;
  const orphans: { start: number; parentId?: unknown; timestamp?: unknown }[] = [...saved];
  for (let at = lowerBound(starts, firstSpot); at < starts.length; at++) {
    const parent = parents[at]!;
    if (gone.has(at) || (parent >= 0 && !gone.has(parent))) continue;
    const { parentId, timestamp } = read(bytes.subarray(starts[at], ends[at])) ?? {};
    orphans.push({ start: starts[at]!, parentId, timestamp });
  }
  orphans.sort((one, other) => one.start - other.start);

  const made = new Set<string>();
  const savedIds = new Set(saved.map(({ id }) => id));
  let all: Set<string> | undefined;
  const isInFile = (id: string): boolean => {
    if (orphans.length <= FEW) return findId(bytes, index, id, gone) >= 0;
    all ??= new Set(starts.flatMap((_, at) => (gone.has(at) ? [] : [idAt(bytes, index, at)])));
    return all.has(id);
  };
  const isKnown = (id: string): boolean => made.has(id) || savedIds.has(id) || isInFile(id);
  const lost = headsOf(spots);
  /** The id of the entry before a place; undefined at the beginning. */
  const idBefore = (start: number): string | undefined => {
    let at = lowerBound(starts, start) - 1;
    while (at >= 0 && gone.has(at)) at -= 1;
    const near = saved.findLast((line) => line.start < start);
    if (near && (at < 0 || near.start > starts[at]!)) return String(near.id);
    return at < 0 ? undefined : idAt(bytes, index, at);
  };
  const standIn = (id: string, before: string, timestamp: unknown): SessionEntry => {
    const above = parentOfLost(id, lost, isKnown);
    made.add(id);
    const place = { type: "custom", id, parentId: above === undefined ? before : above, timestamp };
    return { ...place, customType: "tiller.lost", data: {} } as SessionEntry;
  };

  const lines = new Map<number, Buffer>();
  for (const { start, parentId, timestamp } of orphans) {
    const before = typeof parentId === "string" && !isKnown(parentId) ? idBefore(start) : undefined;
    if (before === undefined) continue;
    lines.set(start, Buffer.from(`${JSON.stringify(standIn(parentId as string, before, timestamp))}\n`));
  }
  return {
    lines,
    entryFor({ parentId, timestamp }, before) {
      const isLost = parentId !== null && lost.has(parentId) && !isKnown(parentId);
      return isLost ? standIn(parentId, before, timestamp) : undefined;
    },
  };
}

function readSaved(line: Buffer, bytes: Buffer, read: ReadLine) {
  const { type, id, parentId, timestamp } = read(line) ?? {};
  const isEntry = type !== "session" && type !== "title";
  return { start: line.byteOffset - bytes.byteOffset, id: isEntry ? id : undefined, parentId, timestamp };
}

const HEAD_BYTES = 1024;
const HEAD = /^\{"type":"[^"\\]*","id":"([^"\\]+)","parentId":(?:"([^"\\]+)"|null)/;

/** The beginning of a damaged line may tell whose it was, and who was its parent. */
function headsOf(spots: readonly Spot[]): Map<string, string | null> {
  const lost = new Map<string, string | null>();
  for (const piece of spots.flatMap(({ bad }) => bad)) {
    const [, id, parentId = null] = HEAD.exec(piece.toString("utf8", 0, HEAD_BYTES)) ?? [];
    if (id !== undefined) lost.set(id, parentId);
  }
  return lost;
}

/** The next one above it that is there; undefined when that cannot be told. */
function parentOfLost(
  id: string,
  lost: ReadonlyMap<string, string | null>,
  isKnown: (id: string) => boolean,
): string | null | undefined {
  const seen = new Set([id]);
  let above = lost.get(id);
  while (typeof above === "string" && !isKnown(above)) {
    if (seen.has(above)) return undefined;
    seen.add(above);
    above = lost.get(above);
  }
  return above;
}

/** The first position whose value is not below. */
function lowerBound(values: readonly number[], wanted: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

function positionAt(starts: readonly number[], start: number): number | undefined {
  const at = lowerBound(starts, start);
  return starts[at] === start ? at : undefined;
}
