import { type Language, languageOf } from "./compiled.ts";

/**
 * What the compiler is asked for. It comes in as a value: in a file with an import that is made later, compiled code is not
 * kept between starts.
 */

export type Compiler = typeof import("oxc-transform");
type CompilerError = ReturnType<Compiler["transformSync"]>["errors"][number];
type Map = NonNullable<ReturnType<Compiler["transformSync"]>["map"]>;

/** Where an error stands is part of its message: a SyntaxError has no other place for it. */
export function syntaxError(path: string, source: string, error: CompilerError): SyntaxError {
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

export function removeTypes(oxc: Compiler, path: string, source: string, sourcemap: boolean): Step {
  const language = languageOf(path) ?? "js";
  if (NEEDS_NO_TYPES_REMOVED.includes(language)) return { code: source };
  const options = { target: "node20.19", decorator: { legacy: true }, sourcemap };
  const { code, map, errors } = oxc.transformSync(path, source, options);
  const error = errors.find(({ severity }) => severity === "Error");
  if (error) throw syntaxError(path, source, error);
  return { code, map };
}

/** A shebang is no syntax inside a function; a byte order mark would move every column of the first line. */
export function plainStart(source: string): string {
  return source.replace(/^\uFEFF/, "").replace(/^#!/, "//");
}

/** The maps from compiled code back to the source, the last step first. Made again when an error has to be placed. */
export function mapsWith(oxc: Compiler, path: string, original: string): string[] {
  const typeless = removeTypes(oxc, path, plainStart(original), true);
  const { map } = oxc.moduleRunnerTransformSync("module.js", typeless.code, { sourcemap: true });
  return [map, typeless.map].flatMap((step) => (step ? [step.mappings] : []));
}
