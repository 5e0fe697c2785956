import { fillIn, hasPlaceholder, splitArguments } from "./arguments.ts";
import { splitFrontMatter } from "./frontmatter.ts";
import { hasTags, renderTags } from "./handlebars.ts";

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
  const [, name, rest = ""] = /^\/(\S+)(\s.*)?$/s.exec(text) ?? [];
  if (name === undefined) return { text };
  const given = rest.trim();
  const skill = name.startsWith("skill:") ? withName(options.skills, name.slice("skill:".length)) : undefined;
  const template = skill ? undefined : withName(options.templates, name);
  const found = skill ?? template;
  if (!found) return { unknown: name };
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
  if (expanded.trim() === "") {
    const way = given === "" && body !== "" ? "give it arguments" : "write something into it";
    return { error: `The ${kind} "${found.name}" is empty, there is nothing to send: ${way} (${found.path})` };
  }
  return { text: expanded, expandedFrom: { kind, name: found.name, path: found.path } };
}

function withName<T extends { name: string }>(things: readonly T[], name: string): T | undefined {
  return things.find((thing) => thing.name === name);
}

function belongsToOmp({ appendsArguments }: ExpandableTemplate, family: ExpansionOptions["family"]): boolean {
  return family === "union" ? appendsArguments : family === "omp";
}

function templateText(body: string, given: string, isOfOmp: boolean): string {
  if (isOfOmp && hasTags(body)) return renderTags(body, splitArguments(given));
  if (hasPlaceholder(body)) return fillIn(body, splitArguments(given));
  return isOfOmp && given !== "" ? `${body}\n\n${given}` : body;
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
