import { closeSync, fstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import { type Env, homeFolder } from "../config/paths.ts";
import { below } from "../lib/below.ts";

/** The files in which people write down what an agent shall know: AGENTS.md and its like. */

export interface ContextFile {
  path: string;
  text: string;
  /** `global` holds for all projects, `above` lies over the working folder. */
  place: "global" | "above" | "cwd";
}

/** The first of these that a folder has. */
const NAMES = ["AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"] as const;

/** About 16,000 tokens. A larger file is cut, and the model is told where the rest is. */
export const MAX_CONTEXT_FILE_BYTES = 64 * 1024;
export const MAX_CONTEXT_BYTES = 256 * 1024;

export interface ContextFileRequest {
  cwd: string;
  agentDir: string;
  env: Env;
  /** The folder of the repository that holds the working folder. */
  repositoryTop: string | undefined;
  /** False: only the global file. */
  trustsProject: boolean;
}

/** The most general first: the agent folder's, then from the outermost folder down to the working folder. */
export function findContextFiles(request: ContextFileRequest): { files: ContextFile[]; problems: string[] } {
  const { agentDir, cwd, trustsProject } = request;
  const places: { folder: string; place: ContextFile["place"] }[] = [{ folder: agentDir, place: "global" }];
  for (const folder of trustsProject ? contextFolders(request) : []) {
    places.push({ folder, place: folder === cwd ? "cwd" : "above" });
  }
  const files: ContextFile[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  let left = MAX_CONTEXT_BYTES;
  for (const { folder, place } of places) {
    const path = NAMES.map((name) => below(folder, name)).find(isFile);
    if (path === undefined) continue;
    const read = readOnce(path, Math.min(left, MAX_CONTEXT_FILE_BYTES), seen);
    if (!read) continue;
    if (read.problem !== undefined) problems.push(read.problem);
    if (read.text.trim() !== "") files.push({ path, text: read.text, place });
    left -= read.bytes;
  }
  return { files, problems };
}

/**
 * In the home folder everything is the user's own, so all folders from there on count; elsewhere those of the repository;
 * outside of one only the working folder, because the rest may be anybody's.
 */
export function contextFolders({
  cwd,
  env,
  repositoryTop,
}: Pick<ContextFileRequest, "cwd" | "env" | "repositoryTop">): string[] {
  const home = homeFolder(env);
  const top = isInside(cwd, home) ? home : (repositoryTop ?? cwd);
  const folders = [cwd];
  for (let folder = cwd; folder !== top && folder !== dirname(folder); ) {
    folder = dirname(folder);
    folders.unshift(folder);
  }
  return folders;
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && way !== path;
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

interface ReadContext {
  text: string;
  bytes: number;
  problem?: string;
}

/** Undefined for a file that was read before, under whatever name. */
function readOnce(path: string, most: number, seen: Set<string>): ReadContext | undefined {
  try {
    const real = realpathSync.native(path);
    if (seen.has(real)) return undefined;
    seen.add(real);
    return readStart(path, most);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    return { text: "", bytes: 0, problem: `${path}: cannot be read (${reason}); the model does not see it` };
  }
}

function readStart(path: string, most: number): ReadContext {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const start = Buffer.alloc(Math.min(size, most));
    const bytes = readSync(file, start, 0, start.length, 0);
    // What was cut in the middle of a character decodes to U+FFFD and goes with the broken line.
    const text = start.toString("utf8", 0, bytes).replace(/^\ufeff/, "");
    if (size <= most) return { text: text.trim(), bytes };
    const whole = text.slice(0, text.lastIndexOf("\n") + 1).trim();
    const sizes = `${kib(size)} long, the model sees only the first ${kib(most)}`;
    const note = `[This file goes on; read ${path} for the rest.]`;
    return { text: `${whole}\n\n${note}`.trim(), bytes, problem: `${path}: ${sizes}; make it shorter` };
  } finally {
    closeSync(file);
  }
}

function kib(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`;
}
