export const minimum = (samples) => Math.min(...samples);

export function median(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** How many times that of `base` the number of `samples` is; undefined where one of both has none, or nothing to divide by. */
export function ratioOf(samples, base, number = median) {
  return samples.length > 0 && base.length > 0 && number(base) > 0 ? number(samples) / number(base) : undefined;
}
