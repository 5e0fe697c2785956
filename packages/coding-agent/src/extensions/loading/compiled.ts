/** What becomes of the source of a module: the body of a function, which is what the cache keeps. */
export interface Compiled {
  /** `esm`: runs asynchronously and strictly. `cjs`: runs at once. */
  kind: "esm" | "cjs";
  code: string;
  /** What `require("...")` names: `require` cannot wait, so this is made ready before the module runs. */
  requires: string[];
}

/** Changes whenever the same source would be compiled to something else. */
export const COMPILER_VERSION = "1/oxc-0.151.0";

export type Language = "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs";

const LANGUAGE = /\.([cm]?[jt]s|[jt]sx)$/;

/** Undefined for files that hold no code. */
export function languageOf(path: string): Language | undefined {
  return LANGUAGE.exec(path)?.[1] as Language | undefined;
}

/**
 * The names that compiled code is written against, as the compiler gives them; `PARAMETERS` is their order. The last
 * five are those of CommonJS, which TypeScript files may use too.
 */
export const PARAMETERS = [
  "__vite_ssr_import__",
  "__vite_ssr_dynamic_import__",
  "__vite_ssr_exports__",
  "__vite_ssr_exportAll__",
  "__vite_ssr_import_meta__",
  "exports",
  "require",
  "module",
  "__filename",
  "__dirname",
] as const;

/** In messages and stacks of the engine `(0 , __vite_ssr_import_0__.run)` is `run` to whoever wrote the extension. */
export function plainNames(text: string): string {
  return text
    .replace(/\(0 ?, (__vite_ssr_import_\d+__\.[\w$.]+)\)/g, "$1")
    .replace(/__vite_ssr_import_\d+__\./g, "")
    .replaceAll("__vite_ssr_export_default__", "default");
}
