import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Env, homeFolder, resolvePath } from "../config/paths.ts";
import { below } from "../lib/below.ts";
import { withoutLinks } from "../lib/repository-top.ts";

/** Where skills and prompt templates may lie, in the order in which they count, and how their files are looked at. */

/** Told to hosts beside a command. */
export interface SourceInfo {
  path: string;
  /** `local` for what a usual folder holds; else who named it: `cli`, `settings`, an extension or a package. */
  source: string;
  scope: "user" | "project" | "temporary";
  origin: "package" | "top-level";
  /** The folder that was searched. */
  baseDir: string;
}

/** A path that somebody named: a file, or a folder to search. */
export interface NamedPath extends Pick<SourceInfo, "source" | "scope"> {
  path: string;
  origin?: SourceInfo["origin"];
  /** What a relative path counts from, unless it is the working folder. */
  base?: string;
}

/** How the options of the command line and the lists of the settings are named. */
export const BY_OPTION = { source: "cli", scope: "temporary" } as const;
export const BY_SETTING = { source: "settings", scope: "user" } as const;

export interface ResourceRequest {
  cwd: string;
  agentDir: string;
  env: Env;
  /** From `projectFolders`; empty for a project that is not trusted even with text. */
  projectFolders: readonly string[];
  /** In the order in which they count. */
  named: readonly NamedPath[];
  /** `--no-skills`, `--no-prompt-templates`: only what was named for this process (scope `temporary`) counts. */
  onlyNamed?: boolean;
}

export interface Place extends Omit<SourceInfo, "path"> {
  path: string;
  location: "user" | "project" | "path";
}

/**
 * The folders of a project, the working folder first. `top` is that of its repository, without links; without one it is only
 * the working folder. Above a link to the working folder lie things of others.
 */
export function projectFolders(cwd: string, top: string | undefined): string[] {
  const folders = [cwd];
  for (let folder = withoutLinks(cwd); top !== undefined && folder !== top && folder !== dirname(folder); ) {
    folder = dirname(folder);
    folders.push(folder);
  }
  return folders;
}

export interface UsualFolders {
  /** In a folder of the project. */
  project: readonly string[];
  /** In the agent folder. */
  agent: readonly string[];
  /** In the home folder. */
  home: readonly string[];
}

const SYSTEMS = [".tiller", ".pi", ".omp", ".xcsh"];
/** Folders that several programs share, in a project and at home. */
const SHARED = [".agents", ".claude"];

/** For what all of them keep in a folder of the same name. */
export function usualFolders(name: string): UsualFolders {
  const inside = (folder: string): string => `${folder}/${name}`;
  return { project: [...SYSTEMS, ...SHARED].map(inside), agent: [name], home: SHARED.map(inside) };
}

export function placesOf(request: ResourceRequest, usual: UsualFolders): Place[] {
  const { agentDir, cwd, env, named, onlyNamed } = request;
  const home = homeFolder(env);
  const users = [...usual.agent.map((name) => below(agentDir, name)), ...usual.home.map((name) => below(home, name))];
  const projects = request.projectFolders
    .flatMap((folder) => inProject(folder, usual.project))
    // A project that holds the home folder does not own what belongs to the user.
    .filter((path) => !users.includes(path));
  const local = (path: string, location: "user" | "project"): Place => {
    return { path, location, source: "local", scope: location, origin: "top-level", baseDir: path };
  };
  const places = [
    ...projects.map((path) => local(path, "project")),
    ...users.map((path) => local(path, "user")),
    ...named.map(({ path, base, source, scope, origin = "top-level" }): Place => {
      const whole = resolvePath(path, base ?? cwd, env);
      const baseDir = kindOf(whole) === "file" ? dirname(whole) : whole;
      return { path: whole, location: "path", source, scope, origin, baseDir };
    }),
  ];
  return onlyNamed ? places.filter(({ scope }) => scope === "temporary") : places;
}

/** Most projects have none of the folders that these lie in: one look at each of those saves the looks into it. */
function inProject(folder: string, names: readonly string[]): string[] {
  const isThere = new Map<string, boolean>();
  return names.flatMap((name) => {
    const [outer = name] = name.split("/", 1);
    const known = isThere.get(outer) ?? mayBeThere(below(folder, outer));
    isThere.set(outer, known);
    return known ? [below(folder, name)] : [];
  });
}

/** What cannot be looked at is told by those who look into it. */
function mayBeThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

export function sourceInfoOf(path: string, { source, scope, origin, baseDir }: Place): SourceInfo {
  return { path, source, scope, origin, baseDir };
}

export type Kind = "file" | "folder" | "other" | undefined;

/** Links are followed. What is not there, or leads round in a circle, is undefined. */
export function kindOf(path: string): Kind {
  const stats = statsOf(path);
  if (stats === undefined) return undefined;
  return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The path itself when it has vanished meanwhile; reading it then says so. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

export interface Entry {
  name: string;
  kind: Kind;
  /** It may be somewhere else, or be found under another name too. */
  isLink: boolean;
}

/** In the order of their names; without `entries` when there is no such folder. */
export function listFolder(path: string): { entries?: Entry[]; problem?: string } {
  try {
    // Most of the usual folders are not there, and an error costs far more than a look.
    if (!statSync(path, { throwIfNoEntry: false })) return {};
    const found = readdirSync(path, { withFileTypes: true });
    return { entries: found.map((entry) => entryOf(path, entry)).sort((a, b) => (a.name < b.name ? -1 : 1)) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === "ENOENT" || code === "ENOTDIR" ? {} : { problem: `${path}: cannot be read (${code})` };
  }
}

/** Asks once more only for links, and where the file system does not say what an entry is. */
function entryOf(folder: string, entry: Dirent): Entry {
  const { name } = entry;
  if (entry.isFile()) return { name, kind: "file", isLink: false };
  if (entry.isDirectory()) return { name, kind: "folder", isLink: false };
  return { name, kind: kindOf(join(folder, name)), isLink: true };
}

const MOST_PROBLEMS = 50;

/** A folder full of broken files must not fill the screen. */
export function fewProblems(problems: readonly string[]): string[] {
  if (problems.length <= MOST_PROBLEMS) return [...problems];
  const rest = problems.length - MOST_PROBLEMS + 1;
  return [...problems.slice(0, MOST_PROBLEMS - 1), `${rest} more files have problems of this kind`];
}
