/** `npm run test:long` plays all cases of the large tables. */
const PLAYS_ALL = process.env.TILLER_ALL === "1";

/**
 * Of a large table that is played several times over, one part each time: beginning with `first`, every `every`th case. So
 * each case is played by one of them in `npm test`, and by all of them in `npm run test:long`.
 */
export function partOf<T>(cases: readonly T[], every: number, first: number): readonly T[] {
  return PLAYS_ALL ? cases : cases.filter((_, at) => at % every === first);
}
