import { basename } from "node:path";
import {
  byNewest,
  SESSION_FILE_END,
  type SessionFileFacts,
  type SessionPlace,
  sessionFiles,
} from "./session-folders.ts";
import { readHead } from "./session-head.ts";

export interface SessionPlaces {
  /** Of this project. */
  sessionDir: string;
  /** The folder with those of all projects. */
  sessionsRoot: string;
  /** Makes a path absolute, `~` included. */
  resolve(path: string): string;
}

export type FoundSession = { path: string } | { error: string; reason: "none" | "ambiguous" };

/** A path, existing or not, or the one session whose id is or begins with this: in this project, else anywhere. */
export function findSession(given: string, places: SessionPlaces): FoundSession {
  if (isPath(given)) return { path: places.resolve(given) };
  const found = given === "" ? [] : withId(given, places);
  const [only] = found;
  if (!only) return { error: `No session found matching '${given}'`, reason: "none" };
  return found.length === 1 ? { path: only.path } : { error: ambiguityText(given, found), reason: "ambiguous" };
}

function isPath(given: string): boolean {
  return /[/\\]/.test(given) || given.endsWith(SESSION_FILE_END);
}

/** The latest that was written to. Files without a header do not count. */
export function newestSession(folder: string): string | undefined {
  const files = [...sessionFiles({ folder })].sort(byNewest);
  return files.find(({ path }) => readHead(path) !== undefined)?.path;
}

/** The session of this folder with exactly this id. */
export function sessionWithId(id: string, folder: string): string | undefined {
  return candidates(id, { folder }).find((candidate) => candidate.id === id)?.path;
}

interface Candidate {
  id: string;
  path: string;
}

function withId(given: string, { sessionDir, sessionsRoot }: SessionPlaces): Candidate[] {
  for (const place of [{ folder: sessionDir }, { root: sessionsRoot }]) {
    const found = candidates(given, place);
    const exact = found.filter(({ id }) => id === given);
    if (exact.length > 0) return exact;
    if (found.length > 0) return found;
  }
  return [];
}

function candidates(given: string, place: SessionPlace): Candidate[] {
  const files = [...sessionFiles(place)].filter((file) => mayHaveId(file, given)).sort(byNewest);
  return files.flatMap(({ path }) => {
    const id = readHead(path)?.id;
    return id?.startsWith(given) ? [{ id, path }] : [];
  });
}

/** Most files are named after their id, so that only those with another name must be opened. */
function mayHaveId({ path }: SessionFileFacts, given: string): boolean {
  const named = /^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)\.jsonl$/.exec(basename(path))?.[1];
  return named === undefined || named.startsWith(given);
}

const MOST_NAMED = 10;

function ambiguityText(given: string, found: readonly Candidate[]): string {
  const lines = found.slice(0, MOST_NAMED).map(({ id, path }) => `  ${id}  ${path}`);
  const more = found.length - lines.length;
  if (more > 0) lines.push(`  and ${more} more`);
  return [`'${given}' matches ${found.length} sessions; give more of the id, or the path:`, ...lines].join("\n");
}
