import { readFileSync } from "node:fs";
import { type Env, resolvePath } from "./config/paths.ts";
import { kindOf } from "./prompts/places.ts";

/** An option that takes a text also takes the path of a file with the text. Few texts are short enough to be a path at all. */
export function textOrFile(given: string, cwd: string, env: Env): string {
  const path = given.length < 1024 && !given.includes("\n") ? resolvePath(given, cwd, env) : undefined;
  return path !== undefined && kindOf(path) === "file" ? readFileSync(path, "utf8") : given;
}
