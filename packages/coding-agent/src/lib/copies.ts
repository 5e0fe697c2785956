/**
 * What extensions see of the session's own objects. Entries and messages are copied: whoever prepares a request of his own
 * changes them in place, and may. Models are frozen: it is the object itself by which a model is known.
 */

/** Lists and plain objects anew, all the way down; texts, which are most of it, are shared. */
export function copied<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copied) as T;
  if (value instanceof Map || value instanceof Set) return structuredClone(value);
  const kind: unknown = Object.getPrototypeOf(value);
  if (kind !== Object.prototype && kind !== null) return value;
  // Not by assignment: what is called `__proto__` in a file is a field like any other.
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copied(part)])) as T;
}

/** The copy of an object, the same one each time: a session of thousands of entries is copied once. */
export function createCopies(): <T extends object>(ours: T) => T {
  const made = new WeakMap<object, object>();
  return <T extends object>(ours: T): T => {
    const known = made.get(ours);
    if (known) return known as T;
    const copy = copied(ours);
    made.set(ours, copy);
    return copy;
  };
}

/** The same object, which nobody can change from now on. */
export function frozen<T extends object | undefined>(value: T): T {
  if (value === undefined || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) frozen(part as object);
  return value;
}
