import type { APPROVAL_MODES } from "../config/choices.ts";
import { isAllowedLine, type Match, matchRestricted } from "./command-match.ts";
import { type CallPath, isAllowedPath, matchRestrictedPath, type PathBases } from "./path-match.ts";
import { isAbout, type Rule } from "./rules.ts";
import type { ShellLine } from "./shell-line.ts";

/** What the rules and the mode say about a call. Deny beats ask, ask beats allow, and the mode has the rest. Pure. */

export type ApprovalMode = (typeof APPROVAL_MODES)[number];

export interface Policy {
  mode: ApprovalMode;
  rules: readonly Rule[];
  /** Something of the rules could not be read: nothing runs unasked. */
  isIncomplete: boolean;
  /** Patterns of places where these rules, or programs that start by themselves, can be changed: no rule allows that. */
  guarded: readonly string[];
}

/** A call as the rules see it. */
export interface CallFacts {
  tool: string;
  /** Ours, and nobody else's under its name. */
  isBuiltin: boolean;
  command?: {
    text: string;
    line: ShellLine;
    isKnownShell: boolean;
    /** There is nothing else in the call that could matter, such as another folder or environment. */
    isAll: boolean;
  };
  /** The files that a tool of ours would touch. */
  paths: readonly CallPath[];
  /** Texts that may be files too: words of a command, arguments of a tool that is not ours. Only rules that restrict look at them. */
  morePaths: readonly CallPath[];
  /** There was more than could be looked at. */
  isPartial: boolean;
  bases: PathBases;
}

export type Verdict =
  | { effect: "allow" }
  /** `about`: what an answer for the whole session would be about, all of it. */
  | { effect: "ask"; why: string | undefined; about: readonly About[] }
  | { effect: "deny"; why: string };

/** They change nothing; which file they read is a matter of rules. */
const READERS = new Set(["read", "grep", "find", "ls", "todo", "poll"]);

export function judge(call: CallFacts, policy: Policy): Verdict {
  const mine = policy.rules.filter((rule) => isAbout(rule, call.tool));
  const restricting = mine.filter(({ effect }) => effect !== "allow");
  const matches = restricting.map((rule) => ({ rule, match: matchOf(rule, call) }));
  const denied = matches.find(({ rule, match }) => rule.effect === "deny" && match === "yes");
  if (denied) return { effect: "deny", why: `the rule "${denied.rule.text}" forbids it` };
  const doubtful = matches.find(({ rule, match }) => rule.effect === "deny" && match === "maybe");
  if (doubtful) return askOnce(`the rule "${doubtful.rule.text}" may forbid it`);
  const unclear = unclearFor(call, restricting);
  if (unclear !== undefined) return askOnce(unclear);
  const asking = matches.filter(({ match }) => match !== "no").map(({ rule }) => rule.text);
  if (policy.isIncomplete) return askOnce("some of the approval settings could not be read");
  const isFree = isAllowed(call, mine, policy) || !needsAnswer(call, policy.mode);
  if (asking.length > 0) {
    const why = `the rule "${asking[0]}" asks`;
    // A rule is found in a line that does much more: who has approved what it is about has not approved the rest.
    return isFree ? { effect: "ask", why, about: asking.map((text): About => `rule ${text}`) } : askOnce(why);
  }
  return isFree ? { effect: "allow" } : { effect: "ask", why: undefined, about: ["mode"] };
}

/** What the mode asks about, what a rule asks about, or one call as it is. */
export type About = "mode" | `rule ${string}` | "this call";

function askOnce(why: string): Verdict {
  return { effect: "ask", why, about: ["this call"] };
}

function matchOf({ command, path }: Rule, call: CallFacts): Match {
  if (command) return call.command ? matchRestricted(call.command.line, call.command.text, command) : "no";
  if (path === undefined) return "yes";
  const found = [...call.paths, ...call.morePaths].map((one) => matchRestrictedPath(one, path, call.bases));
  if (found.includes("yes")) return "yes";
  return found.includes("inside") ? "maybe" : "no";
}

/** Where a rule might hold that cannot be held against the call, somebody has to look. */
function unclearFor({ command, isPartial }: CallFacts, restricting: readonly Rule[]): string | undefined {
  if (isPartial && restricting.some(({ path }) => path !== undefined))
    return "its arguments are too many for the rules";
  if (!command || !restricting.some((rule) => rule.command !== undefined)) return undefined;
  if (!command.isAll) return "rules about commands cannot judge its other arguments";
  if (!command.isKnownShell) return "rules about commands know only sh, bash and dash";
  return command.line.unclear && `the rules cannot judge the command: ${command.line.unclear}`;
}

function isAllowed(call: CallFacts, mine: readonly Rule[], { guarded }: Policy): boolean {
  const allowing = mine.filter(({ effect }) => effect === "allow");
  if (allowing.length === 0) return false;
  const { paths, morePaths, bases, command } = call;
  const isGuarded = (path: CallPath): boolean =>
    guarded.some((one) => matchRestrictedPath(path, one, bases) !== "no") && !isReader(call);
  if (paths.some(isGuarded)) return false;
  if (allowing.some((rule) => !rule.command && rule.path === undefined)) return true;
  if (morePaths.some(isGuarded)) return false;
  const patterns = allowing.flatMap((rule) => (rule.command ? [rule.command] : []));
  if (command?.isKnownShell && command.isAll && isAllowedLine(command.line, patterns)) return true;
  const places = allowing.flatMap(({ path }) => path ?? []);
  return paths.length > 0 && paths.every((path) => places.some((one) => isAllowedPath(path, one, bases)));
}

function needsAnswer(call: CallFacts, mode: ApprovalMode): boolean {
  return mode === "always" || (mode === "write" && !isReader(call));
}

/** A tool that has taken the name of ours may do anything. */
function isReader({ tool, isBuiltin }: CallFacts): boolean {
  return isBuiltin && READERS.has(tool);
}
