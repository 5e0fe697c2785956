import { parseEventObject } from "../../http/sse.ts";
import { isRecord, textOf } from "../wire-values.ts";

/**
 * Thinking has no place in the API of OpenAI, so servers put it where they like. The place is kept as the signature of
 * the block and tells where it goes on the next turn: the name of a field, `thinking` for parts of a content list
 * (Mistral), or the JSON of OpenRouter's `reasoning_details`, which hold signatures and encrypted thoughts.
 */

export const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;
export type ReasoningField = (typeof REASONING_FIELDS)[number];
export const THINKING_PARTS = "thinking";

export function isReasoningField(name: string): name is ReasoningField {
  return (REASONING_FIELDS as readonly string[]).includes(name);
}

export type ReasoningDetail = Record<string, unknown>;

/** The words of these details grow from piece to piece; everything else in them is told once. */
const GROWING: ReadonlyMap<unknown, string> = new Map([
  ["reasoning.text", "text"],
  ["reasoning.summary", "summary"],
]);

/** Adds a piece to the details so far. Returns the words that are new in it. */
export function addDetail(details: ReasoningDetail[], piece: unknown): string {
  if (!isRecord(piece)) return "";
  const detail: ReasoningDetail = piece;
  const key = GROWING.get(detail.type);
  const words = key === undefined ? "" : textOf(detail[key]);
  const last = details.at(-1);
  if (key === undefined || last === undefined || last.type !== detail.type || last.index !== detail.index) {
    details.push({ ...detail });
    return words;
  }
  const grown = textOf(last[key]) + words;
  for (const [name, told] of Object.entries(detail)) if (told !== null) last[name] = told;
  last[key] = grown;
  return words;
}

/** The details in a signature; none when it is not such a one. */
export function readDetails(signature: string): ReasoningDetail[] {
  if (!signature.startsWith("[")) return [];
  const value = parseEventObject(signature);
  return Array.isArray(value) ? value : [];
}
