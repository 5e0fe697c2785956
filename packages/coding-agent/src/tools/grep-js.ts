import { closeSync, readFileSync } from "node:fs";
import { throwIfAborted } from "../lib/abort.ts";
import { utf16Encoding } from "./binary-file.ts";
import { compileGlob } from "./glob.ts";
import { binaryNote, type GrepCollector, type GrepLine, type GrepRequest } from "./grep-format.ts";
import { createFileSearch, type FileSearch } from "./grep-lines.ts";
import { createLineMatcher } from "./grep-match.ts";
import { patternOf } from "./grep-pattern.ts";
import { decodeUtf8, openQuietly, readBlocks, withoutMark } from "./grep-text.ts";
import { createIgnoreWork, LEFT_OUT_NOTICE } from "./ignore-work.ts";
import { realPath, type WalkEntry, walk } from "./walk.ts";

/** Search without ripgrep: slower, but always there. */

/** So many files are searched in one go. */
const BATCH_SIZE = 32;
/** A larger file is searched in blocks. */
const MAX_SMALL_BYTES = 256 * 1024;

export async function grepWithJs(request: GrepRequest, collector: GrepCollector, signal: AbortSignal): Promise<void> {
  const search = createSearch(request, collector, signal);
  if (request.fileName !== undefined) {
    const outcome = await search([{ path: request.fileName }]);
    if (outcome === "binary") collector.note(binaryNote(request.fileName));
    return;
  }
  const wanted = request.glob ? compileGlob(request.glob) : () => true;
  const work = createIgnoreWork();
  await searchAll(walk(request.folder, signal, work), (entry) => entry.isFile && wanted(entry.path), search);
  if (work.hasLeftOut) collector.note(LEFT_OUT_NOTICE);
}

async function searchAll(
  batches: ReturnType<typeof walk>,
  isWanted: (entry: WalkEntry) => boolean,
  search: ReturnType<typeof createSearch>,
): Promise<void> {
  for await (const entries of batches) {
    const files = entries.filter(isWanted);
    for (let i = 0; i < files.length; i += BATCH_SIZE) {
      if ((await search(files.slice(i, i + BATCH_SIZE))) === "enough") return;
    }
  }
}

type Searched = Pick<WalkEntry, "path" | "bytes">;

/** What came of a search; of several files, of the last. */
type Outcome = "searched" | "binary" | "enough";

function createSearch(request: GrepRequest, collector: GrepCollector, signal: AbortSignal) {
  const matchesIn = createLineMatcher(patternOf(request), canRunAway(request));
  const searchOf = (path: string, target: Pick<GrepCollector, "add">): FileSearch =>
    createFileSearch({
      path,
      matchesIn: (block, lines) => matchesIn(block, lines, path),
      context: request.context,
      collector: target,
    });

  return async (entries: readonly Searched[]): Promise<Outcome> => {
    let outcome: Outcome = "searched";
    for (const entry of entries) {
      const opened = openQuietly(realPath(request.folder, entry));
      if (!opened) continue;
      try {
        const text = opened.size > MAX_SMALL_BYTES ? undefined : readSmall(opened.file);
        if (text === undefined) outcome = await searchBlocks(opened.file, entry.path, searchOf, collector, signal);
        else outcome = searchOf(entry.path, collector).block(text) ? "searched" : "enough";
      } finally {
        closeSync(opened.file);
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
 * The text of a small file; undefined for what needs a closer look. Without waiting, because for thousands of small files
 * the waiting is what takes the time.
 */
function readSmall(file: number): string | undefined {
  try {
    const bytes = readFileSync(file);
    return bytes.includes(0) || utf16Encoding(bytes) ? undefined : decodeUtf8(withoutMark(bytes));
  } catch {
    return undefined;
  }
}

/** Block by block. What is found waits until the file is known to be text, or is too much anyway. */
async function searchBlocks(
  file: number,
  shownPath: string,
  searchOf: (path: string, target: Pick<GrepCollector, "add">) => FileSearch,
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
  for (const block of readBlocks(file)) {
    throwIfAborted(signal);
    if (block.kind === "binary") return "binary";
    if (block.kind === "long line") search.passOver(block.text);
    else if (!search.block(block.text)) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return held.every((line) => collector.add(line)) ? "searched" : "enough";
}

/** Repetition of a group, or two unbounded repetitions: what backtracking can get lost in. */
function canRunAway({ pattern, literal }: GrepRequest): boolean {
  return !literal && (/\)[*+?{]/.test(pattern) || (pattern.match(/[*+]|,\}/g) ?? []).length > 1);
}
