import { isUtf8 } from "node:buffer";
import { type Dirent, readdirSync } from "node:fs";
import { throwIfAborted } from "../lib/abort.ts";
import { type IgnoreLevels, isIgnored, levelsAbove, levelsInside } from "./ignore-rules.ts";
import { createIgnoreWork } from "./ignore-work.ts";

/** Walks a folder the way git sees it: ignore files hold, hidden files are included, links are not followed. */

/** Never wanted, ignored or not. */
export const ALWAYS_SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

export interface WalkEntry {
  /** Relative to the root of the walk, with forward slashes. */
  path: string;
  /** The last part of it. */
  name: string;
  /** The same for the system, when it is no UTF-8 and `path` only shows it. */
  bytes?: Buffer;
  isDirectory: boolean;
  isFile: boolean;
}

/** Entries are handed over so many at a time, and others have their turn in between. */
const BATCH_SIZE = 1024;

/** What is left of a folder. */
interface Place {
  /** With a closing slash; empty for the root. */
  path: string;
  bytes?: Buffer;
  levels: IgnoreLevels;
  /** In order. */
  entries: Named[];
  next: number;
}

/**
 * Depth first, names in the order of their bytes, a folder before what is in it. Folders are read without waiting, a few
 * microseconds each: measured, that is twice as quick as any number of them side by side.
 */
export async function* walk(root: string, signal: AbortSignal, work = createIgnoreWork()): AsyncGenerator<WalkEntry[]> {
  let batch: WalkEntry[] = [];
  /** The way down to where we are. */
  const way = [openPlace(root, { path: "" }, levelsAbove(root, work))];
  for (let seen = 1; way.length > 0; seen++) {
    const here = way.at(-1)!;
    const entry = here.entries[here.next++];
    if (entry) {
      const found = toWalkEntry(here, entry);
      if (found) batch.push(found);
      if (found?.isDirectory) way.push(openPlace(root, found, here.levels));
    } else {
      way.pop();
    }
    if (seen % BATCH_SIZE !== 0) continue;
    await new Promise((resolve) => setImmediate(resolve));
    throwIfAborted(signal);
    yield batch;
    batch = [];
  }
  throwIfAborted(signal);
  yield batch;
}

/** Where an entry of a walk is. */
export function realPath(root: string, { path, bytes }: Pick<WalkEntry, "path" | "bytes">): string | Buffer {
  return bytes ? Buffer.concat([Buffer.from(`${root}/`), bytes]) : `${root}/${path}`;
}

function openPlace(root: string, folder: Pick<WalkEntry, "path" | "bytes">, around: IgnoreLevels): Place {
  const entries = listQuietly(realPath(root, folder));
  const path = folder.path === "" ? "" : `${folder.path}/`;
  const bytes = folder.bytes && Buffer.concat([folder.bytes, SLASH]);
  // Few names begin with a dot, and those that are asked for do.
  const hidden = entries.filter(({ name }) => name.startsWith("."));
  const has = (name: string) => hidden.some((entry) => entry.name === name);
  return { path, bytes, levels: levelsInside(around, realPath(root, { path, bytes }), path, has), entries, next: 0 };
}

const SLASH = Buffer.from("/");

/** Undefined for what is ignored. */
function toWalkEntry(place: Place, entry: Named): WalkEntry | undefined {
  const { name } = entry;
  const path = place.path + name;
  const isDirectory = entry.isDirectory();
  if (ALWAYS_SKIPPED.has(name) || isIgnored(place.levels, path, name, isDirectory)) return undefined;
  const bytes =
    (place.bytes ?? entry.bytes) &&
    Buffer.concat([place.bytes ?? Buffer.from(place.path), entry.bytes ?? Buffer.from(name)]);
  return { path, name, bytes, isDirectory, isFile: entry.isFile() };
}

/** An entry of a folder; `bytes` is its name when that is no UTF-8. */
type Named = Pick<Dirent, "name" | "isDirectory" | "isFile"> & { bytes?: Buffer };

/** A character beyond the first plane, or one that stands for bytes that are no UTF-8. All other names compare as they are. */
const ODD = /[\ud800-\udfff\ufffd]/;

/** In order. A folder that vanished or may not be read is passed over, as a search does. */
function listQuietly(folder: string | Buffer): Named[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const odd = entries.filter(({ name }) => ODD.test(name));
    if (odd.length === 0) return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    if (odd.some(({ name }) => name.includes("\ufffd"))) return listBytes(folder);
    return entries.sort((a, b) => compareNames(a.name, b.name));
  } catch {
    return [];
  }
}

/** Names that are no UTF-8 come as bytes, or they could not be found again. */
function listBytes(folder: string | Buffer): Named[] {
  const entries = readdirSync(folder, { withFileTypes: true, encoding: "buffer" }) as unknown as Dirent<Buffer>[];
  entries.sort((a, b) => Buffer.compare(a.name, b.name));
  return entries.map((entry) => ({
    name: entry.name.toString("utf8"),
    ...(!isUtf8(entry.name) && { bytes: entry.name }),
    isDirectory: () => entry.isDirectory(),
    isFile: () => entry.isFile(),
  }));
}

/** By code point, which is also the order of the bytes; the order of UTF-16 differs beyond the first plane. */
function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    const [xHigh, yHigh] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff];
    return xHigh === yHigh ? x - y : xHigh ? 1 : -1;
  }
  return a.length - b.length;
}

/** The order of the walk, for paths that came from elsewhere; as bytes when one of them is no UTF-8. */
export function comparePaths(a: string | Buffer, b: string | Buffer): number {
  if (typeof a === "string" && typeof b === "string") {
    return compareNames(a.replaceAll("/", "\0"), b.replaceAll("/", "\0"));
  }
  const [x, y] = [a, b].map((path) => Buffer.from(path as Buffer).map((byte) => (byte === 0x2f ? 0 : byte)));
  return Buffer.compare(x!, y!);
}
