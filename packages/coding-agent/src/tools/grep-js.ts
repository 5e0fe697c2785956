import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createContext, Script } from "node:vm";
import { throwIfAborted } from "../lib/abort.ts";
import { compileGlob } from "./glob.ts";
import type { GrepCollector, GrepRequest } from "./grep-format.ts";
import { splitLines } from "./truncate.ts";
import { walk } from "./walk.ts";

/** Search without ripgrep: slower, but always there. */

/** So many files are read at the same time; their lines are still reported in order. */
const BATCH_SIZE = 32;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** A zero byte this early marks a binary file. */
const BINARY_PROBE_BYTES = 64 * 1024;
/** Some patterns take longer than anyone lives; nothing else can stop a regular expression. */
const MAX_MATCH_MS = 1000;

export async function grepWithJs(request: GrepRequest, collector: GrepCollector, signal: AbortSignal): Promise<void> {
  const regex = compilePattern(request);
  const guard = canRunAway(request) ? runGuarded : (work: () => boolean) => work();
  let batch: string[] = [];
  const searchBatch = async (): Promise<boolean> => {
    const texts = await Promise.all(batch.map((path) => readText(join(request.folder, path))));
    throwIfAborted(signal);
    for (const [index, text] of texts.entries()) {
      const path = batch[index]!;
      if (text !== undefined && !guard(() => searchText(path, text, regex, request, collector), path)) return false;
    }
    batch = [];
    return true;
  };
  for await (const path of filesToSearch(request, signal)) {
    batch.push(path);
    if (batch.length === BATCH_SIZE && !(await searchBatch())) return;
  }
  await searchBatch();
}

async function* filesToSearch({ folder, fileName, glob }: GrepRequest, signal: AbortSignal): AsyncGenerator<string> {
  if (fileName) {
    yield fileName;
    return;
  }
  const wanted = glob ? compileGlob(glob) : () => true;
  for await (const entry of walk(folder, signal)) if (entry.isFile && wanted(entry.path)) yield entry.path;
}

/** Undefined for what is not text, too large, gone, or a pipe that would be waited for. */
async function readText(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size > MAX_FILE_BYTES) return undefined;
    const bytes = await readFile(path);
    return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0) ? undefined : bytes.toString("utf8");
  } catch {
    return undefined;
  }
}

/** Reports the matching lines of one file with the lines around them, none twice. False when the collector has enough. */
function searchText(
  path: string,
  text: string,
  regex: RegExp,
  request: GrepRequest,
  collector: GrepCollector,
): boolean {
  if (cannotMatch(text, regex)) return true;
  const lines = splitLines(text);
  let reported = -1;
  let showUntil = -1;
  const report = (index: number, isMatch: boolean) => {
    reported = index;
    return collector.add({ path, line: index + 1, text: lines[index]!, isMatch });
  };
  for (const [index, line] of lines.entries()) {
    if (regex.test(line.endsWith("\r") ? line.slice(0, -1) : line)) {
      for (let before = Math.max(reported + 1, index - request.context); before < index; before++)
        report(before, false);
      if (!report(index, true)) return false;
      showUntil = index + request.context;
    } else if (index <= showUntil) {
      report(index, false);
    }
  }
  return true;
}

/** Most files have no match: one look at the whole is quicker than one per line. Not with look-around, which may see the line end. */
function cannotMatch(text: string, regex: RegExp): boolean {
  if (regex.source.includes("(?")) return false;
  return !new RegExp(regex.source, `${regex.flags}m`).test(text);
}

function compilePattern({ pattern, literal, ignoreCase }: GrepRequest): RegExp {
  if (literal) return new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), ignoreCase ? "iu" : "u");
  const inline = /^\(\?i\)/.test(pattern);
  const source = inline ? pattern.slice(4) : pattern;
  const flags = ignoreCase || inline ? "i" : "";
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // The stricter grammar refuses needless backslashes such as \_ or \"; the older one takes them.
    return compileLoosely(pattern, source, flags);
  }
}

function compileLoosely(pattern: string, source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
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
