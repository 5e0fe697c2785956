/** Finds what a person means by a few letters. Pure. */

export interface FuzzyMatch {
  matches: boolean;
  /** Less is better. */
  score: number;
}

/** All letters in this order, with gaps; close together and at the beginning of words is better. */
export function fuzzyMatch(query: string, text: string): FuzzyMatch {
  const [wanted, given] = [query.toLowerCase(), text.toLowerCase()];
  let score = 0;
  let last = -1;
  for (const letter of wanted) {
    const at = given.indexOf(letter, last + 1);
    if (at < 0) return { matches: false, score: 0 };
    const beginsWord = at === 0 || /[\s\-_./:]/.test(given.charAt(at - 1));
    score +=
      (last < 0 ? at * 0.1 : (at - last - 1) * 2) - (beginsWord ? 5 : 0) - (last >= 0 && at === last + 1 ? 5 : 0);
    last = at;
  }
  return { matches: true, score };
}

/** The items in which every word of the query is found, best first. */
export function fuzzyFilter<T>(items: readonly T[], query: string, textOf: (item: T) => string): T[] {
  const words = query
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return [...items];
  const found: { item: T; score: number }[] = [];
  for (const item of items) {
    const text = textOf(item);
    const matches = words.map((word) => fuzzyMatch(word, text));
    if (!matches.every((match) => match.matches)) continue;
    found.push({ item, score: matches.reduce((sum, match) => sum + match.score, 0) });
  }
  return found.sort((a, b) => a.score - b.score).map(({ item }) => item);
}
