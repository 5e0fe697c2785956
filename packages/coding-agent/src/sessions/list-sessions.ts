import { listSessions, type SessionPage } from "../session/store/listing.ts";
import type { SessionPlace } from "../session/store/session-folders.ts";
import type { SessionSummary } from "../session/store/session-summary.ts";
import { minute, oneLine } from "./plain-text.ts";

const PAGE = 200;

/** Every page of the list, newest first. */
export async function allSessions(place: SessionPlace, text: string): Promise<SessionSummary[]> {
  const query = { place, limit: PAGE, ...(text === "" ? {} : { text }) };
  const sessions: SessionSummary[] = [];
  let cursor: string | undefined;
  do {
    const page = await listSessions(cursor === undefined ? query : { ...query, cursor });
    if ("error" in page) throw new Error(page.error);
    sessions.push(...page.sessions);
    cursor = (page satisfies SessionPage).nextCursor;
  } while (cursor !== undefined);
  return sessions;
}

interface TableOptions {
  text: string;
  place: SessionPlace;
}

const LONGEST_TITLE = 60;

export function sessionTable(sessions: readonly SessionSummary[], { text, place }: TableOptions): string {
  const isAll = "root" in place;
  if (sessions.length === 0) return emptyText(text, place);
  const ids = shortIds(sessions.map(({ id }) => id));
  const head = ["id", "modified", "messages", ...(isAll ? ["folder"] : []), "name or first message", ""];
  const rows = sessions.map((session, at) => [
    ids[at]!,
    minute(session.modified),
    String(session.messageCount),
    ...(isAll ? [oneLine(session.cwd, LONGEST_TITLE)] : []),
    title(session),
    session.damaged ? "damaged" : "",
  ]);
  return columns([head, ...rows]);
}

function emptyText(text: string, place: SessionPlace): string {
  const where = "root" in place ? place.root : place.folder;
  const hint = "root" in place ? "" : "; --all looks in every project";
  return text === "" ? `No sessions in ${where}${hint}.` : `No session in ${where} has "${text}"${hint}.`;
}

/** A name is set apart from the text of a message by its quotes. */
function title({ name, firstMessage }: SessionSummary): string {
  return name === undefined ? oneLine(firstMessage, LONGEST_TITLE) : `"${oneLine(name, LONGEST_TITLE)}"`;
}

const SHORTEST_ID = 8;

/** Only as much of each id as tells it from the others; ids that were made in the same moment begin alike. */
function shortIds(ids: readonly string[]): string[] {
  const sorted = [...new Set(ids)].sort();
  const lengths = new Map<string, number>();
  sorted.forEach((id, at) => {
    const same = Math.max(sharedLength(id, sorted[at - 1]), sharedLength(id, sorted[at + 1]));
    lengths.set(id, Math.max(SHORTEST_ID, same + 1));
  });
  return ids.map((id) => oneLine(id.slice(0, lengths.get(id)), 128));
}

function sharedLength(id: string, other: string | undefined): number {
  let length = 0;
  while (other !== undefined && length < id.length && id[length] === other[length]) length += 1;
  return length;
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}
