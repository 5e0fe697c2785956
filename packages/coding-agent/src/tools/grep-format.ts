import type { ToolResult } from "@tiller/protocol/tool";
import { shownName } from "../lib/visible.ts";
import { withoutEnding } from "../lib/without-ending.ts";
import { MAX_BYTES } from "./limits.ts";
import { textResult, withNotices } from "./tool.ts";
import { formatSize, truncateHead } from "./truncate.ts";

/** Whoever searches, ripgrep or we: both report lines here, so the result looks the same. */

/** One search, as both engines take it. */
export interface GrepRequest {
  pattern: string;
  literal: boolean;
  ignoreCase: boolean;
  glob?: string;
  context: number;
  /** Where to search; paths are reported relative to it. */
  folder: string;
  /** Only this file in the folder. */
  fileName?: string;
}

/** A line of a file: a match, or one shown around a match. */
export interface GrepLine {
  path: string;
  line: number;
  text: string;
  isMatch: boolean;
}

export interface GrepCollector {
  /** How many matches are shown. */
  limit: number;
  /** Takes the next line, in order. False when there is enough and the search shall stop. */
  add(line: GrepLine): boolean;
  /** Something the reader should know beside the matches. */
  note(text: string): void;
  result(): ToolResult;
}

const MAX_LINE_CHARS = 500;

export function createGrepCollector({ limit, context }: { limit: number; context: number }): GrepCollector {
  const lines: string[] = [];
  const notes: string[] = [];
  let matches = 0;
  let limitReached = false;
  let linesTruncated = false;
  let last: GrepLine | undefined;

  const shorten = (text: string) => {
    const line = withoutEnding(text, "\r\n");
    if (line.length <= MAX_LINE_CHARS) return line;
    linesTruncated = true;
    return `${wholeCharacters(line, MAX_LINE_CHARS)}... [truncated]`;
  };
  /** With the limit reached, only the lines after the last match are still wanted. */
  const belongsToLastMatch = (line: GrepLine) =>
    !line.isMatch && last !== undefined && line.path === last.path && line.line <= last.line + context;

  return {
    limit,
    note: (text) => notes.push(text),
    add(line) {
      if (matches === limit && !belongsToLastMatch(line)) {
        limitReached ||= line.isMatch;
        return !line.isMatch;
      }
      if (line.isMatch) {
        matches += 1;
        last = line;
      }
      const mark = line.isMatch ? ":" : "-";
      // A name with a line end in it would make up the result of another file.
      lines.push(`${shownName(line.path)}${mark}${line.line}${mark} ${shorten(line.text)}`);
      return true;
    },
    result() {
      if (matches === 0) return textResult(withNotices("No matches found", notes));
      const truncation = truncateHead(lines.join("\n"), { maxLines: Number.MAX_SAFE_INTEGER });
      const notices: string[] = [];
      if (limitReached) {
        notices.push(`${limit} matches limit reached. Use limit=${limit * 2} for more, or refine pattern`);
      }
      if (truncation.truncated) notices.push(`${formatSize(MAX_BYTES)} limit reached`);
      if (linesTruncated) {
        notices.push(`Some lines truncated to ${MAX_LINE_CHARS} chars. Use read tool to see full lines`);
      }
      return textResult(withNotices(truncation.content, [...notices, ...notes]), {
        ...(limitReached && { matchLimitReached: limit }),
        ...(truncation.truncated && { truncation }),
        ...(linesTruncated && { linesTruncated: true }),
      });
    },
  };
}

/** What is said of a file that was named, and is not text. */
export function binaryNote(path: string): string {
  return `${shownName(path)} is a binary file and was not searched`;
}

/** Cuts without leaving half of a surrogate pair. */
function wholeCharacters(text: string, length: number): string {
  const lastUnit = text.charCodeAt(length - 1);
  return text.slice(0, lastUnit >= 0xd800 && lastUnit <= 0xdbff ? length - 1 : length);
}
