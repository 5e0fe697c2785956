/**
 * `null` in an optional field means absent, and is removed: whoever handles the command shall not see it either. A field of
 * a field, such as `limits.turns`, is removed from a copy, as in a library the inner object is the caller's.
 */
export function withoutNulls<Fields extends Record<string, unknown>>(
  fields: Fields,
  optional: readonly string[],
): Fields {
  for (const path of optional) {
    const [name, inner] = cut(path);
    const value = fields[name];
    if (inner === undefined) {
      if (value === null) delete fields[name];
    } else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      Object.assign(fields, { [name]: withoutNulls({ ...value }, [inner]) });
    }
  }
  return fields;
}

function cut(path: string): [name: string, inner?: string] {
  const dot = path.indexOf(".");
  return dot < 0 ? [path] : [path.slice(0, dot), path.slice(dot + 1)];
}
