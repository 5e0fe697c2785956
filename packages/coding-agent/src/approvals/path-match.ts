import { wildcardMatches } from "../lib/wildcard.ts";

/** Whether a path is what a rule is about. What allows is read narrowly, what forbids widely. Pure. */

/** A path of a call, absolute and with forward slashes. */
export interface CallPath {
  /** As the tool was given it. */
  shown: string;
  /** As the tool opens it, before links are followed. */
  named: string;
  /** The file that this really is. */
  real: string;
  /** Everything below it is read too. */
  isTree: boolean;
}

/** The folders that patterns count from, as they are named and as they really are. */
export interface PathBases {
  cwd: { named: string; real: string };
  home: { named: string; real: string };
  /** Names that differ only in case are the same to the file system. */
  ignoresCase: boolean;
}

export function pathPattern(text: string): string | { problem: string } {
  if (text.trim() === "") return { problem: "the path is empty" };
  if (/[[\]{}!\\]/.test(text)) return { problem: "only *, ** and ? are special in a path, and slashes lean forward" };
  if (text.split("/").includes("..")) return { problem: "a path with .. in it is never matched; write where it leads" };
  if (/^~[^/]/.test(text)) return { problem: "only ~/ is a home folder" };
  return text.trim();
}

/**
 * The file really lies where the pattern says: links in the pattern are not followed, because a project brings its own. Of
 * a tree everything below must be allowed as well.
 */
export function isAllowedPath(path: CallPath, pattern: string, bases: PathBases): boolean {
  const full = segmentsOf(fromBase(pattern, bases, "real"));
  const real = segmentsOf(path.real);
  if (!path.isTree) return segmentsMatch(full, real);
  return full.at(-1) === "**" && segmentsMatch(full.slice(0, -1), real, true);
}

/**
 * Named or real, the path is what the pattern says or lies below it. `inside`: it is a tree in which such a file may lie.
 */
export function matchRestrictedPath(path: CallPath, pattern: string, bases: PathBases): "yes" | "inside" | "no" {
  const fold = (text: string): string => (bases.ignoresCase ? text.toLowerCase() : text).normalize("NFC");
  const patterns = patternForms(pattern, bases).map((form) => segmentsOf(fold(form)));
  const paths = [path.named, path.real].map((form) => segmentsOf(fold(form)));
  const any = (test: (pattern: string[], path: string[]) => boolean): boolean =>
    patterns.some((form) => paths.some((one) => test(form, one)));
  if (any((form, one) => segmentsMatch(form, one, true))) return "yes";
  return path.isTree && any(mayLieInside) ? "inside" : "no";
}

/** A name without a slash is meant wherever it stands. */
function patternForms(pattern: string, bases: PathBases): string[] {
  if (!pattern.includes("/") && pattern !== "~") return [`/**/${pattern}`];
  return [fromBase(pattern, bases, "named"), fromBase(pattern, bases, "real")];
}

/** Absolute. A name without a slash is meant at any depth of the working folder. */
function fromBase(pattern: string, { cwd, home }: PathBases, form: "named" | "real"): string {
  if (pattern === "~" || pattern.startsWith("~/")) return `${home[form]}/${pattern.slice(2)}`;
  if (pattern.startsWith("/") || /^[A-Za-z]:\//.test(pattern)) return pattern;
  const inside = pattern.replace(/^(?:\.\/)+/, "");
  return pattern.includes("/") ? `${cwd[form]}/${inside}` : `${cwd[form]}/**/${pattern}`;
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}

/** `**` is any number of segments. With `below`, what lies under a match matches too. */
function segmentsMatch(pattern: readonly string[], path: readonly string[], below = false): boolean {
  /** How many segments of the pattern may be used up after each segment of the path. */
  let reached = closure(new Set([0]), pattern);
  for (const segment of path) {
    if (below && reached.has(pattern.length)) return true;
    const next = new Set<number>();
    for (const at of reached) {
      if (pattern[at] === "**") next.add(at);
      else if (at < pattern.length && wildcardMatches(pattern[at]!, segment)) next.add(at + 1);
    }
    reached = closure(next, pattern);
  }
  return reached.has(pattern.length);
}

/** `**` may also be nothing. */
function closure(reached: Set<number>, pattern: readonly string[]): Set<number> {
  for (const at of reached) if (pattern[at] === "**") reached.add(at + 1);
  return reached;
}

/** The pattern goes on where the folder ends. */
function mayLieInside(pattern: readonly string[], folder: readonly string[]): boolean {
  for (const [place, segment] of folder.entries()) {
    if (place >= pattern.length) return false;
    if (pattern[place] === "**") return true;
    if (!wildcardMatches(pattern[place]!, segment)) return false;
  }
  return pattern.length > folder.length;
}
