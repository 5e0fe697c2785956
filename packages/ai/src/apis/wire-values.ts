/** What comes over the wire, or out of a file, may be anything: here it is read as what it should be. Pure. */

/** The text, or an empty one. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A text with something in it. */
export function filledText(value: unknown): string | undefined {
  return textOf(value) || undefined;
}

/** A count that is missing, null or no count says nothing. Beyond what can be counted, sums and prices would have no end. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON that strict readers take: see `wellFormed`. */
export function toJson(value: unknown): string {
  return wellFormed(JSON.stringify(value));
}

/** An escaped backslash, which is passed over, or half of a pair, which only stands escaped when the other half is missing. */
const ESCAPE = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;

/**
 * Half of a surrogate pair (a text that was cut inside of an emoji) is no character: `JSON.stringify` writes it as an
 * escape, and strict servers refuse the whole conversation for it, for good. It becomes the sign for what cannot be read.
 */
export function wellFormed(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(ESCAPE, (found) => (found === "\\\\" ? found : "\\ufffd"));
}
