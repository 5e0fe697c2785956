import { isAbsolute, relative, resolve, sep } from "node:path";

/**
 * Lists of paths as manifests and settings have them: `path`, `src/*.ts`, `!pattern` and `-path` to leave out, `+path`
 * to take in spite of that.
 */

const IS_PATTERN = /[*?]/;

export function isPattern(text: string): boolean {
  return IS_PATTERN.test(text);
}

/** `*` and `?` stay within one folder, `**` does not. */
export function patternToRegExp(pattern: string): RegExp {
  const parts = pattern
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map((part) => WILD.get(part) ?? part.replace(/[\\^$.|+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join("")}$`);
}

/** A map: a name may be `constructor`. */
const WILD: ReadonlyMap<string, string> = new Map([
  ["**/", "(?:.*/)?"],
  ["**", ".*"],
  ["*", "[^/]*"],
  ["?", "[^/]"],
]);

/** A path of a manifest or of a filter, without what is only decoration. */
export function plainPath(path: string): string {
  return path.replace(/^\.\//, "").replace(/\/+$/, "");
}

/** Which of the paths a filter leaves; no filter leaves all, an empty one none. */
export function filterPaths(paths: readonly string[], base: string, filter: readonly string[] | undefined): string[] {
  if (!filter) return [...paths];
  const wanted = filter.filter((entry) => !/^[!+-]/.test(entry));
  const starting = (sign: string): string[] =>
    filter.filter((entry) => entry.startsWith(sign)).map((entry) => entry.slice(1));
  const [refused, forced, removed] = [starting("!"), starting("+"), starting("-")];
  const only = wanted.length > 0;
  return paths.filter((path) => {
    if (matchesAny(path, base, removed)) return false;
    if (matchesAny(path, base, forced)) return true;
    const taken = only ? matchesAny(path, base, wanted) : refused.length > 0 || removed.length > 0;
    return taken && !matchesAny(path, base, refused);
  });
}

/** Also what lies in a folder that is named. */
function matchesAny(path: string, base: string, entries: readonly string[]): boolean {
  const inside = relative(base, path).split(sep).join("/");
  return entries.some((entry) => {
    if (isPattern(entry)) return patternToRegExp(plainPath(entry)).test(isAbsolute(entry) ? path : inside);
    const named = resolve(base, entry);
    return path === named || path.startsWith(named + sep);
  });
}
