import type { SessionIndex } from "./session-index.ts";

/** What each turn of a path has cost: from one message of the user to the next. Pure. */

export interface Turn {
  /** The entry it begins with, and the number of the turn, counted from 1. */
  place: number;
  number: number;
  /** More than one when the chart has no room for each. */
  count: number;
  input: number;
  output: number;
  cached: number;
  cost: number;
}

export function turnsOf(index: SessionIndex, path: readonly number[]): Turn[] {
  const turns: Turn[] = [];
  for (const place of path) {
    const spent = index.spent.get(place);
    // What was spent before the first message is a turn of its own.
    const begins = index.kinds[place] === "user" || (turns.length === 0 && spent !== undefined);
    if (begins) turns.push(turnAt(place, turns.length + 1));
    const turn = turns.at(-1);
    if (!spent || !turn) continue;
    turn.input += spent.input + spent.cacheWrite;
    turn.output += spent.output;
    turn.cached += spent.cacheRead;
    turn.cost += spent.cost;
  }
  return turns;
}

const turnAt = (place: number, number: number): Turn => ({
  place,
  number,
  count: 1,
  input: 0,
  output: 0,
  cached: 0,
  cost: 0,
});

/** At most so many: neighbours are added up. */
export function joinTurns(turns: readonly Turn[], most: number): Turn[] {
  const size = Math.ceil(turns.length / most);
  if (size <= 1) return [...turns];
  const joined: Turn[] = [];
  for (let at = 0; at < turns.length; at += size) {
    const part = turns.slice(at, at + size);
    const sum = { ...turnAt((part[0] as Turn).place, (part[0] as Turn).number), count: part.length };
    for (const turn of part) {
      sum.input += turn.input;
      sum.output += turn.output;
      sum.cached += turn.cached;
      sum.cost += turn.cost;
    }
    joined.push(sum);
  }
  return joined;
}
