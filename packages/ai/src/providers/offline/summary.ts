import type { ToolSpec } from "@tiller/protocol/tool";
import { stepFor, type Task } from "./conversation.ts";
import type { Intent } from "./intent.ts";
import { countFiles, type Entries, parseEntries } from "./listing.ts";
import { MANIFESTS } from "./manifest.ts";
import { readReadme } from "./readme.ts";
import { code, joinAnd, plural, type Reply } from "./reply.ts";
import { emptyFolderText, type Findings, summaryText } from "./summary-text.ts";
import { callsFor, type PlannedCall } from "./toolbox.ts";

/**
 * "Summarize this repo": list, read the manifest and the README, count, write. Each call of the model walks through the
 * whole plan again and stops at the first thing it does not know yet; the conversation is the only memory. Pure.
 */

const EVERYTHING: Intent = { kind: "find", pattern: "**/*", path: "." };
const MOST_MANIFESTS = 2;
/** Something rewrites our calls if we still do not find them after so many rounds: finish with what there is. */
const MOST_ROUNDS = 8;

type Seen = { call: PlannedCall } | { output: string } | undefined;

export function summarize(task: Task, tools: readonly ToolSpec[], folder: string): Reply {
  const look = (intent: Intent): Seen => lookUp(task, intent, tools);

  const listing = look({ kind: "list", path: "." });
  if (!listing) return { text: cannotLookText(task, tools, folder) };
  if ("call" in listing) return { text: "Let me look around. First, what is in this folder:", calls: [listing.call] };
  const entries = parseEntries(listing.output);
  if (entries.files.length + entries.folders.length === 0) return { text: emptyFolderText(folder) };

  const sources = filesToRead(entries.files).map((path) => ({ path, seen: look({ kind: "read", path }) }));
  const unread = sources.flatMap(({ path, seen }) => (seen && "call" in seen ? [{ path, call: seen.call }] : []));
  if (unread.length > 0) {
    const names = joinAnd(unread.map(({ path }) => code(path)));
    return { text: `${sizeText(entries)} Reading ${names}:`, calls: unread.map(({ call }) => call) };
  }

  const all = look(EVERYTHING);
  if (all && "call" in all) return { text: "Now I count the files:", calls: [all.call] };
  return { text: summaryText(collect(task, folder, entries, sources, all?.output)) };
}

/** A call that failed is not tried in another way: whoever refused `ls` did not ask for `bash`. */
function lookUp(task: Task, intent: Intent, tools: readonly ToolSpec[]): Seen {
  const call = callsFor(intent, tools)[0];
  const step = call && stepFor(task.steps, call);
  if (step) return step.failed ? undefined : { output: step.output };
  return call && task.rounds < MOST_ROUNDS ? { call } : undefined;
}

function filesToRead(files: readonly string[]): string[] {
  const manifests = MANIFESTS.filter((kind) => files.includes(kind.file)).map((kind) => kind.file);
  const readmes = files.filter((file) => /^readme(?:\.(?:md|markdown|rst|txt|adoc))?$/i.test(file));
  const readme = readmes.find((file) => /\.md$/i.test(file)) ?? readmes[0];
  return [...manifests.slice(0, MOST_MANIFESTS), ...(readme ? [readme] : [])];
}

function collect(
  task: Task,
  folder: string,
  entries: Entries,
  sources: readonly { path: string; seen: Seen }[],
  everything: string | undefined,
): Findings {
  const all = everything === undefined ? undefined : parseEntries(everything);
  const found: Findings = {
    folder,
    entries,
    projects: [],
    sources: [],
    counts: all && countFiles(all),
    allFiles: all?.files ?? entries.files,
    wishes: wishesOf(task),
  };
  for (const { path, seen } of sources) {
    if (!seen || "call" in seen) continue;
    found.sources.push(path);
    const kind = MANIFESTS.find((row) => row.file === path);
    if (kind) found.projects.push({ language: kind.language, facts: kind.read(seen.output, entries.files) });
    else found.readme = readReadme(seen.output);
  }
  return found;
}

/** Later additions, and risks when the first sentence already asked for them. */
function wishesOf(task: Task): string[] {
  const asked = task.additions.join(" ");
  return /\brisks?\b/i.test(task.words) && !/\brisks?\b/i.test(asked) ? ["risks", ...task.additions] : task.additions;
}

function sizeText(entries: Entries): string {
  return `It holds ${plural(entries.folders.length, "folder")} and ${plural(entries.files.length, "file")}.`;
}

function cannotLookText(task: Task, tools: readonly ToolSpec[], folder: string): string {
  const trouble = task.steps.find((step) => step.failed)?.output.trim();
  if (trouble) return `I could not look into ${code(folder)}: ${trouble}`;
  const offered =
    tools.length > 0 ? `on offer are ${joinAnd(tools.map((tool) => code(tool.name)))}` : "no tool is on offer";
  return `I need \`ls\` or \`bash\` to look around, but ${offered}. Switch one on with --tools and ask again.`;
}
