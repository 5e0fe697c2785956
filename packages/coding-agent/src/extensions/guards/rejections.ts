import { sep } from "node:path";
import { pathToFileURL } from "node:url";

/** Who is to blame for an error that nobody caught, as far as its stack tells. */

export interface ExtensionPlace {
  /** The entry file. */
  path: string;
  /** The package or folder it belongs to. */
  baseDir?: string;
}

/** For an error that may come from any extension, e.g. a rejection with a string. */
export const UNKNOWN_EXTENSION = "<unknown>";

/** Errors may have causes, and those too, also in a circle. */
const MOST_STACKS = 20;

/**
 * The path of the extension; `<unknown>` when nothing speaks for our own code; undefined when it is ours.
 * An extension anywhere in the stack has called, with whatever it gave, the code that failed.
 */
export function ownerOf(error: unknown, extensions: readonly ExtensionPlace[], ownFolder: string): string | undefined {
  if (extensions.length === 0) return undefined;
  const asker = typeof error === "object" && error !== null ? askers.get(error) : undefined;
  if (asker !== undefined) return asker;
  const stacks = stacksOf(error);
  const frames = stacks.flatMap(framesOf);
  const named = extensions.filter((place) => stacks.some((stack) => mayName(stack, place)));
  for (const frame of named.length > 0 ? frames : []) {
    const owner = ownerOfFrame(frame, named);
    if (owner) return owner.path;
  }
  return frames.some((frame) => isInside(frame, ownFolder)) ? undefined : UNKNOWN_EXTENSION;
}

/** Errors that were made in our code, of something that an extension has asked for. */
const askers = new WeakMap<object, string>();

/** Whoever has asked for it and does not wait for it answers for how it ends, though nothing in the stack names him. */
export async function askedBy<T>(extensionPath: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (typeof error === "object" && error !== null) askers.set(error, extensionPath);
    throw error;
  }
}

/** Asked for each extension before every frame is looked at: most are in no frame. */
function mayName(stack: string, { path, baseDir }: ExtensionPlace): boolean {
  return stack.includes(path) || (baseDir !== undefined && stack.includes(baseDir)) || stack.includes("file://");
}

function ownerOfFrame(frame: string, extensions: readonly ExtensionPlace[]): ExtensionPlace | undefined {
  const exact = extensions.find(({ path }) => mentions(frame, path, ":?"));
  if (exact) return exact;
  // A package may lie inside the folder of another one: the innermost is meant.
  let best: ExtensionPlace | undefined;
  for (const place of extensions) {
    const isCloser = (place.baseDir?.length ?? 0) > (best?.baseDir?.length ?? 0);
    if (place.baseDir !== undefined && isCloser && isInside(frame, place.baseDir)) best = place;
  }
  return best;
}

function isInside(frame: string, folder: string): boolean {
  return mentions(frame, folder.endsWith(sep) ? folder.slice(0, -1) : folder, "/\\");
}

/** True when the path stands in the frame, as a path or as the address of a module, and one of `next` follows. */
function mentions(frame: string, path: string, next: string): boolean {
  if (names(frame, path, next)) return true;
  // Looked at for each frame and each extension: what an address costs is paid only where there are any.
  return frame.includes("file://") && names(frame, pathToFileURL(path).href, next);
}

function names(frame: string, name: string, next: string): boolean {
  for (let at = frame.indexOf(name); at >= 0; at = frame.indexOf(name, at + 1)) {
    const before = frame[at - 1] ?? " ";
    const isWhole = "( ".includes(before) || frame.slice(0, at).endsWith("file://");
    const after = frame[at + name.length];
    if (isWhole && after !== undefined && next.includes(after)) return true;
  }
  return false;
}

/** The message, which stands in front, may name any path. */
function framesOf(stack: string): string[] {
  return stack.split("\n").filter((line) => /^\s+at /.test(line));
}

/** The stacks of an error, of its causes and of the errors it collects. */
function stacksOf(error: unknown): string[] {
  const stacks: string[] = [];
  const todo: unknown[] = [error];
  const seen = new Set<unknown>();
  while (todo.length > 0 && seen.size < MOST_STACKS) {
    const next = todo.shift();
    if (seen.has(next)) continue;
    seen.add(next);
    const stack = read(next, "stack");
    if (typeof stack === "string") stacks.push(stack);
    const errors = read(next, "errors");
    todo.push(read(next, "cause"), ...(Array.isArray(errors) ? errors.slice(0, MOST_STACKS) : []));
  }
  return stacks;
}

/** What is thrown may be anything, also something that throws when it is looked at. */
function read(value: unknown, name: string): unknown {
  try {
    return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  } catch {
    return undefined;
  }
}

/** A text for anything that can be thrown. */
export function errorText(error: unknown): string {
  const message = read(error, "message");
  if (typeof message === "string" && message !== "") return message;
  try {
    return String(error);
  } catch {
    return "an error that cannot be shown";
  }
}
