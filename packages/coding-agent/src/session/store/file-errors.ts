import type { Stats } from "node:fs";

/** Why a session file cannot be read or written, in words that people understand. */

export class SessionFileError extends Error {
  readonly code: "not_a_file" | "too_large" | "unreadable" | "unwritable";

  constructor(code: SessionFileError["code"], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "SessionFileError";
    this.code = code;
  }
}

export function notAFile(path: string, found: Stats): SessionFileError {
  const kind = found.isDirectory() ? "folder" : found.isFIFO() ? "pipe" : found.isSocket() ? "socket" : "device";
  return new SessionFileError("not_a_file", `${path} is a ${kind}, not a session file; name another path`);
}

/** Of the system, `ENOENT` for example; empty when it is not from there. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/** The system's words without the path and the name of the call. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof SessionFileError && error.cause !== undefined ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  const { message } = cause;
  // Behind the call there may be paths, which hold anything.
  const call = message.endsWith("'") ? message.search(/, [a-z]+ '/) : message.search(/, [a-z]+$/);
  return call === -1 ? message : message.slice(0, call);
}
