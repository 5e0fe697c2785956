/** Samples on a machine that others use too. */
export function createQuiet(options: { patienceMs: number; stolenTicks?: () => number }): {
  wait(): Promise<void>;
  undisturbed<T>(take: () => Promise<T>): Promise<T>;
  counts: { samples: number; noisy: number; again: number; robbed: number };
  describe(): string;
};
