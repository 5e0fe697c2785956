import { parseEventObject } from "../../http/sse.ts";

/**
 * What a stored answer remembers of the items it came in, so that it can be sent back as those items. The stream writes
 * it into ids and signatures of the blocks, the request reads it again:
 *
 *   id of a tool call     `call_abc|fc_def`: the id its result is sent with, and the id of the item
 *   textSignature         the id of the message item, or `{"id":"msg_abc","phase":"commentary"}`
 *   thinkingSignature     the whole reasoning item as JSON
 */

/** The API refuses longer ids of items. */
const LONGEST_ID = 64;
const JOINT = "|";

export function joinCallId(callId: string, itemId: string | undefined): string {
  return itemId ? `${callId}${JOINT}${itemId}` : callId;
}

/** The id of the item of a tool call, if it is one that this API made and takes back. */
export function itemIdOfCall(id: string): string | undefined {
  return takenBack(id.split(JOINT)[1], /^fc[\w-]*$/);
}

export interface TextMarks {
  id?: string;
  phase?: string;
}

export function signText({ id, phase }: TextMarks): string | undefined {
  return phase ? JSON.stringify({ id, phase }) : id;
}

export function readTextMarks(signature: string | undefined): TextMarks {
  const stored = parseObject(signature) ?? { id: signature };
  const marks: TextMarks = {};
  const id = takenBack(stored.id, /^msg[\w-]*$/);
  if (id !== undefined) marks.id = id;
  if (typeof stored.phase === "string") marks.phase = stored.phase;
  return marks;
}

/** Undefined when there is nothing in it that the provider could make use of: it keeps no copy of its own. */
export function readReasoningItem(signature: string | undefined): Record<string, unknown> | undefined {
  const stored = parseObject(signature);
  if (stored?.type !== "reasoning") return undefined;
  const { id, summary, content, encrypted_content } = stored;
  const hasContent = Array.isArray(content) && content.length > 0;
  if (!encrypted_content && !hasContent) return undefined;
  const item: Record<string, unknown> = { type: "reasoning" };
  if (typeof id === "string" && id !== "" && id.length <= LONGEST_ID) item.id = id;
  item.summary = Array.isArray(summary) ? summary : [];
  if (hasContent) item.content = content;
  if (encrypted_content) item.encrypted_content = encrypted_content;
  return item;
}

function takenBack(id: unknown, pattern: RegExp): string | undefined {
  return typeof id === "string" && id.length <= LONGEST_ID && pattern.test(id) ? id : undefined;
}

function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  return text?.startsWith("{") ? (parseEventObject(text) as Record<string, unknown> | undefined) : undefined;
}
