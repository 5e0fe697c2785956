import { readFileSync, statSync } from "node:fs";
import type { ImageContent } from "@tiller/protocol/content";
import { type Env, resolvePath } from "./config/paths.ts";
import { isBinary, PROBE_BYTES, utf16Encoding } from "./tools/binary-file.ts";
import { imageType, SENDABLE_TYPES } from "./tools/image-type.ts";

/** What the files behind `@` bring to the first prompt. */
export interface FileArguments {
  /** Each text with its path around it, and the paths of the images; empty without files. */
  text: string;
  images: ImageContent[];
}

/** Reads all of them, or says which one cannot be used. */
export function readFileArguments(paths: readonly string[], cwd: string, env: Env): FileArguments | { error: string } {
  const found: FileArguments = { text: "", images: [] };
  for (const path of paths) {
    const full = resolvePath(path, cwd, env);
    const file = readOne(full);
    if ("problem" in file) return { error: `Error: @${path}: ${file.problem} (${full})` };
    if ("image" in file) found.images.push(file.image);
    const inside = "text" in file ? `\n${file.text}\n` : "";
    found.text += `<file name="${full}">${inside}</file>\n`;
  }
  return found;
}

type OneFile = { text: string } | { image: ImageContent } | { problem: string };

function readOne(path: string): OneFile {
  const bytes = bytesOf(path);
  if ("problem" in bytes) return bytes;
  const mimeType = imageType(bytes);
  if (mimeType && SENDABLE_TYPES.has(mimeType)) {
    return { image: { type: "image", mimeType, data: bytes.toString("base64") } };
  }
  if (isBinary(bytes.subarray(0, PROBE_BYTES))) return { problem: "neither text nor an image that models take" };
  return { text: new TextDecoder(utf16Encoding(bytes) ?? "utf-8").decode(bytes) };
}

function bytesOf(path: string): Buffer | { problem: string } {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) return { problem: "no such file" };
    if (stats.isDirectory()) return { problem: "is a folder; name a file in it" };
    return readFileSync(path);
  } catch (error) {
    return { problem: `cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}` };
  }
}
