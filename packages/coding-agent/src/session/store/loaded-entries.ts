import { isUtf8 } from "node:buffer";
import type { AgentMessage } from "@tiller/protocol/message";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import { type EntryIndex, emptyIndex, findId, idAt, idsIn, KINDS, MESSAGE, ROLES } from "./entry-index.ts";
import type { ByteRange, LoadedEntries } from "./entry-log.ts";
import { jsonEnd } from "./json-scan.ts";
import { normalise, type ReadBlob } from "./migrations.ts";

export interface LoadOptions {
  bytes: Buffer;
  index: EntryIndex;
  /** The bytes are the whole file, header and all; else only those lines count that the index names. */
  isWholeFile: boolean;
  readBlob?: ReadBlob;
  /** What is known already of the lines. */
  soundness?: Soundness;
}

/** For each entry: whether its JSON was found to be whole, and that of its message. */
export type Soundness = Uint8Array;

const LF = 0x0a;
export const ENTRY_IS_SOUND = 1;
export const MESSAGE_IS_SOUND = 2;

/** The entries of a file as the ranges of its bytes. */
export function loadEntries({ bytes, index, isWholeFile, readBlob, soundness }: LoadOptions): LoadedEntries {
  const { starts, ends, kinds, roles, messageStarts, parents } = index;
  const sound = soundness ?? new Uint8Array(starts.length);

  /** Whether all bytes are UTF-8; only if they are not, each line has to be looked at. */
  let isAllText: boolean | undefined;
  const isText = (start: number, end: number): boolean => {
    isAllText ??= isUtf8(bytes);
    return isAllText || isUtf8(bytes.subarray(start, end));
  };

  const range: ByteRange = { bytes, start: 0, end: 0 };
  const raw = (position: number, start: number, end: number, what: number): ByteRange | undefined => {
    if ((sound[position]! & what) === 0) {
      if (jsonEnd(bytes, start, end) !== end || !isText(start, end)) return undefined;
      sound[position]! |= what;
    }
    range.start = start;
    range.end = end;
    return range;
  };

  const textAt = (start: number, end: number): string => bytes.toString("utf8", start, end);
  const parse = (position: number, message?: AgentMessage): SessionEntry | null => {
    try {
      const [start, end] = [starts[position]!, ends[position]!];
      if (message) return { ...JSON.parse(`${textAt(start, messageStarts[position]!)}null}`), message };
      return normalise(JSON.parse(textAt(start, end)), readBlob, end - start) as unknown as SessionEntry;
    } catch {
      // Damaged in the middle of the line: as if it were not there.
      return null;
    }
  };
  const parseMessage = (position: number): AgentMessage | undefined => {
    const start = messageStarts[position]!;
    if (start === 0 || kinds[position] !== MESSAGE) return undefined;
    try {
      const end = ends[position]!;
      const found = { type: "message", message: JSON.parse(textAt(start, end - 1)) };
      const seen = normalise(found, readBlob, end - starts[position]!);
      return seen.type === "message" ? (seen.message as AgentMessage) : undefined;
    } catch {
      // Damaged, or it is not the last field of its line.
      return undefined;
    }
  };
  /** Messages of a role that is not listed: only a closer look tells whether they are messages to us. */
  const strangers = new Map<number, string>();
  const kindOfStranger = (position: number): string => {
    const kind = strangers.get(position) ?? (parse(position)?.type === "custom" ? "custom" : "message");
    strangers.set(position, kind);
    return kind;
  };

  let ids: ReturnType<typeof idsIn> | undefined;
  let held: ReadonlySet<string> | undefined;

  return {
    length: starts.length,
    id: (position) => idAt(bytes, index, position),
    parent: (position) => parents[position]!,
    kind(position) {
      const isStranger = kinds[position] === MESSAGE && roles[position] === 0;
      return isStranger ? kindOfStranger(position) : KINDS[kinds[position]!]!;
    },
    role: (position) => ROLES[roles[position]!]!,
    holds(kind) {
      held ??= kindsIn(index);
      return held.has(kind);
    },
    line: (position) => bytes.subarray(starts[position], ends[position]),
    rawEntry: (position) => raw(position, starts[position]!, ends[position]!, ENTRY_IS_SOUND),
    rawMessage(position) {
      const start = messageStarts[position]!;
      if (start === 0 || kinds[position] !== MESSAGE) return undefined;
      return raw(position, start, ends[position]! - 1, MESSAGE_IS_SOUND);
    },
    parse,
    parseMessage,
    find: (id) => findId(bytes, index, id),
    has(id) {
      ids ??= idsIn(bytes, index);
      return ids.has(id);
    },
    *lines() {
      for (let at = 0; at < starts.length; ) {
        const start = starts[at]!;
        let end = ends[at]!;
        for (at += 1; at < starts.length && starts[at] === end + 1; at++) end = ends[at]!;
        yield bytes.subarray(start, end);
      }
    },
    file: isWholeFile ? bytes.subarray(0, bytes.at(-1) === LF ? -1 : undefined) : undefined,
    part: (positions) => loadEntries({ bytes, index: partOf(index, positions), isWholeFile: false, readBlob }),
  };
}

function kindsIn({ kinds, roles }: EntryIndex): ReadonlySet<string> {
  const isThere = new Uint8Array(KINDS.length);
  let hasStranger = false;
  for (let at = 0; at < kinds.length; at++) {
    isThere[kinds[at]!] = 1;
    if (kinds[at] === MESSAGE && roles[at] === 0) hasStranger = true;
  }
  const found = new Set<string>(KINDS.filter((_, kind) => isThere[kind] === 1));
  // What `kind` may say about one, see migrations.ts.
  if (hasStranger) found.add("custom");
  return found;
}

/** Each entry becomes the child of the one before. */
function partOf(index: EntryIndex, positions: readonly number[]): EntryIndex {
  const pick = (values: readonly number[]): number[] => positions.map((position) => values[position]!);
  const part = {
    ...emptyIndex(),
    starts: pick(index.starts),
    ends: pick(index.ends),
    kinds: pick(index.kinds),
    roles: pick(index.roles),
    messageStarts: pick(index.messageStarts),
    idStarts: pick(index.idStarts),
    parents: positions.map((_, at) => at - 1),
  };
  for (const [at, position] of positions.entries()) {
    const odd = index.oddIds.get(position);
    if (odd !== undefined) part.oddIds.set(at, odd);
  }
  return part;
}

/** Looks at one line to its end; 0 when it is no JSON that can be sent on as it is. */
export function soundnessOf(bytes: Buffer, { starts, ends, messageStarts }: EntryIndex, position: number): number {
  const [start, end, message] = [starts[position]!, ends[position]!, messageStarts[position]!];
  // What stands before the message was looked at when it was indexed.
  if (message > 0 && jsonEnd(bytes, message, end - 1) === end - 1) return ENTRY_IS_SOUND | MESSAGE_IS_SOUND;
  return jsonEnd(bytes, start, end) === end ? ENTRY_IS_SOUND : 0;
}

/** Whether a line is no JSON, though it begins as if it were. */
export function isBroken(bytes: Buffer, { starts, ends }: EntryIndex, position: number): boolean {
  try {
    JSON.parse(bytes.toString("utf8", starts[position], ends[position]));
    return false;
  } catch {
    return true;
  }
}
