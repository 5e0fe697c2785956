/** What a file says, fit for a line in a terminal: a session may hold anything, also what steers the terminal or turns text around. */
export function oneLine(text: string, longest: number): string {
  const line = text.replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069\p{Zl}\p{Zp}]+/gu, " ").trim();
  if (line.length <= longest) return line;
  return `${line.slice(0, longest - 3).replace(/[\uD800-\uDBFF]$/, "")}...`;
}

/** `2026-11-15 18:41Z` */
export function minute(iso: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(iso);
  return match ? `${match[1]} ${match[2]}Z` : oneLine(iso, 30);
}

export function counted(number: number, word: string, words = `${word}s`): string {
  return `${number} ${number === 1 ? word : words}`;
}
