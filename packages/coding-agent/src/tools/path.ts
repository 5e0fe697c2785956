import { access, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Turns what a model writes as a path into a real one. */

/** Spaces that look like a space but are not one: models copy them from prose, and file names of screenshots have them. */
const UNICODE_SPACES = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g;

export interface PathContext {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** Absolute path: a leading `@` (a mention) is dropped, odd spaces become plain ones, `~` is the home folder. */
export function resolvePath(context: PathContext, path: string): string {
  const plain = path.replace(UNICODE_SPACES, " ");
  return resolve(context.cwd, expandHome(context, plain.startsWith("@") ? plain.slice(1) : plain));
}

/** As resolvePath, but a file that is really called that way (with the `@` or the odd space) is found first. */
export async function resolveExistingPath(context: PathContext, path: string): Promise<string> {
  const normal = resolvePath(context, path);
  const literal = resolve(context.cwd, expandHome(context, path));
  if (literal === normal) return normal;
  return (await exists(literal)) ? literal : normal;
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function expandHome(context: PathContext, path: string): string {
  if (path !== "~" && !path.startsWith("~/")) return path;
  return join(context.env.HOME || homedir(), path.slice(1));
}

/**
 * Throws for pipes and devices. Opening a pipe waits for its other end, in a thread that nobody can call back, so that the
 * process could not even exit; and `/dev/stdout` is the protocol. Folders and what is missing get the system's own error.
 */
export async function requireRegularFile(path: string, shownPath: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found || found.isFile() || found.isDirectory()) return;
  throw new Error(`Not a regular file: ${shownPath}. Use bash to read from or write to pipes and devices.`);
}

/** What stands at a path; undefined when there is nothing. */
export async function kindOf(path: string): Promise<"folder" | "file" | undefined> {
  return stat(path).then(
    (found) => (found.isDirectory() ? "folder" : "file"),
    () => undefined,
  );
}
