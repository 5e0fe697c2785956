import { createKeyedMutex } from "../lib/mutex.ts";

/** One queue per file for the whole process: two sessions that change the same file take turns. The key is the real path. */
export const fileMutations = createKeyedMutex();
