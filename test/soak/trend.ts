/** Whether a series of numbers goes up. */

export interface Sample {
  /** Any unit. */
  at: number;
  value: number;
}

/**
 * By how much the line through the samples rises from the first to the last. The median of all slopes between two samples:
 * a single peak, a garbage collection say, does not move it.
 */
export function riseOf(samples: readonly Sample[]): number {
  const slopes: number[] = [];
  for (const [n, one] of samples.entries()) {
    for (const other of samples.slice(n + 1)) {
      if (other.at > one.at) slopes.push((other.value - one.value) / (other.at - one.at));
    }
  }
  slopes.sort((a, b) => a - b);
  const median = slopes[Math.floor(slopes.length / 2)] ?? 0;
  return median * ((samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0));
}
