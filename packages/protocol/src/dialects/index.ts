import type { Dialect, DialectName } from "./dialect.ts";
import { omp } from "./omp.ts";
import { pi } from "./pi.ts";
import { union } from "./union.ts";
import { xcsh } from "./xcsh.ts";

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = { union, pi, omp, xcsh };

export function dialectNamed(name: string): Dialect | undefined {
  return Object.hasOwn(DIALECTS, name) ? DIALECTS[name as DialectName] : undefined;
}

/** The dialect that goes with the name the program was started under: a link called `pi` speaks pi. */
export function dialectForProgram(path: string): Dialect {
  const file = path.split(/[/\\]/).at(-1) ?? "";
  return dialectNamed(file.replace(/\.(?:[cm]?js|exe|cmd)$/i, "").toLowerCase()) ?? union;
}
