import { dirname, join } from "node:path";
import { type Env, resolvePath } from "../../config/paths.ts";
import { extensionsIn, type FolderContent, matchingPaths, namedFolder, packageFolder } from "./entry-files.ts";
import { isMissing, kindOf, realPath } from "./files.ts";
import { PROJECT_EXTENSION_FOLDERS, USER_EXTENSION_FOLDER } from "./may-have-extensions.ts";
import { isPackageSource, type PackageEntry, packageEntries, packageEntry } from "./packages.ts";
import { filterPaths, isPattern } from "./path-patterns.ts";
import { isRemembered } from "./trust.ts";

/** Finds the extensions of a process, in the order in which they are loaded. Only looks: no code of theirs runs here. */

export interface ExtensionSource {
  /** Absolute path of the entry file. */
  path: string;
  /** The package or folder it belongs to. */
  baseDir?: string;
  /** `auto`, `settings`, `cli`, or the package as the settings name it. */
  source: string;
  scope: "user" | "project" | "temporary";
  origin: "package" | "top-level";
}

/** A file or folder of skills or templates that came with an extension. */
export interface ResourcePath extends Omit<ExtensionSource, "baseDir"> {
  baseDir: string;
}

export interface PackageResources {
  skills: ResourcePath[];
  prompts: ResourcePath[];
}

export interface FoundExtensions {
  sources: ExtensionSource[];
  /** Entry files of the project that were not taken, because nobody trusts it. */
  leftOut: string[];
  /** One sentence each. */
  problems: string[];
  resources: PackageResources;
}

export interface ExtensionPlace {
  cwd: string;
  agentDir: string;
  env: Env;
  projectTrust: "none" | "text" | "code";
  settings: { extensions?: readonly string[]; packages?: unknown };
  /** What relative paths in those settings count from, if that is not the agent folder. */
  settingBases?: { extensions: string; packages: string };
  /** `--extension` and `--hook`, in their order: files, folders, or packages as in the settings. */
  named: readonly string[];
  /** `--plugin-dir` */
  pluginDirs?: readonly string[];
  /** `--no-extensions`: only what the command line names. */
  noExtensions?: boolean;
  /** What paths of the command line count from, if that is not `cwd`. */
  startFolder?: string;
}

type Origin = Omit<ExtensionSource, "path">;

export function findExtensions(place: ExtensionPlace): FoundExtensions {
  const found: FoundExtensions = { sources: [], leftOut: [], problems: [], resources: { skills: [], prompts: [] } };
  if (!place.noExtensions) {
    findInProject(place, found);
    const user = join(place.agentDir, USER_EXTENSION_FOLDER);
    take(found, extensionsIn(user, found.problems), autoOrigin(user, "user"));
    findInSettings(place, found);
    const base = { agentDir: place.agentDir, base: place.settingBases?.packages ?? place.agentDir, env: place.env };
    for (const entry of packageEntries(place.settings.packages, base, found.problems))
      takePackage(found, entry, "user");
  }
  findNamed(place, found);
  return withoutDoubles(found);
}

const autoOrigin = (baseDir: string, scope: Origin["scope"]): Origin => {
  return { baseDir, source: "auto", scope, origin: "top-level" };
};

function findInProject(place: ExtensionPlace, found: FoundExtensions): void {
  if (place.projectTrust === "none") return;
  const user = realPath(join(place.agentDir, USER_EXTENSION_FOLDER));
  // A project that holds the agent folder does not own what belongs to the user.
  const folders = PROJECT_EXTENSION_FOLDERS.map((name) => join(place.cwd, name)).filter(
    (path) => !isMissing(path) && realPath(path) !== user,
  );
  const isTrusted = place.projectTrust === "code" || isRemembered(place.agentDir, place.cwd);
  for (const folder of folders) {
    const problems: string[] = [];
    const content = extensionsIn(folder, problems);
    if (!isTrusted) {
      found.leftOut.push(...content.extensions);
      continue;
    }
    found.problems.push(...problems);
    take(found, content, autoOrigin(folder, "project"));
  }
}

function findInSettings(place: ExtensionPlace, found: FoundExtensions): void {
  const entries = place.settings.extensions ?? [];
  const base = place.settingBases?.extensions ?? place.agentDir;
  const filters = entries.filter((entry) => /^[!+-]/.test(entry));
  const by = { source: "settings", scope: "user" } as const;
  for (const entry of entries) {
    if (/^[!-]/.test(entry)) continue;
    const path = resolvePath(entry.replace(/^\+/, ""), base, place.env);
    const who = `the setting extensions names ${entry}`;
    if (isPattern(entry) && kindOf(path) === undefined) takeMatching(found, path, by, who);
    else takePath(found, path, by, who);
  }
  if (!filters.some((entry) => /^[!-]/.test(entry))) return;
  // An exclusion counts for everything that was found without being asked for.
  const kept = new Set(
    filterPaths(
      found.sources.map(({ path }) => path),
      base,
      filters.map((entry) => entry[0] + homeless(entry.slice(1), place.env)),
    ),
  );
  found.sources = found.sources.filter(({ path }) => kept.has(path));
}

/** `~` is a folder like any other from here on. */
function homeless(entry: string, env: Env): string {
  return entry.startsWith("~/") ? resolvePath(entry, "", env) : entry;
}

function takeMatching(
  found: FoundExtensions,
  pattern: string,
  by: Pick<Origin, "source" | "scope">,
  who: string,
): void {
  const paths = matchingPaths(pattern, found.problems);
  if (paths.length === 0) found.problems.push(`${who}, but there is no file or folder like ${pattern}`);
  for (const path of paths) takePath(found, path, by, who);
}

function findNamed(place: ExtensionPlace, found: FoundExtensions): void {
  const base = place.startFolder ?? place.cwd;
  for (const [option, entries] of [
    ["extension", place.named] as const,
    ["plugin-dir", place.pluginDirs ?? []] as const,
  ]) {
    for (const entry of entries) {
      if (isPackageSource(entry)) {
        takePackage(found, packageEntry(entry, { agentDir: place.agentDir, base, env: place.env }), "temporary");
        continue;
      }
      const path = resolvePath(entry, base, place.env);
      takePath(found, path, { source: "cli", scope: "temporary" }, `--${option} names ${entry}`);
    }
  }
}

function takePath(found: FoundExtensions, path: string, by: Pick<Origin, "source" | "scope">, who: string): void {
  const kind = kindOf(path);
  if (kind === "file") {
    found.sources.push({ path, baseDir: dirname(path), ...by, origin: "top-level" });
    return;
  }
  if (kind === undefined) {
    found.problems.push(`${who}, but there is no file or folder ${path}`);
    return;
  }
  const before = found.problems.length;
  const content = namedFolder(path, found.problems);
  take(found, content, { baseDir: path, ...by, origin: "top-level" });
  const isEmpty = content.extensions.length + content.skills.length + content.prompts.length === 0;
  if (isEmpty && found.problems.length === before)
    found.problems.push(`${who}, but the folder ${path} has no extension`);
}

function takePackage(found: FoundExtensions, entry: PackageEntry, scope: Origin["scope"]): void {
  const { source, folder, filters, advice } = entry;
  const kind = kindOf(folder);
  if (kind === undefined) {
    found.problems.push(`the package ${source} is not installed (there is no ${folder}); ${advice}`);
    return;
  }
  const origin: Origin = { baseDir: kind === "file" ? dirname(folder) : folder, source, scope, origin: "package" };
  const content =
    kind === "file" ? { extensions: [folder], skills: [], prompts: [] } : packageFolder(folder, found.problems);
  const only = (list: keyof FolderContent): string[] => filterPaths(content[list], folder, filters[list]);
  take(found, { extensions: only("extensions"), skills: only("skills"), prompts: only("prompts") }, origin);
}

function take(found: FoundExtensions, content: FolderContent, origin: Origin): void {
  const baseOf = (path: string): string => origin.baseDir ?? dirname(path);
  for (const path of content.extensions) found.sources.push({ path, ...origin });
  for (const list of ["skills", "prompts"] as const)
    for (const path of content[list]) found.resources[list].push({ path, ...origin, baseDir: baseOf(path) });
}

/** The first one counts. */
function withoutDoubles(found: FoundExtensions): FoundExtensions {
  const taken = new Set<string>();
  const sources = found.sources.filter(({ path }) => {
    const real = realPath(path);
    return !taken.has(real) && taken.add(real);
  });
  const leftOut = [...new Set(found.leftOut)].filter((path) => !taken.has(realPath(path)));
  return { ...found, sources, leftOut, problems: [...new Set(found.problems)] };
}
