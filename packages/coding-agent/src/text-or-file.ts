import { type Env, resolvePath } from "./config/paths.ts";
import { readText } from "./lib/text-file.ts";
import { kindOf } from "./prompts/places.ts";

/**
 * An option that takes a text also takes the path of a file with the text. Few texts are short enough to be a path at all.
 * A file that cannot be used is an error: an agent that was told something else than it should be is worse than none.
 */
export function textOrFile(option: string, given: string, { cwd, env }: { cwd: string; env: Env }): string {
  const path = given.length < 1024 && !given.includes("\n") ? resolvePath(given, cwd, env) : undefined;
  const kind = path === undefined ? undefined : kindOf(path);
  if (path === undefined || kind === undefined || kind === "folder") return given;
  if (path === "/dev/null") return "";
  const read = readText(path);
  if ("problem" in read) throw new Error(`${option}: ${read.problem}`);
  return read.text;
}
