import { closeSync, fstatSync, lstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname, sep } from "node:path";
import { type Env, homeFolder } from "../config/paths.ts";
import { below } from "../lib/below.ts";
import { withoutLinks } from "../lib/repository-top.ts";
import { decodeText, encodingProblem } from "../lib/text-file.ts";

/** The files in which people write down what an agent shall know: AGENTS.md and its like. */

export interface ContextFile {
  path: string;
  text: string;
  /** `global` holds for all projects, `above` lies over the working folder, `rule` is in a folder of rules. */
  place: "global" | "above" | "cwd" | "rule";
}

/** The first of these that a folder has. */
const NAMES = ["AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD", "GEMINI.md"] as const;

/** About 16,000 tokens. A larger file is cut, and the model is told where the rest is. */
export const MAX_CONTEXT_FILE_BYTES = 64 * 1024;
export const MAX_CONTEXT_BYTES = 256 * 1024;

export interface ContextFileRequest {
  cwd: string;
  agentDir: string;
  env: Env;
  /** The folder of the repository that holds the working folder, without links. */
  repositoryTop: string | undefined;
  /** False: only the global file. */
  trustsProject: boolean;
}

/** A folder to look in. What lies in one that is not `own` counts only if its owner can be trusted. */
export interface ContextFolder {
  folder: string;
  place: ContextFile["place"];
  isOwn: boolean;
}

/** The most general first: the agent folder's, then from the outermost folder down to the working folder. */
export function findContextFiles(
  request: ContextFileRequest,
  isOurs: (path: string) => boolean = belongsToUs,
): { files: ContextFile[]; problems: string[] } {
  const folders: ContextFolder[] = [{ folder: request.agentDir, place: "global", isOwn: true }];
  if (request.trustsProject) folders.push(...contextFolders(request));
  const files: ContextFile[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  let left = MAX_CONTEXT_BYTES;
  for (const { folder, place, isOwn } of folders) {
    const path = NAMES.map((name) => below(folder, name)).find((path) => isFile(path) && (isOwn || isOurs(path)));
    if (path === undefined) continue;
    const read = readOnce(path, Math.min(left, MAX_CONTEXT_FILE_BYTES), seen);
    if (!read) continue;
    problems.push(...read.problems);
    if (read.text.trim() !== "") files.push({ path, text: read.text, place });
    left -= read.bytes;
  }
  return { files, problems };
}

/** All from the top of the disk. The home folder and the repository are the user's own; what lies around them may be anybody's. */
export function contextFolders({
  cwd,
  env,
  repositoryTop,
}: Pick<ContextFileRequest, "cwd" | "env" | "repositoryTop">): ContextFolder[] {
  const tops = [withoutLinks(homeFolder(env)), ...(repositoryTop === undefined ? [] : [repositoryTop])];
  // Who has no home has the whole disk for one, and that is not his.
  const own = tops.filter((top) => top !== dirname(top));
  const folders: ContextFolder[] = [{ folder: cwd, place: "cwd", isOwn: true }];
  // What is above a link to the working folder has nothing to do with it.
  for (let folder = withoutLinks(cwd); folder !== dirname(folder); ) {
    folder = dirname(folder);
    folders.unshift({ folder, place: "above", isOwn: own.some((top) => isInside(folder, top)) });
  }
  return folders;
}

/**
 * In a folder that many can write to, such as /tmp, others may leave instructions for an agent, or a link to a file of the user
 * that is nobody's business. Where nobody can say whose a file is, it does not count.
 */
function belongsToUs(path: string): boolean {
  const user = process.getuid?.();
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
  return user !== undefined && (owner === user || owner === 0);
}

/** Both paths are whole. */
function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
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
  problems: string[];
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
    return { text: "", bytes: 0, problems: [`${path}: cannot be read (${reason}); the model does not see it`] };
  }
}

function readStart(path: string, most: number): ReadContext {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, most));
    const bytes = readSync(file, buffer, 0, buffer.length, 0);
    const isWhole = size <= most;
    const start = buffer.subarray(0, isWhole ? bytes : endOfStart(buffer, bytes));
    const text = decodeText(start).trim();
    const encoding = encodingProblem(start, path);
    const problems = encoding === undefined ? [] : [encoding];
    if (isWhole) return { text, bytes, problems };
    problems.push(`${path}: ${kib(size)} long, the model sees only the first ${kib(most)}; make it shorter`);
    return { text: `${text}\n\n[This file goes on; read ${path} for the rest.]`.trim(), bytes, problems };
  } finally {
    closeSync(file);
  }
}

/** After a line, unless that would leave out most of it: some write a paragraph, or a whole file, in one. */
function endOfStart(buffer: Buffer, bytes: number): number {
  const line = buffer.lastIndexOf("\n", bytes) + 1;
  if (line > bytes / 2) return line;
  // The last character may have been cut in its middle.
  let end = Math.max(0, bytes - 1);
  while (end > 0 && (buffer[end]! & 0xc0) === 0x80) end--;
  return end;
}

function kib(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`;
}
