/**
 * The text without these characters at its end. A regular expression such as `\n+$` would look from each of them to the end
 * again: seconds for a text of many that does not end with them.
 */
export function withoutEnding(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
