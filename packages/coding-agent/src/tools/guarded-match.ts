import { createContext, Script } from "node:vm";

/** Regular expressions that were made of somebody else's text, and may take longer than anyone lives. */

const CALL_WORK = new Script("work()");

/**
 * Undefined when it takes too long. It is the engine's own watchdog, the only one that can interrupt a regular expression;
 * it costs a tenth of a millisecond, so it is for suspects only.
 */
export function runGuarded<T>(timeout: number, work: () => T): T | undefined {
  try {
    return CALL_WORK.runInContext(createContext({ work }), { timeout }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return undefined;
  }
}

/** So many ways to lay the stars over a text are tried in a few milliseconds. */
const MOST_WAYS = 1_000_000;
const MAX_LOST_MS = 250;

/**
 * Tests texts against the expression of a glob. Both may come from a repository, and with some stars and a long name the
 * engine gets lost: then `lost` says what counts, for this text and for every later one that may take as long.
 */
export function globTest(regex: RegExp, glob: string, lost: () => boolean): (text: string) => boolean {
  const stars = /[+*]\(/.test(glob) ? Number.POSITIVE_INFINITY : (glob.match(/\*+/g) ?? []).length;
  let isLost = false;
  let isTooLarge = false;
  const test = (text: string): boolean | undefined => {
    if (isTooLarge) return undefined;
    try {
      return regex.test(text);
    } catch {
      // Too much for the engine, which says so with the first text.
      isTooLarge = true;
      return undefined;
    }
  };
  return (text) => {
    if (ways(stars, text.length) <= MOST_WAYS) return test(text) ?? lost();
    const found = isLost ? undefined : runGuarded(MAX_LOST_MS, () => test(text));
    isLost ||= found === undefined;
    return found ?? lost();
  };
}

/** How many ways there are to choose where each star begins. */
function ways(stars: number, length: number): number {
  let count = 1;
  for (let star = 0; star < stars && count <= MOST_WAYS; star++) count *= (length + star) / (star + 1);
  return count;
}
