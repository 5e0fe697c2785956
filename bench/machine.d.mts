/** Samples on a machine that others use too. */
export function createQuiet(options: { patienceMs: number; stolenTicks?: () => number }): {
  wait(): Promise<void>;
  undisturbed<T>(take: () => Promise<T>): Promise<T>;
  counts: { samples: number; noisy: number; again: number; robbed: number };
  describe(): string;
};

/** What a process and all that it has started have worked until now, in steps of 10 ms. */
export function treeCpuMs(pid: number): number;

/** How many processes called `name` have that home, whoever is their parent now. They are ended. */
export function endStrays(name: string, home: string): number;
