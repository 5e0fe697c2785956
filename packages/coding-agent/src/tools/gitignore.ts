import { readIgnoreGlob } from "./ignore-glob.ts";
import { createGlobSet, type Glob } from "./ignore-globs.ts";
import { type IgnoreWork, MAX_IGNORE_BYTES } from "./ignore-work.ts";

/** The rules of one ignore file, read the way ripgrep reads them, so that our own walk sees the same files. Pure. */

export type Verdict = "ignored" | "wanted" | undefined;

export interface IgnoreRules {
  /** `path` is relative to the folder of the file, with forward slashes; `name` is its last part. */
  verdict(path: string, name: string, isDirectory: boolean): Verdict;
}

interface Rule extends Glob {
  negated: boolean;
  /** It is about the path; else about the name, in whatever folder. */
  anchored: boolean;
}

/** Reading a character takes as long as so many steps of a match. */
const STEPS_TO_READ = 4;

/** A rule that there is no work left for does not count. */
export function parseIgnoreFile(text: string, work: IgnoreWork): IgnoreRules {
  if (text.length > MAX_IGNORE_BYTES) work.leaveOut();
  const isRead = text.length <= MAX_IGNORE_BYTES && work.spend(text.length * STEPS_TO_READ);
  const rules = isRead ? parseRules(text) : [];
  const names = createGlobSet(rules.map((rule) => (rule.anchored ? undefined : rule)));
  const paths = createGlobSet(rules.map((rule) => (rule.anchored ? rule : undefined)));
  return {
    verdict(path, name, isDirectory) {
      const rule = rules[Math.min(names.first(name, isDirectory, work), paths.first(path, isDirectory, work))];
      return rule && (rule.negated ? "wanted" : "ignored");
    },
  };
}

function parseRules(text: string): Rule[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  // The last rule that matches decides, so it is the first.
  return lines.flatMap((line) => parseLine(line) ?? []).reverse();
}

/** Undefined for comments, empty lines and what is no pattern. */
function parseLine(line: string): Rule | undefined {
  if (line.startsWith("#")) return undefined;
  let pattern = line.endsWith("\\ ") ? line : line.trimEnd();
  let negated = false;
  let anchored = false;
  if (/^\\[!#]/.test(pattern)) {
    pattern = pattern.slice(1);
  } else {
    negated = pattern.startsWith("!");
    if (negated) pattern = pattern.slice(1);
    anchored = pattern.startsWith("/");
    if (anchored) pattern = pattern.slice(1);
  }
  const onlyFolders = pattern.endsWith("/");
  if (onlyFolders) pattern = pattern.slice(0, -1).replace(/\\$/, "");
  if (pattern === "") return undefined;
  anchored ||= pattern.includes("/");
  // What is inside of a folder, not the folder itself.
  const steps = readIgnoreGlob(pattern.endsWith("/**") ? `${pattern}/*` : pattern);
  return steps && { negated, onlyFolders, anchored, steps };
}
