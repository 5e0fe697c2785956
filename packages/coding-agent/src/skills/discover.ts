import { join } from "node:path";
import { wildcardMatches } from "../lib/wildcard.ts";
import { readMarkdownFile } from "../prompts/frontmatter.ts";
import {
  fewProblems,
  kindOf,
  listFolder,
  type Place,
  placesOf,
  type ResourceRequest,
  realPath,
  usualFolders,
} from "../prompts/places.ts";
import { createIgnoreWork, type IgnoreWork, LEFT_OUT_NOTICE } from "../tools/ignore-work.ts";
import { type IgnoreLevel, isIgnored, levelsInside } from "./ignored.ts";
import { readSkill, SKILL_FILE, type Skill } from "./skill.ts";

/** Finds skills. Whatever lies in the folders, it ends soon and never throws. */

const FOLDERS = usualFolders("skills");

const MOST_SKILLS = 1000;
const MOST_FOLDERS = 5000;
const DEEPEST = 8;

export interface SkillRequest extends ResourceRequest {
  /** Names, with `*` and `?`; only these skills are loaded. */
  only?: readonly string[];
}

interface Search {
  /** Real paths: links may lead to the same folder twice, or in a circle. */
  seen: Set<string>;
  folders: number;
  problems: string[];
  ignoreWork: IgnoreWork;
}

export async function findSkills(request: SkillRequest): Promise<{ skills: Skill[]; problems: string[] }> {
  const byName = new Map<string, Skill>();
  const search: Search = { seen: new Set(), folders: 0, problems: [], ignoreWork: createIgnoreWork() };
  const isWanted = matcher(request.only);
  let limit: string | undefined;
  for (const place of placesOf(request, FOLDERS)) {
    for await (const path of skillFiles(place, search)) {
      if (limit !== undefined) break;
      const skill = await loadSkill(path, place, search.problems);
      if (!skill || !isWanted(skill.name)) continue;
      const first = byName.get(skill.name);
      if (first) {
        search.problems.push(`${path}: there is a skill "${skill.name}" already, in ${first.path}; that one counts`);
      } else if (byName.size < MOST_SKILLS) byName.set(skill.name, skill);
      else limit = `${path}: this skill and what follows it is left out, there are more than ${MOST_SKILLS} skills`;
    }
  }
  const problems = fewProblems(search.problems);
  if (limit !== undefined) problems.push(limit);
  if (search.folders >= MOST_FOLDERS) {
    problems.push(`Only ${MOST_FOLDERS} folders were searched for skills; name fewer or smaller folders`);
  }
  if (search.ignoreWork.hasLeftOut) problems.push(`Folders of skills: ${LEFT_OUT_NOTICE}`);
  return { skills: [...byName.values()], problems };
}

async function loadSkill(path: string, place: Place, problems: string[]): Promise<Skill | undefined> {
  const markdown = await readMarkdownFile(path, problems);
  if (!markdown) return undefined;
  const found = readSkill(path, markdown, place);
  problems.push(...found.problems);
  return found.skill;
}

/** The files of the skills at a place: the one named, or what is below the folder. */
async function* skillFiles(place: Place, search: Search): AsyncGenerator<string> {
  const { path, location } = place;
  const kind = kindOf(path);
  if (kind === "folder") {
    yield* below({ path, real: realPath(path), depth: 0, around: [] }, search);
  } else if (location !== "path") {
    const { problem } = listFolder(path);
    if (problem !== undefined) search.problems.push(problem);
  } else if (kind === "file" && /\.md$/i.test(path)) {
    if (isNew(realPath(path), search)) yield path;
  } else {
    const what =
      kind === undefined ? "there is no such file or folder" : "this is neither a folder nor a Markdown file";
    search.problems.push(`${path}: ${what}; a skill is a folder with a ${SKILL_FILE}`);
  }
}

interface Folder {
  path: string;
  real: string;
  depth: number;
  /** Of the ignore files above it. */
  around: readonly IgnoreLevel[];
}

/** A folder with a SKILL.md is one skill and not searched further. Single files count only at the top. */
async function* below({ path, real, depth, around }: Folder, search: Search): AsyncGenerator<string> {
  if (depth > DEEPEST || search.folders >= MOST_FOLDERS || !isNew(real, search)) return;
  search.folders++;
  const { entries = [], problem } = listFolder(path);
  if (problem !== undefined) search.problems.push(problem);
  const levels = await levelsInside(around, path, entries, search.ignoreWork);
  const shown = entries.filter((entry) => !isIgnored(levels, path, entry, search.ignoreWork));
  const main = shown.find(({ name, kind }) => name === SKILL_FILE && kind === "file");
  const wanted = main ? [main] : shown.filter(({ name }) => !name.startsWith(".") && name !== "node_modules");
  for (const { name, kind, isLink } of wanted) {
    const inside = join(path, name);
    const realInside = isLink ? realPath(inside) : join(real, name);
    const isSkill = main !== undefined || (kind === "file" && depth === 0 && /\.md$/i.test(name));
    if (kind === "folder") yield* below({ path: inside, real: realInside, depth: depth + 1, around: levels }, search);
    else if (isSkill && isNew(realInside, search)) yield inside;
  }
}

function isNew(real: string, { seen }: Search): boolean {
  if (seen.has(real)) return false;
  seen.add(real);
  return true;
}

function matcher(patterns: readonly string[] | undefined): (name: string) => boolean {
  if (!patterns || patterns.length === 0) return () => true;
  return (name) => patterns.some((pattern) => wildcardMatches(pattern, name));
}

/**
 * The paths in the setting `skills`: a list, or an object of older files (`customDirectories`; `enabled: false` means
 * none at all).
 */
export function skillSetting(value: unknown): { paths: string[]; isEnabled: boolean; problem?: string } {
  if (value === undefined || value === null) return { paths: [], isEnabled: true };
  const isObject = typeof value === "object" && !Array.isArray(value);
  const fields = isObject ? (value as { customDirectories?: unknown; enabled?: unknown }) : undefined;
  const list = fields ? (fields.customDirectories ?? []) : value;
  const isEnabled = fields?.enabled !== false;
  if (!Array.isArray(list)) return { paths: [], isEnabled, problem: '"skills" must be a list of paths' };
  const paths = list.filter((path): path is string => typeof path === "string");
  const problem =
    paths.length < list.length ? '"skills" holds something that is no path; it is passed over' : undefined;
  return { paths, isEnabled, problem };
}
