import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { runProcess } from "../exec/run-process.ts";
import { throwIfAborted } from "../lib/abort.ts";
import { createLineSplitter } from "../lib/jsonl.ts";
import type { GrepCollector, GrepLine, GrepRequest } from "./grep-format.ts";
import type { ToolContext } from "./tool.ts";
import { ALWAYS_SKIPPED, repositoryTop } from "./walk.ts";

/** Search by ripgrep. Its options are set so that it looks at the same files, in the same order, as our own search. */

/** ripgrep's word for "something went wrong", mostly a pattern it does not know. */
const EXIT_TROUBLE = 2;
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** The `rg` on PATH, if there is one. */
export async function findRipgrep(env: ToolContext["env"]): Promise<string | undefined> {
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    if (folder === "") continue;
    const path = join(folder, "rg");
    const usable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return path;
  }
  return undefined;
}

/** False when ripgrep could not do it (and reported nothing): our own search shall try. */
export async function grepWithRipgrep(
  file: string,
  request: GrepRequest,
  context: ToolContext,
  collector: GrepCollector,
  signal: AbortSignal,
): Promise<boolean> {
  const enough = new AbortController();
  let seen = 0;
  const lines = createLineSplitter({
    maxBytes: MAX_LINE_BYTES,
    onLine(text) {
      const line = enough.signal.aborted ? undefined : parseLine(text);
      if (!line) return;
      seen += 1;
      if (!collector.add(line)) enough.abort();
    },
    // A line of that size is not text; it is left out.
    onTooLong: () => undefined,
  });
  const { exitCode } = await runProcess(
    {
      file,
      args: await ripgrepArgs(request),
      cwd: request.folder,
      env: context.env,
      clock: context.clock,
      onOutput: (chunk, source) => (source === "stdout" ? lines.push(chunk) : undefined),
    },
    AbortSignal.any([signal, enough.signal]),
  );
  throwIfAborted(signal);
  lines.end();
  return seen > 0 || exitCode !== EXIT_TROUBLE;
}

async function ripgrepArgs(request: GrepRequest): Promise<string[]> {
  const { pattern, glob, context, folder, fileName } = request;
  const insideRepository = (await repositoryTop(folder)) !== undefined;
  return [
    ...["--json", "--no-config", "--no-messages", "--sort=path", "--crlf", "--hidden"],
    ...["--no-require-git", "--no-ignore-global", "--no-ignore-dot", "--no-ignore-exclude"],
    ...(insideRepository ? [] : ["--no-ignore-parent"]),
    ...(request.ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(request.literal ? ["--fixed-strings"] : []),
    ...(context > 0 ? [`--context=${context}`] : []),
    ...(glob ? [`--glob=${glob}`] : []),
    // After the wanted glob, because the last one that matches decides.
    ...[...ALWAYS_SKIPPED].map((name) => `--glob=!${name}`),
    ...["--regexp", pattern, "--", fileName ? `./${fileName}` : "./"],
  ];
}

interface RipgrepText {
  text?: string;
  /** Base64, for what is not UTF-8. */
  bytes?: string;
}

interface RipgrepEvent {
  type: string;
  data?: { path?: RipgrepText; lines?: RipgrepText; line_number?: number };
}

function parseLine(json: string): GrepLine | undefined {
  const { type, data } = JSON.parse(json) as RipgrepEvent;
  if ((type !== "match" && type !== "context") || !data?.path || !data.lines) return undefined;
  return {
    path: textOf(data.path).replace(/^\.\//, ""),
    line: data.line_number ?? 0,
    text: textOf(data.lines),
    isMatch: type === "match",
  };
}

function textOf({ text, bytes }: RipgrepText): string {
  return text ?? Buffer.from(bytes ?? "", "base64").toString("utf8");
}
