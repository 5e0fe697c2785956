import { pathToFileURL } from "node:url";
import { createNamespace, exportCommonJs, type Namespace } from "./namespaces.ts";

/**
 * Loads what the runtime can load itself. `path` is where a package was found from the importing file: the runtime can
 * take the place of another file only with a feature that Node calls experimental, at the cost of a warning and of some
 * milliseconds, and that Bun does not have.
 */
export async function nativeImport(specifier: string, path: string | undefined): Promise<object> {
  const builtin = builtinModule(specifier);
  if (builtin) return builtin;
  const { runtimeImport } = await import("./runtime-import.ts");
  return runtimeImport(path === undefined ? specifier : pathToFileURL(path).href);
}

const builtins = new Map<string, Namespace>();

function builtinModule(specifier: string): Namespace | undefined {
  const known = builtins.get(specifier);
  if (known) return known;
  const module: unknown = process.getBuiltinModule(specifier);
  if (!module) return undefined;
  const namespace = createNamespace();
  exportCommonJs(namespace, module);
  builtins.set(specifier, namespace);
  return namespace;
}

const NOT_FOUND = new Set<unknown>(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ERR_UNKNOWN_BUILTIN_MODULE"]);

/** The name in the runtime's words for a package or file it has not found, if that is what went wrong. */
export function missingName(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (!NOT_FOUND.has(code)) return undefined;
  return /(?:package|module):? ['"]?([^'"]+)['"]?/.exec(String(message))?.[1];
}

/** Node does not load TypeScript, and above all not in packages. */
export function isUnknownToRuntime(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "ERR_UNKNOWN_FILE_EXTENSION" || code === "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING";
}
