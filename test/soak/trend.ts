/** Whether a series of numbers goes up, and by how much it may. */

export interface Sample {
  /** Any unit. */
  at: number;
  value: number;
}

/** Of an agent, on average, in MB: after the warm-up, at the end, and how far the line between rises. Zero where there is none. */
export interface Level {
  first: number;
  last: number;
  rise: number;
}

/** Of what was there first. */
const MOST_RISE = 0.12;

/** Few agents may all be of one half: the other has nothing that could rise. */
export const isLevel = ({ first, rise }: Level): boolean => first === 0 || rise < MOST_RISE * first;

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
