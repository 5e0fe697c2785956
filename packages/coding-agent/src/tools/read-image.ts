import type { FileHandle } from "node:fs/promises";
import type { ToolResult } from "@tiller/protocol/tool";
import { throwIfAborted } from "../lib/abort.ts";
import { loadSharp, type ResizedImage, resizeImage, type Sharp } from "./image-resize.ts";
import { type ImageSize, imageSize } from "./image-size.ts";
import { SENDABLE_TYPES } from "./image-type.ts";
import { textResult } from "./tool.ts";
import { formatSize } from "./truncate.ts";

/** As base64, which is what a request carries. Larger images need shrinking. */
const MAX_BASE64 = Math.floor(4.5 * 1024 * 1024);
/** Beyond it an image is shrunk where that is possible. */
const WANTED_SIDE = 2000;
/** Beyond it a provider refuses the request, this one and every later one of the conversation. */
const MAX_SIDE = 8000;
/** More is not even looked at. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Undefined for an image that no model takes and that we cannot convert: it is then a file like other binary ones. */
export async function readImage(
  file: FileHandle,
  mimeType: string,
  signal: AbortSignal,
  load: () => Promise<Sharp | undefined> = loadSharp,
): Promise<ToolResult | undefined> {
  const { size: fileBytes } = await file.stat();
  const sendable = SENDABLE_TYPES.has(mimeType);
  if (fileBytes > MAX_FILE_BYTES) return sendable ? leftOut(mimeType, tooLarge(base64Length(fileBytes))) : undefined;
  return showImage(await file.readFile(), mimeType, signal, load);
}

export async function showImage(
  bytes: Buffer,
  mimeType: string,
  signal: AbortSignal,
  load: () => Promise<Sharp | undefined> = loadSharp,
): Promise<ToolResult | undefined> {
  throwIfAborted(signal);
  const sendable = SENDABLE_TYPES.has(mimeType);
  const size = imageSize(bytes, mimeType);
  if (sendable && size && base64Length(bytes.length) <= MAX_BASE64 && longSide(size) <= WANTED_SIDE) {
    return withImage(`Read image file [${mimeType}]`, bytes, mimeType);
  }
  const sharp = await load();
  const resized = sharp && (await resizeImage(sharp, { bytes, mimeType, maxBytes: (MAX_BASE64 / 4) * 3 }));
  throwIfAborted(signal);
  if (resized) return withResized(mimeType, resized);
  if (!sendable) return undefined;
  const problem = problemOf(bytes, size);
  return problem ? leftOut(mimeType, problem) : withImage(`Read image file [${mimeType}]`, bytes, mimeType);
}

/** Why an image cannot be sent as it is. */
function problemOf(bytes: Buffer, size: ImageSize | undefined): string | undefined {
  if (base64Length(bytes.length) > MAX_BASE64) return tooLarge(base64Length(bytes.length));
  if (!size) return "it is damaged or cut off";
  if (longSide(size) <= MAX_SIDE) return undefined;
  return `${size.width}x${size.height} pixels are more than ${MAX_SIDE} a side. Shrink it first`;
}

function tooLarge(length: number): string {
  return `${formatSize(length)} is more than ${formatSize(MAX_BASE64)}. Shrink it first`;
}

function leftOut(mimeType: string, problem: string): ToolResult {
  return textResult(`Read image file [${mimeType}]\n[Image left out: ${problem}.]`);
}

function withResized(mimeType: string, { bytes, mimeType: newType, original, ...shown }: ResizedImage): ToolResult {
  const note = `Read image file [${mimeType}]`;
  if (longSide(original) === longSide(shown)) return withImage(note, bytes, newType);
  const factor = (longSide(original) / longSide(shown)).toFixed(2);
  const sizes = `${original.width}x${original.height}, shown at ${shown.width}x${shown.height}`;
  return withImage(`${note}\n[Image is ${sizes}. Multiply coordinates by ${factor}.]`, bytes, newType);
}

function withImage(text: string, bytes: Buffer, mimeType: string): ToolResult {
  return {
    content: [
      { type: "text", text },
      { type: "image", data: bytes.toString("base64"), mimeType },
    ],
  };
}

function longSide({ width, height }: ImageSize): number {
  return Math.max(width, height);
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}
