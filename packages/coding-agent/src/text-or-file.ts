import { readFileSync, statSync } from "node:fs";
import { type Env, resolvePath } from "./config/paths.ts";

/** An option that takes a text also takes the path of a file with the text. */
export function textOrFile(given: string, cwd: string, env: Env): string {
  const path = given.length < 1024 && !given.includes("\n") ? resolvePath(given, cwd, env) : undefined;
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : given;
}
