import picomatch from "picomatch";
import { globTest } from "./guarded-match.ts";

/**
 * A glob over paths with forward slashes. Without a slash in it the pattern is about the name alone, at any depth; whoever has
 * the name at hand gives it too.
 */
export function compileGlob(pattern: string): (path: string, name?: string) => boolean {
  const clean = cleanGlob(pattern);
  // The bare expression: what the package does around it costs more than the match.
  const regex = picomatch.makeRe(clean, { dot: true });
  const ending = literalEnding(clean);
  const fits = globTest(regex, clean, () => {
    throw new Error(`The pattern "${pattern}" takes too long: use fewer stars, or name the folder.`);
  });
  const matches = (text: string) => text.endsWith(ending) && (text === clean || fits(text));
  if (clean.includes("/")) return (path) => matches(path);
  return (path, name = path.slice(path.lastIndexOf("/") + 1)) => matches(name);
}

/** What every match ends with, as far as that is plain to see; most paths are told by it. */
function literalEnding(glob: string): string {
  if (/[!|()]/.test(glob)) return "";
  let start = glob.length;
  while (start > 0 && /[\w.-]/.test(glob[start - 1]!)) start--;
  return glob.slice(start);
}

/** Relative to the searched folder. A folder with its slash means everything in it, and all that is in it not the folder. */
function cleanGlob(pattern: string): string {
  // The package knows only `^` as "none of these".
  const clean = pattern.replace(/^(?:\.?\/)+/, "").replace(/(?<!\\)\[!/g, "[^");
  return clean.replace(/\/(?:\*\*)?$/, "/**/*");
}

/**
 * The same glob for ripgrep; undefined when it is not sure to let through at least the same files. Only plain stars and
 * alternatives are: the rest (classes, extended globs, negations) is read differently.
 */
export function ripgrepGlob(pattern: string): string | undefined {
  const clean = cleanGlob(pattern);
  const isPlain = /^[\w .*@+/-]+$/.test(clean.replace(/\{[\w .*@+-]+(?:,[\w .*@+-]+)+\}/g, "x"));
  const starsStandAlone = clean.split("/").every((part) => part === "**" || !part.includes("**"));
  const isExtended = /[@+*]\(/.test(clean);
  if (!isPlain || !starsStandAlone || isExtended || clean === "") return undefined;
  return clean.includes("/") ? `/${clean}` : clean;
}
