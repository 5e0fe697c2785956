import { MAX_BYTES, MAX_LINES } from "./limits.ts";

/** Cuts text to what a model shall see: by lines and by bytes, whichever is reached first. Pure. */

export interface TruncationLimits {
  maxLines?: number;
  maxBytes?: number;
}

export interface TruncationResult {
  content: string;
  truncated: boolean;
  truncatedBy: "lines" | "bytes" | null;
  totalLines: number;
  totalBytes: number;
  outputLines: number;
  outputBytes: number;
  /** Only the end of the last line is shown (tail). */
  lastLinePartial: boolean;
  /** Not even the first line fits (head); content is then empty. */
  firstLineExceedsLimit: boolean;
  maxLines: number;
  maxBytes: number;
}

/** `512B`, `50.0KB`, `1.5MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)}KB`;
  return `${(bytes / (1024 * 1024)).toFixed(1)}MB`;
}

/** A newline ends a line and does not begin another. */
export function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

/** Keeps the beginning, whole lines only. */
export function truncateHead(text: string, limits: TruncationLimits = {}): TruncationResult {
  const lines = splitLines(text);
  const { count, stoppedBy } = fittingLines(lines, limits);
  return describe(text, lines, lines.slice(0, count), stoppedBy, limits, {
    firstLineExceedsLimit: stoppedBy === "bytes" && count === 0,
  });
}

/** Keeps the end: whole lines, or the end of the last one when that alone is too long. */
export function truncateTail(text: string, limits: TruncationLimits = {}): TruncationResult {
  const lines = splitLines(text);
  const { count, stoppedBy } = fittingLines(lines.toReversed(), limits);
  const last = lines[lines.length - 1];
  if (stoppedBy === "bytes" && count === 0 && last !== undefined) {
    const end = endOfText(last, limits.maxBytes ?? MAX_BYTES);
    return describe(text, lines, [end], stoppedBy, limits, { lastLinePartial: true });
  }
  return describe(text, lines, lines.slice(lines.length - count), stoppedBy, limits, {});
}

function fittingLines(lines: string[], { maxLines = MAX_LINES, maxBytes = MAX_BYTES }: TruncationLimits) {
  let bytes = 0;
  for (let count = 0; count < lines.length; count++) {
    if (count === maxLines) return { count, stoppedBy: "lines" as const };
    bytes += Buffer.byteLength(lines[count]!) + (count > 0 ? 1 : 0);
    if (bytes > maxBytes) return { count, stoppedBy: "bytes" as const };
  }
  return { count: lines.length, stoppedBy: null };
}

/** The last characters that fit, never half of one. */
function endOfText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let start = Math.max(0, bytes.length - maxBytes);
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start += 1;
  return bytes.toString("utf8", start);
}

function describe(
  text: string,
  lines: string[],
  shown: string[],
  truncatedBy: "lines" | "bytes" | null,
  { maxLines = MAX_LINES, maxBytes = MAX_BYTES }: TruncationLimits,
  flags: { lastLinePartial?: boolean; firstLineExceedsLimit?: boolean },
): TruncationResult {
  const totalBytes = Buffer.byteLength(text);
  // Whole text, unless only its closing newline is one byte too many.
  const content = truncatedBy === null && totalBytes <= maxBytes ? text : shown.join("\n");
  return {
    content,
    truncated: truncatedBy !== null,
    truncatedBy,
    totalLines: lines.length,
    totalBytes,
    outputLines: shown.length,
    outputBytes: Buffer.byteLength(content),
    lastLinePartial: flags.lastLinePartial ?? false,
    firstLineExceedsLimit: flags.firstLineExceedsLimit ?? false,
    maxLines,
    maxBytes,
  };
}
