import { basename, dirname } from "node:path";
import { type Markdown, textOf } from "../prompts/frontmatter.ts";
import { type Place, type SourceInfo, sourceInfoOf } from "../prompts/places.ts";

/** One skill in the format of the Agent Skills standard: a folder with a SKILL.md, or a single file. Pure. */

export interface Skill {
  name: string;
  description: string;
  /** Of the file. */
  path: string;
  /** What the paths in it count from. */
  baseDir: string;
  source: Place["location"];
  sourceInfo: SourceInfo;
  /** Only a person may call it: the model is not told of it. */
  disableModelInvocation: boolean;
}

export const SKILL_FILE = "SKILL.md";
const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 1024;

/** Without a skill when the file is none, or has nothing to be listed by. */
export interface ReadSkill {
  skill?: Skill;
  problems: string[];
}

export function readSkill(path: string, markdown: Markdown, place: Place): ReadSkill {
  const isFolder = basename(path) === SKILL_FILE;
  // A README beside the skills is nobody's mistake.
  if (!isFolder && !markdown.hasFrontMatter && markdown.problem === undefined) return { problems: [] };
  const problems = markdown.problem === undefined ? [] : [markdown.problem];
  const at = (key: string): string => `${path}:${markdown.lineOf(key)}:`;

  const fallback = isFolder ? basename(dirname(path)) : basename(path).replace(/\.md$/i, "");
  const givenName = textOf(markdown.values.get("name"));
  if (givenName === null) problems.push(`${at("name")} "name" must be a text; the skill is called "${fallback}"`);
  const name = givenName ?? fallback;
  for (const fault of nameFaults(name, isFolder ? fallback : undefined)) problems.push(`${at("name")} ${fault}`);

  const description = textOf(markdown.values.get("description"));
  if (typeof description !== "string") {
    problems.push(`${at("description")} "description" is missing or not a text; the skill "${name}" is left out`);
    return { problems };
  }
  if (description.length > LONGEST_DESCRIPTION) {
    const most = `the model sees only the first ${LONGEST_DESCRIPTION}`;
    problems.push(`${at("description")} "description" has ${description.length} characters; ${most}`);
  }
  const hides = markdown.values.get("disable-model-invocation");
  const skill: Skill = {
    name,
    description,
    path,
    baseDir: dirname(path),
    source: place.location,
    sourceInfo: sourceInfoOf(path, place),
    disableModelInvocation: hides === true || hides === "true",
  };
  return { skill, problems };
}

/** What the standard says about names. The skill works all the same, here. */
function nameFaults(name: string, folder: string | undefined): string[] {
  const faults: string[] = [];
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);
  if (name.length > LONGEST_NAME) {
    faults.push(`the name ${shown} has ${name.length} characters, at most ${LONGEST_NAME} are portable`);
  }
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) {
    faults.push(`the name ${shown} is not portable; use small letters, digits and single hyphens between them`);
  }
  if (folder !== undefined && folder !== name) {
    faults.push(`the name ${shown} should be that of its folder, "${folder}"`);
  }
  return faults;
}
