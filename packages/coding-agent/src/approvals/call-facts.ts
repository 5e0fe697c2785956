import { basename } from "node:path";
import { defaultShell } from "../exec/shell.ts";
import { kindOf, type PathContext, resolveExistingPath, resolvePath, resolveWritePath } from "../tools/path.ts";
import { realPath } from "../tools/save-file.ts";
import { wordsOf } from "./command-match.ts";
import type { CallFacts } from "./judge.ts";
import type { CallPath, PathBases } from "./path-match.ts";
import { readShellLine } from "./shell-line.ts";

/** Looks at a call: what would it touch? Paths are resolved by the very functions that the tools use. */

export interface LookedAtCall {
  tool: string;
  isBuiltin: boolean;
  args: Readonly<Record<string, unknown>>;
}

export interface Surroundings extends PathContext {
  /** That runs the commands, when it is not the usual one. */
  shell: string | undefined;
}

const WRITERS = new Set(["write", "edit"]);
const TREE_READERS = new Set(["grep", "find"]);
/** Without a path these mean the working folder. */
const FOLDER_READERS = new Set(["grep", "find", "ls"]);
const KNOWN_SHELLS = new Set(["sh", "bash", "dash"]);

/** More texts than these are not looked at. */
const MOST_TEXTS = 200;
const MOST_VALUES = 20_000;
const LONGEST_PATH = 4096;

export async function callFacts(call: LookedAtCall, around: Surroundings): Promise<CallFacts> {
  const { tool, isBuiltin, args } = call;
  const facts = { tool, isBuiltin, bases: basesOf(around), paths: [], morePaths: [], isPartial: false };
  if (isBuiltin && tool !== "bash") return { ...facts, paths: await ownPaths(tool, args, around) };
  const command = typeof args.command === "string" ? args.command : undefined;
  const line = command === undefined ? undefined : readShellLine(command);
  const words = line && command !== undefined ? wordsOf(line, command) : [];
  const { texts, isPartial } = textsIn({ ...args, ...(line && { command: words }) });
  const places = [around, ...otherPlaces(args, around)];
  const looked = [...new Set(texts)].slice(0, MOST_TEXTS);
  const paths = await Promise.all(
    places.flatMap((place) => looked.map((text) => possiblePath(text, !isBuiltin, place))),
  );
  const isKnownShell = KNOWN_SHELLS.has(shellName(around.shell ?? defaultShell()));
  const isAll = Object.keys(args).every((name) => (isBuiltin ? OWN_HARMLESS : HARMLESS).has(name));
  return {
    ...facts,
    morePaths: paths.filter((path) => path !== undefined),
    isPartial,
    ...(line && command !== undefined && { command: { text: command, line, isKnownShell, isAll } }),
  };
}

/** Arguments beside which a command is what it says; a folder or an environment can make something else of it. */
const HARMLESS = new Set(["command", "timeout"]);
const OWN_HARMLESS = new Set([...HARMLESS, "tail", "description", "async"]);

/** Where the words of a command count from, when the call names another folder. */
function otherPlaces({ cwd }: LookedAtCall["args"], around: Surroundings): Surroundings[] {
  return typeof cwd === "string" && cwd !== "" ? [{ ...around, cwd: resolvePath(around, cwd) }] : [];
}

function shellName(path: string): string {
  return basename(path.replaceAll("\\", "/")).replace(/\.exe$/i, "");
}

export function basesOf({ cwd, env }: PathContext): PathBases {
  const both = (path: string) => ({ named: slashed(path), real: slashed(realPath(path)) });
  return {
    cwd: both(cwd),
    home: both(resolvePath({ cwd, env }, "~")),
    ignoresCase: process.platform === "darwin" || process.platform === "win32",
  };
}

async function ownPaths(tool: string, args: LookedAtCall["args"], around: Surroundings): Promise<CallPath[]> {
  const given = typeof args.path === "string" ? args.path : FOLDER_READERS.has(tool) ? "." : undefined;
  if (given === undefined) return [];
  const resolve = WRITERS.has(tool) ? resolveWritePath : resolveExistingPath;
  const named = await resolve(around, given);
  const isTree = TREE_READERS.has(tool) && (await kindOf(named)) === "folder";
  const path = callPath(given, named, isTree);
  // A resource of somebody else's has no place that a rule could allow; there may be a folder of that name all the same.
  return URI.test(given) ? [path, { ...path, real: given.replace(/^@/, "") }] : [path];
}

/** As the tools find them: the `@` of a mention may stand before it. */
const URI = /^@?(?!file:)[a-z][a-z0-9+.-]*:\/\//i;

/** Whether another tool reads the folder or all that is in it is not known. */
async function possiblePath(text: string, mayBeTree: boolean, around: Surroundings): Promise<CallPath | undefined> {
  // As it will be opened: a path can be made longer than it is.
  if (text === "" || text.includes("\0") || resolvePath(around, text).length > LONGEST_PATH) return undefined;
  const named = await resolveExistingPath(around, text);
  return callPath(text, named, mayBeTree && (await kindOf(named)) === "folder");
}

function callPath(shown: string, named: string, isTree: boolean): CallPath {
  return { shown, named: slashed(named), real: slashed(realPath(named)), isTree };
}

/** All texts in the arguments, however deep. */
function textsIn(args: Readonly<Record<string, unknown>>): { texts: string[]; isPartial: boolean } {
  const texts: string[] = [];
  const open: unknown[] = [args];
  for (let seen = 0; open.length > 0; seen++) {
    if (texts.length > MOST_TEXTS || seen > MOST_VALUES) return { texts, isPartial: true };
    const value = open.pop();
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) open.push(one);
  }
  return { texts, isPartial: false };
}

function slashed(path: string): string {
  return process.platform === "win32" ? path.replaceAll("\\", "/") : path;
}
