import type { OutputBuffer } from "../exec/output-buffer.ts";
import { MAX_BYTES } from "./limits.ts";
import { formatSize, type TruncationLimits, type TruncationResult, truncateTail } from "./truncate.ts";

/** What is shown of a command's output: its end, and where the whole is. */
export interface ShownOutput {
  /** The end of the output, without a notice. */
  content: string;
  /** Says what is missing; empty when nothing is. */
  notice: string;
  truncation: TruncationResult;
  fullOutputPath?: string;
}

/** Colours and other sequences take room in the raw bytes, so twice of what is shown is kept. */
export const KEEP_BYTES = 2 * MAX_BYTES;

export function showOutput(buffer: OutputBuffer, limits: TruncationLimits = {}): ShownOutput {
  const tail = buffer.tail();
  if (tail.complete) {
    const truncation = truncateTail(tail.text, limits);
    return describe(buffer, truncation, tail.lastLineBytes);
  }
  const newline = tail.text.indexOf("\n");
  // The first line in memory lost its beginning; it is shown only when there is no other.
  const onlyOneLine = newline === -1 || newline === tail.text.length - 1;
  const cut = truncateTail(onlyOneLine ? tail.text : tail.text.slice(newline + 1), limits);
  const truncation: TruncationResult = {
    ...cut,
    truncated: true,
    truncatedBy: cut.truncatedBy ?? "bytes",
    totalLines: tail.totalLines,
    totalBytes: tail.totalBytes,
    lastLinePartial: cut.lastLinePartial || onlyOneLine,
  };
  return describe(buffer, truncation, tail.lastLineBytes);
}

function describe(buffer: OutputBuffer, truncation: TruncationResult, lastLineBytes: number): ShownOutput {
  if (!truncation.truncated) return { content: truncation.content, notice: "", truncation };
  const fullOutputPath = buffer.spill();
  const where = fullOutputPath ? `Full output: ${fullOutputPath}` : "The full output could not be saved";
  return {
    content: truncation.content,
    notice: `\n\n[${shownPart(truncation, lastLineBytes)}. ${where}]`,
    truncation,
    fullOutputPath,
  };
}

function shownPart(truncation: TruncationResult, lastLineBytes: number): string {
  const { totalLines, outputLines, outputBytes } = truncation;
  if (truncation.lastLinePartial) {
    return `Showing last ${formatSize(outputBytes)} of line ${totalLines} (line is ${formatSize(lastLineBytes)})`;
  }
  const limit = truncation.truncatedBy === "bytes" ? ` (${formatSize(MAX_BYTES)} limit)` : "";
  return `Showing lines ${totalLines - outputLines + 1}-${totalLines} of ${totalLines}${limit}`;
}
