import { wildcardMatches } from "../lib/wildcard.ts";
import { isBuiltinTool } from "../tools/index.ts";
import { type CommandPattern, commandPattern } from "./command-match.ts";
import { pathPattern } from "./path-match.ts";

/** Rules as people write them: `bash`, `bash(git status)`, `write(src/**)`, `*(path: ~/.ssh)`. Pure. */

export type Effect = "allow" | "ask" | "deny";

export interface Rule {
  effect: Effect;
  /** As it was written. */
  text: string;
  /** With wildcards. */
  tool: string;
  /** None of the two: it is about every call of the tool. */
  command?: CommandPattern;
  path?: string;
}

export interface ReadRules {
  rules: Rule[];
  problems: string[];
  /** A rule that asks or forbids could not be read: nobody knows what it was about. */
  isIncomplete: boolean;
}

export function readRules(given: Readonly<Record<Effect, readonly string[]>>): ReadRules {
  const read: ReadRules = { rules: [], problems: [], isIncomplete: false };
  for (const effect of ["deny", "ask", "allow"] as const) {
    for (const text of given[effect]) {
      const rule = readRule(effect, text);
      if (!("problem" in rule)) {
        read.rules.push(rule);
        continue;
      }
      const instead = effect === "allow" ? "it allows nothing" : "until it is mended every tool call needs an approval";
      const shown = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
      read.problems.push(`approval.${effect}: "${shown}" is no rule, so ${instead}: ${rule.problem}`);
      if (effect !== "allow") read.isIncomplete = true;
    }
  }
  return read;
}

/** Of a rule in what is told about it. */
const LONGEST_SHOWN = 80;

const RULE = /^([^\s()]+)\s*(?:\((.*)\))?$/s;

/** Each place of a long word of a command may be held against all of it, and a project may have written it. */
const LONGEST_RULE = 2000;

export function readRule(effect: Effect, text: string): Rule | { problem: string } {
  if (text.length > LONGEST_RULE) {
    const instead = "write it shorter, with wildcards, or as several rules";
    return { problem: `it has ${text.length} characters, at most ${LONGEST_RULE} are read; ${instead}` };
  }
  const found = RULE.exec(text.trim());
  if (!found) return { problem: 'write TOOL or TOOL(PATTERN), such as "bash(git status)"' };
  const [, name = "", pattern] = found;
  const tool = isBuiltinTool(name.toLowerCase()) ? name.toLowerCase() : name;
  if (pattern === undefined) return { effect, text, tool };
  const [, kind = tool === "bash" ? "command" : "path", about = ""] =
    /^\s*(?:(path|command):)?(.*)$/s.exec(pattern) ?? [];
  if (kind === "command") {
    const command = commandPattern(about);
    return "problem" in command ? command : { effect, text, tool, command };
  }
  const path = pathPattern(about.trim());
  return typeof path === "string" ? { effect, text, tool, path } : path;
}

/** Who forbids `Deploy` means `deploy` as well; who allows it does not. */
export function isAbout({ effect, tool }: Rule, toolName: string): boolean {
  if (effect === "allow") return wildcardMatches(tool, toolName);
  return wildcardMatches(tool.toLowerCase(), toolName.toLowerCase());
}
