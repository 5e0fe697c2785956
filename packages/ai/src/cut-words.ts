/** Stands where we have cut the words of others: a secret of which only the beginning is left is looked for before it. */
export const CUT = "…";

/** The beginning of a text that may be of any length. */
export function cutWords(text: string, longest: number): string {
  return text.length <= longest ? text : text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, "") + CUT;
}
