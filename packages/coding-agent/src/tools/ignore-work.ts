/**
 * What one search may do for the sake of ignore files. They come from the project, and with enough rules, or enough files of
 * them, every name would take seconds: what is beyond the measure is left out, and the search says so.
 */
export interface IgnoreWork {
  /** One more name is looked at, which gives as much as ordinary rules never need. */
  nextName(): void;
  /** False when that is too much: then, and ever after, nothing is done. */
  spend(steps: number): boolean;
  /** Something was too large to be looked at. */
  leaveOut(): void;
  readonly hasLeftOut: boolean;
}

/** A larger ignore file is not read: those that people write are a hundredth of it. */
export const MAX_IGNORE_BYTES = 256 * 1024;

/** Half a second at most, in which nobody else gets a turn. */
const MOST_STEPS = 4_000_000;
const STEPS_PER_NAME = 1000;

export function createIgnoreWork(): IgnoreWork {
  let left = MOST_STEPS;
  let hasLeftOut = false;
  return {
    nextName() {
      if (left >= 0) left = Math.min(MOST_STEPS, left + STEPS_PER_NAME);
    },
    spend(steps) {
      if (left >= 0) left -= steps;
      if (left < 0) hasLeftOut = true;
      return left >= 0;
    },
    leaveOut() {
      hasLeftOut = true;
    },
    get hasLeftOut() {
      return hasLeftOut;
    },
  };
}

export const LEFT_OUT_NOTICE =
  "The ignore files here are too large or take too long. Some of their rules were left out, so what they hide may be shown";
