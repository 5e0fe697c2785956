/**
 * Gives back the object of the last call as long as its fields are the same, so that whoever derives something costly from
 * it (its JSON, say) can see by identity that nothing has changed.
 */
export function remember<T extends object>(look: () => T): () => T {
  let last: T | undefined;
  return () => {
    const now = look();
    if (last === undefined || !sameFields(last, now)) last = now;
    return last;
  };
}

function sameFields<T extends object>(a: T, b: T): boolean {
  for (const key in b) if (a[key] !== b[key]) return false;
  for (const key in a) if (!(key in b)) return false;
  return true;
}
