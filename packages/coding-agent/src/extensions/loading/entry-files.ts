import { join, resolve, sep } from "node:path";
import { kindOf, namesIn } from "./files.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { filterPaths, isPattern, patternToRegExp, plainPath } from "./path-patterns.ts";

/** Which files of a folder are extensions. */

export interface FolderContent {
  /** Entry files. */
  extensions: string[];
  /** Folders and files, as the manifest names them or where they usually lie. */
  skills: string[];
  prompts: string[];
}

const IS_CODE = /\.[cm]?[jt]s$/;
const IS_DECLARATION = /\.d\.[cm]?ts$/;
const INDEX_FILES = ["index.ts", "index.js", "index.mts", "index.mjs", "index.cts", "index.cjs"];

export function isCodeFile(path: string): boolean {
  return IS_CODE.test(path) && !IS_DECLARATION.test(path);
}

/** A folder of extensions: each file is one, each folder in it with a manifest or an index too. */
export function extensionsIn(folder: string, problems: string[]): FolderContent {
  const content: FolderContent = { extensions: [], skills: [], prompts: [] };
  for (const name of namesIn(folder, problems)) {
    const path = join(folder, name);
    const kind = isCodeFile(name) ? kindOf(path) : kindOf(path) === "folder" ? "folder" : undefined;
    if (kind === "file") content.extensions.push(path);
    if (kind === "folder" && name !== "node_modules") add(content, declaredIn(path, problems) ?? indexOf(path));
  }
  return content;
}

/** A folder that somebody has named: what its manifest says, else its index, else what lies in it. */
export function namedFolder(folder: string, problems: string[]): FolderContent {
  return (
    declaredIn(folder, problems) ?? indexOf(folder) ?? conventional(folder, problems) ?? extensionsIn(folder, problems)
  );
}

/** A package: an index file may be its library, so the usual folders count before it. */
export function packageFolder(folder: string, problems: string[]): FolderContent {
  return (
    declaredIn(folder, problems) ?? conventional(folder, problems) ?? indexOf(folder) ?? extensionsIn(folder, problems)
  );
}

function add(content: FolderContent, more: FolderContent | undefined): void {
  if (!more) return;
  content.extensions.push(...more.extensions);
  content.skills.push(...more.skills);
  content.prompts.push(...more.prompts);
}

function indexOf(folder: string): FolderContent | undefined {
  const found = INDEX_FILES.map((name) => join(folder, name)).find((path) => kindOf(path) === "file");
  return found === undefined ? undefined : { extensions: [found], skills: [], prompts: [] };
}

function conventional(folder: string, problems: string[]): FolderContent | undefined {
  const usual = (name: string): string[] => (kindOf(join(folder, name)) === "folder" ? [join(folder, name)] : []);
  const [extensions, skills, prompts] = ["extensions", "skills", "prompts"].map(usual) as [
    string[],
    string[],
    string[],
  ];
  if (extensions.length + skills.length + prompts.length === 0) return undefined;
  const found = extensions.flatMap((path) => extensionsIn(path, problems).extensions);
  return { extensions: found, skills, prompts };
}

function declaredIn(folder: string, problems: string[]): FolderContent | undefined {
  const manifest = readManifest(folder, problems);
  if (!manifest) return undefined;
  const named = (list: keyof Manifest): string[] => manifestPaths(folder, list, manifest[list] ?? [], problems);
  const extensions = named("extensions").flatMap((path) =>
    kindOf(path) === "folder" ? (indexOf(path) ?? extensionsIn(path, problems)).extensions : [path],
  );
  return { extensions, skills: named("skills"), prompts: named("prompts") };
}

function manifestPaths(folder: string, list: string, entries: readonly string[], problems: string[]): string[] {
  const wanted = entries.filter((entry) => !/^[!-]/.test(entry)).map((entry) => entry.replace(/^\+/, ""));
  const refused = entries.filter((entry) => /^[!-]/.test(entry));
  const found = wanted.flatMap((entry) => {
    if (isPattern(entry)) return matching(folder, entry, problems);
    const path = resolve(folder, entry);
    if (kindOf(path) !== undefined) return [path];
    problems.push(`${join(folder, "package.json")}: "${list}" names ${entry}, which is not there`);
    return [];
  });
  return refused.length > 0 ? filterPaths(found, folder, refused) : found;
}

/** The files of code and the folders that an absolute path with wildcards means. */
export function matchingPaths(pattern: string, problems: string[]): string[] {
  const parts = pattern.split(sep);
  const first = parts.findIndex(isPattern);
  const folder = parts.slice(0, first).join(sep) || sep;
  const found = matching(folder, parts.slice(first).join("/"), problems);
  return found.filter((path) => isCodeFile(path) || kindOf(path) === "folder");
}

/** How deep a pattern is followed. */
const DEEPEST = 6;

function matching(folder: string, pattern: string, problems: string[]): string[] {
  const wanted = patternToRegExp(plainPath(pattern));
  const found: string[] = [];
  const visit = (inside: string, depth: number): void => {
    for (const name of namesIn(join(folder, inside), problems)) {
      if (name === "node_modules") continue;
      const path = inside === "" ? name : `${inside}/${name}`;
      const isFolder = kindOf(join(folder, path)) === "folder";
      if (wanted.test(path)) found.push(join(folder, path));
      else if (isFolder && depth < DEEPEST) visit(path, depth + 1);
    }
  };
  visit("", 0);
  return found;
}
