import { basename, dirname, join } from "node:path";
import { type Markdown, readMarkdownFile, textOf } from "./frontmatter.ts";
import {
  fewProblems,
  kindOf,
  listFolder,
  type Place,
  placesOf,
  type ResourceRequest,
  realPath,
  type SourceInfo,
  sourceInfoOf,
  type UsualFolders,
} from "./places.ts";

/** A text that a prompt can call as `/name arguments`. Its file is read again at every call. */
export interface PromptTemplate {
  name: string;
  description: string;
  /** What to write after the name. */
  argumentHint?: string;
  path: string;
  source: Place["location"];
  sourceInfo: SourceInfo;
  /** It comes from a folder of a system that appends arguments which the text does not ask for. */
  appendsArguments: boolean;
}

const FOLDERS: UsualFolders = {
  project: [
    ".tiller/prompts",
    ".pi/prompts",
    ".pi/agent/prompts",
    ".omp/commands",
    ".omp/prompts",
    ".xcsh/commands",
    ".xcsh/prompts",
    ".claude/commands",
  ],
  // As in omp and xcsh, the only ones that have both.
  agent: ["commands", "prompts"],
  home: [".claude/commands"],
};

/** pi has no commands, and its prompts are not in these folders. */
const APPENDING = /[/\\]commands$|[/\\]\.(?:omp|xcsh)[/\\](?:agent[/\\])?prompts$/;

const MOST_TEMPLATES = 1000;

export async function findTemplates(
  request: ResourceRequest,
): Promise<{ templates: PromptTemplate[]; problems: string[] }> {
  const byName = new Map<string, PromptTemplate>();
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const place of placesOf(request, FOLDERS)) {
    for (const path of markdownFiles(place, problems)) {
      const name = basename(path).slice(0, -".md".length);
      const real = realPath(path);
      if (seen.has(real)) continue;
      seen.add(real);
      if (byName.size >= MOST_TEMPLATES) {
        return { templates: [...byName.values()], problems: [...fewProblems(problems), tooMany(path)] };
      }
      const first = byName.get(name);
      if (first)
        problems.push(`${path}: there is a prompt template "${name}" already, in ${first.path}; that one counts`);
      else if (/\s/.test(name)) problems.push(`${path}: a name with a space in it cannot be called; rename the file`);
      else {
        const template = await readTemplate(path, name, place, problems);
        if (template) byName.set(name, template);
      }
    }
  }
  return { templates: [...byName.values()], problems: fewProblems(problems) };
}

function tooMany(path: string): string {
  return `${path}: this file and what follows it is left out, there are more than ${MOST_TEMPLATES} prompt templates`;
}

/** The files directly in a folder, or the one file that was named. */
function markdownFiles(place: Place, problems: string[]): string[] {
  const { path, location } = place;
  const kind = kindOf(path);
  if (kind === "file" && location === "path") {
    if (isMarkdown(path)) return [path];
    problems.push(`${path}: a prompt template must be a file whose name ends in .md`);
    return [];
  }
  const { entries, problem } = listFolder(path);
  if (problem !== undefined) problems.push(problem);
  else if (!entries && location === "path")
    problems.push(`${path}: there is no such file or folder with prompt templates`);
  for (const { name, kind: what } of isOfCommands(place) ? (entries ?? []) : []) {
    const module =
      what === "folder" && MODULES.map((file) => join(path, name, file)).find((file) => kindOf(file) === "file");
    if (module) problems.push(`${module}: ${NOT_RUN}`);
  }
  return (entries ?? [])
    .filter(({ name, kind: what }) => what === "file" && isMarkdown(name))
    .map(({ name }) => join(path, name));
}

/** omp and xcsh also have commands that are programs. Whoever relies on one is told, rather than left to wonder. */
const MODULES = ["index.ts", "index.js"];
const NOT_RUN = "a command that is a module is not run here; write an extension that calls registerCommand";

function isOfCommands({ path, location }: Place): boolean {
  return location !== "path" && basename(path) === "commands" && basename(dirname(path)) !== ".claude";
}

function isMarkdown(name: string): boolean {
  return /[^/\\]\.md$/i.test(name) && !basename(name).startsWith(".");
}

async function readTemplate(
  path: string,
  name: string,
  place: Place,
  problems: string[],
): Promise<PromptTemplate | undefined> {
  const markdown = await readMarkdownFile(path, problems);
  if (!markdown) return undefined;
  if (markdown.problem !== undefined) problems.push(markdown.problem);
  return {
    name,
    description: textOf(markdown.values.get("description")) ?? firstLine(markdown.body),
    argumentHint: hintOf(markdown),
    path,
    source: place.location,
    sourceInfo: sourceInfoOf(path, place),
    appendsArguments: APPENDING.test(place.baseDir),
  };
}

/** Written as `[file] [more]`, which is a list in YAML. */
function hintOf({ values }: Markdown): string | undefined {
  const hint = values.get("argument-hint");
  if (Array.isArray(hint)) return hint.map((part) => `[${String(part)}]`).join(" ");
  return textOf(hint) ?? undefined;
}

const LONGEST_DESCRIPTION = 60;

function firstLine(body: string): string {
  const line = body.trim().split("\n", 1)[0]!.trim();
  const characters = [...line.slice(0, LONGEST_DESCRIPTION * 2 + 2)];
  return characters.length > LONGEST_DESCRIPTION ? `${characters.slice(0, LONGEST_DESCRIPTION).join("")}...` : line;
}
