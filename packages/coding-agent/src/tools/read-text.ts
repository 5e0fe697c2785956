import type { ToolResult } from "@tiller/protocol/tool";
import { MAX_BYTES } from "./limits.ts";
import type { TextWindow } from "./text-window.ts";
import { textResult } from "./tool.ts";
import { formatSize, splitLines, type TruncationResult, truncateHead } from "./truncate.ts";

/** How a stretch of a text is shown, and how the reader gets to the rest of it. Pure. */

export interface ReadArgs {
  path: string;
  offset?: number;
  limit?: number;
}

/** Lines counted from 0, and how many of them. */
export function wantedLines({ offset, limit }: ReadArgs): { startLine: number; lineCount: number } {
  return {
    startLine: Math.max(0, Math.floor(offset ?? 1) - 1),
    lineCount: limit === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(limit)),
  };
}

/** `longLine`: what to do about a line that is too long to be shown. */
export function showWindow(window: TextWindow, args: ReadArgs, longLine = cutWithBash): ToolResult {
  const { startLine, lineCount } = wantedLines(args);
  const { totalLines } = window;
  if (startLine > 0 && startLine >= totalLines) {
    throw new Error(`Offset ${args.offset} is beyond end of file (${totalLines} lines total)`);
  }
  const wanted = Math.min(lineCount, totalLines - startLine);
  const cut: TruncationResult = { ...truncateHead(window.text), totalLines: wanted, totalBytes: window.wantedBytes };
  const first = startLine + 1;
  const about = window.complete ? "" : "more than ";
  if (cut.firstLineExceedsLimit) {
    const way = longLine(first, args.path);
    const size = about + formatSize(window.firstLineBytes);
    return textResult(`[Line ${first} is ${size}, exceeds ${formatSize(MAX_BYTES)} limit. ${way}]`, {
      truncation: cut,
    });
  }
  const damage = window.damaged ? DAMAGED_NOTICE : "";
  if (cut.truncated) {
    const notice = showingNotice(cut, first, about + totalLines);
    return textResult(cut.content + damage + notice, { truncation: cut });
  }
  const left = totalLines - startLine - wanted;
  if (left <= 0) return textResult(cut.content + damage);
  const shown = splitLines(cut.content).join("\n") + damage;
  return textResult(`${shown}\n\n[${about}${left} more lines in file. Use offset=${first + wanted} to continue.]`);
}

function cutWithBash(line: number, path: string): string {
  return `Use bash: sed -n '${line}p' ${path} | head -c ${MAX_BYTES}`;
}

const DAMAGED_NOTICE =
  "\n\n[Not all of it is UTF-8: what could not be read is shown as \ufffd. Use bash (iconv, xxd).]";

function showingNotice(cut: TruncationResult, first: number, totalLines: string): string {
  const last = first + cut.outputLines - 1;
  const limit = cut.truncatedBy === "bytes" ? ` (${formatSize(MAX_BYTES)} limit)` : "";
  return `\n\n[Showing lines ${first}-${last} of ${totalLines}${limit}. Use offset=${last + 1} to continue.]`;
}
