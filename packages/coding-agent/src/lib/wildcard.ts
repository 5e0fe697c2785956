/** `*` is any number of characters, `?` is one, everything else is itself. As fast as it is short: no pattern can stall it. */
export function wildcardMatches(pattern: string, text: string): boolean {
  let [at, place] = [0, 0];
  /** Where the last star stands, and how much it has taken so far. */
  let [star, taken] = [-1, 0];
  while (place < text.length) {
    if (pattern[at] === "*") {
      star = at++;
      taken = place;
    } else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === text[place])) {
      at++;
      place++;
    } else if (star >= 0) {
      at = star + 1;
      place = ++taken;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
