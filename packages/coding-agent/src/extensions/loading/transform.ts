import { Script } from "node:vm";
import { type Compiled, type Language, languageOf } from "./compiled.ts";
import { type Compiler, mapsWith, plainStart, removeTypes, syntaxError } from "./compiler-steps.ts";

/**
 * TypeScript and JavaScript become the body of a function. Types go first; then imports and exports become calls and
 * getters, so that bindings stay live as the language wants it. Both steps work on the syntax tree: text that only looks
 * like an import stays what it is.
 */

/** A native library of some size: loaded when the first module is compiled, which with a warm cache is never. */
let compiler: Promise<Compiler> | undefined;

function loadCompiler(): Promise<Compiler> {
  compiler ??= import("oxc-transform");
  return compiler;
}

const HAS_MODULE_SYNTAX = /__vite_ssr_(import__|exports__|exportAll__|import_meta__)/;
const LOOKS_LIKE_MODULE = /^\s*(import|export)\b/m;

export async function transform(path: string, original: string): Promise<Compiled> {
  const oxc = await loadCompiler();
  const source = plainStart(original);
  const language = languageOf(path) ?? "js";
  const typeless = removeTypes(oxc, path, source, false);
  const { code, errors } = oxc.moduleRunnerTransformSync("module.js", typeless.code);
  const error = errors.find(({ severity }) => severity === "Error");
  if (error) {
    // What the compiler refuses as a module may be an old script: `return` at the top, octal numbers, `with`.
    if (LOOKS_LIKE_MODULE.test(typeless.code)) throw syntaxError(path, typeless.code, error);
    checkScript(path, typeless.code, syntaxError(path, typeless.code, error));
    return { kind: "cjs", code: typeless.code, requires: requiresOf(typeless.code) };
  }
  return { kind: kindOf(language, code), code, requires: requiresOf(code) };
}

function kindOf(language: Language, code: string): Compiled["kind"] {
  if (language === "mjs" || language === "mts" || HAS_MODULE_SYNTAX.test(code)) return "esm";
  // Neither imports nor exports, but `await` at the top: only a module may do that.
  return /\bawait\b/.test(code) && !isScript(code) ? "esm" : "cjs";
}

function isScript(code: string): boolean {
  try {
    compileAsScript(code);
    return true;
  } catch {
    return false;
  }
}

function checkScript(path: string, code: string, moduleError: SyntaxError): void {
  try {
    compileAsScript(code);
  } catch (error) {
    if (error instanceof SyntaxError || (error as Error).name === "SyntaxError") throw moduleError;
    throw new Error(`${path}: ${String(error)}`);
  }
}

function compileAsScript(code: string): void {
  new Script(`(function () {${code}\n})`);
}

/** May also find what only stands in a text; then something is made ready that nobody asks for. */
function requiresOf(code: string): string[] {
  const found = code.matchAll(/\brequire\(\s*(["'`])([^"'`\n]+)\1\s*\)/g);
  return [...new Set([...found].map((match) => match[2] as string))];
}

/** The maps from compiled code back to the source, the last step first. */
export async function sourceMaps(path: string, original: string): Promise<string[]> {
  return mapsWith(await loadCompiler(), path, original);
}
