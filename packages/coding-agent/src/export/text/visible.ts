/**
 * Characters that hide, reorder or act instead of being seen, as something one can see. What a page shows of a session is
 * then all that is there: no text that only a program reads, none that reads otherwise than it is. Pure.
 */

/**
 * Controls; what Unicode calls format characters (the marks and overrides of writing direction, soft hyphens, zero-width
 * ones, tags); separators of lines; fillers without a shape and the variation selectors beyond the usual ones.
 */
const HIDDEN = /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]|[\u{e0100}-\u{e01ef}]/gu;

const USUAL = new Set(["\t", "\n"]);
const JOINERS = new Set(["\u200c", "\u200d"]);
const FLAG = "\u{1f3f4}";

export function visibleText(text: string): string {
  return text.replace(HIDDEN, (found, at: number) => (isFine(found, text, at) ? found : nameOf(found)));
}

/** Line feed, tab; a joiner inside of a word or of an emoji; the tags that make a flag of a region. */
function isFine(found: string, text: string, at: number): boolean {
  if (USUAL.has(found)) return true;
  if (JOINERS.has(found)) return isWide(text, at - 1) && isWide(text, at + 1);
  return found >= "\u{e0020}" && found <= "\u{e007f}" && isInFlag(text, at);
}

/** Such scripts, and emoji, need joiners; plain Latin does not. */
function isWide(text: string, at: number): boolean {
  return (text.charCodeAt(at) || 0) > 0x2ff;
}

/** A flag has at most seven tags. */
function isInFlag(text: string, at: number): boolean {
  const start = text.lastIndexOf(FLAG, at);
  return start >= 0 && at - start <= FLAG.length + 2 * 6;
}

function nameOf(found: string): string {
  const code = found.codePointAt(0) ?? 0;
  // The pictures of the control characters are in the same order as the characters.
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
}
