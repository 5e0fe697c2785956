import type { AgentMessage } from "@tiller/protocol/message";

/** Which files were read and which were changed, told by the tool calls. Pure. */

export interface FileLists {
  /** Without those that were changed too. */
  readFiles: string[];
  modifiedFiles: string[];
}

const MODIFIES: Readonly<Record<string, boolean>> = { read: false, edit: true, write: true };
const PATH_NAMES = ["path", "file_path"] as const;
/** In the text that the model sees; the details keep all. */
const MOST_SHOWN = 100;

/** `before` is what the details of earlier summaries say. In the order of the last use. */
export function fileLists(messages: readonly AgentMessage[], before: readonly unknown[] = []): FileLists {
  const modified = new Map<string, boolean>();
  const note = (path: string, isModified: boolean): void => {
    const known = modified.get(path) ?? false;
    modified.delete(path);
    modified.set(path, known || isModified);
  };
  for (const details of before) {
    for (const path of pathsIn(details, "readFiles")) note(path, false);
    for (const path of pathsIn(details, "modifiedFiles")) note(path, true);
  }
  const failed = failedCalls(messages);
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall" || failed.has(block.id)) continue;
      const path = pathOf(block.arguments);
      const modifies = Object.hasOwn(MODIFIES, block.name) ? MODIFIES[block.name] : undefined;
      if (path !== undefined && modifies !== undefined) note(path, modifies);
    }
  }
  const all = [...modified];
  return {
    readFiles: all.filter(([, isModified]) => !isModified).map(([path]) => path),
    modifiedFiles: all.filter(([, isModified]) => isModified).map(([path]) => path),
  };
}

/** What stands at the end of a summary; empty when no file was touched. */
export function fileListText({ readFiles, modifiedFiles }: FileLists): string {
  return block("read-files", readFiles) + block("modified-files", modifiedFiles);
}

/** The summary without the lists: they are made anew each time. */
export function withoutFileLists(summary: string): string {
  let kept = summary;
  for (const tag of ["read-files", "modified-files"]) kept = withoutBlocks(kept, `<${tag}>\n`, `\n</${tag}>`);
  return kept.trimEnd();
}

/** Not by a regular expression: on a text of blanks, or of beginnings without an end, it would be at it for minutes. */
function withoutBlocks(text: string, opening: string, closing: string): string {
  let kept = "";
  let from = 0;
  for (;;) {
    const start = text.indexOf(opening, from);
    const end = start < 0 ? -1 : text.indexOf(closing, start + opening.length);
    if (end < 0) return kept + text.slice(from);
    kept += text.slice(from, start).trimEnd();
    from = end + closing.length;
  }
}

function block(tag: string, paths: readonly string[]): string {
  if (paths.length === 0) return "";
  const hidden = paths.length - MOST_SHOWN;
  const lines = hidden > 0 ? [`(${hidden} more, used earlier)`, ...paths.slice(-MOST_SHOWN)] : paths;
  return `\n\n<${tag}>\n${lines.join("\n")}\n</${tag}>`;
}

function failedCalls(messages: readonly AgentMessage[]): Set<string> {
  const failed = new Set<string>();
  for (const message of messages) if (message.role === "toolResult" && message.isError) failed.add(message.toolCallId);
  return failed;
}

function pathOf(args: Record<string, unknown>): string | undefined {
  for (const name of PATH_NAMES) {
    const path = args[name];
    if (typeof path === "string" && path !== "") return path;
  }
  return undefined;
}

/** Details may come from an extension, or from a file of somebody else. */
function pathsIn(details: unknown, field: keyof FileLists): string[] {
  if (typeof details !== "object" || details === null) return [];
  const paths = (details as Partial<Record<string, unknown>>)[field];
  return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
}
