import { existsSync } from "node:fs";
import { callsOf, isFailed, messagesIn, pathTo, readSessionFile } from "../sessions/support/session-tree.ts";
import { at, brief, type Frame } from "../support/frame.ts";
import type { State } from "./states.ts";

/** What a process that ended by itself has left in its file: nobody may have heard the ending, and there it must be. */

const STATUSES: Readonly<Record<string, string>> = { stop: "completed", aborted: "aborted", error: "error" };

/** How the last run ended, as the file alone tells it; undefined when nobody has closed it. */
export function endingIn(entries: readonly Frame[]): string | undefined {
  for (const entry of pathTo(entries, entries.at(-1)?.id).reverse()) {
    if (entry.customType === "tiller.run_end") return String(at(entry, "data", "status"));
    const role = at(entry, "message", "role");
    if (role === "user" || role === "toolResult") return undefined;
    if (role === "assistant") return STATUSES[String(at(entry, "message", "stopReason"))];
  }
  return undefined;
}

/** Throws unless the file tells of the ending of everything that was going on; gives back how the last run ended. */
export function closedIn(path: string, { name, leaves }: State): string | undefined {
  // A session in which nothing was said leaves no file.
  if (!existsSync(path)) return undefined;
  const { entries, torn } = readSessionFile(path);
  const status = endingIn(entries);
  const last = brief(entries.slice(-2));
  if (torn !== "") throw new Error(`the session file of a process that ended by itself ends in a torn line: ${torn}`);
  if (status === undefined) throw new Error(`the session file does not say how the last run ended: ${last}`);
  const open = openCalls(messagesIn(entries));
  if (open.length > 0) throw new Error(`tool calls without a result in the session file: ${open.join(", ")}`);
  if (leaves && !entries.some(leaves))
    throw new Error(`the file says nothing of "${name}", which was cut short: ${last}`);
  return status;
}

/** An answer that failed midway may hold calls that nobody has run. */
function openCalls(messages: readonly unknown[]): string[] {
  const answered = messages.map((message) => at(message, "toolCallId"));
  return messages
    .filter((message) => at(message, "role") === "assistant" && !isFailed(message))
    .flatMap(callsOf)
    .filter((id) => !answered.includes(id));
}
