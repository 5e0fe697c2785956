/** Random numbers that are the same for the same seed, however fast the machine is. */

export interface Lots {
  /** At least 0, below `end`. */
  below(end: number): number;
  one<T>(list: readonly T[]): T;
  /** True once in so many times. */
  oneIn(times: number): boolean;
}

export function createLots(seed: number): Lots {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    one: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    oneIn: (times) => below(times) === 0,
  };
}

/** What a fuzz test plays: as much as the environment says, else little, and then always the same. */
export function planOf(what: string, usual: number): { runs: number; seed: number } {
  const runs = Number(process.env[`TILLER_FUZZ_${what}`] ?? usual);
  return { runs, seed: Number(process.env.TILLER_SEED ?? 1) };
}
