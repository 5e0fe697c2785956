import { basename } from "node:path";
import type { StreamRule } from "@tiller/protocol/stream-rule";
import { RULE_INTERRUPT_MODES } from "../config/choices.ts";
import { withoutEnding } from "../lib/without-ending.ts";
import { type Markdown, readMarkdown, splitFrontMatter, textOf } from "../prompts/frontmatter.ts";
import { type Condition, readCondition } from "./condition.ts";
import { readGlob } from "./glob.ts";
import type { LoadedRule, PathTest, RuleSource } from "./rule.ts";
import { readScopes, USUAL_SCOPES } from "./scope.ts";

/** One file with a rule. What is wrong with it is told with its line, and what can be used of it is used. */

export interface ReadRule {
  /** Undefined when the file has no rule that a stream can break, or none that makes sense. */
  rule?: LoadedRule;
  /** The text of a file that no stream can break: the model is told it from the beginning. */
  always?: string;
  problems: string[];
}

/** The key and its names in older files. */
const CONDITION_KEYS = ["condition", "ttsr_trigger", "ttsrTrigger"] as const;

export async function readRule(text: string, source: RuleSource): Promise<ReadRule> {
  const { path } = source;
  const quoted = quoteStars(text);
  const markdown = await readMarkdown(quoted, path);
  const key = CONDITION_KEYS.find((name) => markdown.values.has(name));
  // Rules of other kinds are common in these folders; what is odd about them is not our business.
  const isMeant = key !== undefined || /^(?:condition|ttsr_?[tT]rigger)[ \t]*:/m.test(quoted);
  const problems = isMeant && markdown.problem !== undefined ? [markdown.problem] : [];
  if (key === undefined) return { ...(!isMeant && alwaysText(markdown)), problems };
  const reader: Reader = { path, text: quoted, markdown, problems };
  const content = contentOf(markdown);
  if (content === undefined) {
    problems.push(`${path}:1: the rule says nothing; write what the model shall do below the front matter`);
    return { problems };
  }
  const conditions = readConditions(reader, key);
  const scopes = readKey(reader, "scope", readScopes);
  const globs = readKey(reader, "globs", (written) => written.flatMap((some) => some.split(",")).map(cleanGlob));
  // A scope that makes no sense must not become "everywhere".
  if (scopes === null || globs === null || conditions.length === 0) return { problems };
  const triggers = conditions.map((found) =>
    "files" in found
      ? { condition: ANYTHING, scopes: FILE_TOOLS.map((tool) => ({ part: "tool" as const, tool, glob: found.files })) }
      : { condition: found, scopes: scopes?.read ?? USUAL_SCOPES },
  );
  const rule: StreamRule = {
    name: basename(path).replace(/\.mdc?$/i, ""),
    path,
    content,
    ...described(markdown),
    ...(globs && { globs: globs.written }),
    condition: textsOf(markdown.values.get(key)),
    ...(scopes && { scope: scopes.written }),
    ...interruptMode(reader),
    _source: source,
  };
  return { rule: { rule, ...(globs && { globs: globs.read.map(({ test }) => test) }), triggers }, problems };
}

interface Reader {
  path: string;
  text: string;
  markdown: Markdown;
  problems: string[];
}

/** `condition: *.rs` is how people write it, and no YAML: meant is the text. */
function quoteStars(text: string): string {
  const { header, body } = splitFrontMatter(text);
  if (header === undefined) return text;
  const head = text.slice(0, text.length - body.length);
  return `${head.replace(STARRED, (_, key, value) => `${key}${JSON.stringify(withoutEnding(value, " \t"))}`)}${body}`;
}

const STARRED = /^((?:condition|ttsr_?[tT]rigger|globs|[ \t]+-)(?::|(?<=-))[ \t]+)(\*[^"\r\n]*)(?=\r?$)/gm;

function contentOf({ body, values }: Markdown): string | undefined {
  return textOf(body) ?? textOf(values.get("description")) ?? undefined;
}

function alwaysText({ body, values }: Markdown): { always?: string } {
  const always = values.get("alwaysApply") === true ? textOf(body) : undefined;
  return always ? { always } : {};
}

function described({ values }: Markdown): Pick<StreamRule, "description" | "alwaysApply"> {
  const description = textOf(values.get("description"));
  const always = values.get("alwaysApply");
  return { ...(description && { description }), ...(typeof always === "boolean" && { alwaysApply: always }) };
}

/** A text or a list of texts. */
function textsOf(value: unknown): string[] {
  const all = Array.isArray(value) ? value : [value];
  return all.flatMap((one: unknown) => textOf(one) ?? []);
}

const ANYTHING = readCondition("");
/** The tools that write files. */
const FILE_TOOLS = ["edit", "write"];

function readConditions(reader: Reader, key: string): (Condition | { files: PathTest })[] {
  const written = textsOf(reader.markdown.values.get(key));
  if (written.length === 0)
    reader.problems.push(`${place(reader, key)}: "${key}" is empty; give it a regular expression`);
  return written.flatMap((source) => {
    try {
      return [isFileGlob(source) ? { files: readGlob(source) } : readCondition(source)];
    } catch (error) {
      reader.problems.push(
        `${place(reader, key, source)}: "${key}" ${quote(source)} cannot be used: ${reasonOf(error)}`,
      );
      return [];
    }
  });
}

/** No expression begins with a star or has two of them in a row. */
function isFileGlob(source: string): boolean {
  return (source.startsWith("*") || source.includes("**")) && !/\s/.test(source);
}

function cleanGlob(written: string): { test: PathTest } {
  return { test: readGlob(written.trim()) };
}

/** Undefined when the key is not there, null when it makes no sense. */
function readKey<T>(
  reader: Reader,
  key: string,
  read: (written: readonly string[]) => T[],
): { written: string[]; read: T[] } | undefined | null {
  const value = reader.markdown.values.get(key);
  const written = textsOf(value);
  if (reader.markdown.lost?.has(key)) {
    const told = reader.problems.shift();
    reader.problems.push(`${told}; "${key}" is not known, so the rule is left out`);
    return null;
  }
  const isNone = typeof value !== "object" || value === null || (Array.isArray(value) && value.length === 0);
  if (written.length === 0 && isNone) return undefined;
  try {
    if (written.length === 0) throw new SyntaxError("it is no text and no list of texts");
    return { written, read: read(written) };
  } catch (error) {
    reader.problems.push(`${place(reader, key)}: "${key}" cannot be used: ${reasonOf(error)}; the rule is left out`);
    return null;
  }
}

function interruptMode(reader: Reader): Pick<StreamRule, "interruptMode"> {
  const written = textOf(reader.markdown.values.get("interruptMode"));
  if (!written) return {};
  const mode = RULE_INTERRUPT_MODES.find((known) => known === written);
  if (mode) return { interruptMode: mode };
  const known = RULE_INTERRUPT_MODES.join(", ");
  reader.problems.push(`${place(reader, "interruptMode")}: "interruptMode" is ${quote(written)}, none of ${known}`);
  return {};
}

/** File and line: of the key, or of the value below it. */
function place({ path, text, markdown }: Reader, key: string, value?: string): string {
  const line = markdown.lineOf(key);
  if (value === undefined) return `${path}:${line}`;
  const below = text
    .split("\n")
    .slice(line - 1)
    .findIndex((one) => one.includes(value) || one.includes(JSON.stringify(value).slice(1, -1)));
  return `${path}:${line + Math.max(0, below)}`;
}

function quote(text: string): string {
  return text.length > 80 ? `"${text.slice(0, 80)}..."` : `"${text}"`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
