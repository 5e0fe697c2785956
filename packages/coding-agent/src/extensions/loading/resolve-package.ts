import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isPlainObject } from "../../config/setting-value.ts";
import { kindOf, realPath } from "./files.ts";
import { parseJson } from "./parse-json.ts";
import { resolveFile } from "./resolve-file.ts";

/**
 * Where `import "name/sub"` leads from a file, with the conditions of an import. Node can do this only from inside a
 * module, and only for files it can load itself.
 */

const CONDITIONS = new Set(["node", "import", "module-sync", "default"]);

export function resolvePackage(specifier: string, from: string): string | undefined {
  if (specifier.startsWith("#")) return resolveImports(specifier, from);
  const [, name, rest = ""] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  for (const folder of foldersAbove(from)) {
    const place = join(folder, "node_modules", name);
    if (kindOf(place) === "folder") return inPackage(place, rest);
    // A package may name itself.
    const own = readPackage(folder);
    if (own?.name === name && own.exports !== undefined) return inPackage(folder, rest);
  }
  return undefined;
}

function* foldersAbove(from: string): Generator<string> {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    yield folder;
    if (folder === dirname(folder)) return;
  }
}

function readPackage(folder: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = parseJson(readFileSync(join(folder, "package.json"), "utf8"));
    return isPlainObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function inPackage(folder: string, rest: string): string | undefined {
  const { exports, main } = readPackage(folder) ?? {};
  if (exports !== undefined && exports !== null) {
    const found = isSubpaths(exports) ? matchKey(exports, `.${rest}`) : rest === "" ? target(exports, "") : undefined;
    return found === undefined ? undefined : existing(join(folder, found));
  }
  if (rest !== "") return resolveFile(join(folder, rest));
  return (typeof main === "string" ? resolveFile(join(folder, main)) : undefined) ?? resolveFile(join(folder, "index"));
}

function resolveImports(specifier: string, from: string): string | undefined {
  for (const folder of foldersAbove(from)) {
    const own = readPackage(folder);
    if (!own) continue;
    const found = isPlainObject(own.imports) ? matchKey(own.imports, specifier) : undefined;
    if (found === undefined) return undefined;
    // Such names stand for files of the own sources, which are written with and without their extension.
    return found.startsWith(".")
      ? resolveFile(join(folder, found))
      : resolvePackage(found, join(folder, "package.json"));
  }
  return undefined;
}

function existing(path: string): string | undefined {
  return kindOf(path) === "file" ? realPath(path) : undefined;
}

function isSubpaths(exports: unknown): exports is Record<string, unknown> {
  return isPlainObject(exports) && Object.keys(exports).some((key) => key.startsWith("."));
}

/** The exact key, else the longest one with a star. */
function matchKey(table: Record<string, unknown>, wanted: string): string | undefined {
  if (Object.hasOwn(table, wanted) && !wanted.includes("*")) return target(table[wanted], "");
  const stars = Object.keys(table).filter((key) => key.includes("*"));
  for (const key of stars.sort((a, b) => b.indexOf("*") - a.indexOf("*"))) {
    const [before = "", after = ""] = key.split("*");
    if (wanted.length < before.length + after.length || !wanted.startsWith(before) || !wanted.endsWith(after)) continue;
    return target(table[key], wanted.slice(before.length, wanted.length - after.length));
  }
  return undefined;
}

/** The first condition that holds and leads somewhere. */
function target(value: unknown, star: string): string | undefined {
  if (typeof value === "string") return value.replaceAll("*", star);
  if (Array.isArray(value)) return firstDefined(value, (item) => target(item, star));
  if (!isPlainObject(value)) return undefined;
  const holding = Object.keys(value).filter((key) => CONDITIONS.has(key));
  return firstDefined(holding, (key) => target(value[key], star));
}

function firstDefined<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
