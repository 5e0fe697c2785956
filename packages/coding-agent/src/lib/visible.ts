/**
 * Texts of others as they may be shown to a person: what would steer the terminal, or make a text read otherwise than it is, is
 * seen instead of done. Pure.
 */

/**
 * Control characters but for tabs and line ends, what turns the direction of writing around (not the marks of single letters,
 * which are part of names in Hebrew and Arabic), and the line ends of Unicode.
 */
export const STEERING = /(?!\t|\r?\n)[\p{Cc}\u202a-\u202e\u2066-\u2069\p{Zl}\p{Zp}]/gu;

/** Line feeds stay: they are for texts of several lines. */
export function visible(text: string, unseen = STEERING): string {
  return text.replace(unseen, (char) => (char === "\n" ? char : `\\u{${char.codePointAt(0)!.toString(16)}}`));
}

/** For what is one line, or a part of one: it cannot begin a line that seems to be somebody else's. */
export function oneLine(text: string, unseen = STEERING): string {
  return visible(text, unseen).replace(/\r?\n/g, "\\n");
}

/** A name of a file, on one line. In quotes when it is not spelled like that on the disk: without them it may be another's. */
export function shownName(name: string): string {
  const shown = oneLine(name);
  return shown === name ? name : `"${shown}"`;
}
