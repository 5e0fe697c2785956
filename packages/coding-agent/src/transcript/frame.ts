/** A frame as it stands on the wire, before anyone has looked at it. */
export type Frame = Record<string, unknown> & { type?: string };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `at(frame, "message", "role")`: the value down there, or undefined. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let current = value;
  for (const key of path) {
    if (Array.isArray(current) && typeof key === "number") current = current[key];
    else if (isRecord(current)) current = current[key];
    else return undefined;
  }
  return current;
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Equal by value; key order does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => sameJson(item, b[i]));
  if (!isRecord(a) || !isRecord(b)) return Object.is(a, b);
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && sameJson(a[key], b[key]));
}

/** One line for people: long values cut in the middle of nowhere, but the type always readable. */
export function brief(frame: unknown, length = 200): string {
  const text = JSON.stringify(frame) ?? String(frame);
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
