/**
 * Texts of others as they may be shown to a person: what would steer the terminal, or make a text read otherwise than it is, is
 * seen instead of done. Pure.
 */

/** Control characters but for line feed and tab, marks that turn the direction of writing, and the line ends of Unicode. */
export const STEERING = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** Line feeds stay: they are for texts of several lines. */
export function visible(text: string, unseen = STEERING): string {
  return text.replace(unseen, (char) => (char === "\n" ? char : `\\u{${char.codePointAt(0)!.toString(16)}}`));
}

/** For what is one line, or a part of one: it cannot begin a line that seems to be somebody else's. */
export function oneLine(text: string, unseen = STEERING): string {
  return visible(text, unseen).replaceAll("\n", "\\n");
}
