import { closeSync, constants, openSync, readSync } from "node:fs";

/** What the first lines of a session file say about it; enough to tell that it is one, and whose. */
export interface SessionHead {
  id: string;
  cwd: string;
  /** ISO, as the file has it; empty when it has none. */
  created: string;
  version: number;
  parentSession?: string;
  /** omp and xcsh keep the name here, or in a line of its own before the header. */
  title?: string;
}

/** Far more than a header needs, and quickly read. */
const HEAD_BYTES = 64 * 1024;

const LF = 0x0a;

/** The head in the first bytes of a file; undefined when this is no session. */
export function parseHead(bytes: Buffer): SessionHead | undefined {
  let title: string | undefined;
  for (let start = 0; start < bytes.length; ) {
    const lineFeed = bytes.indexOf(LF, start);
    const end = lineFeed < 0 ? bytes.length : lineFeed;
    const line = end > start ? parseLine(bytes.subarray(start, end)) : {};
    if (line?.type === "session" && typeof line.id === "string" && line.id !== "") {
      return headOf(line, line.id, title);
    }
    if (line?.type === "title") title = nameOf(line.title);
    start = end + 1;
  }
  return undefined;
}

function headOf(line: Record<string, unknown>, id: string, titleLine: string | undefined): SessionHead {
  const title = titleLine ?? nameOf(line.title);
  const parentSession = textOf(line.parentSession);
  return {
    id,
    cwd: textOf(line.cwd) ?? "",
    created: textOf(line.timestamp) ?? "",
    version: typeof line.version === "number" ? line.version : 1,
    ...(parentSession === undefined ? {} : { parentSession }),
    ...(title === undefined ? {} : { title }),
  };
}

/** The head of a file. What cannot be read is no session. */
export function readHead(path: string): SessionHead | undefined {
  try {
    // A pipe would keep us waiting for somebody to write into it.
    const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const bytes = Buffer.allocUnsafe(HEAD_BYTES);
      return parseHead(bytes.subarray(0, readSync(fd, bytes, 0, HEAD_BYTES, 0)));
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** A line as an object, or undefined when it is none. */
export function parseLine(line: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** A text that says something. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Titles are padded where they are overwritten in place. */
export function nameOf(value: unknown): string | undefined {
  return textOf(value)?.trim();
}
