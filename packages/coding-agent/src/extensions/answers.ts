import type { ImageContent, TextContent } from "@tiller/protocol/content";
import type { HookResult, UntimedMessage } from "../session/ports.ts";

/** What extensions give us, looked at before it is used: none of it was checked by a compiler of ours. */

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined when it is something else; nothing at all is an empty list. */
export function strings(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
}

type Block = TextContent | ImageContent;

/** A text, or blocks of text and images; undefined when it is something else. */
export function contentOf(value: unknown): Block[] | undefined {
  if (typeof value === "string") return [{ type: "text", text: value.toWellFormed() }];
  if (!Array.isArray(value)) return undefined;
  const blocks = value.map(blockOf);
  return blocks.every((block) => block !== undefined) ? blocks : undefined;
}

function blockOf(value: unknown): Block | undefined {
  if (!isRecord(value)) return undefined;
  if (value.type === "text" && typeof value.text === "string")
    return { ...value, type: "text", text: value.text.toWellFormed() };
  if (value.type !== "image") return undefined;
  if (typeof value.data === "string" && typeof value.mimeType === "string") {
    return { type: "image", data: value.data, mimeType: value.mimeType };
  }
  // The form that providers use.
  const { source } = value;
  if (!isRecord(source) || typeof source.data !== "string") return undefined;
  const mimeType = source.mediaType ?? source.media_type;
  return typeof mimeType === "string" ? { type: "image", data: source.data, mimeType } : undefined;
}

/** Without its time, which the session gives it. */
export function customMessageOf(value: unknown): UntimedMessage | { problem: string } {
  if (!isRecord(value)) return { problem: "message must be an object" };
  const { customType, content, display, details } = value;
  if (typeof customType !== "string" || customType === "") return { problem: "message.customType must be a text" };
  const blocks = typeof content === "string" ? content.toWellFormed() : contentOf(content);
  if (blocks === undefined) return { problem: "message.content must be a text, or a list of text and image blocks" };
  return {
    role: "custom",
    customType,
    content: blocks,
    display: display !== false,
    ...(details === undefined ? {} : { details }),
  };
}

export function bashResultOf(value: unknown): HookResult<"user_bash">["result"] {
  if (!isRecord(value) || typeof value.output !== "string") return undefined;
  const { output, exitCode, cancelled, truncated, fullOutputPath } = value;
  const lines = output === "" ? 0 : output.split("\n").length;
  const bytes = Buffer.byteLength(output);
  return {
    output,
    exitCode: typeof exitCode === "number" ? exitCode : undefined,
    cancelled: cancelled === true,
    truncated: truncated === true,
    ...(typeof fullOutputPath === "string" && { fullOutputPath }),
    totalLines: lines,
    totalBytes: bytes,
    outputLines: lines,
    outputBytes: bytes,
  };
}
