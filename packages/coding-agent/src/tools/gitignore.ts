import { globTest } from "./guarded-match.ts";

/** The rules of one ignore file, read the way ripgrep reads them, so that our own walk sees the same files. Pure. */

export type Verdict = "ignored" | "wanted" | undefined;

export interface IgnoreRules {
  /** `path` is relative to the folder of the file, with forward slashes; `name` is its last part. */
  verdict(path: string, name: string, isDirectory: boolean): Verdict;
}

interface Rule {
  negated: boolean;
  onlyFolders: boolean;
  matches(path: string, name: string): boolean;
}

export function parseIgnoreFile(text: string): IgnoreRules {
  const rules: Rule[] = [];
  for (const line of text.replace(/^\ufeff/, "").split(/\r?\n/)) {
    const rule = parseLine(line);
    // The last rule that matches decides, so it is asked first.
    if (rule) rules.unshift(rule);
  }
  return {
    verdict(path, name, isDirectory) {
      for (const rule of rules) {
        if (rule.onlyFolders && !isDirectory) continue;
        if (rule.matches(path, name)) return rule.negated ? "wanted" : "ignored";
      }
      return undefined;
    },
  };
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
  const matches = compile(pattern, anchored || pattern.includes("/"));
  return matches && { negated, onlyFolders, matches };
}

function compile(pattern: string, anchored: boolean): Rule["matches"] | undefined {
  // Most rules are a name or an ending, and comparing texts is quicker than a regular expression.
  if (!anchored && /^[\w. -]+$/.test(pattern)) return (_, name) => name === pattern;
  if (!anchored && /^\*[\w. -]+$/.test(pattern)) {
    const ending = pattern.slice(1);
    return (_, name) => name.endsWith(ending);
  }
  const source = toRegexSource(anchored ? pattern : `**/${pattern}`.replace(/^\*\*\/\*\*\//, "**/"));
  if (source === undefined) return undefined;
  try {
    // A rule that nobody could ever finish reading is none.
    return globTest(new RegExp(`^${source}$`, "su"), `*${pattern}`, () => false);
  } catch {
    // A class such as [z-a] is no rule.
    return undefined;
  }
}

/** A glob as a regular expression; undefined when it is broken off. */
function toRegexSource(pattern: string): string | undefined {
  // What is inside of a folder, not the folder itself.
  const glob = pattern.endsWith("/**") ? `${pattern}/*` : pattern;
  let source = "";
  let depth = 0;
  for (let i = 0; i < glob.length; ) {
    const char = glob[i]!;
    const starsWithSlash = /^\*\*\/|^\/\*\*(?=\/|$)/.exec(glob.slice(i));
    if (starsWithSlash && char === "*" && i === 0) {
      source += "(?:.*/)?";
      i += 3;
    } else if (starsWithSlash && char === "/") {
      const isEnd = i + 3 === glob.length;
      source += isEnd ? "/.*" : "/(?:.*/)?";
      i += isEnd ? 3 : 4;
    } else if (char === "*") {
      while (glob[i] === "*") i += 1;
      source += "[^/]*";
    } else if (char === "[") {
      const found = readClass(glob, i);
      if (!found) return undefined;
      source += found.source;
      i = found.end;
    } else if (char === "\\") {
      const escaped = glob[i + 1];
      if (escaped === undefined) return undefined;
      source += literal(escaped);
      i += 2;
    } else {
      if (char === "{") depth += 1;
      if (char === "}") depth -= 1;
      if (depth < 0) return undefined;
      source += SPECIAL[char] ?? (char === "," && depth > 0 ? "|" : literal(char));
      i += 1;
    }
  }
  return depth === 0 ? source : undefined;
}

const SPECIAL: Readonly<Record<string, string>> = { "?": "[^/]", "{": "(?:", "}": ")" };

function literal(char: string): string {
  return char.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
}

/** `[a-z]`, `[!a]`, `[]a]`: a bracket right at the beginning is a member. */
function readClass(glob: string, start: number): { source: string; end: number } | undefined {
  const found = /^\[([!^]?)(\]?(?:\\.|[^\]\\])*)\]/s.exec(glob.slice(start));
  if (!found || found[2] === "") return undefined;
  const members = found[2]!.replace(/\\(.)|[[\]^\\]/gs, (whole, escaped: string | undefined) =>
    escaped === undefined ? `\\${whole}` : /[\]\\^-]/.test(escaped) ? `\\${escaped}` : escaped,
  );
  return { source: `(?!/)[${found[1] ? "^" : ""}${members}]`, end: start + found[0].length };
}
