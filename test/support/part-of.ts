import { test } from "vitest";

/** `npm run test:long` plays all stories. */
export const PLAYS_ALL = process.env.TILLER_ALL === "1";

/** How often a property is tried with random values: `npm test` does it a third as often as `npm run test:long`. */
export const tries = (all: number): number => (PLAYS_ALL ? all : Math.ceil(all / 3));

type Body = (...values: never[]) => unknown;

/** `test` for files with a great many stories of one kind: `npm test` plays every `every`th, `npm run test:long` all. */
export function partly(every: number): typeof test {
  let count = 0;
  const isPlayed = (): boolean => PLAYS_ALL || count++ % every === 0;
  const play = (name: string, body: Body): void => {
    if (isPlayed()) test(name, body as never);
  };
  const each = (cases: readonly unknown[]) => (name: string, body: Body) => {
    const played = cases.filter(isPlayed);
    if (played.length > 0) test.each(played as never[])(name, body as never);
  };
  return Object.assign(play, { each }) as unknown as typeof test;
}
