import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, Script } from "node:vm";
import { throwIfAborted } from "../lib/abort.ts";
import { utf16Encoding } from "./binary-file.ts";
import { compileGlob } from "./glob.ts";
import { binaryNote, type GrepCollector, type GrepLine, type GrepRequest } from "./grep-format.ts";
import { createFileSearch } from "./grep-lines.ts";
import { openRegularFile } from "./path.ts";
import { readRustPattern } from "./rust-regex.ts";
import { walk } from "./walk.ts";

/** Search without ripgrep: slower, but always there. */

/** So many files are searched in one go. */
const BATCH_SIZE = 32;
const MAX_SMALL_BYTES = 256 * 1024;
/** A larger file is searched in blocks of this size. */
const BLOCK_BYTES = 1024 * 1024;
/** Some patterns take longer than anyone lives; nothing else can stop a regular expression. */
const MAX_MATCH_MS = 1000;
const NEWLINE = 10;

export async function grepWithJs(request: GrepRequest, collector: GrepCollector, signal: AbortSignal): Promise<void> {
  const search = createSearch(request, collector, signal);
  if (request.fileName !== undefined) {
    const outcome = await search([request.fileName]);
    if (outcome === "binary") collector.note(binaryNote(request.fileName));
    return;
  }
  const wanted = request.glob ? compileGlob(request.glob) : () => true;
  for await (const entries of walk(request.folder, signal)) {
    const paths = entries.filter((entry) => entry.isFile && wanted(entry.path)).map((entry) => entry.path);
    for (let i = 0; i < paths.length; i += BATCH_SIZE) {
      if ((await search(paths.slice(i, i + BATCH_SIZE))) === "enough") return;
    }
  }
}

/** What came of a search; of several files, of the last. */
type Outcome = "searched" | "binary" | "enough";

function createSearch(request: GrepRequest, collector: GrepCollector, signal: AbortSignal) {
  const regex = compilePattern(request);
  const guard = canRunAway(request) ? runGuarded : (work: () => boolean) => work();
  /** Most files have no match. Not with look-around, which may see the line end. */
  const overLines = new RegExp(regex.source, `${regex.flags}m`);
  const cannotMatch = regex.source.includes("(?") ? () => false : (block: string) => !overLines.test(block);
  const searchOf = (path: string, target: Pick<GrepCollector, "add">) => {
    const search = createFileSearch({
      path,
      matches: (line) => regex.test(line),
      cannotMatch,
      context: request.context,
      collector: target,
    });
    return (block: string) => guard(() => search.block(block), path);
  };

  return async (paths: readonly string[]): Promise<Outcome> => {
    let outcome: Outcome = "searched";
    for (const path of paths) {
      const small = readSmall(join(request.folder, path));
      if (small === undefined) continue;
      if (small.isLarge) {
        outcome = await searchLargeFile(join(request.folder, path), path, searchOf, collector, signal);
      } else if (small.bytes.includes(0) && !utf16Encoding(small.bytes)) {
        outcome = "binary";
      } else {
        outcome = searchOf(path, collector)(decode(small.bytes)) ? "searched" : "enough";
      }
      if (outcome === "enough") return outcome;
    }
    // Others have their turn between two batches.
    await new Promise((resolve) => setImmediate(resolve));
    throwIfAborted(signal);
    return outcome;
  };
}

/**
 * The content of a small file; of another one only that it is large. Undefined for what is gone, forbidden, or would be
 * waited for. Without waiting, because for thousands of small files the waiting is what takes the time.
 */
function readSmall(path: string): { bytes: Buffer; isLarge: boolean } | undefined {
  let file: number | undefined;
  try {
    // Should a pipe have taken the place of the file, it is opened without anybody at its other end.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(file);
    if (!found.isFile()) return undefined;
    if (found.size > MAX_SMALL_BYTES) return { bytes: Buffer.alloc(0), isLarge: true };
    return { bytes: readFileSync(file), isLarge: false };
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function decode(bytes: Buffer): string {
  const encoding = utf16Encoding(bytes);
  // The decoder drops the mark in front.
  return encoding ? new TextDecoder(encoding).decode(bytes) : bytes.toString("utf8").replace(/^\ufeff/, "");
}

/** Block by block. What is found waits until the file is known to be text, or is too much anyway. */
async function searchLargeFile(
  path: string,
  shownPath: string,
  searchOf: (path: string, target: Pick<GrepCollector, "add">) => (block: string) => boolean,
  collector: GrepCollector,
  signal: AbortSignal,
): Promise<Outcome> {
  const held: GrepLine[] = [];
  let matches = 0;
  const search = searchOf(shownPath, {
    add(line) {
      held.push(line);
      if (line.isMatch) matches += 1;
      return matches <= collector.limit;
    },
  });
  const file = await openRegularFile(path, shownPath);
  try {
    const chunk = Buffer.allocUnsafe(BLOCK_BYTES);
    let rest: Buffer = Buffer.alloc(0);
    for (let isFirst = true; ; isFirst = false) {
      throwIfAborted(signal);
      const { bytesRead } = await file.read(chunk, 0, chunk.length);
      const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      if (bytes.includes(0)) return "binary";
      const cut = bytesRead === 0 ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1;
      const text = bytes.toString("utf8", 0, cut);
      if (cut > 0 && !search(isFirst ? text.replace(/^\ufeff/, "") : text)) break;
      rest = bytes.subarray(cut);
      if (bytesRead === 0) break;
    }
  } finally {
    await file.close();
  }
  return held.every((line) => collector.add(line)) ? "searched" : "enough";
}

function compilePattern({ pattern, literal, ignoreCase }: GrepRequest): RegExp {
  if (literal) return new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), ignoreCase ? "iu" : "u");
  const read = readRustPattern(pattern);
  const flags = ignoreCase || read.ignoreCase ? "i" : "";
  try {
    return new RegExp(read.source, `${flags}v`);
  } catch {
    // The older grammar takes what the stricter ones refuse, such as a brace that closes nothing.
    return compileLoosely(pattern, flags);
  }
}

function compileLoosely(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Invalid pattern "${pattern}": ${reason}. Use literal=true to search for the text itself.`, {
      cause: error,
    });
  }
}

/** Repetition of a group, or two unbounded repetitions: what backtracking can get lost in. */
function canRunAway({ pattern, literal }: GrepRequest): boolean {
  return !literal && (/\)[*+?{]/.test(pattern) || (pattern.match(/[*+]|,\}/g) ?? []).length > 1);
}

const CALL_WORK = new Script("work()");

/** The engine's own watchdog, which can interrupt a regular expression. It costs a tenth of a millisecond, so only for suspects. */
function runGuarded(work: () => boolean, path: string): boolean {
  try {
    return CALL_WORK.runInContext(createContext({ work }), { timeout: MAX_MATCH_MS }) as boolean;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new Error(`The pattern takes too long on ${path}. Use a simpler pattern or literal=true.`, { cause: error });
  }
}
