import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { runProcess } from "../exec/run-process.ts";
import { throwIfAborted } from "../lib/abort.ts";
import { createLineSplitter } from "../lib/jsonl.ts";
import { repositoryTop } from "../lib/repository-top.ts";
import { searchPath } from "../lib/search-path.ts";
import { compileGlob, ripgrepGlob } from "./glob.ts";
import { binaryNote, type GrepCollector, type GrepLine, type GrepRequest } from "./grep-format.ts";
import { patternOf } from "./grep-pattern.ts";
import { isText, MAX_LINE_BYTES } from "./grep-text.ts";
import { createIgnoreCheck } from "./ignore-rules.ts";
import { createIgnoreWork, type IgnoreWork, LEFT_OUT_NOTICE } from "./ignore-work.ts";
import type { LinePattern } from "./rust-regex.ts";
import type { ToolContext } from "./tool.ts";
import { ALWAYS_SKIPPED, comparePaths, realPath } from "./walk.ts";

/** Search by ripgrep. Its options are set so that it looks at the same files as our own search. */

/** ripgrep's word for "something went wrong", mostly a pattern it does not know. */
const EXIT_TROUBLE = 2;

/** The `rg` on PATH, else the one of the optional package beside us, else none. */
export async function findRipgrep(env: ToolContext["env"], bundled = "@vscode/ripgrep"): Promise<string | undefined> {
  const name = process.platform === "win32" ? "rg.exe" : "rg";
  for (const folder of searchPath(env.PATH)) {
    if (await isProgram(join(folder, name))) return join(folder, name);
  }
  try {
    // The name in a variable: the package is optional, and the bundler shall not look for it.
    const { rgPath } = (await import(bundled)) as { rgPath?: unknown };
    return typeof rgPath === "string" && (await isProgram(rgPath)) ? rgPath : undefined;
  } catch {
    return undefined;
  }
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** What ripgrep found in one file. */
interface FileMatches {
  path: string;
  /** The path, when it is no UTF-8 and `path` only shows it. */
  bytes?: Buffer;
  lines: GrepLine[];
  matches: number;
}

interface RipgrepRun {
  file: string;
  request: GrepRequest;
  pattern: LinePattern;
  context: ToolContext;
  signal: AbortSignal;
  ignoreWork: IgnoreWork;
  /** Takes what was found in a text file, in the order of ripgrep. False when there is enough. */
  onFile(found: FileMatches): boolean;
  onBinaryFile(): void;
  /** One file after the other, by path, which takes twice as long as several at a time. */
  inOrder: boolean;
  /** A file with more matches is handed over before its end. */
  maxMatches: number;
}

/** False when ripgrep could not do it (and nothing was reported): our own search shall try. */
export async function grepWithRipgrep(
  file: string,
  request: GrepRequest,
  context: ToolContext,
  collector: GrepCollector,
  signal: AbortSignal,
): Promise<boolean> {
  const pattern = patternOf(request);
  if (!pattern.isPortable) return false;
  const ignoreWork = createIgnoreWork();
  const run = { file, request, pattern, context, signal, ignoreWork, maxMatches: collector.limit };
  let found = await collect({ ...run, inOrder: false });
  // More than can be shown: then the order decides what is.
  if (found?.isCut && request.fileName === undefined) found = await collect({ ...run, inOrder: true });
  else found?.files.sort((a, b) => comparePaths(a.bytes ?? a.path, b.bytes ?? b.path));
  if (!found) return false;
  for (const { lines } of found.files) if (!lines.every((line) => collector.add(line))) break;
  if (ignoreWork.hasLeftOut) collector.note(LEFT_OUT_NOTICE);
  if (request.fileName !== undefined && found.files.length === 0) {
    // It says so only when there is a match before.
    const isBinary = found.isBinary || !isText(join(request.folder, request.fileName));
    if (isBinary) collector.note(binaryNote(request.fileName));
  }
  return true;
}

interface Collected {
  files: FileMatches[];
  /** There is more than is wanted. */
  isCut: boolean;
  isBinary: boolean;
}

/** Undefined when ripgrep could not do it. */
async function collect(run: Omit<RipgrepRun, "onFile" | "onBinaryFile">): Promise<Collected | undefined> {
  const files: FileMatches[] = [];
  let matches = 0;
  let isBinary = false;
  const outcome = await runRipgrep({
    ...run,
    onFile(found) {
      files.push(found);
      matches += found.matches;
      return matches <= run.maxMatches;
    },
    onBinaryFile() {
      isBinary = true;
    },
  });
  if (outcome === "crashed" || (outcome === "trouble" && files.length === 0)) return undefined;
  // Globs and ignore files are looked at again by name, and such a name cannot be looked at.
  if (run.request.glob && files.some(({ bytes }) => bytes)) return undefined;
  return { files, isCut: outcome === "stopped", isBinary };
}

async function runRipgrep(run: RipgrepRun): Promise<"done" | "stopped" | "trouble" | "crashed"> {
  const { file, request, context, signal } = run;
  const enough = new AbortController();
  let crashed = false;
  const giveUp = (): void => {
    if (enough.signal.aborted) return;
    crashed = true;
    enough.abort();
  };
  /** It sometimes hangs after a panic of its own, so nobody waits for its end. */
  const onComplaint = (chunk: Buffer): void => (chunk.includes("panicked") ? giveUp() : undefined);
  const reader = createEventReader(run, () => enough.abort());
  const lines = createLineSplitter({
    maxBytes: MAX_LINE_BYTES,
    onLine: (text) => (enough.signal.aborted ? undefined : reader(text)),
    onTooLong: giveUp,
  });
  const { exitCode } = await runProcess(
    {
      file,
      args: ripgrepArgs(request, run.inOrder),
      cwd: request.folder,
      env: context.env,
      clock: context.clock,
      killGraceMs: 0,
      onOutput: (chunk, source) => (source === "stdout" ? lines.push(chunk) : onComplaint(chunk)),
    },
    AbortSignal.any([signal, enough.signal]),
  );
  throwIfAborted(signal);
  lines.end();
  if (crashed) return "crashed";
  if (enough.signal.aborted) return "stopped";
  if (exitCode === null || exitCode > EXIT_TROUBLE) return "crashed";
  return exitCode === EXIT_TROUBLE ? "trouble" : "done";
}

/** Puts the lines of each file together. The file is handed over when it is known to be text, or is too much anyway. */
function createEventReader(run: RipgrepRun, stop: () => void): (json: string) => void {
  const { request, pattern, maxMatches } = run;
  const isWanted = fileFilter(request, run.ignoreWork);
  let current: FileMatches | undefined;
  const handOver = (found: FileMatches) => {
    current = undefined;
    found.lines = aroundMatches(found.lines, request.context);
    if (found.matches > 0 && !run.onFile(found)) stop();
  };
  const isTextUpTo = ({ path, bytes }: FileMatches, offset: number) =>
    isText(realPath(request.folder, { path, bytes }), offset);
  return (json) => {
    const { type, data } = JSON.parse(json) as RipgrepEvent;
    if (!data?.path) return;
    const path = textOf(data.path).replace(/^\.\//, "");
    if (type === "begin") {
      const bytes = data.path.bytes === undefined ? undefined : Buffer.from(data.path.bytes, "base64").subarray(2);
      current = isWanted(path) ? { path, bytes, lines: [], matches: 0 } : undefined;
    } else if (current && type === "end") {
      if (data.binary_offset === null || data.binary_offset === undefined) handOver(current);
      else run.onBinaryFile();
    } else if (current && data.lines) {
      const text = textOf(data.lines);
      const isMatch = type === "match" && stillMatches(pattern, text);
      current.lines.push({ path, line: data.line_number ?? 0, text, isMatch });
      if (isMatch) current.matches += 1;
      if (!isMatch || current.matches <= maxMatches) return;
      if (isTextUpTo(current, (data.absolute_offset ?? 0) + sizeOf(data.lines))) handOver(current);
      else {
        current = undefined;
        run.onBinaryFile();
      }
    }
  };
}

/** Some versions of ripgrep take a carriage return within a line for the end of one. */
function stillMatches({ regex }: LinePattern, text: string): boolean {
  const line = text.replace(/\r?\n$|\r$/, "");
  return !line.includes("\r") || regex.test(line);
}

/** Without the lines around what turned out to be no match. */
function aroundMatches(lines: GrepLine[], context: number): GrepLine[] {
  const matches = lines.filter(({ isMatch }) => isMatch).map(({ line }) => line);
  let next = 0;
  return lines.filter(({ line }) => {
    while (next < matches.length && matches[next]! + context < line) next += 1;
    return next < matches.length && matches[next]! - context <= line;
  });
}

/** A glob makes ripgrep forget the ignore files, and its globs are not quite ours: with one, both are looked at again. */
function fileFilter({ glob, folder, fileName }: GrepRequest, work: IgnoreWork): (path: string) => boolean {
  if (!glob || fileName !== undefined) return () => true;
  const matches = compileGlob(glob);
  const isIgnored = createIgnoreCheck(folder, work);
  return (path) => matches(path) && !isIgnored(path);
}

function ripgrepArgs(request: GrepRequest, inOrder: boolean): string[] {
  const { pattern, context, folder, fileName } = request;
  const glob = request.glob && fileName === undefined ? ripgrepGlob(request.glob) : undefined;
  return [
    ...["--json", "--no-config", "--no-messages", "--crlf", "--hidden", "--no-mmap"],
    ...["--no-require-git", "--no-ignore-global", "--no-ignore-exclude"],
    ...(inOrder ? ["--sort=path"] : []),
    ...(repositoryTop(folder) === undefined ? ["--no-ignore-parent"] : []),
    ...(request.ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(request.literal ? ["--fixed-strings"] : []),
    ...(context > 0 ? [`--context=${context}`] : []),
    ...(glob ? [`--glob=${glob}`] : []),
    // After the wanted glob, because the last one that matches decides.
    ...[...ALWAYS_SKIPPED].map((name) => `--glob=!${name}`),
    ...["--regexp", pattern, "--", fileName === undefined ? "./" : `./${fileName}`],
  ];
}

interface RipgrepText {
  text?: string;
  /** Base64, for what is not UTF-8. */
  bytes?: string;
}

interface RipgrepEvent {
  type: string;
  data?: {
    path?: RipgrepText;
    lines?: RipgrepText;
    line_number?: number;
    absolute_offset?: number;
    binary_offset?: number | null;
  };
}

function sizeOf({ text, bytes }: RipgrepText): number {
  return text === undefined ? Buffer.byteLength(bytes ?? "", "base64") : Buffer.byteLength(text);
}

function textOf({ text, bytes }: RipgrepText): string {
  return text ?? Buffer.from(bytes ?? "", "base64").toString("utf8");
}
