import type { AgentMessage } from "@tiller/protocol/message";
import type { SessionEntry, SessionHeader } from "@tiller/protocol/session-entry";
import { messageOf } from "./entry-rules.ts";

/**
 * The entries of one session in the order they were written. Those that came from a file are bytes until somebody looks
 * at them; those that were added are objects. Positions count from 0 and never change.
 */
export interface EntryLog extends EntryReader {
  readonly header: SessionHeader;
  /** So many of them, the first ones, came from a file. */
  readonly loadedLength: number;
  /** The same object each time. */
  entry(position: number): SessionEntry | undefined;
  /** The message that it is, the same object each time; of a line in a file nothing else is made then. */
  message(position: number): AgentMessage | undefined;
  /** The same as `entry` without keeping what was parsed: for those who go through everything once. */
  look(position: number): SessionEntry | undefined;
  /** The object, if it was made already. */
  known(position: number): SessionEntry | undefined;
  /** Position of an entry, or -1. */
  find(id: string): number;
  /** Whether an id is taken. */
  has(id: string): boolean;
  append(entry: SessionEntry): number;
  /** Everything that belongs into the file, header included. One item may be many lines. */
  lines(): Iterable<Buffer | string>;
  /** Some of the entries, each the child of the one before, as a log of their own. */
  part(positions: readonly number[], header: SessionHeader): EntryLog;
  /** All of them, under another header. Only for a log to which nothing was added. */
  under(header: SessionHeader): EntryLog;
}

export interface EntryReader {
  readonly length: number;
  id(position: number): string;
  /** -1 for a root. */
  parent(position: number): number;
  kind(position: number): string;
  /** Of a message; empty for what is none, and for roles of other programs. */
  role(position: number): string;
  /** Whether there is an entry of this kind at all: most sessions have none of the kinds that are looked for. */
  holds(kind: string): boolean;
  /** The line in the file. */
  line(position: number): Buffer | string;
  /** The JSON of an entry, if it can be had without parsing, checked to be whole and fit for the wire. */
  rawEntry(position: number): ByteRange | undefined;
  /** The same for its message. */
  rawMessage(position: number): ByteRange | undefined;
}

/** One object for many calls: it holds until the next one. */
export interface ByteRange {
  bytes: Buffer;
  start: number;
  end: number;
}

/** Entries that came from a file. */
export interface LoadedEntries extends EntryReader {
  /** Null when its bytes turn out to be no JSON. `message` is what `parseMessage` has made of it before. */
  parse(position: number, message?: AgentMessage): SessionEntry | null;
  /** The message alone, where the line is laid out as usual. */
  parseMessage(position: number): AgentMessage | undefined;
  /** The whole file without its last line end, if these entries are all of it. */
  readonly file: Buffer | undefined;
  /** Position of an entry, or -1; for few questions, without a list of all ids. */
  find(id: string): number;
  /** Whether there is an entry with this id: the first question looks at all of them, the next ones cost less; for few, too. */
  has(id: string): boolean;
  /** Their lines, those that stand side by side in one piece. */
  lines(): Iterable<Buffer>;
  part(positions: readonly number[]): LoadedEntries;
}

/** After these a list of all ids is worth its time. */
const FEW_QUESTIONS = 32;

/** `parsed` is what was made already of the loaded ones; null for what cannot be read. */
export function createEntryLog(
  header: SessionHeader,
  loaded: LoadedEntries = NOTHING,
  parsed: (SessionEntry | null | undefined)[] = [],
): EntryLog {
  /** Of loaded entries that nobody has asked for as a whole. */
  const messages: (AgentMessage | undefined)[] = [];
  const added: { entry: SessionEntry; parent: number }[] = [];
  const addedKinds = new Set<string>();
  const addedIds = new Map<string, number>();
  let questions = 0;
  let loadedIds: Map<string, number> | undefined;

  const isLoaded = (position: number): boolean => position < loaded.length;
  const own = (position: number) => added[position - loaded.length]!;
  const length = (): number => loaded.length + added.length;
  const id = (position: number): string => (isLoaded(position) ? loaded.id(position) : own(position).entry.id);
  const line = (position: number): Buffer | string =>
    isLoaded(position) ? loaded.line(position) : JSON.stringify(own(position).entry);
  /** Not there for the first questions: a few ids are sooner looked for. */
  const allIds = (): Map<string, number> | undefined => {
    if (++questions > FEW_QUESTIONS) loadedIds ??= idsOf(loaded);
    return loadedIds;
  };
  const findLoaded = (wanted: string): number => {
    const ids = allIds();
    return ids ? (ids.get(wanted) ?? -1) : loaded.find(wanted);
  };
  const find = (wanted: string): number => {
    // Ids also stand in entries that nobody has looked at.
    if (typeof wanted !== "string") return -1;
    return addedIds.get(wanted) ?? findLoaded(wanted);
  };
  const hasObject = (position: number): boolean =>
    !isLoaded(position) || parsed[position] !== undefined || messages[position] !== undefined;
  const entry = (position: number): SessionEntry | undefined => {
    if (!isLoaded(position)) return own(position).entry;
    const known = parsed[position];
    if (known !== undefined) return known ?? undefined;
    const found = loaded.parse(position, messages[position]);
    parsed[position] = found;
    return found ?? undefined;
  };
  const append = (entry: SessionEntry): number => {
    const position = length();
    const { parentId } = entry;
    const followsLast = position > 0 && id(position - 1) === parentId;
    addedKinds.add(entry.type);
    added.push({ entry, parent: followsLast ? position - 1 : parentId === null ? -1 : find(parentId) });
    addedIds.set(entry.id, position);
    return position;
  };

  return {
    header,
    loadedLength: loaded.length,
    get length() {
      return length();
    },
    id,
    parent: (position) => (isLoaded(position) ? loaded.parent(position) : own(position).parent),
    kind: (position) => (isLoaded(position) ? loaded.kind(position) : own(position).entry.type),
    role: (position) => (isLoaded(position) ? loaded.role(position) : roleOf(own(position).entry)),
    holds: (kind) => addedKinds.has(kind) || loaded.holds(kind),
    line,
    rawEntry: (position) => (isLoaded(position) ? loaded.rawEntry(position) : undefined),
    rawMessage: (position) => (isLoaded(position) ? loaded.rawMessage(position) : undefined),
    entry,
    message(position) {
      if (isLoaded(position) && parsed[position] === undefined) {
        const known = messages[position] ?? loaded.parseMessage(position);
        messages[position] = known;
        if (known) return known;
      }
      const whole = entry(position);
      return whole && messageOf(whole);
    },
    look(position) {
      if (!isLoaded(position)) return own(position).entry;
      return (parsed[position] ?? loaded.parse(position, messages[position])) || undefined;
    },
    known: (position) => (hasObject(position) ? entry(position) : undefined),
    find,
    has: (wanted) => addedIds.has(wanted) || (allIds()?.has(wanted) ?? loaded.has(wanted)),
    append,
    *lines() {
      if (loaded.file) yield loaded.file;
      else {
        yield JSON.stringify(header);
        yield* loaded.lines();
      }
      for (let at = loaded.length; at < length(); at++) yield line(at);
    },
    under: (otherHeader) => createEntryLog(otherHeader, { ...loaded, file: undefined }),
    part(wanted, partHeader) {
      const fromFile = wanted.filter(isLoaded);
      const part = createEntryLog(partHeader, loaded.part(fromFile));
      for (const position of wanted.slice(fromFile.length)) part.append(own(position).entry);
      return part;
    },
  };
}

/** Of an id that was used twice the last entry counts. */
function idsOf(loaded: LoadedEntries): Map<string, number> {
  const ids = new Map<string, number>();
  for (let at = 0; at < loaded.length; at++) ids.set(loaded.id(at), at);
  return ids;
}

function roleOf(entry: SessionEntry): string {
  return entry.type === "message" ? entry.message.role : "";
}

const NOTHING: LoadedEntries = {
  length: 0,
  id: () => "",
  parent: () => -1,
  kind: () => "",
  role: () => "",
  holds: () => false,
  line: () => "",
  rawEntry: () => undefined,
  rawMessage: () => undefined,
  parse: () => null,
  parseMessage: () => undefined,
  file: undefined,
  find: () => -1,
  has: () => false,
  lines: () => [],
  part: () => NOTHING,
};
