import { constants } from "node:fs";
import { access, type FileHandle } from "node:fs/promises";
import { extname } from "node:path";
import type { ToolResult } from "@tiller/protocol/tool";
import { throwIfAborted } from "../lib/abort.ts";
import { describeBinary, isBinary, PROBE_BYTES, utf16Encoding } from "./binary-file.ts";
import { fileSource, textSource, utf16Source } from "./byte-sources.ts";
import { listFolder } from "./folder-listing.ts";
import { imageType } from "./image-type.ts";
import { DEFAULT_LIMITS, MAX_BYTES } from "./limits.ts";
import { kindOf, openRegularFile, resolveExistingPath } from "./path.ts";
import { readImage } from "./read-image.ts";
import { type ReadArgs, showWindow, wantedLines } from "./read-text.ts";
import { type ByteSource, readTextWindow } from "./text-window.ts";
import { type Execute, type ToolContext, textResult } from "./tool.ts";

const MAX_NOTEBOOK_BYTES = 32 * 1024 * 1024;
/** Lines behind the shown ones are counted so far; a file of many gigabytes shall not keep anyone waiting. */
const MAX_COUNTED_BYTES = 256 * 1024 * 1024;

export function createRead(context: ToolContext): Execute<ReadArgs> {
  return async ({ args, signal }) => {
    throwIfAborted(signal);
    const uri = context.uris?.(args.path);
    if (uri) return (await import("./host-uri.ts")).readUri(uri, args, signal);
    const path = await resolveExistingPath(context, args.path);
    await access(path, constants.R_OK);
    if ((await kindOf(path)) === "folder") return readFolder(path, args, signal);
    const file = await openRegularFile(path, args.path);
    try {
      throwIfAborted(signal);
      return await readOpenFile(file, args, signal);
    } finally {
      await file.close();
    }
  };
}

/** Whoever reads a folder wants to know what is in it. */
async function readFolder(path: string, args: ReadArgs, signal: AbortSignal): Promise<ToolResult> {
  const skip = Math.max(0, Math.floor(args.offset ?? 1) - 1);
  const limit = Math.max(1, Math.floor(args.limit ?? DEFAULT_LIMITS.ls));
  const listing = await listFolder(path, { shownPath: args.path, skip, limit, signal });
  const [block] = listing.content;
  const names = block?.type === "text" ? block.text : "";
  return { ...listing, content: [{ type: "text", text: `[${args.path} is a folder. It contains:]\n${names}` }] };
}

async function readOpenFile(file: FileHandle, args: ReadArgs, signal: AbortSignal): Promise<ToolResult> {
  const probe = await readProbe(file);
  const mimeType = imageType(probe);
  const image = mimeType && (await readImage(file, mimeType, signal));
  if (image) return image;
  const asBinary = async () => textResult(describeBinary(probe, (await file.stat()).size, args.path));
  if (isBinary(probe)) return asBinary();
  const source = await sourceOf(file, probe, args.path);
  const window = await readTextWindow(
    source,
    { ...wantedLines(args), maxBytes: MAX_BYTES, maxCountedBytes: MAX_COUNTED_BYTES },
    signal,
  );
  // Zeros behind the probe: a text with a hole, or something that only begins like a text.
  return window.text.includes("\0") ? asBinary() : showWindow(window, args);
}

/** By position, so that the reading proper begins at the beginning. */
async function readProbe(file: FileHandle): Promise<Buffer> {
  const probe = Buffer.allocUnsafe(PROBE_BYTES);
  const { bytesRead } = await file.read(probe, 0, probe.length, 0);
  return probe.subarray(0, bytesRead);
}

async function sourceOf(file: FileHandle, probe: Buffer, path: string): Promise<ByteSource> {
  const encoding = utf16Encoding(probe);
  if (encoding) return utf16Source(file, encoding);
  const isNotebook = extname(path).toLowerCase() === ".ipynb" && (await file.stat()).size <= MAX_NOTEBOOK_BYTES;
  if (!isNotebook) return fileSource(file);
  const { renderNotebook } = await import("./notebook.ts");
  const json = await file.readFile("utf8");
  return textSource(renderNotebook(json) ?? json);
}
