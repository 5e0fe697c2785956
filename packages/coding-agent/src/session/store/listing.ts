import {
  byNewest,
  type FilePosition,
  type SessionFileFacts,
  type SessionPlace,
  sessionFiles,
} from "./session-folders.ts";
import { type SessionFilter, type SessionSummary, summarise } from "./session-summary.ts";

export interface ListQuery extends SessionFilter {
  place: SessionPlace;
  /** How many at most: 1 to 200. */
  limit?: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
}

export interface SessionPage {
  /** Newest first. */
  sessions: SessionSummary[];
  /** Absent on the last page. */
  nextCursor?: string;
}

export type ListFailure = { error: string; code: "invalid_limit" | "invalid_cursor" | "stale_cursor" };

const DEFAULT_LIMIT = 50;
const HIGHEST_LIMIT = 200;

/** So many files are found, or passed over for what their head says, before others have their turn. */
const FILES_AT_ONCE = 200;
const HEADS_AT_ONCE = 50;

/**
 * One page of the sessions in a folder or in all. Only as many files are read as the page needs. The cursor remembers
 * the last session that was shown, not a number: files that come and go in between neither repeat nor hide another one.
 */
export async function listSessions(query: ListQuery): Promise<SessionPage | ListFailure> {
  const { limit = DEFAULT_LIMIT } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > HIGHEST_LIMIT) {
    return { code: "invalid_limit", error: `"limit" must be an integer from 1 to ${HIGHEST_LIMIT}, got ${limit}` };
  }
  const after = query.cursor === undefined ? undefined : readCursor(query.cursor, query);
  if (after && "error" in after) return after;

  const page: SessionPage = { sessions: [] };
  let last: SessionFileFacts | undefined;
  for (const [at, file] of (await filesAfter(query.place, after)).entries()) {
    if (at % HEADS_AT_ONCE === 0) await new Promise(setImmediate);
    const summary = await summarise(file, query);
    if (!summary) continue;
    if (page.sessions.length === limit && last) return { ...page, nextCursor: writeCursor(last, query) };
    page.sessions.push(summary);
    last = file;
  }
  return page;
}

async function filesAfter(place: SessionPlace, after: FilePosition | undefined): Promise<SessionFileFacts[]> {
  const files: SessionFileFacts[] = [];
  let seen = 0;
  for (const file of sessionFiles(place)) {
    if (!after || byNewest(after, file) < 0) files.push(file);
    seen += 1;
    if (seen % FILES_AT_ONCE === 0) await new Promise(setImmediate);
  }
  return files.sort(byNewest);
}

const CURSOR_VERSION = 1;

function writeCursor({ mtimeMs, path }: FilePosition, query: ListQuery): string {
  const text = JSON.stringify([CURSOR_VERSION, mtimeMs, path, searchOf(query)]);
  return Buffer.from(text, "utf8").toString("base64url");
}

function readCursor(cursor: string, query: ListQuery): FilePosition | ListFailure {
  const [version, mtimeMs, path, search] = parseCursor(cursor);
  if (version !== CURSOR_VERSION || typeof mtimeMs !== "number" || typeof path !== "string") {
    return { code: "invalid_cursor", error: "Invalid session cursor; start again without one" };
  }
  if (search !== searchOf(query)) {
    const error = "Session cursor is stale: it belongs to another search; start again without one";
    return { code: "stale_cursor", error };
  }
  return { mtimeMs, path };
}

function parseCursor(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** What must stay the same from page to page; the limit need not. */
function searchOf({ place, text, cwd, name }: ListQuery): string {
  return JSON.stringify([place, text, cwd, name]);
}
