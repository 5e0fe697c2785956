/**
 * Where the entries of a session file are, found by looking only at the beginning of each line. A file of tens of
 * megabytes is indexed in a few milliseconds; what a line holds is parsed when somebody wants to know.
 */
export interface EntryIndex {
  /** Line of the header, or undefined when the file has none. */
  header: LineRange | undefined;
  /** One item for each entry, in the order of the file. */
  starts: number[];
  /** Without the line end. */
  ends: number[];
  /** Index into `KINDS`. */
  kinds: number[];
  /** Index into `ROLES`; 0 for entries that are no messages. */
  roles: number[];
  /** Where the JSON of `message` begins when it is the last field of the line, else 0. What stands before it is then whole. */
  messageStarts: number[];
  /** Where the id stands; 0 for those in `oddIds`. */
  idStarts: number[];
  /** Ids of entries that are not laid out as usual. */
  oddIds: Map<number, string>;
  /** Position of the parent, -1 for a root. An entry whose parent is nowhere is a root. */
  parents: number[];
  /** Lines that are no entries, as far as their beginning tells. */
  damage: DamagedLine[];
}

export interface LineRange {
  start: number;
  /** Without the line end. */
  end: number;
}

export interface DamagedLine extends LineRange {
  why: string;
}

/** 0 is every kind that is not listed. */
export const KINDS = [
  "",
  "message",
  "thinking_level_change",
  "model_change",
  "compaction",
  "branch_summary",
  "custom",
  "custom_message",
  "label",
  "session_info",
  "usage",
  "context_edit",
  "title_change",
  "ttsr_injection",
] as const;

/** 0 is no message, or a role that is not listed. */
export const ROLES = ["", "user", "assistant", "toolResult", "bashExecution", "custom"] as const;

/** The roles differ in their first letter. For those that are not listed it may be wrong: who needs it for sure parses. */
const ROLE_BY_BYTE = new Uint8Array(256);
for (const [code, role] of ROLES.entries()) if (code > 0) ROLE_BY_BYTE[role.charCodeAt(0)] = code;

export const MESSAGE = KINDS.indexOf("message");

const LF = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CLOSING_BRACE = 0x7d;

const HEAD = Buffer.from('{"type":"');
const SESSION = Buffer.from('session"');
const ID = Buffer.from('","id":"');
const PARENT = Buffer.from('","parentId":');
const NULL = Buffer.from("null");
const TIMESTAMP = Buffer.from(',"timestamp":"');
const MESSAGE_FIELD = Buffer.from('","message":');
const ROLE = Buffer.from('{"role":"');

export function indexEntries(bytes: Buffer): EntryIndex {
  const index = emptyIndex();
  const { starts, ends, kinds, roles, messageStarts, idStarts, parents } = index;
  const links = createLinks(bytes, index);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  /** The id in the line before, when that was laid out as usual. */
  let idBefore = Number.NaN;
  for (let start = 0; start < bytes.length; ) {
    const lineFeed = bytes.indexOf(LF, start);
    const end = lineFeed < 0 ? bytes.length : lineFeed;
    const isEnded = lineFeed >= 0;
    if (isEnded && isUsualMessage(view, start, end)) {
      const id = view.getFloat64(start + ID_AT, true);
      if (view.getFloat64(start + PARENT_AT, true) === idBefore) parents.push(starts.length - 1);
      else links.fromBytes(starts.length, start + PARENT_AT, start + PARENT_AT + 8);
      idBefore = id;
      starts.push(start);
      ends.push(end);
      kinds.push(MESSAGE);
      roles.push(ROLE_BY_BYTE[view.getUint8(start + ROLE_AT)]!);
      messageStarts.push(start + MESSAGE_AT);
      idStarts.push(start + ID_AT);
    } else {
      idBefore = Number.NaN;
      if (end > start) takeLine(bytes, { start, end, isEnded }, index, links);
    }
    start = end + 1;
  }
  links.resolve();
  return index;
}

export function emptyIndex(): EntryIndex {
  return {
    header: undefined,
    starts: [],
    ends: [],
    kinds: [],
    roles: [],
    messageStarts: [],
    idStarts: [],
    oddIds: new Map(),
    parents: [],
    damage: [],
  };
}

/** The places in a message line as it nearly always is: an id and a parent of eight characters, a timestamp of 24. */
const ID_AT = 24;
const PARENT_AT = 46;
const TIMESTAMP_AT = 69;
const MESSAGE_AT = 105;
const ROLE_AT = 114;

/** What stands around them, eight bytes each; some overlap. */
const AT_0 = eightBytes('{"type":');
const AT_8 = eightBytes('"message');
const AT_16 = eightBytes('","id":"');
const AT_32 = eightBytes('","paren');
const AT_38 = eightBytes('entId":"');
const AT_54 = eightBytes('","times');
const AT_61 = eightBytes('stamp":"');
const AT_93 = eightBytes('","messa');
const AT_101 = eightBytes('ge":{"ro');
const AT_106 = eightBytes('"role":"');

/**
 * Compares eight bytes at a time, as numbers (no ASCII text is NaN), and without a loop: this happens once per line
 * while nothing is compiled yet, and byte by byte it takes longer than reading the file.
 */
function isUsualMessage(view: DataView, start: number, end: number): boolean {
  return (
    end - start >= 128 &&
    view.getFloat64(start, true) === AT_0 &&
    view.getFloat64(start + 8, true) === AT_8 &&
    view.getFloat64(start + 16, true) === AT_16 &&
    view.getFloat64(start + 32, true) === AT_32 &&
    view.getFloat64(start + 38, true) === AT_38 &&
    view.getFloat64(start + 54, true) === AT_54 &&
    view.getFloat64(start + 61, true) === AT_61 &&
    view.getFloat64(start + 93, true) === AT_93 &&
    view.getFloat64(start + 101, true) === AT_101 &&
    view.getFloat64(start + 106, true) === AT_106 &&
    view.getUint8(end - 1) === CLOSING_BRACE &&
    isPlain(view.getInt32(start + ID_AT, true)) &&
    isPlain(view.getInt32(start + ID_AT + 4, true)) &&
    isPlain(view.getInt32(start + PARENT_AT, true)) &&
    isPlain(view.getInt32(start + PARENT_AT + 4, true)) &&
    isPlain(view.getInt32(start + TIMESTAMP_AT, true)) &&
    isPlain(view.getInt32(start + TIMESTAMP_AT + 4, true)) &&
    isPlain(view.getInt32(start + TIMESTAMP_AT + 8, true)) &&
    isPlain(view.getInt32(start + TIMESTAMP_AT + 12, true)) &&
    isPlain(view.getInt32(start + TIMESTAMP_AT + 16, true)) &&
    isPlain(view.getInt32(start + TIMESTAMP_AT + 20, true))
  );
}

/**
 * All of these four bytes mean only themselves in a JSON text: ASCII, and none a quote, a backslash or a control character. A
 * byte that a subtraction takes below zero has its highest bit set then.
 */
function isPlain(four: number): boolean {
  const quote = (four ^ 0x22222222) - 0x01010101;
  const slash = (four ^ 0x5c5c5c5c) - 0x01010101;
  return ((quote | slash | (four - 0x20202020) | four) & 0x80808080) === 0;
}

function eightBytes(text: string): number {
  return Buffer.from(text).readDoubleLE(0);
}

interface Line extends LineRange {
  /** It has a line end. One that has none may have been cut: it is believed only when it is read whole. */
  isEnded: boolean;
}

function takeLine(bytes: Buffer, { start, end, isEnded }: Line, index: EntryIndex, links: Links): void {
  const position = index.starts.length;
  const usual = isEnded ? readHead(bytes, start, end) : undefined;
  if (usual) {
    index.kinds.push(usual.kind);
    index.roles.push(usual.role);
    index.messageStarts.push(usual.messageStart);
    index.idStarts.push(usual.idStart);
    index.starts.push(start);
    index.ends.push(end);
    links.fromBytes(position, usual.parentStart, usual.parentEnd);
    return;
  }
  const odd = readWhole(bytes, start, end);
  if ("why" in odd) {
    if (!isBlank(bytes, start, end)) index.damage.push({ start, end, why: odd.why });
  } else if (odd.type === "session") index.header ??= { start, end };
  else if (typeof odd.id === "string") {
    index.kinds.push(Math.max((KINDS as readonly string[]).indexOf(odd.type), 0));
    index.roles.push(Math.max((ROLES as readonly unknown[]).indexOf(odd.role), 0));
    index.messageStarts.push(0);
    index.idStarts.push(0);
    index.oddIds.set(position, odd.id);
    index.starts.push(start);
    index.ends.push(end);
    links.fromText(position, odd.parentId);
  }
  // A line that is none of these is left in peace: an entry of the first version, or of a program we do not know.
}

interface UsualHead {
  kind: number;
  role: number;
  idStart: number;
  /** Of the parent's id; 0 for null. */
  parentStart: number;
  parentEnd: number;
  messageStart: number;
}

/** One object for all lines: there are many. */
const usualHead: UsualHead = { kind: 0, role: 0, idStart: 0, parentStart: 0, parentEnd: 0, messageStart: 0 };

/** The beginning of a line as this program and pi write it; undefined when it looks different. */
function readHead(bytes: Buffer, start: number, end: number): UsualHead | undefined {
  if (bytes[end - 1] !== CLOSING_BRACE || !hasAt(bytes, start, HEAD)) return undefined;
  const typeStart = start + HEAD.length;
  const typeEnd = textEnd(bytes, typeStart, end);
  if (typeEnd < 0 || !hasAt(bytes, typeEnd, ID)) return undefined;
  const idStart = typeEnd + ID.length;
  const idEnd = textEnd(bytes, idStart, end);
  if (idEnd <= idStart || !hasAt(bytes, idEnd, PARENT)) return undefined;
  const parent = idEnd + PARENT.length;
  usualHead.kind = nameAt(KIND_BYTES, bytes, typeStart, typeEnd);
  if (usualHead.kind === 0 && hasAt(bytes, typeStart, SESSION)) return undefined;
  usualHead.idStart = idStart;
  let parentFieldEnd = parent + NULL.length;
  usualHead.parentStart = 0;
  usualHead.parentEnd = 0;
  if (bytes[parent] === QUOTE) {
    const parentEnd = textEnd(bytes, parent + 1, end);
    if (parentEnd < 0) return undefined;
    usualHead.parentStart = parent + 1;
    usualHead.parentEnd = parentEnd;
    parentFieldEnd = parentEnd + 1;
  } else if (!hasAt(bytes, parent, NULL)) return undefined;
  usualHead.role = 0;
  usualHead.messageStart = 0;
  if (usualHead.kind === MESSAGE && !readMessageHead(bytes, parentFieldEnd, end)) return undefined;
  return usualHead;
}

function readMessageHead(bytes: Buffer, from: number, end: number): boolean {
  if (!hasAt(bytes, from, TIMESTAMP)) return false;
  const timestampEnd = textEnd(bytes, from + TIMESTAMP.length, end);
  if (timestampEnd < 0 || !hasAt(bytes, timestampEnd, MESSAGE_FIELD)) return false;
  const messageStart = timestampEnd + MESSAGE_FIELD.length;
  if (!hasAt(bytes, messageStart, ROLE)) return false;
  const roleStart = messageStart + ROLE.length;
  const roleEnd = textEnd(bytes, roleStart, end);
  if (roleEnd < 0) return false;
  usualHead.role = nameAt(ROLE_BYTES, bytes, roleStart, roleEnd);
  usualHead.messageStart = messageStart;
  return true;
}

const KIND_BYTES = KINDS.map((kind) => Buffer.from(kind));
const ROLE_BYTES = ROLES.map((role) => Buffer.from(role));

function nameAt(names: readonly Buffer[], bytes: Buffer, start: number, end: number): number {
  for (let i = 1; i < names.length; i++) {
    const name = names[i]!;
    if (name.length === end - start && hasAt(bytes, start, name)) return i;
  }
  return 0;
}

function hasAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

/** The closing quote of a text in ASCII without escapes; -1 when there is none. */
function textEnd(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    const c = bytes[at]!;
    if (c === QUOTE) return at;
    if (c === BACKSLASH || c < 0x20 || c > 0x7f) return -1;
  }
  return -1;
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  return bytes.toString("latin1", start, end).trim() === "";
}

interface OddLine {
  type: string;
  id: unknown;
  parentId: unknown;
  role: unknown;
}

function readWhole(bytes: Buffer, start: number, end: number): OddLine | { why: string } {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8", start, end));
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
  const { type, id, parentId, message } = (value ?? {}) as Record<string, unknown>;
  if (typeof type !== "string") return { why: 'not an object with a "type"' };
  const role = type === "message" ? (message as { role?: unknown } | undefined)?.role : undefined;
  return { type, id, parentId, role };
}

interface Links {
  /** An entry whose parent's id stands in these bytes; nowhere (0) means that it is a root. */
  fromBytes(position: number, start: number, end: number): void;
  fromText(position: number, parentId: unknown): void;
  /** Entries that name a parent which only comes later in the file. */
  resolve(): void;
}

/** After so many looks a map of all ids is worth its time. */
const MOST_LOOKS = 2_000_000;

/** Most parents are the line before or not far from it, which is seen by comparing bytes. */
function createLinks(bytes: Buffer, index: EntryIndex): Links {
  const known = new Map<string, number>();
  let mapped = 0;
  let looks = 0;
  const later: { position: number; parentId: string }[] = [];

  const link = (position: number, parentId: string): void => {
    for (; mapped < position; mapped++) known.set(idAt(bytes, index, mapped), mapped);
    const parent = known.get(parentId);
    if (parent === undefined) later.push({ position, parentId });
    index.parents.push(parent ?? -1);
  };
  const lookBack = (position: number, start: number, end: number): number => {
    let at = position - 1;
    for (; at >= 0 && !isId(bytes, index, at, start, end); at--) {
      if (index.idStarts[at] === 0 || ++looks > MOST_LOOKS) return -1;
    }
    return at;
  };

  return {
    fromBytes(position, start, end) {
      if (start === 0) return void index.parents.push(-1);
      const parent = lookBack(position, start, end);
      if (parent >= 0) index.parents.push(parent);
      else link(position, bytes.toString("utf8", start, end));
    },
    fromText(position, parentId) {
      if (typeof parentId === "string") link(position, parentId);
      else index.parents.push(-1);
    },
    resolve() {
      if (later.length === 0) return;
      const all = new Map(index.starts.map((_, i) => [idAt(bytes, index, i), i]));
      for (const { position, parentId } of later) {
        const parent = all.get(parentId);
        if (parent !== undefined && !isAbove(index.parents, position, parent)) index.parents[position] = parent;
      }
    },
  };
}

/** Is `position` on the way from `from` to its root? */
function isAbove(parents: readonly number[], position: number, from: number): boolean {
  for (let at = from; at >= 0; at = parents[at]!) if (at === position) return true;
  return false;
}

/** Do the bytes from `start` to `end` stand for the id of this entry? */
function isId(bytes: Buffer, index: EntryIndex, position: number, start: number, end: number): boolean {
  const idStart = index.idStarts[position]!;
  if (idStart === 0) return false;
  for (let i = 0; i < end - start; i++) if (bytes[idStart + i] !== bytes[start + i]) return false;
  return bytes[idStart + end - start] === QUOTE;
}

export function idAt(bytes: Buffer, index: EntryIndex, position: number): string {
  const start = index.idStarts[position]!;
  if (start === 0) return index.oddIds.get(position) ?? "";
  return bytes.toString("utf8", start, bytes.indexOf(QUOTE, start));
}

/** Behind an id that is laid out as usual. */
const BEHIND_ID = '","parentId":';

/**
 * Whether an id is among them, without a text for each: the first eight bytes of all ids, as numbers as above. Only what begins
 * like one of them is looked for.
 */
export function idsIn(bytes: Buffer, index: EntryIndex): { has(id: string): boolean } {
  const { idStarts } = index;
  const odd = new Set(index.oddIds.values());
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const beginnings = new Float64Array(idStarts.length);
  for (let at = 0; at < idStarts.length; at++) beginnings[at] = view.getFloat64(idStarts[at]!, true);
  return {
    has: (id) => odd.has(id) || (beginnings.includes(eightBytes(id + BEHIND_ID)) && findId(bytes, index, id) >= 0),
  };
}

/** From the end, where most of those stand that are asked for. -1 when there is none but those that are left out. */
export function findId(bytes: Buffer, index: EntryIndex, id: string, leftOut: ReadonlySet<number> = NONE): number {
  const { idStarts, oddIds } = index;
  const wanted = Buffer.from(`${id}"`);
  const isIt = (start: number): boolean =>
    start > 0 && bytes[start] === wanted[0] && wanted.equals(bytes.subarray(start, start + wanted.length));
  // One with a quote in it is never laid out as usual; its bytes would be those of another id and what stands behind it.
  let at = id.includes('"') ? -1 : idStarts.length - 1;
  while (at >= 0 && (!isIt(idStarts[at]!) || leftOut.has(at))) at -= 1;
  for (const [position, known] of oddIds) if (known === id && position > at && !leftOut.has(position)) at = position;
  return at;
}

const NONE: ReadonlySet<number> = new Set();
