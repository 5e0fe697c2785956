import picomatch from "picomatch";

/** A glob over paths with forward slashes. Without a slash in it the pattern is about the name alone, at any depth. */
export function compileGlob(pattern: string): (path: string) => boolean {
  const clean = pattern.replace(/^\.?\/+/, "");
  return picomatch(clean, { dot: true, basename: !clean.includes("/") });
}
