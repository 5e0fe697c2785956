import { readFileSync } from "node:fs";
import { type Compiler, mapsWith } from "./compiler-steps.ts";
import { type Position, through } from "./source-positions.ts";

/**
 * The line of the source that a place in compiled code comes from; undefined when nobody can tell. At once, because who
 * asks has stopped the main thread in the middle of a loop: nothing that takes turns would ever come back.
 */
export function lineInSource(path: string, place: Position): number | undefined {
  try {
    const { createRequire } = process.getBuiltinModule("node:module");
    const oxc = createRequire(import.meta.url)("oxc-transform") as Compiler;
    return through(mapsWith(oxc, path, readFileSync(path, "utf8")), place)?.line;
  } catch {
    // It may have changed or gone, and the compiler may not be installed.
    return undefined;
  }
}
