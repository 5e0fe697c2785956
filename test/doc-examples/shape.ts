/** Whether something real looks like an example: the same fields with the same kinds of values, and perhaps more. */

/** Where it does not, as a path; undefined when it fits. */
export function shapeDifference(example: unknown, real: unknown, path = ""): string | undefined {
  if (Array.isArray(example)) {
    if (!Array.isArray(real)) return `${path}: not a list`;
    const missing = example.findIndex((item) => !real.some((other) => shapeDifference(item, other) === undefined));
    return missing === -1 ? undefined : `${path}[${missing}]: nothing like it among ${real.length}`;
  }
  if (typeof example !== "object" || example === null) {
    const same = typeof example === typeof real && (example === null) === (real === null);
    return same ? undefined : `${path}: ${JSON.stringify(real)} is no ${example === null ? "null" : typeof example}`;
  }
  if (typeof real !== "object" || real === null || Array.isArray(real)) return `${path}: not an object`;
  for (const [key, value] of Object.entries(example)) {
    if (value === undefined) continue;
    const difference = shapeDifference(value, (real as Record<string, unknown>)[key], `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
