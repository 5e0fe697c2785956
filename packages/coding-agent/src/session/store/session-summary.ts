import { scanLines } from "./scan-lines.ts";
import type { SessionFileFacts } from "./session-folders.ts";
import { nameOf, parseLine, readHead, type SessionHead } from "./session-head.ts";

/** A session as a list shows it. */
export interface SessionSummary {
  path: string;
  id: string;
  cwd: string;
  name?: string;
  parentSession?: string;
  /** ISO. */
  created: string;
  /** ISO. */
  modified: string;
  messageCount: number;
  /** The beginning of the first user message. */
  firstMessage: string;
  /** Some lines cannot be read. */
  damaged?: true;
}

export interface SessionFilter {
  /** Stands in what the user or the assistant wrote. */
  text?: string;
  /** The folder the session worked in. */
  cwd?: string;
  /** A part of its name. */
  name?: string;
}

const LONGEST_FIRST_MESSAGE = 200;

/** Undefined when the file is no session, cannot be read or does not pass the filter. */
export async function summarise(file: SessionFileFacts, filter: SessionFilter): Promise<SessionSummary | undefined> {
  const head = readHead(file.path);
  if (!head || (filter.cwd !== undefined && head.cwd !== filter.cwd)) return undefined;
  const tally = createTally(head, filter.text);
  if (!(await scanLines(file.path, file.size, tally.take))) return undefined;
  const { name, isFound } = tally;
  if (!isFound) return undefined;
  if (filter.name !== undefined && !name?.toLowerCase().includes(filter.name.toLowerCase())) return undefined;
  const modified = new Date(file.mtimeMs).toISOString();
  return {
    path: file.path,
    id: head.id,
    cwd: head.cwd,
    ...(name === undefined ? {} : { name }),
    ...(head.parentSession === undefined ? {} : { parentSession: head.parentSession }),
    created: head.created || modified,
    modified,
    messageCount: tally.messageCount,
    firstMessage: tally.firstMessage,
    ...(tally.damaged ? { damaged: true } : {}),
  };
}

interface Tally {
  readonly messageCount: number;
  readonly firstMessage: string;
  readonly name: string | undefined;
  readonly damaged: boolean;
  /** The text that is looked for has been seen, or none is looked for. */
  readonly isFound: boolean;
  take(line: Buffer): void;
}

/** Goes over the lines of a file, and parses only those that it must. */
function createTally(head: SessionHead, wanted: string | undefined): Tally {
  const needle = wanted ? createNeedle(wanted) : undefined;
  const tally = {
    messageCount: 0,
    firstMessage: "",
    name: head.title,
    damaged: false,
    isFound: needle === undefined,
    take,
  };
  function take(line: Buffer): void {
    const type = usualType(line);
    if (type === undefined) takeOdd(line);
    else if (type === "message") takeMessage(line, undefined);
    else if (NAMING.has(type)) takeName(parseLine(line));
  }
  /** A line that does not begin as usual may still be whole. */
  function takeOdd(line: Buffer): void {
    const parsed = parseLine(line);
    if (typeof parsed?.type !== "string") tally.damaged = true;
    else if (parsed.type === "message") takeMessage(line, parsed);
    else takeName(parsed);
  }
  function takeMessage(line: Buffer, parsed: Record<string, unknown> | undefined): void {
    tally.messageCount += 1;
    const mayBeFirst = tally.firstMessage === "" && (parsed !== undefined || line.includes(USER));
    const mayBeFound = !tally.isFound && needle?.mayBeIn(line) === true;
    if (!mayBeFirst && !mayBeFound) return;
    const message = messageOf(parsed ?? parseLine(line));
    if (!message) tally.damaged = true;
    else {
      if (mayBeFirst && message.role === "user") tally.firstMessage = beginning(message.text);
      if (mayBeFound && SPEAKERS.has(message.role)) tally.isFound = needle?.isIn(message.text) === true;
    }
  }
  function takeName(parsed: Record<string, unknown> | undefined): void {
    if (!parsed) tally.damaged = true;
    else if (parsed.type === "session_info") tally.name = nameOf(parsed.name);
    else if (parsed.type === "title_change") tally.name = nameOf(parsed.title);
  }
  return tally;
}

const HEAD = Buffer.from('{"type":"');
const USER = Buffer.from('"role":"user"');
const QUOTE = 0x22;
const CLOSING_BRACE = 0x7d;
/** The longest kind that anybody writes has about half of this. */
const LONGEST_TYPE = 40;
const NAMING: ReadonlySet<string> = new Set(["session_info", "title_change"]);
const SPEAKERS: ReadonlySet<string> = new Set(["user", "assistant"]);

/** The type of a line as every program of the family writes it; undefined when one must look closer. */
function usualType(line: Buffer): string | undefined {
  if (line[line.length - 1] !== CLOSING_BRACE || line.compare(HEAD, 0, HEAD.length, 0, HEAD.length) !== 0) {
    return undefined;
  }
  const end = line.subarray(0, HEAD.length + LONGEST_TYPE).indexOf(QUOTE, HEAD.length);
  return end < 0 ? undefined : line.toString("latin1", HEAD.length, end);
}

function messageOf(entry: Record<string, unknown> | undefined): { role: string; text: string } | undefined {
  const message = entry?.message as { role?: unknown; content?: unknown } | null | undefined;
  if (typeof message?.role !== "string") return undefined;
  return { role: message.role, text: messageText(message.content) };
}

/** What is written in a message; pictures, thoughts and tool calls are left out. */
export function messageText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.flatMap((block: { type?: unknown; text?: unknown } | null) =>
    block?.type === "text" && typeof block.text === "string" ? [block.text] : [],
  );
  return texts.join("\n");
}

/** Cut between two characters, never within one. */
function beginning(text: string): string {
  if (text.length <= LONGEST_FIRST_MESSAGE) return text;
  return text.slice(0, LONGEST_FIRST_MESSAGE).replace(/[\uD800-\uDBFF]$/, "");
}

interface Needle {
  /** A quick look at the bytes of a line, which may say yes too often. */
  mayBeIn(line: Buffer): boolean;
  isIn(text: string): boolean;
}

/** Looks for a text, whatever the case of its letters. */
function createNeedle(wanted: string): Needle {
  const lower = wanted.toLowerCase();
  // Characters that stand in JSON as they are, and whose bytes are those of the file.
  const isPlain = /^[ !#-.0-[\]-~]+$/.test(lower);
  return {
    mayBeIn: (line) => !isPlain || line.toString("latin1").toLowerCase().includes(lower),
    isIn: (text) => text.toLowerCase().includes(lower),
  };
}
