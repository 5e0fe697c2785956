import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** What a recording is made of. Described for people in docs/record-replay.md. */

/** Another number means that older programs cannot play it. */
export const FORMAT = 1;
export const HEAD_FILE = "recording.json";
export const LOG_FILE = "log.jsonl";
export const FILES_FOLDER = "files";
export const FILES_LIST = "files.jsonl";

/** `recording.json`: how the process was started. */
export interface Head {
  format: typeof FORMAT;
  /** Of the program that recorded. */
  version: string;
  /** Unix milliseconds; the times of the log count from here. */
  startedAt: number;
  /** What the ids are drawn with. */
  seed: string;
  argv: string[];
  programName: string;
  cwd: string;
  /** Values that may be secret are hidden. */
  env: Record<string, string>;
}

/** Bytes: as text where they are valid UTF-8. */
export type Bytes = { text: string } | { base64: string };

interface Entry {
  /** Milliseconds since the start. */
  t: number;
}

/** What comes from outside. In a replay it is given to the program exactly when all lines before it have happened. */
export type InputLine = Entry & {
  /** Turns of the event loop since the line before; those of a long rest are not counted. */
  rounds: number;
  /** In the same turn as the input before. */
  same?: true;
} & (
    | ({ in: "host" } & Bytes)
    | { in: "host-end" }
    | { in: "host-error"; message: string }
    | { in: "written"; write: number; error?: { code?: string; message: string } }
    | { in: "timer"; timer: number }
    | { in: "update"; call: number; value: unknown }
    | { in: "result"; call: number; value?: unknown }
    | { in: "threw"; call: number; error: Thrown }
    | { in: "signal"; signal: NodeJS.Signals }
  );

/** What the program does. In a replay it must do the same in the same order. */
export type ActLine = Entry &
  /** `done`: the system took it at once; else a `written` tells when. */
  (
    | ({ act: "write"; write: number; done?: true } & Bytes)
    | { act: "open" }
    | { act: "timer"; timer: number; ms: number }
    | { act: "call"; call: number; name: string; args: unknown }
    | { act: "value"; value: string }
    | { act: "exit"; code: number }
  );

export type LogLine = InputLine | ActLine;

/** An error as it stands in the log. */
export interface Thrown {
  message: string;
  [field: string]: unknown;
}

export function isInput(line: LogLine): line is InputLine {
  return "in" in line;
}

export function bytesOf(chunk: Uint8Array | string): Bytes {
  if (typeof chunk === "string") return { text: chunk };
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? { text } : { base64: bytes.toString("base64") };
}

export function toBuffer(bytes: Bytes): Buffer {
  return "text" in bytes ? Buffer.from(bytes.text, "utf8") : Buffer.from(bytes.base64, "base64");
}

export interface LoadedRecording {
  folder: string;
  head: Head;
  log: LogLine[];
  /** The last line of the log tells the exit; else it was cut off. */
  isComplete: boolean;
}

/** Reads one, or says what is wrong with it. */
export function readRecording(folder: string): LoadedRecording | { error: string } {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return { error: `there is no folder ${folder}` };
  const head = readHead(folder);
  if ("error" in head) return head;
  const log = readLog(join(folder, LOG_FILE));
  if ("error" in log) return log;
  const last = log.lines.at(-1);
  return { folder, head, log: log.lines, isComplete: last !== undefined && "act" in last && last.act === "exit" };
}

function readHead(folder: string): Head | { error: string } {
  const path = join(folder, HEAD_FILE);
  const text = textOf(path);
  if (text === undefined) return { error: `${folder} holds no recording: ${HEAD_FILE} is missing` };
  const head = parsed(text) as Partial<Head> | undefined;
  if (head === undefined) return { error: `${path} is cut off or damaged: it is no JSON` };
  if (head.format !== FORMAT) {
    return { error: `${path} has format ${JSON.stringify(head.format)}; this version plays format ${FORMAT}` };
  }
  const missing = (["version", "startedAt", "seed", "argv", "programName", "cwd", "env"] as const).find(
    (field) => head[field] === undefined,
  );
  return missing === undefined ? (head as Head) : { error: `${path} has no "${missing}"` };
}

/** A last line that is cut off is left out: the process was killed while it was written. */
function readLog(path: string): { lines: LogLine[] } | { error: string } {
  const text = textOf(path);
  if (text === undefined) return { error: `the recording has no ${LOG_FILE}` };
  const lines: LogLine[] = [];
  const sources = text.split("\n");
  for (const [index, source] of sources.entries()) {
    if (source === "") continue;
    const line = parsed(source) as LogLine | undefined;
    if (line !== undefined && ("in" in line || "act" in line)) lines.push(line);
    else if (index < sources.length - 1) return { error: `${path}:${index + 1} is damaged: ${source.slice(0, 80)}` };
  }
  return { lines };
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Missing or not to be read: the caller says which file.
    return undefined;
  }
}

/** The object in a text, or undefined. */
export function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
