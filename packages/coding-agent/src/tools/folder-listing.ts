import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ToolResult } from "@tiller/protocol/tool";
import { throwIfAborted } from "../lib/abort.ts";
import { shownName } from "../lib/visible.ts";
import { MAX_BYTES } from "./limits.ts";
import { textResult, withNotices } from "./tool.ts";
import { formatSize, truncateHead } from "./truncate.ts";

/** The names in a folder, for ls and for whoever reads a folder. */

export interface ListingRequest {
  shownPath: string;
  /** So many of the first names are left out. */
  skip: number;
  limit: number;
  signal: AbortSignal;
}

export async function listFolder(folder: string, request: ListingRequest): Promise<ToolResult> {
  const { shownPath, skip, limit, signal } = request;
  const entries = await readFolder(folder, shownPath);
  entries.sort((a, b) => compareNames(a.name, b.name));
  throwIfAborted(signal);
  if (entries.length === 0) return textResult("(empty directory)");
  const shown = entries.slice(skip, skip + limit);
  const names = await Promise.all(shown.map((entry) => displayName(folder, entry)));
  throwIfAborted(signal);
  return describe(names, entries.length > skip + limit ? limit : undefined);
}

async function readFolder(folder: string, shownPath: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") throw new Error(`Path not found: ${shownPath}`, { cause: error });
    if (code === "ENOTDIR") throw new Error(`Not a directory: ${shownPath}`, { cause: error });
    throw error;
  }
}

/** Names that differ only in case keep a fixed order. */
function compareNames(a: string, b: string): number {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  if (x !== y) return x < y ? -1 : 1;
  return a < b ? -1 : 1;
}

/** A link to a folder is a folder to the reader; a broken link keeps its bare name. */
async function displayName(folder: string, entry: Dirent): Promise<string> {
  if (entry.isDirectory()) return `${entry.name}/`;
  if (!entry.isSymbolicLink()) return entry.name;
  const isFolder = await stat(join(folder, entry.name)).then(
    (target) => target.isDirectory(),
    () => false,
  );
  return isFolder ? `${entry.name}/` : entry.name;
}

function describe(names: string[], limitReached: number | undefined): ToolResult {
  const truncation = truncateHead(names.map((name) => shownName(name)).join("\n"), {
    maxLines: Number.MAX_SAFE_INTEGER,
  });
  const notices: string[] = [];
  if (limitReached) notices.push(`${limitReached} entries limit reached. Use limit=${limitReached * 2} for more`);
  if (truncation.truncated) notices.push(`${formatSize(MAX_BYTES)} limit reached`);
  return textResult(withNotices(truncation.content, notices), {
    ...(limitReached && { entryLimitReached: limitReached }),
    ...(truncation.truncated && { truncation }),
  });
}
