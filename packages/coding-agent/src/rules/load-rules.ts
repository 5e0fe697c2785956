import { readText } from "../lib/text-file.ts";
import { fewProblems } from "../prompts/places.ts";
import type { LoadedRule, RuleSource } from "./rule.ts";
import { readRule } from "./rule-file.ts";

const MOST_RULES = 1000;
/** Steps of all conditions together, see `condition.ts`: what one character may cost in the worst case. */
export const MOST_STEPS = 5000;

/** A text that always applies, and whose it is. */
export interface AlwaysRule extends Pick<RuleSource, "path" | "level"> {
  text: string;
}

const MOST_OF_ONE = 64 * 1024;
const MOST_OF_ALL = 256 * 1024;

export interface LoadedRules {
  rules: LoadedRule[];
  /** The most general first. */
  always: AlwaysRule[];
  problems: string[];
}

/** Reads the files in the order in which they count. Whatever is in them, it ends soon and never throws. */
export async function loadRules(files: readonly RuleSource[]): Promise<LoadedRules> {
  const byName = new Map<string, LoadedRule>();
  const always: AlwaysRule[] = [];
  const problems: string[] = [];
  let steps = 0;
  for (const source of files.slice(0, MOST_RULES)) {
    const read = readText(source.path);
    if ("problem" in read) {
      problems.push(read.problem);
      continue;
    }
    if (read.warning !== undefined) problems.push(read.warning);
    const found = await readRule(read.text, source);
    problems.push(...found.problems);
    if (found.always !== undefined) always.push({ path: source.path, level: source.level, text: found.always });
    if (!found.rule) continue;
    const { name, path } = found.rule.rule;
    const first = byName.get(name);
    const size = sizeOf(found.rule);
    if (first) problems.push(`${path}: there is a rule "${name}" already, in ${first.rule.path}; that one counts`);
    else if (steps + size > MOST_STEPS) problems.push(tooMuch(path));
    else {
      byName.set(name, found.rule);
      steps += size;
    }
  }
  const rest = files.length - MOST_RULES;
  if (rest > 0) problems.push(`${rest} files with rules were not read: there are more than ${MOST_RULES}`);
  const short = withinLimits(inOrder(always), problems);
  return { rules: [...byName.values()], always: short, problems: fewProblems(problems) };
}

function inOrder(always: readonly AlwaysRule[]): AlwaysRule[] {
  return ["user", "project"].flatMap((level) => always.filter((rule) => rule.level === level));
}

/** They are part of every request. */
function withinLimits(always: readonly AlwaysRule[], problems: string[]): AlwaysRule[] {
  let left = MOST_OF_ALL;
  return always.filter(({ path, text }) => {
    const size = Buffer.byteLength(text);
    const most = size > MOST_OF_ONE ? MOST_OF_ONE : size > left ? MOST_OF_ALL : undefined;
    if (most === undefined) left -= size;
    else problems.push(`${path}: the model is not told this rule, ${most / 1024} KiB are the most; make it shorter`);
    return most === undefined;
  });
}

function sizeOf({ triggers }: LoadedRule): number {
  return triggers.reduce((sum, { condition }) => sum + condition.size, 0);
}

function tooMuch(path: string): string {
  return `${path}: this rule is left out, the conditions of all rules together may have ${MOST_STEPS} steps; make them shorter`;
}
