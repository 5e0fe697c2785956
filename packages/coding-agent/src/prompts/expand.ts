import { countPlaceholders, fillIn, splitArguments } from "./arguments.ts";
import { splitFrontMatter } from "./frontmatter.ts";
import { countTags, renderTags } from "./handlebars.ts";

/** `/template arguments` and `/skill:name arguments` become the text that the model sees. Pure but for `readFile`. */

export interface ExpandableSkill {
  name: string;
  path: string;
  baseDir: string;
}

export interface ExpandableTemplate {
  name: string;
  path: string;
  appendsArguments: boolean;
}

export interface ExpansionOptions {
  skills: readonly ExpandableSkill[];
  templates: readonly ExpandableTemplate[];
  /** May throw. */
  readFile(path: string): string;
  /**
   * What happens to arguments that a template has no place for: pi drops them, omp and xcsh append them, and have places
   * in Handlebars; `union` does what the system does whose folder the template lies in.
   */
  family: "pi" | "omp" | "union";
}

export type Expansion =
  /** Without `expandedFrom` it is the text as it came. */
  | { text: string; expandedFrom?: { kind: "skill" | "template"; name: string; path: string } }
  /** It looks like a call, and nothing has this name: the caller knows whether that is an error or a text like others. */
  | { unknown: string }
  /** It is known, but its file cannot be read, or nothing comes of it. One sentence. */
  | { error: string };

export function expandInput(text: string, options: ExpansionOptions): Expansion {
  const [, name] = /^\/(\S+)/.exec(text) ?? [];
  if (name === undefined) return { text };
  const skill = name.startsWith("skill:") ? calledSkill(text, options.skills) : undefined;
  const template = skill ? undefined : options.templates.find((each) => each.name === name);
  const found = skill ?? template;
  if (!found) return { unknown: name };
  const given = text.slice(skill ? SKILL_CALL.length + skill.name.length : 1 + name.length).trim();
  const kind = skill ? "skill" : "template";
  let body: string;
  try {
    body = splitFrontMatter(options.readFile(found.path)).body.trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { error: `The ${kind} "${found.name}" cannot be read from ${found.path}: ${reason}` };
  }
  const isOfOmp = template !== undefined && belongsToOmp(template, options.family);
  const expanded = skill ? skillText(skill, body, given) : templateText(body, given, isOfOmp);
  if (expanded === undefined) {
    const most = `more than ${MOST_CHARACTERS / 1024 ** 2} MiB may come of it`;
    return { error: `The ${kind} "${found.name}" is too long with these arguments: ${most} (${found.path})` };
  }
  if (expanded.trim() === "") {
    const way = given === "" && body !== "" ? "give it arguments" : "write something into it";
    return { error: `The ${kind} "${found.name}" is empty, there is nothing to send: ${way} (${found.path})` };
  }
  return { text: expanded, expandedFrom: { kind, name: found.name, path: found.path } };
}

const SKILL_CALL = "/skill:";

/** The name may have spaces in it, where somebody called his folder so: the longest that fits is meant. */
function calledSkill(text: string, skills: readonly ExpandableSkill[]): ExpandableSkill | undefined {
  const called = text.slice(SKILL_CALL.length);
  const fits = ({ name }: ExpandableSkill) => called.startsWith(name) && /^(?:\s|$)/.test(called.slice(name.length));
  return skills.filter(fits).sort((a, b) => b.name.length - a.name.length)[0];
}

function belongsToOmp({ appendsArguments }: ExpandableTemplate, family: ExpansionOptions["family"]): boolean {
  return family === "union" ? appendsArguments : family === "omp";
}

/** No model reads as much, and the engine has an end. */
const MOST_CHARACTERS = 16 * 1024 ** 2;

/** Undefined when it may become too long. */
function templateText(body: string, given: string, isOfOmp: boolean): string | undefined {
  const placeholders = countPlaceholders(body);
  const tags = isOfOmp ? countTags(body) : 0;
  if (placeholders + tags === 0) return isOfOmp && given !== "" ? `${body}\n\n${given}` : body;
  const list = splitArguments(given);
  const repeats = tags > 0 && body.includes("#each") ? Math.max(1, list.length) : 1;
  if (repeats * (body.length + (placeholders + tags) * given.length) > MOST_CHARACTERS) return undefined;
  return tags > 0 ? renderTags(body, list) : fillIn(body, list);
}

function skillText({ name, path, baseDir }: ExpandableSkill, body: string, given: string): string {
  const opening = `<skill name="${inXml(name)}" location="${inXml(path)}">`;
  const text = `${opening}\nReferences are relative to ${baseDir}.\n\n${body}\n</skill>`;
  return given === "" ? text : `${text}\n\n${given}`;
}

const XML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function inXml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => XML[char]!);
}
