import { constants } from "node:fs";
import { access, type FileHandle, open, readFile } from "node:fs/promises";
import type { ToolResult } from "@tiller/protocol/tool";
import { throwIfAborted } from "../lib/abort.ts";
import { IMAGE_HEADER_BYTES, imageType } from "./image-type.ts";
import { MAX_BYTES } from "./limits.ts";
import { requireRegularFile, resolveExistingPath } from "./path.ts";
import { readTextWindow } from "./text-window.ts";
import { type Execute, type ToolContext, textResult } from "./tool.ts";
import { formatSize, splitLines, type TruncationResult, truncateHead } from "./truncate.ts";

interface ReadArgs {
  path: string;
  offset?: number;
  limit?: number;
}

/** As base64, which is what a request carries. Larger images need shrinking. */
const MAX_IMAGE_BYTES = Math.floor(4.5 * 1024 * 1024);

export function createRead(context: ToolContext): Execute<ReadArgs> {
  return async ({ args, signal }) => {
    throwIfAborted(signal);
    const path = await resolveExistingPath(context, args.path);
    await access(path, constants.R_OK);
    await requireRegularFile(path, args.path);
    throwIfAborted(signal);
    const file = await open(path, "r");
    try {
      const mimeType = await sniffImage(file);
      return mimeType ? await readImage(path, mimeType, signal) : await readText(file, args, signal);
    } finally {
      await file.close();
    }
  };
}

async function sniffImage(file: FileHandle): Promise<string | undefined> {
  const header = Buffer.alloc(IMAGE_HEADER_BYTES);
  const { bytesRead } = await file.read(header, 0, header.length, 0);
  return imageType(header.subarray(0, bytesRead));
}

async function readImage(path: string, mimeType: string, signal: AbortSignal): Promise<ToolResult> {
  const data = (await readFile(path)).toString("base64");
  throwIfAborted(signal);
  const note = `Read image file [${mimeType}]`;
  if (data.length > MAX_IMAGE_BYTES) {
    const limit = formatSize(MAX_IMAGE_BYTES);
    return textResult(`${note}\n[Image left out: ${formatSize(data.length)} is more than ${limit}. Shrink it first.]`);
  }
  return {
    content: [
      { type: "text", text: note },
      { type: "image", data, mimeType },
    ],
  };
}

async function readText(file: FileHandle, args: ReadArgs, signal: AbortSignal): Promise<ToolResult> {
  const startLine = Math.max(0, Math.floor(args.offset ?? 1) - 1);
  const lineCount = args.limit === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(args.limit));
  const window = await readTextWindow(file, { startLine, lineCount, maxBytes: MAX_BYTES }, signal);
  const { totalLines } = window;
  if (startLine > 0 && startLine >= totalLines) {
    throw new Error(`Offset ${args.offset} is beyond end of file (${totalLines} lines total)`);
  }
  const wantedLines = Math.min(lineCount, totalLines - startLine);
  const cut: TruncationResult = {
    ...truncateHead(window.text),
    totalLines: wantedLines,
    totalBytes: window.wantedBytes,
  };
  const first = startLine + 1;
  if (cut.firstLineExceedsLimit) {
    const limit = formatSize(MAX_BYTES);
    const way = `Use bash: sed -n '${first}p' ${args.path} | head -c ${MAX_BYTES}`;
    const size = formatSize(window.firstLineBytes);
    return textResult(`[Line ${first} is ${size}, exceeds ${limit} limit. ${way}]`, { truncation: cut });
  }
  if (cut.truncated) return textResult(cut.content + showingNotice(cut, first, totalLines), { truncation: cut });
  const left = totalLines - startLine - wantedLines;
  if (left <= 0) return textResult(cut.content);
  const shown = splitLines(cut.content).join("\n");
  return textResult(`${shown}\n\n[${left} more lines in file. Use offset=${first + wantedLines} to continue.]`);
}

function showingNotice(cut: TruncationResult, first: number, totalLines: number): string {
  const last = first + cut.outputLines - 1;
  const limit = cut.truncatedBy === "bytes" ? ` (${formatSize(MAX_BYTES)} limit)` : "";
  return `\n\n[Showing lines ${first}-${last} of ${totalLines}${limit}. Use offset=${last + 1} to continue.]`;
}
