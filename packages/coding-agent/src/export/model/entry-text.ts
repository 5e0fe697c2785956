import { isFields } from "../html/format.ts";

/** What can be found in an entry, and what it is called in a list. Pure. */

/** Names of fields whose text nobody looks for. */
const NOT_SEARCHED = new Set([
  "id",
  "parentId",
  "type",
  "timestamp",
  "role",
  "api",
  "thinkingSignature",
  "textSignature",
  "thoughtSignature",
  "mimeType",
  "responseId",
  "toolCallId",
]);

/** All text of an entry that somebody may look for, each piece in a line of its own. Images have none. */
export function searchText(entry: unknown): string {
  const parts: string[] = [];
  const todo: unknown[] = [entry];
  while (todo.length > 0) {
    const value = todo.pop();
    if (typeof value === "string") parts.push(value);
    else if (Array.isArray(value)) for (let i = value.length - 1; i >= 0; i -= 1) todo.push(value[i]);
    else if (isFields(value) && value.type !== "image") {
      for (const key of Object.keys(value).reverse()) if (!NOT_SEARCHED.has(key)) todo.push(value[key]);
    }
  }
  return parts.join("\n");
}

/** The text blocks of a message, or its text. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((block) => (isFields(block) && typeof block.text === "string" ? block.text : ""));
  return texts.filter((text) => text !== "").join("\n\n");
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** A few words for a list: what the entry says, or what it is. */
export function titleOf(entry: unknown): string {
  if (!isFields(entry)) return "";
  const message = isFields(entry.message) ? entry.message : entry;
  const said =
    contentText(message.content) || text(message.command) || text(message.summary) || text(message.errorMessage);
  return firstWords(
    said || toolNames(message.content) || text(entry.name) || text(entry.label) || text(entry.customType),
  );
}

function toolNames(content: unknown): string {
  if (!Array.isArray(content)) return "";
  const calls = content.filter((block) => isFields(block) && block.type === "toolCall");
  return calls.map((call) => text(call.name)).join(", ");
}

const MOST_WORDS = 120;

function firstWords(said: string): string {
  const start = said.slice(0, 4 * MOST_WORDS).replace(/[#*`>]+/g, "");
  return start.replace(/\s+/g, " ").trim().slice(0, MOST_WORDS);
}

/** The text around a place where something was found, and where in it that is. */
export function snippetOf(whole: string, wanted: string): { text: string; at: number } | undefined {
  const found = whole.toLowerCase().indexOf(wanted);
  if (found < 0) return undefined;
  const start = Math.max(0, found - 12);
  const shown = `${start > 0 ? "…" : ""}${whole.slice(start, found + wanted.length + 90)}`.replace(/\s/g, " ");
  return { text: shown, at: found - start + (start > 0 ? 1 : 0) };
}
