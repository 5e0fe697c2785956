/**
 * Gives back the object of the last call as long as its fields are the same, so that whoever derives something costly from
 * it (its JSON, say) can see by identity that nothing has changed. The object must always have the same keys.
 */
export function remember<T extends object>(look: () => T): () => T {
  let last = look();
  const keys = Object.keys(last) as (keyof T)[];
  return () => {
    const now = look();
    for (const key of keys) {
      if (now[key] === last[key]) continue;
      last = now;
      break;
    }
    return last;
  };
}
