/**
 * How deep a value may be nested. `JSON.parse` reads any depth, but `JSON.stringify` and whoever walks through a value fails at
 * a few thousand levels, other programs far earlier. Nothing that makes sense comes near this.
 */
export const MOST_LEVELS = 500;

/** Also the value itself is a level, if it holds others. */
export function isTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const item of Object.values(value)) if (isTooDeep(item, levels - 1)) return true;
  return false;
}
