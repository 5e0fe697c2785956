/** Guesses what a mistyped name was meant to be. Only called when something is wrong. */

/** How many letters must be added, taken away, changed or swapped with their neighbour. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      row.push(isSwapped ? Math.min(least, before[j - 2]! + 1) : least);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}

/** More is no typing mistake any more, and comparing is work that grows with the square. */
const LONGEST_WORD = 64;

/**
 * The dotted names that a word may stand for, the likeliest first: one letter in four may be wrong, in the whole name or
 * in its last part; or the word is a part of the name.
 */
export function nearNames(word: string, names: readonly string[]): string[] {
  const wanted = word.toLowerCase();
  if (wanted === "" || wanted.length > LONGEST_WORD) return [];
  const allowed = Math.max(1, Math.floor(wanted.length / 4));
  const scored = names.flatMap((name) => {
    const full = name.toLowerCase();
    const lastPart = full.slice(full.lastIndexOf(".") + 1);
    const distance = Math.min(editDistance(wanted, full), editDistance(wanted, lastPart) + 0.5);
    if (distance <= allowed + 0.5) return [{ name, distance }];
    return wanted.length > 2 && full.includes(wanted) ? [{ name, distance: allowed + 1 }] : [];
  });
  return scored.sort((a, b) => a.distance - b.distance).map(({ name }) => name);
}
