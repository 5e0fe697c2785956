import { createAutomaton } from "./automaton.ts";
import { LONGEST_CONDITION, readCondition } from "./condition.ts";
import type { PathTest } from "./rule.ts";

/**
 * The globs of rules: `*`, `?`, `**`, `[...]` and `{a,b}`. Without a slash a glob is about the name of a file, in whatever
 * folder. Paths come from models and globs from projects, so they are matched like conditions: in one pass.
 */

/** Throws a SyntaxError for what is none. */
export function readGlob(glob: string): PathTest {
  // Before it is taken apart: a bracket that is never closed is looked for to the end.
  if (glob.length > LONGEST_CONDITION) {
    throw new SyntaxError(`it has ${glob.length} characters, at most ${LONGEST_CONDITION} are allowed`);
  }
  const clean = glob.replace(/^(?:\.?\/)+/, "");
  const anywhere = clean.includes("/") ? "" : "(?:.*/)?";
  const automaton = createAutomaton([readCondition(`(?s)^${anywhere}${patternOf(clean)}$`)]);
  return (path) => {
    let state = automaton.start();
    for (const char of path) state = automaton.step(state, char.codePointAt(0)!);
    return automaton.end(state).length > 0;
  };
}

const PARTS = /\*\*\/?|\*|\?|\[[^\]/]+\]|[{},]|\\?[\s\S]/gu;

function patternOf(glob: string): string {
  let depth = 0;
  const parts = (glob.match(PARTS) ?? []).map((part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part === "{") depth += 1;
    if (part === "{") return "(?:";
    if (part === "}" && depth > 0) {
      depth -= 1;
      return ")";
    }
    if (part === "," && depth > 0) return "|";
    if (part.length > 2 && part.startsWith("[")) return part.replace(/^\[!/, "[^");
    return part.replace(/^\\/, "").replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
  });
  return `${parts.join("")}${")".repeat(depth)}`;
}
