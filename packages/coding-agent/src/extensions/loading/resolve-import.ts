import { dirname, isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { languageOf } from "./compiled.ts";
import { compilerHelper } from "./compiler-helpers.ts";
import { resolveFile } from "./resolve-file.ts";
import { resolvePackage } from "./resolve-package.ts";

/** What a specifier in a file means. */

export type Target =
  | { kind: "given"; open: OpenModule }
  | { kind: "helper"; value: unknown }
  /** `query` makes another module of the same file. */
  | { kind: "file"; path: string; query: string }
  /** For the runtime; `path` unless it is one of its own modules or a URL. */
  | { kind: "native"; path?: string }
  | { kind: "missing" };

const IS_URL = /^[a-z][a-z0-9+.-]+:/i;

/** `names`: those that are imported from it, if that is known; `code`: that of who imports them. */
export type OpenModule = (names?: readonly string[], code?: string) => Promise<object>;

/** Modules that are ours, by their names. Nothing is loaded by asking. */
export type Builtin = (name: string) => OpenModule | undefined;

export function resolveImport(specifier: string, from: string, builtin: Builtin): Target {
  const asPath = pathOf(specifier, from);
  if (asPath !== undefined) return fileTarget(asPath);
  const given = builtin(specifier);
  if (given) return { kind: "given", open: given };
  const helper = compilerHelper(specifier);
  if (helper) return { kind: "helper", value: helper };
  if (isOfRuntime(specifier) || IS_URL.test(specifier)) return { kind: "native" };
  const path = resolvePackage(specifier, from) ?? byRequire(specifier, from);
  if (path === undefined) return { kind: "missing" };
  // Of packages only what the runtime cannot load is loaded by us.
  return /^([cm]?ts|[jt]sx)$/.test(languageOf(path) ?? "")
    ? { kind: "file", path, query: "" }
    : { kind: "native", path };
}

let builtins: Set<string> | undefined;

function isOfRuntime(specifier: string): boolean {
  builtins ??= new Set(process.getBuiltinModule("node:module").builtinModules);
  return builtins.has(specifier);
}

/** Knows places that only the user does: NODE_PATH and the like. */
function byRequire(specifier: string, from: string): string | undefined {
  try {
    return process.getBuiltinModule("node:module").createRequire(from).resolve(specifier);
  } catch {
    return undefined;
  }
}

/** Undefined for names of packages. */
function pathOf(specifier: string, from: string): string | undefined {
  if (specifier.startsWith("file:")) return fileURLToPath(specifier.replace(/[?#].*$/, "")) + queryOf(specifier);
  if (/^\.\.?(\/|$)/.test(specifier)) return resolve(dirname(from), specifier);
  return isAbsolute(specifier) ? specifier : undefined;
}

function queryOf(text: string): string {
  return /\?.*$/.exec(text)?.[0] ?? "";
}

function fileTarget(path: string): Target {
  const whole = resolveFile(path);
  if (whole !== undefined) return { kind: "file", path: whole, query: "" };
  const query = queryOf(path);
  const bare = query === "" ? undefined : resolveFile(path.slice(0, -query.length));
  return bare === undefined ? { kind: "missing" } : { kind: "file", path: bare, query };
}
