import { Script } from "node:vm";
import { type Compiled, type Language, languageOf } from "./compiled.ts";

/**
 * TypeScript and JavaScript become the body of a function. Types go first; then imports and exports become calls and
 * getters, so that bindings stay live as the language wants it. Both steps work on the syntax tree: text that only looks
 * like an import stays what it is.
 */

type Compiler = typeof import("oxc-transform");
type CompilerError = ReturnType<Compiler["transformSync"]>["errors"][number];
type Map = NonNullable<ReturnType<Compiler["transformSync"]>["map"]>;

/** A native library of some size: loaded when the first module is compiled, which with a warm cache is never. */
let compiler: Promise<Compiler> | undefined;

function loadCompiler(): Promise<Compiler> {
  compiler ??= import("oxc-transform");
  return compiler;
}

/** Where an error stands is part of its message: a SyntaxError has no other place for it. */
function syntaxError(path: string, source: string, error: CompilerError): SyntaxError {
  const at = error.labels[0]?.start ?? 0;
  // Offsets count bytes.
  const before = Buffer.from(source).toString("utf8", 0, at).split("\n");
  const column = (before.at(-1) ?? "").length + 1;
  const help = error.helpMessage ? ` (${error.helpMessage})` : "";
  return new SyntaxError(`${path}:${before.length}:${column}: ${error.message}${help}`);
}

const NEEDS_NO_TYPES_REMOVED: readonly Language[] = ["js", "mjs", "cjs"];

interface Step {
  code: string;
  map?: Map | undefined;
}

function removeTypes(oxc: Compiler, path: string, source: string, sourcemap: boolean): Step {
  const language = languageOf(path) ?? "js";
  if (NEEDS_NO_TYPES_REMOVED.includes(language)) return { code: source };
  const options = { target: "node20.19", decorator: { legacy: true }, sourcemap };
  const { code, map, errors } = oxc.transformSync(path, source, options);
  const error = errors.find(({ severity }) => severity === "Error");
  if (error) throw syntaxError(path, source, error);
  return { code, map };
}

/** A shebang is no syntax inside a function; a byte order mark would move every column of the first line. */
function plainStart(source: string): string {
  return source.replace(/^\uFEFF/, "").replace(/^#!/, "//");
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

/** The maps from compiled code back to the source, the last step first. Made again when an error has to be placed. */
export async function sourceMaps(path: string, original: string): Promise<string[]> {
  const oxc = await loadCompiler();
  const typeless = removeTypes(oxc, path, plainStart(original), true);
  const { map } = oxc.moduleRunnerTransformSync("module.js", typeless.code, { sourcemap: true });
  return [map, typeless.map].flatMap((step) => (step ? [step.mappings] : []));
}
