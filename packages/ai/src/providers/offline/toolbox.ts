import type { ToolSpec } from "@tiller/protocol/tool";
import type { Intent } from "./intent.ts";

/** Which tool does what, and how bash stands in for the read-only ones when a host has not switched them on. Pure. */

export interface PlannedCall {
  name: string;
  arguments: Record<string, unknown>;
}

type Task<K extends Intent["kind"]> = Extract<Intent, { kind: K }>;

const FILE_LIMIT = 5000;
const MATCH_LIMIT = 100;
const SKIPPED = ["node_modules", ".git"];

/** The calls that would do the task, best first, of those whose tool is on offer. */
export function callsFor(intent: Intent, tools: readonly ToolSpec[]): PlannedCall[] {
  const offered = new Set(tools.map((tool) => tool.name));
  return candidates(intent).filter((call) => offered.has(call.name));
}

/** Writing has no stand-in: a host that leaves out `write` or `edit` means it. */
function candidates(intent: Intent): PlannedCall[] {
  switch (intent.kind) {
    case "read":
      return [{ name: "read", arguments: { path: intent.path } }, bash(`cat -- ${quote(intent.path)}`)];
    case "list":
      return [{ name: "ls", arguments: { path: intent.path } }, bash(`ls -Ap -- ${quote(intent.path)}`)];
    case "find":
      return findCalls(intent);
    case "search":
      return searchCalls(intent);
    case "run":
      return [bash(intent.command)];
    case "write":
      return [{ name: "write", arguments: { path: intent.path, content: intent.content } }];
    case "replace":
      return [
        { name: "edit", arguments: { path: intent.path, edits: [{ oldText: intent.before, newText: intent.after }] } },
      ];
    case "summary":
    case "help":
      return [];
  }
}

function findCalls({ pattern, path }: Task<"find">): PlannedCall[] {
  const everything = pattern === "**/*" || pattern === "*";
  const below = pattern.replace(/^\*\*\//, "");
  // In find's own patterns a star also crosses folders, so "**" and "*" mean the same there.
  const test = below.includes("/") ? `-path ${quote(`*/${below.replaceAll("**/", "*")}`)}` : `-name ${quote(below)}`;
  const skip = SKIPPED.map((name) => `-name ${name}`).join(" -o ");
  const command = `find ${quote(path)} \\( ${skip} \\) -prune -o -type f ${everything ? "" : `${test} `}-print | head -n ${FILE_LIMIT}`;
  return [{ name: "find", arguments: { pattern, path, limit: FILE_LIMIT } }, bash(command)];
}

function searchCalls({ text, path }: Task<"search">): PlannedCall[] {
  const skip = SKIPPED.map((name) => `--exclude-dir=${name}`).join(" ");
  const command = `grep -rnIF ${skip} -- ${quote(text)} ${quote(path)} | head -n ${MATCH_LIMIT}`;
  return [{ name: "grep", arguments: { pattern: text, path, literal: true, limit: MATCH_LIMIT } }, bash(command)];
}

function bash(command: string): PlannedCall {
  return { name: "bash", arguments: { command } };
}

/** One word for a POSIX shell, whatever is in it. */
export function quote(word: string): string {
  return /^[\w./-]+$/.test(word) && !word.startsWith("-") ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
