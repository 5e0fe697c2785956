import { join } from "node:path";
import { homeFolder } from "../config/paths.ts";
import { readText } from "../lib/text-file.ts";
import { type Markdown, splitFrontMatter } from "../prompts/frontmatter.ts";
import { listFolder, type Place } from "../prompts/places.ts";
import { readSkill, SKILL_FILE } from "../skills/skill.ts";
import { headerValues, type ReadYaml } from "./front-matter.ts";
import type { CompatHost } from "./host.ts";

/** Skills for extensions, read at once. */

export interface ExtensionSkill {
  name: string;
  description: string;
  filePath: string;
  baseDir: string;
  source: string;
  sourceInfo: object;
  disableModelInvocation: boolean;
}

export interface FoundSkills {
  skills: ExtensionSkill[];
  diagnostics: { type: "warning"; message: string; path: string }[];
}

interface SkillPlaces {
  cwd?: string;
  agentDir?: string;
  skillPaths?: readonly string[];
  includeDefaults?: boolean;
}

/** The usual folders, and those named. Of two skills with the same name the first counts. */
export function loadSkills(host: CompatHost, readYaml: ReadYaml, places: SkillPlaces = {}): FoundSkills {
  const { cwd = host.cwd, agentDir = host.agentDir, skillPaths = [], includeDefaults = true } = places;
  const project = [".tiller", ".pi", ".agents"].map((name) => ({ dir: join(cwd, name, "skills"), source: "project" }));
  const user = [join(agentDir, "skills"), join(homeFolder(host.env), ".agents/skills")];
  const usual = [...project, ...user.map((dir) => ({ dir, source: "user" }))];
  const all = [...skillPaths.map((dir) => ({ dir })), ...(includeDefaults ? usual : [])].map((place) =>
    loadSkillsFromDir(readYaml, place),
  );
  const byName = new Map<string, ExtensionSkill>();
  for (const skill of all.flatMap(({ skills }) => skills)) if (!byName.has(skill.name)) byName.set(skill.name, skill);
  return { skills: [...byName.values()], diagnostics: all.flatMap(({ diagnostics }) => diagnostics) };
}

export function loadSkillsFromDir(
  readYaml: ReadYaml,
  { dir, source = "path" }: { dir: string; source?: string },
): FoundSkills {
  const location = source === "user" || source === "project" ? source : "path";
  const scope = location === "path" ? "temporary" : location;
  const place: Place = { path: dir, baseDir: dir, source, scope, origin: "top-level", location };
  const found: FoundSkills = { skills: [], diagnostics: [] };
  for (const path of skillFiles(dir, 0)) {
    const { skill, problems } = skillAt(readYaml, path, place);
    if (skill) found.skills.push(skill);
    for (const message of problems) found.diagnostics.push({ type: "warning", message, path });
  }
  return found;
}

const DEEPEST = 4;

/** A folder with a SKILL.md is one skill; single files count only at the top. */
function skillFiles(folder: string, depth: number): string[] {
  const { entries = [] } = listFolder(folder);
  if (entries.some(({ name, kind }) => name === SKILL_FILE && kind === "file")) return [join(folder, SKILL_FILE)];
  return entries.flatMap(({ name, kind }) => {
    if (name.startsWith(".") || name === "node_modules") return [];
    if (kind === "folder") return depth < DEEPEST ? skillFiles(join(folder, name), depth + 1) : [];
    return depth === 0 && name.toLowerCase().endsWith(".md") ? [join(folder, name)] : [];
  });
}

function skillAt(readYaml: ReadYaml, path: string, place: Place): { skill?: ExtensionSkill; problems: string[] } {
  const read = readText(path);
  if ("problem" in read) return { problems: [read.problem] };
  const { skill, problems } = readSkill(path, markdownOf(readYaml, read.text, path), place);
  if (!skill) return { problems };
  const { path: filePath, ...rest } = skill;
  return { skill: { ...rest, filePath }, problems };
}

function markdownOf(readYaml: ReadYaml, text: string, path: string): Markdown {
  const { header, body } = splitFrontMatter(text);
  const plain = { hasFrontMatter: header !== undefined, body, lineOf: () => 1 };
  try {
    return { ...plain, values: header === undefined ? new Map() : headerValues(readYaml, header) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...plain, values: new Map(), problem: `${path}: ${reason}` };
  }
}

/** As a list for a system prompt; empty when the model is to know of none. */
export function formatSkillsForPrompt(skills: readonly ExtensionSkill[]): string {
  const told = skills.filter(({ disableModelInvocation }) => !disableModelInvocation);
  if (told.length === 0) return "";
  const items = told.map(({ name, description, filePath }) => {
    const fields = Object.entries({ name, description, location: filePath });
    const lines = fields.map(([key, text]) => `    <${key}>${escaped(text)}</${key}>`);
    return ["  <skill>", ...lines, "  </skill>"].join("\n");
  });
  const how = "Skills: read the file of the one that fits before you begin such a task.";
  return `\n\n${how}\n\n<available_skills>\n${items.join("\n")}\n</available_skills>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
