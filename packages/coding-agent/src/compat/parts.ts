import type { CompatHost } from "./host.ts";
import { type Names, openModule } from "./stand-in.ts";

/** A module in parts: of a large one an extension mostly wants two or three names, and waits only for those. */

export interface Part {
  /** All that it brings, separated by blanks. */
  names: string;
  load(host: CompatHost): Promise<Names>;
}

/** Gives the module when these names are in it; without names, when all are. It is the same object each time. */
export type OpenParts = (wanted?: readonly string[]) => Promise<Names>;

export function createParts(moduleName: string, always: Names, parts: readonly Part[], host: CompatHost): OpenParts {
  const module = openModule(moduleName, always, host.onStandIn);
  const rows = parts.map(({ names, load }) => ({
    names: namesIn(names),
    load,
    loaded: undefined as Promise<void> | undefined,
  }));
  return async (wanted) => {
    const isAll = wanted === undefined || wanted.some((name) => name === "*" || name === "default");
    const needed = rows.filter(({ names }) => isAll || wanted.some((name) => names.has(name)));
    await Promise.all(
      needed.map((row) => {
        row.loaded ??= row.load(host).then((names) => void Object.assign(module, names));
        return row.loaded;
      }),
    );
    return module;
  };
}

export function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
