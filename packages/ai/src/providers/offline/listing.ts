/** Reads what ls, find and their stand-ins print. Pure. */

export interface Entries {
  folders: string[];
  files: string[];
  /** The tool said that it left something out. */
  partial: boolean;
}

const NOTICE = /^\[.*\]$/;
const NOTHING = new Set(["(empty directory)", "(no output)", "No files found matching pattern", "No matches found"]);
const UNCOUNTED = /(?:^|\/)(?:\.git|node_modules)\//;

/** One path per line, folders with a slash at the end. */
export function parseEntries(output: string): Entries {
  const entries: Entries = { folders: [], files: [], partial: false };
  for (const line of output.split("\n")) {
    const path = line.trim().replace(/^\.\//, "");
    if (path === "" || NOTHING.has(path)) continue;
    if (NOTICE.test(path)) entries.partial = true;
    else if (path.endsWith("/")) entries.folders.push(path.slice(0, -1));
    else entries.files.push(path);
  }
  return entries;
}

export interface Count {
  name: string;
  files: number;
}

export interface FileCounts {
  total: number;
  partial: boolean;
  /** Most frequent first. */
  byExtension: Count[];
  /** Files below each top-level folder. */
  byFolder: ReadonlyMap<string, number>;
}

export function countFiles(entries: Entries): FileCounts {
  const byExtension = new Map<string, number>();
  const byFolder = new Map<string, number>();
  const files = entries.files.filter((path) => !UNCOUNTED.test(path));
  for (const path of files) {
    add(byExtension, extensionOf(path));
    const slash = path.indexOf("/");
    if (slash > 0) add(byFolder, path.slice(0, slash));
  }
  return { total: files.length, partial: entries.partial, byExtension: mostFirst(byExtension), byFolder };
}

function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot).toLowerCase() : "";
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function mostFirst(counts: Map<string, number>): Count[] {
  const rows = [...counts].map(([name, files]) => ({ name, files }));
  return rows.sort((a, b) => b.files - a.files || (a.name < b.name ? -1 : 1));
}
