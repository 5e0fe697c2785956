import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { runProcess } from "../exec/run-process.ts";
import { throwIfAborted } from "../lib/abort.ts";
import { createLineSplitter } from "../lib/jsonl.ts";
import { compileGlob, ripgrepGlob } from "./glob.ts";
import { binaryNote, type GrepCollector, type GrepLine, type GrepRequest } from "./grep-format.ts";
import { createIgnoreCheck, repositoryTop } from "./ignore-rules.ts";
import type { ToolContext } from "./tool.ts";
import { ALWAYS_SKIPPED, comparePaths } from "./walk.ts";

/** Search by ripgrep. Its options are set so that it looks at the same files as our own search. */

/** ripgrep's word for "something went wrong", mostly a pattern it does not know. */
const EXIT_TROUBLE = 2;
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** The `rg` on PATH, else the one of the optional package beside us, else none. */
export async function findRipgrep(env: ToolContext["env"], bundled = "@vscode/ripgrep"): Promise<string | undefined> {
  const name = process.platform === "win32" ? "rg.exe" : "rg";
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    if (folder !== "" && (await isProgram(join(folder, name)))) return join(folder, name);
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
  lines: GrepLine[];
  matches: number;
}

interface RipgrepRun {
  file: string;
  request: GrepRequest;
  context: ToolContext;
  signal: AbortSignal;
  /** Takes what was found in a text file, in the order of ripgrep. False when there is enough. */
  onFile(found: FileMatches): boolean;
  onBinaryFile?(path: string): void;
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
  const run = { file, request, context, signal, maxMatches: collector.limit };
  if (request.fileName === undefined) {
    const found = await searchAllAtOnce(run);
    if (found === "trouble") return false;
    if (found !== "too much") {
      found.sort((a, b) => comparePaths(a.path, b.path));
      for (const { lines } of found) for (const line of lines) collector.add(line);
      return true;
    }
  }
  const outcome = await runRipgrep({
    ...run,
    inOrder: request.fileName === undefined,
    onFile: ({ lines }) => lines.every((line) => collector.add(line)),
    onBinaryFile: (path) => collector.note(binaryNote(path)),
  });
  if (outcome === "crashed") collector.note("ripgrep broke down on the way: there may be more matches");
  return outcome !== "trouble";
}

/** Everything, in any order; given up when it is more than can be shown, because then the order decides what is. */
async function searchAllAtOnce(
  run: Omit<RipgrepRun, "onFile" | "inOrder">,
): Promise<FileMatches[] | "too much" | "trouble"> {
  const all: FileMatches[] = [];
  let matches = 0;
  const outcome = await runRipgrep({
    ...run,
    inOrder: false,
    onFile(found) {
      all.push(found);
      matches += found.matches;
      return matches <= run.maxMatches;
    },
  });
  if (outcome === "crashed") return "trouble";
  if (outcome === "trouble") return all.length > 0 ? all : "trouble";
  return outcome === "stopped" ? "too much" : all;
}

async function runRipgrep(run: RipgrepRun): Promise<"done" | "stopped" | "trouble" | "crashed"> {
  const { file, request, context, signal } = run;
  const enough = new AbortController();
  let crashed = false;
  /** It sometimes hangs after a panic of its own, so nobody waits for its end. */
  const onComplaint = (chunk: Buffer): void => {
    if (!chunk.includes("panicked")) return;
    crashed = true;
    enough.abort();
  };
  const reader = createEventReader(run, () => enough.abort());
  const lines = createLineSplitter({
    maxBytes: MAX_LINE_BYTES,
    onLine: (text) => (enough.signal.aborted ? undefined : reader(text)),
    // A line of that size is not text; it is left out.
    onTooLong: () => undefined,
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
  const isWanted = fileFilter(run.request);
  let current: FileMatches | undefined;
  const handOver = (found: FileMatches) => {
    current = undefined;
    if (!run.onFile(found)) stop();
  };
  return (json) => {
    const { type, data } = JSON.parse(json) as RipgrepEvent;
    if (!data?.path) return;
    const path = textOf(data.path).replace(/^\.\//, "");
    if (type === "begin") {
      current = isWanted(path) ? { path, lines: [], matches: 0 } : undefined;
    } else if (current && type === "end") {
      if (data.binary_offset === null || data.binary_offset === undefined) handOver(current);
      else run.onBinaryFile?.(path);
    } else if (current && data.lines) {
      const isMatch = type === "match";
      current.lines.push({ path, line: data.line_number ?? 0, text: textOf(data.lines), isMatch });
      if (isMatch) current.matches += 1;
      if (current.matches > run.maxMatches) handOver(current);
    }
  };
}

/** A glob makes ripgrep forget the ignore files, and its globs are not quite ours: with one, both are looked at again. */
function fileFilter({ glob, folder, fileName }: GrepRequest): (path: string) => boolean {
  if (!glob || fileName !== undefined) return () => true;
  const matches = compileGlob(glob);
  const isIgnored = createIgnoreCheck(folder);
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
  data?: { path?: RipgrepText; lines?: RipgrepText; line_number?: number; binary_offset?: number | null };
}

function textOf({ text, bytes }: RipgrepText): string {
  return text ?? Buffer.from(bytes ?? "", "base64").toString("utf8");
}
