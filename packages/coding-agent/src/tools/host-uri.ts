import type { ToolResult } from "@tiller/protocol/tool";
import { textSource } from "./byte-sources.ts";
import { imageType } from "./image-type.ts";
import { MAX_BYTES } from "./limits.ts";
import { showImage } from "./read-image.ts";
import { type ReadArgs, showWindow, wantedLines } from "./read-text.ts";
import { readTextWindow } from "./text-window.ts";
import { type HostUri, textResult, type UriContent, withNotices } from "./tool.ts";

/** What the tools make of a URL of the host. */

export async function readUri(uri: HostUri, args: ReadArgs, signal: AbortSignal): Promise<ToolResult> {
  const given = await uri.read(signal);
  const shown = isImage(given) ? await imageOf(uri, given, signal) : await textOf(given, args, signal);
  if (given.notes.length === 0) return shown;
  const [first, ...rest] = shown.content;
  const text = first?.type === "text" ? first.text : "";
  return { ...shown, content: [{ type: "text", text: withNotices(text, given.notes) }, ...rest] };
}

export async function writeUri(uri: HostUri, content: string, signal: AbortSignal): Promise<ToolResult> {
  if (!uri.isWritable) throw new Error(readOnly(uri));
  const said = await uri.write(content, signal);
  const done = said.content || `Successfully wrote ${Buffer.byteLength(content)} bytes to ${uri.url}`;
  return textResult(withNotices(done, said.notes));
}

/** The host cannot replace a part of something. */
export function editRefusal(uri: HostUri): string {
  if (!uri.isWritable) return readOnly(uri);
  return `Could not edit ${uri.url}: it belongs to the host. Read it, and write the whole of it with the tool write.`;
}

function readOnly({ url, scheme }: HostUri): string {
  return `Could not write ${url}: the host lends ${scheme}:// for reading only.`;
}

/** A drawing in SVG is a text. */
function isImage({ contentType }: UriContent): boolean {
  return /^image\/(?!svg)/i.test(contentType);
}

async function imageOf(
  { url }: HostUri,
  { content, contentType }: UriContent,
  signal: AbortSignal,
): Promise<ToolResult> {
  const bytes = Buffer.from(content.replace(/^data:[^,]*,/, ""), "base64");
  const found = imageType(bytes);
  const shown = found && (await showImage(bytes, found, signal));
  if (shown) return shown;
  throw new Error(`${url} came as ${contentType}, but what came is no image in base64 that a model can see.`);
}

async function textOf({ content }: UriContent, args: ReadArgs, signal: AbortSignal): Promise<ToolResult> {
  const window = await readTextWindow(
    textSource(content),
    { ...wantedLines(args), maxBytes: MAX_BYTES, maxCountedBytes: Number.POSITIVE_INFINITY },
    signal,
  );
  return showWindow(window, args, () => "Ask the host for a smaller part of it");
}
