import { createKeyedMutex } from "../lib/mutex.ts";

/** One queue per file for the whole process: two sessions that change the same file take turns. The key is the real path. */
export const fileMutations = createKeyedMutex();

/** No file has this name. */
const FINDING = "";

/** Finds out which file a call means. One after the other, so that calls for the same file take turns as they came. */
export function findInTurn<T>(find: () => Promise<T>): Promise<T> {
  return fileMutations.run(FINDING, find);
}
