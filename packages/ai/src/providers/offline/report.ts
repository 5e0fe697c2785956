import type { Step } from "./conversation.ts";
import type { Intent } from "./intent.ts";
import { parseEntries } from "./listing.ts";
import { block, code, plural } from "./reply.ts";

/** Says in a few lines what came out of one command. Pure. */

const MOST_LINES = 40;
const LONGEST_LINE = 300;

type Result<K extends Intent["kind"]> = Extract<Intent, { kind: K }>;
export type Command = Exclude<Intent, { kind: "summary" | "help" }>;

export function reportText(intent: Command, step: Step): string {
  if (step.failed) return failureText(intent, step);
  switch (intent.kind) {
    case "read":
      return readText(intent, step.output);
    case "list":
      return listText(intent, step.output);
    case "find":
      return findText(intent, step.output);
    case "search":
      return searchText(intent, step.output);
    case "run":
      return `${code(intent.command)} ran and said:\n\n${block(tail(step.output))}`;
    case "write":
    case "replace":
      return `Done. ${step.output.trim()}`;
  }
}

function failureText(intent: Command, step: Step): string {
  const output = step.output.trim();
  if (output === "")
    return `${code(step.call.name)} gave no answer, so I have nothing to show. Ask again to repeat it.`;
  if (intent.kind === "run") return `${code(intent.command)} failed:\n\n${block(tail(output))}`;
  return output.includes("\n") ? `That did not work:\n\n${block(head(output))}` : `That did not work: ${output}`;
}

function readText({ path }: Result<"read">, output: string): string {
  if (output.trim() === "") return `${code(path)} is empty or has no text.`;
  const total = /\[Showing lines \d+-\d+ of (\d+)/.exec(output)?.[1];
  const lines = total === undefined ? output.replace(/\n$/, "").split("\n").length : Number(total);
  return `${code(path)} has ${plural(lines, "line")}:\n\n${block(head(output.replace(/\n$/, "")))}`;
}

function listText({ path }: Result<"list">, output: string): string {
  const { folders, files } = parseEntries(output);
  if (folders.length + files.length === 0) return `${code(path)} is empty.`;
  return `${code(path)} holds ${plural(folders.length, "folder")} and ${plural(files.length, "file")}:\n\n${block(head(output.trimEnd()))}`;
}

function findText({ pattern, path }: Result<"find">, output: string): string {
  const { folders, files } = parseEntries(output);
  const found = [...files, ...folders.map((name) => `${name}/`)];
  const where = path === "." ? "" : ` in ${code(path)}`;
  if (found.length === 0) return `Nothing matches ${code(pattern)}${where}.`;
  return `${plural(found.length, "match", "matches")} for ${code(pattern)}${where}:\n\n${block(head(found.join("\n")))}`;
}

function searchText({ text, path }: Result<"search">, output: string): string {
  const where = path === "." ? "" : ` in ${code(path)}`;
  const lines = output.split("\n").filter((line) => /^.+?:\d+:/.test(line));
  if (lines.length === 0) return `No line contains ${code(text)}${where}.`;
  return `${plural(lines.length, "line")} with ${code(text)}${where}:\n\n${block(head(output.trimEnd()))}`;
}

function head(text: string): string {
  const lines = text.split("\n").map(cut);
  if (lines.length <= MOST_LINES) return lines.join("\n");
  return [...lines.slice(0, MOST_LINES), `… and ${plural(lines.length - MOST_LINES, "more line")}`].join("\n");
}

function tail(text: string): string {
  const lines = text.trimEnd().split("\n").map(cut);
  if (lines.length <= MOST_LINES) return lines.join("\n");
  return [`… ${plural(lines.length - MOST_LINES, "line")} before`, ...lines.slice(-MOST_LINES)].join("\n");
}

function cut(line: string): string {
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
