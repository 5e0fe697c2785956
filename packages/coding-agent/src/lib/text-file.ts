import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";

/** Files in which people write texts for the agent: of a size that makes sense, in whatever encoding their editor chose. */

export const MAX_TEXT_BYTES = 1024 * 1024;

export type TextFile =
  /** `warning`: it can be used, but not all of it is what was written. */
  | { text: string; warning?: string }
  /** A sentence that names the file, and what is wrong with it. */
  | { problem: string; reason: string };

/** Of a file that should be there. */
export function readText(path: string): TextFile {
  return readTextIfThere(path) ?? notRead(path, "ENOENT");
}

/** Undefined when there is no such file. */
export function readTextIfThere(path: string): TextFile | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    // A pipe would block for ever.
    if (!stats.isFile()) return because(path, "not a regular file, so it is not read");
    if (stats.size > MAX_TEXT_BYTES) return because(path, tooLong(stats.size));
    // Some files of the system are of no size and never end.
    const bytes = stats.size === 0 ? Buffer.alloc(0) : readFileSync(path);
    return { text: decodeText(bytes), warning: encodingProblem(bytes, path) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === "ENOTDIR" ? undefined : notRead(path, code ?? String(error));
  }
}

function because(path: string, reason: string): TextFile {
  return { problem: `${path}: ${reason}`, reason };
}

function notRead(path: string, reason: string): TextFile {
  return { problem: `${path}: cannot be read (${reason})`, reason };
}

function tooLong(size: number): string {
  return `${Math.ceil(size / 1024)} KiB are too many, at most ${MAX_TEXT_BYTES / 1024} are read`;
}

/** UTF-8, or UTF-16 that says so, as some editors and shells of Windows write it. Without the mark that says it. */
export function decodeText(bytes: Buffer): string {
  const encoding = utf16Of(bytes);
  if (encoding === undefined) return bytes.toString("utf8").replace(/^\ufeff/, "");
  const units = bytes.subarray(2, bytes.length - (bytes.length % 2));
  return (encoding === "big" ? Buffer.from(units).swap16() : units).toString("utf16le").toWellFormed();
}

export function encodingProblem(bytes: Buffer, path: string): string | undefined {
  if (utf16Of(bytes) !== undefined || isUtf8(bytes)) return undefined;
  return `${path}: it is not UTF-8, so some letters of it are lost; save it as UTF-8`;
}

function utf16Of(bytes: Buffer): "little" | "big" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "little";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "big" : undefined;
}
