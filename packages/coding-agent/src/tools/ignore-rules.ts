import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { repositoryTop, withoutLinks } from "../lib/repository-top.ts";
import { type IgnoreRules, parseIgnoreFile } from "./gitignore.ts";
import { type IgnoreWork, MAX_IGNORE_BYTES } from "./ignore-work.ts";

/**
 * Which files the ignore files of a folder, of those above and of those below hide. As ripgrep does it. They are few and
 * small, or left out, so they are read without waiting.
 */

/** A file of an earlier kind overrules all of a later kind, wherever they stand. */
const KINDS = [".rgignore", ".ignore", ".gitignore"] as const;
const GITIGNORE = 2;

/** One ignore file, and how a path in the search becomes a path in its folder. */
interface Level {
  rules: IgnoreRules;
  /** Put before the path; for a file above the root of the search. */
  prefix: string;
  /** Taken from the path; for a file below the root. */
  skip: number;
}

/** The levels that hold in a folder. */
export interface IgnoreLevels {
  /** One list per kind, the deepest last. */
  kinds: readonly (readonly Level[])[];
  work: IgnoreWork;
}

/** `path` is relative to the root of the search, with forward slashes. */
export function isIgnored(levels: IgnoreLevels, path: string, name: string, isDirectory: boolean): boolean {
  levels.work.nextName();
  for (const ofKind of levels.kinds) {
    for (let i = ofKind.length - 1; i >= 0; i--) {
      const { rules, prefix, skip } = ofKind[i]!;
      const verdict = rules.verdict(skip > 0 ? path.slice(skip) : prefix + path, name, isDirectory);
      if (verdict) return verdict === "ignored";
    }
  }
  return false;
}

/**
 * The levels inside of a folder, given those around it and the names in it. `path` is relative to the root of the search and
 * has a closing slash; it is empty for the root.
 */
export function levelsInside(
  { kinds, work }: IgnoreLevels,
  folder: string | Buffer,
  path: string,
  has: (name: string) => boolean,
): IgnoreLevels {
  const present = KINDS.filter(has);
  // A repository inside of another is not subject to its rules.
  const base = has(".git") && kinds[GITIGNORE]!.length > 0 ? kinds.with(GITIGNORE, []) : kinds;
  if (present.length === 0) return { kinds: base, work };
  const levels = base.map((list) => [...list]);
  for (const kind of present) {
    const rules = readRules(inFolder(folder, kind), work);
    if (rules) levels[KINDS.indexOf(kind)]!.push({ rules, prefix: "", skip: path.length });
  }
  return { kinds: levels, work };
}

/**
 * The levels above a root: .gitignore up to the top of the repository, the others up to the top of the disk. Outside of a
 * repository nobody can say where a project begins, so nothing above counts.
 */
export function levelsAbove(searched: string, work: IgnoreWork): IgnoreLevels {
  const root = withoutLinks(searched);
  const top = repositoryTop(root);
  const levels: Level[][] = [[], [], []];
  if (top === undefined) return { kinds: levels, work };
  let insideRepository = root !== top;
  for (let folder = root; folder !== dirname(folder); ) {
    folder = dirname(folder);
    const prefix = `${toPosix(relative(folder, root))}/`;
    for (const [index, kind] of KINDS.entries()) {
      const rules = index === GITIGNORE && !insideRepository ? undefined : readRules(join(folder, kind), work);
      if (rules) levels[index]!.unshift({ rules, prefix, skip: 0 });
    }
    insideRepository &&= folder !== top;
  }
  return { kinds: levels, work };
}

function inFolder(folder: string | Buffer, name: string): string | Buffer {
  return typeof folder === "string" ? join(folder, name) : Buffer.concat([folder, Buffer.from(`/${name}`)]);
}

function readRules(path: string | Buffer, work: IgnoreWork): IgnoreRules | undefined {
  try {
    const stats = statSync(path);
    if (stats.size > MAX_IGNORE_BYTES) work.leaveOut();
    else if (stats.isFile()) return parseIgnoreFile(readFileSync(path, "utf8"), work);
    return undefined;
  } catch {
    return undefined;
  }
}

/** For a few files out of a folder, named by their paths: whether a walk from the root would not come to them. */
export function createIgnoreCheck(root: string, work: IgnoreWork): (path: string) => boolean {
  const known = new Map<string, IgnoreLevels>();
  /** `folder` has a closing slash, or is empty for the root. */
  const levelsIn = (folder: string): IgnoreLevels => {
    const found = known.get(folder);
    if (found) return found;
    const around =
      folder === ""
        ? levelsAbove(root, work)
        : levelsIn(folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1));
    const levels = levelsInside(around, join(root, folder), folder, (name) => existsSync(join(root, folder, name)));
    known.set(folder, levels);
    return levels;
  };
  return (path) => {
    const parts = path.split("/");
    let folder = "";
    return parts.some((name, index) => {
      const ignored = isIgnored(levelsIn(folder), folder + name, name, index < parts.length - 1);
      folder += `${name}/`;
      return ignored;
    });
  };
}

function toPosix(path: string): string {
  return sep === "/" ? path : path.split(sep).join("/");
}
