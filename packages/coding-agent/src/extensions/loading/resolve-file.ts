import { join } from "node:path";
import { kindOf, realPath } from "./files.ts";

/** Which file a path without a package name means: TypeScript is written with the extension of what it becomes. */

const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx", ".json"];

const WRITTEN_AS: Record<string, readonly string[]> = {
  ".js": [".ts", ".tsx"],
  ".jsx": [".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};

function* candidates(path: string): Generator<string> {
  yield path;
  const extension = /\.[cm]?jsx?$/.exec(path)?.[0] ?? "";
  for (const other of WRITTEN_AS[extension] ?? []) yield path.slice(0, -extension.length) + other;
  for (const other of EXTENSIONS) yield path + other;
  for (const other of EXTENSIONS) yield join(path, `index${other}`);
}

/** The real path, so that a module that is reached through a link is the same module. */
export function resolveFile(path: string): string | undefined {
  for (const candidate of candidates(path)) if (kindOf(candidate) === "file") return realPath(candidate);
  return undefined;
}
