import { readFileSync } from "node:fs";
import { plainNames } from "./compiled.ts";
import { through } from "./source-positions.ts";

/**
 * Modules run as compiled code, whose lines are not those of the source. Nobody pays for that before an error is shown:
 * only then the file is compiled once more, with maps.
 */

const PLACE = /(?<path>(?:[A-Za-z]:)?[\\/][^:()\n]{0,1024}):(?<line>\d+):(?<column>\d+)/g;
/** In characters. Errors quote what they are about, which may be anything: each slash in it could be where a path begins. */
const LOOKED_AT = 16 * 1024;

/** The stack, or what can be said of something that is no error. */
export async function placeInSource(error: unknown, isOurs: (path: string) => boolean): Promise<string> {
  const all = error instanceof Error || hasStack(error) ? String(error.stack ?? error) : String(error);
  const stack = all.slice(0, LOOKED_AT);
  const maps = new Map<string, readonly string[]>();
  for (const { groups } of stack.matchAll(PLACE)) {
    const path = groups?.path as string;
    if (isOurs(path) && !maps.has(path)) maps.set(path, await mapsOf(path));
  }
  const placed = stack.replace(PLACE, (whole, path: string, line: string, column: string) => {
    const found = through(maps.get(path) ?? [], { line: Number(line), column: Number(column) });
    return found ? `${path}:${found.line}:${found.column}` : whole;
  });
  return plainNames(placed + all.slice(LOOKED_AT));
}

function hasStack(error: unknown): error is { stack: unknown } {
  return typeof error === "object" && error !== null && "stack" in error;
}

/** A file that has changed or gone since gives no better place than the one there is. */
async function mapsOf(path: string): Promise<string[]> {
  try {
    const { sourceMaps } = await import("./transform.ts");
    return await sourceMaps(path, readFileSync(path, "utf8"));
  } catch {
    return [];
  }
}
