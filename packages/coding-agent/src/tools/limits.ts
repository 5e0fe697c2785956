/** How much of anything a model gets to see at once. */

export const MAX_LINES = 2000;
export const MAX_BYTES = 50 * 1024;

/** Matches, results and entries, when the call says nothing else. */
export const DEFAULT_LIMITS = { grep: 100, find: 1000, ls: 500 } as const;
