/**
 * Gives back what was made last as long as it would be made of the very same values: what is the same from request to
 * request is put together once. The memory is one deep; whoever takes turns with somebody else pays as without it.
 */
export function lastMade<Values extends readonly unknown[], Made>(
  make: (...values: Values) => Made,
): (...values: Values) => Made {
  let last: { values: Values; made: Made } | undefined;
  return (...values) => {
    if (!last || !isSame(last.values, values)) last = { values, made: make(...values) };
    return last.made;
  };
}

/** The last list as long as the new one has the same in it: so `lastMade` knows it again. */
export function lastList<Item>(): (list: readonly Item[]) => readonly Item[] {
  let last: readonly Item[] = [];
  return (list) => {
    if (!isSame(last, list)) last = list;
    return last;
  };
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
