import { readFileSync } from "node:fs";
import { at, type Frame, list } from "../../support/frame.ts";

/** What a session file says, read in the plainest way: line by line, without any of the product's code. */

export interface FileContent {
  header: Frame | undefined;
  entries: Frame[];
  /** Bytes behind the last line end. */
  torn: string;
}

export function readSessionFile(path: string): FileContent {
  const lines = readFileSync(path, "utf8").split("\n");
  const torn = lines.pop() ?? "";
  const [header, ...entries] = lines.map((line) => JSON.parse(line) as Frame);
  return { header, entries, torn };
}

export const messagesIn = (entries: readonly Frame[]): unknown[] =>
  entries.flatMap((entry) => {
    if (entry.type === "custom_message") return [customMessage(entry)];
    return entry.type === "message" ? [entry.message] : [];
  });

/** What is said for others than the user, the result of a background job for example, is an entry of its own kind. */
function customMessage({ customType, content, display, details, timestamp }: Frame): Frame {
  const message = { role: "custom", customType, content, display, timestamp: Date.parse(String(timestamp)) };
  return details === undefined ? message : { ...message, details };
}

/** From the root to the entry. Ends early where a parent is missing. */
export function pathTo(entries: readonly Frame[], leafId: unknown): Frame[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: Frame[] = [];
  for (let entry = byId.get(leafId); entry && path.length <= entries.length; entry = byId.get(entry.parentId)) {
    path.unshift(entry);
  }
  return path;
}

/** One sentence for each thing that is not as a tree should be. */
export function treeProblems(entries: readonly Frame[], leafId: unknown): string[] {
  const problems: string[] = [];
  const seen = new Set<unknown>();
  for (const { id, parentId, type } of entries) {
    if (seen.has(id)) problems.push(`two entries have the id ${id}`);
    if (parentId !== null && !seen.has(parentId))
      problems.push(`the parent ${parentId} of ${type} ${id} is not before it`);
    if (parentId === null && seen.size > 0 && !isRestart(entries, id)) problems.push(`${type} ${id} is a second root`);
    seen.add(id);
  }
  if (entries.length > 0 && !seen.has(leafId)) problems.push(`the leaf ${leafId} is no entry`);
  if (entries.length > 0 && pathTo(entries, leafId)[0]?.parentId !== null) problems.push("the leaf hangs on no root");
  return problems;
}

/** Who goes back to before the first message begins anew, with a note that says so. */
function isRestart(entries: readonly Frame[], id: unknown): boolean {
  return entries.find((entry) => entry.id === id)?.customType === "tiller.leaf";
}

/** The conversation at a leaf: its last compaction stands for what is before the entry that it names. */
export function conversationAt(entries: readonly Frame[], leafId: unknown): unknown[] {
  const path = pathTo(entries, leafId);
  const cut = path.findLastIndex(({ type }) => type === "compaction");
  if (cut < 0) return messagesIn(path);
  const kept = path.findIndex(({ id }) => id === path[cut]?.firstKeptEntryId);
  const before = kept < 0 ? [] : path.slice(kept, cut);
  return [{ role: "compactionSummary" }, ...messagesIn(before), ...messagesIn(path.slice(cut + 1))];
}

/** Whether somebody who reads the file would say that its last run did not come to an end. */
export function endsInMidRun(entries: readonly Frame[]): boolean {
  for (const entry of pathTo(entries, entries.at(-1)?.id).reverse()) {
    if (entry.type === "branch_summary") return false;
    if (entry.type === "custom" && ["tiller.run_end", "tiller.leaf"].includes(String(entry.customType))) return false;
    const role = at(entry, "message", "role");
    if (role === "user" || role === "toolResult") return true;
    if (role === "assistant") return callsOf(entry.message).length > 0 && !isFailed(entry.message);
  }
  return false;
}

/** Ids of the tool calls of the last answer that have no result, if that answer was the end. */
export function cutOffCalls(entries: readonly Frame[]): string[] {
  if (!endsInMidRun(entries)) return [];
  const messages = messagesIn(pathTo(entries, entries.at(-1)?.id));
  const last = messages.findLastIndex((message) => ["assistant", "user"].includes(String(at(message, "role"))));
  const answered = messages.slice(last + 1).map((message) => at(message, "toolCallId"));
  return at(messages[last], "role") === "user" ? [] : callsOf(messages[last]).filter((id) => !answered.includes(id));
}

export function callsOf(message: unknown): string[] {
  const blocks = list(at(message, "content")).filter((block) => at(block, "type") === "toolCall");
  return blocks.map((block) => String(at(block, "id")));
}

export function isFailed(message: unknown): boolean {
  return ["error", "aborted"].includes(String(at(message, "stopReason")));
}
