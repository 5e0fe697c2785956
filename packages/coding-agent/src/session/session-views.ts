import { toJson } from "../lib/wire-json.ts";
import { blankField } from "../lib/wrong-field.ts";
import type { ByteRange, EntryLog } from "./store/entry-log.ts";
import { messageOf } from "./store/entry-rules.ts";
import { labelEntriesOf } from "./store/fork.ts";
import type { SessionStore } from "./store/session-store.ts";
import { type TreeStep, walkTree } from "./store/tree.ts";

/** JSON in parts, made while it is read. A part that is a Buffer holds only until the next one is asked for. */
export type Pieces = Iterable<Buffer | string>;

/**
 * What hosts ask to see of a session, as JSON. What came from the file goes out as the bytes that stand there; a session
 * of tens of megabytes is told without parsing it and without a copy of it in memory.
 */
export interface SessionViews {
  messages(): Pieces;
  /** One page of the same. */
  messagesPage(request: { cursor?: string; limit?: number }): Pieces | { refused: string };
  /** All entries in the order of the file, or those behind one that is known. */
  entries(since: string | undefined): Pieces | { refused: string };
  tree(): Pieces;
}

export function createSessionViews(store: SessionStore): SessionViews {
  return {
    // Its length is taken now: the list only grows, or makes way for another one.
    messages: () => messagesJson(store.log, store.context),
    messagesPage: (request) => page(store, request),
    entries(since) {
      const at = since === undefined ? -1 : store.log.find(since);
      if (since !== undefined && at < 0) {
        return { refused: blankField("since", since, "the id of an entry") ?? `Entry not found: ${since}` };
      }
      return entriesJson(store.log, at + 1, store.log.length, store.leafId);
    },
    tree: () => treeJson(store.log, store.leafId),
  };
}

function messagesJson(log: EntryLog, positions: readonly number[]): Pieces {
  return listJson('{"messages":[', positions.length, (at) => messageJson(log, positions[at]!), "]}");
}

function messageJson(log: EntryLog, position: number): ByteRange | string | undefined {
  const raw = log.role(position) === "" ? undefined : log.rawMessage(position);
  if (raw) return raw;
  const entry = log.entry(position);
  const message = entry && messageOf(entry);
  return message && jsonOf(message);
}

function entriesJson(log: EntryLog, from: number, end: number, leafId: string | null): Pieces {
  return listJson('{"entries":[', end - from, (at) => entryJson(log, from + at), `],"leafId":${toJson(leafId)}}`);
}

function entryJson(log: EntryLog, position: number): ByteRange | string | undefined {
  const raw = log.rawEntry(position);
  if (raw) return raw;
  const entry = log.look(position);
  return entry && jsonOf(entry);
}

/** JSON.parse reads what is nested deeper than JSON.stringify can write; in the middle of an answer nothing may fail. */
function jsonOf(value: object): string | undefined {
  try {
    return toJson(value);
  } catch {
    return undefined;
  }
}

const PIECE_BYTES = 256 * 1024;
const COMMA = 0x2c;

/** What cannot be read is left out. Put together in one buffer, again and again: there may be tens of thousands. */
function* listJson(
  head: string,
  length: number,
  item: (at: number) => ByteRange | string | undefined,
  tail: string,
): Generator<Buffer | string> {
  const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, 4096 + length * 1024));
  let filled = piece.write(head);
  let isFirst = true;
  for (let at = 0; at < length; at++) {
    const json = item(at);
    if (json === undefined) continue;
    const { bytes, start, end } = typeof json === "string" ? asRange(json) : json;
    const size = end - start;
    if (filled + size + 1 > piece.length) {
      yield piece.subarray(0, filled);
      filled = 0;
    }
    if (!isFirst) piece[filled++] = COMMA;
    isFirst = false;
    if (size < piece.length) filled += bytes.copy(piece, filled, start, end);
    else {
      if (filled > 0) yield piece.subarray(0, filled);
      filled = 0;
      yield bytes.subarray(start, end);
    }
  }
  yield piece.subarray(0, filled);
  yield tail;
}

function asRange(text: string): ByteRange {
  const bytes = Buffer.from(text);
  return { bytes, start: 0, end: bytes.length };
}

function textIn(json: ByteRange | string): string {
  return typeof json === "string" ? json : json.bytes.toString("utf8", json.start, json.end);
}

function treeJson(log: EntryLog, leafId: string | null): Pieces {
  return treePieces(log, walkTree(log), labelEntriesOf(log), leafId);
}

function* treePieces(
  log: EntryLog,
  steps: Iterable<TreeStep>,
  labels: ReturnType<typeof labelEntriesOf>,
  leafId: string | null,
): Generator<string> {
  yield '{"tree":[';
  /** Whether something stands before the next node on its level. */
  let follows = false;
  for (const { position, isOver } of steps) {
    if (isOver) yield endOfNode(labels.get(log.id(position)));
    else {
      const entry = entryJson(log, position) ?? toJson({ type: "unreadable", id: log.id(position) });
      yield `${follows ? "," : ""}{"entry":${textIn(entry)},"children":[`;
    }
    follows = isOver;
  }
  yield `],"leafId":${toJson(leafId)}}`;
}

function endOfNode(given: { label: string; timestamp?: string } | undefined): string {
  if (!given) return "]}";
  return `],"label":${toJson(given.label)},"labelTimestamp":${toJson(given.timestamp ?? "")}}`;
}

const HIGHEST_LIMIT = 256;
const DEFAULT_LIMIT = 100;
const PAGE_BYTES = 768 * 1024;

/** A cursor holds as long as the conversation is the same. */
interface Cursor {
  version: 1;
  sessionId: string;
  leafId: string | null;
  messageCount: number;
  offset: number;
}

function page(
  store: SessionStore,
  { cursor, limit = DEFAULT_LIMIT }: { cursor?: string; limit?: number },
): Pieces | { refused: string } {
  if (!Number.isInteger(limit) || limit < 1 || limit > HIGHEST_LIMIT) {
    return { refused: `RPC message page limit must be between 1 and ${HIGHEST_LIMIT}` };
  }
  const { log, sessionId, leafId, context } = store;
  const here: Cursor = { version: 1, sessionId, leafId, messageCount: context.length, offset: 0 };
  const from = cursor === undefined ? here : readCursor(cursor);
  if (!from) return { refused: "Invalid RPC message cursor" };
  if (JSON.stringify({ ...from, offset: 0 }) !== JSON.stringify(here))
    return { refused: "RPC message cursor is stale" };
  const shown: string[] = [];
  let bytes = 0;
  let offset = from.offset;
  for (; offset < context.length && shown.length < limit; offset++) {
    const found = messageJson(log, context[offset]!);
    if (found === undefined) continue;
    const json = textIn(found);
    bytes += Buffer.byteLength(json);
    // A page has at least one message, however large.
    if (bytes > PAGE_BYTES && shown.length > 0) break;
    shown.push(json);
  }
  const next = offset < context.length ? `,"nextCursor":${toJson(writeCursor({ ...here, offset }))}` : "";
  return [`{"messages":[${shown.join(",")}],"totalMessages":${context.length}${next}}`];
}

function writeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString("base64url");
}

function readCursor(text: string): Cursor | undefined {
  try {
    const { version, sessionId, leafId, messageCount, offset } = JSON.parse(Buffer.from(text, "base64url").toString());
    const isSound = version === 1 && Number.isInteger(offset) && offset >= 0;
    return isSound ? { version, sessionId, leafId, messageCount, offset } : undefined;
  } catch {
    return undefined;
  }
}
