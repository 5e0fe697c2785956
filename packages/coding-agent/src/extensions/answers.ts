import type { ImageContent, TextContent } from "@tiller/protocol/content";
import type { AgentMessage } from "@tiller/protocol/message";
import { plainJson } from "../lib/plain-json.ts";
import type { EntryDraft, GivenHeaders, HookResult, UntimedMessage } from "../session/ports.ts";

/** What extensions give us, looked at before it is used: none of it was checked by a compiler of ours. */

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined when it is something else; nothing at all is an empty list. */
export function strings(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) && [...value].every((item) => typeof item === "string") ? value : undefined;
}

type Block = TextContent | ImageContent;

/** A text, or blocks of text and images; undefined when it is something else. */
export function contentOf(value: unknown): Block[] | undefined {
  if (typeof value === "string") return [{ type: "text", text: value.toWellFormed() }];
  if (!Array.isArray(value)) return undefined;
  // Also of the places in which nothing is: other ways to go through a list pass over them.
  const blocks = Array.from(value, blockOf);
  return blocks.every((block) => block !== undefined) ? blocks : undefined;
}

function blockOf(value: unknown): Block | undefined {
  if (!isRecord(value)) return undefined;
  if (value.type === "text" && typeof value.text === "string")
    return {
      type: "text",
      text: value.text.toWellFormed(),
      ...(typeof value.textSignature === "string" && { textSignature: value.textSignature }),
    };
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

/** Undefined when there are none. */
export function imagesOf(value: unknown): ImageContent[] | undefined | "nonsense" {
  if (value === undefined || value === null) return undefined;
  const blocks = Array.isArray(value) ? contentOf(value) : undefined;
  return blocks?.every((block) => block.type === "image") ? blocks : "nonsense";
}

/** A message of the same kind in the place of another one; what it does not say stays as it was. */
export function replacedMessage(old: AgentMessage, given: unknown): AgentMessage | { problem: string } {
  if (!isRecord(given) || given.role !== old.role) {
    return { problem: "message_end handlers must return a message with the same role" };
  }
  const plain = plainJson(given);
  const before = old as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(plain)) {
    const wanted = kindOf(before[name]);
    if (name === "content" ? !isContent(old.role, value) : wanted !== "nothing" && kindOf(value) !== wanted) {
      return { problem: `message_end handlers must return a message of the same kind: ${name} is ${kindOf(value)}` };
    }
  }
  return { ...old, ...plain } as AgentMessage;
}

const ROLES = new Set<unknown>(["user", "assistant", "toolResult", "custom", "bashExecution"]);

/** Why this is no message that a session can hold; undefined when it is one. */
export function messageProblem(value: unknown): string | undefined {
  if (!isRecord(value) || !ROLES.has(value.role)) return "a message is an object with a role";
  const role = value.role as AgentMessage["role"];
  if (role === "bashExecution") return typeof value.output === "string" ? undefined : "output must be a text";
  return isContent(role, value.content)
    ? undefined
    : `the content of a message of the role ${role} is ${kindOf(value.content)}`;
}

function isContent(role: AgentMessage["role"], value: unknown): boolean {
  if (role === "assistant") return Array.isArray(value) && value.every(isPartOfAnswer);
  return contentOf(value) !== undefined && (role !== "toolResult" || Array.isArray(value));
}

function isPartOfAnswer(block: unknown): boolean {
  if (!isRecord(block)) return false;
  if (block.type === "text") return typeof block.text === "string";
  if (block.type === "thinking") return typeof block.thinking === "string";
  const isCall = typeof block.id === "string" && typeof block.name === "string" && isRecord(block.arguments);
  return block.type === "toolCall" && isCall;
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
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
    ...(details === undefined ? {} : { details: plainJson(details) }),
  };
}

/** Entries that a handler wants to have added, in their order. */
export function draftsOf(value: unknown): EntryDraft[] | { problem: string } {
  if (!Array.isArray(value)) return { problem: "entries must be a list" };
  const drafts: EntryDraft[] = [];
  for (const [index, given] of value.entries()) {
    const draft = isRecord(given) ? draftOf(given) : { problem: "must be an object" };
    if ("problem" in draft) return { problem: `entries[${index}]: ${draft.problem}` };
    drafts.push(draft);
  }
  return drafts;
}

const DRAFTS: { readonly [T in EntryDraft["type"]]: (given: Record<string, unknown>) => EntryDraft | Problem } = {
  custom({ customType, data }) {
    if (typeof customType !== "string" || customType === "") return { problem: "customType must be a text" };
    return { type: "custom", customType, ...(data === undefined ? {} : { data: plainJson(data) }) };
  },
  custom_message(given) {
    const message = customMessageOf(given);
    if ("problem" in message) return message;
    const { role: _, ...rest } = message;
    return { type: "custom_message", ...rest };
  },
  context_edit({ targetId, replacement }) {
    if (typeof targetId !== "string" || targetId === "") return { problem: "targetId must be the id of an entry" };
    const content = typeof replacement === "string" || replacement === null ? replacement : contentOf(replacement);
    if (content === undefined) return { problem: "replacement must be null, a text, or text and image blocks" };
    return { type: "context_edit", targetId, replacement: content };
  },
  compaction({ summary, firstKeptEntryId = null, tokensBefore, details }) {
    if (typeof summary !== "string" || summary === "") return { problem: "summary must be a text" };
    if (firstKeptEntryId !== null && typeof firstKeptEntryId !== "string")
      return { problem: "firstKeptEntryId must be the id of an entry, or null" };
    const tokens = typeof tokensBefore === "number" ? tokensBefore : 0;
    const more = details === undefined ? {} : { details: plainJson(details) };
    return { type: "compaction", summary, firstKeptEntryId, tokensBefore: tokens, ...more };
  },
};

interface Problem {
  problem: string;
}

function draftOf(given: Record<string, unknown>): EntryDraft | Problem {
  const type = String(given.type);
  if (Object.hasOwn(DRAFTS, type)) return DRAFTS[type as EntryDraft["type"]](given);
  return { problem: `type is "${type}", it must be one of ${Object.keys(DRAFTS).join(", ")}` };
}

/** Undefined when it is something else. */
export function headersOf(value: unknown): GivenHeaders | undefined {
  if (!isRecord(value)) return undefined;
  const isHeader = (given: unknown): boolean => given === null || typeof given === "string";
  return Object.values(value).every(isHeader) ? (value as GivenHeaders) : undefined;
}

export function bashResultOf(value: unknown): HookResult<"user_bash">["result"] {
  if (!isRecord(value) || typeof value.output !== "string") return undefined;
  const { output, exitCode, cancelled, truncated, fullOutputPath } = value;
  const lines = output === "" ? 0 : output.split("\n").length;
  const bytes = Buffer.byteLength(output);
  return {
    output,
    exitCode: Number.isInteger(exitCode) ? (exitCode as number) : undefined,
    cancelled: cancelled === true,
    truncated: truncated === true,
    ...(typeof fullOutputPath === "string" && { fullOutputPath }),
    totalLines: lines,
    totalBytes: bytes,
    outputLines: lines,
    outputBytes: bytes,
  };
}
