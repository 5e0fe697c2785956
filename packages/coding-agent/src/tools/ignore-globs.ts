import { type Step, takes } from "./ignore-glob.ts";
import type { IgnoreWork } from "./ignore-work.ts";

/**
 * Which of many globs match a text. All ways through all of them are followed together; a set of ways that was met before is
 * a state with a table of what follows, so that a character mostly costs one look-up, however many globs there are.
 */

export interface Glob {
  steps: readonly Step[];
  onlyFolders: boolean;
}

export interface GlobSet {
  /** The number of the first glob that matches; infinite when there is none, or no work left to find it. */
  first(text: string, isDirectory: boolean, work: IgnoreWork): number;
}

interface State {
  /** Steps that wait for a character, and ends. */
  waiting: readonly number[];
  firstForFiles: number;
  firstForFolders: number;
  /** What follows, by code point; the usual ones in a list. */
  usual: (State | undefined)[];
  others: Map<number, State>;
}

/** What was worked out is kept up to this cost, then all is forgotten: memory has a bound, and time only grows by a factor. */
const MOST_KEPT = 500_000;
const USUAL = 128;

/** An undefined glob has its number and matches nothing. */
export function createGlobSet(globs: readonly (Glob | undefined)[]): GlobSet {
  const { steps, starts, numberAt } = joined(globs);
  /** For each step, the round in which it was last reached. */
  const reached = new Int32Array(steps.length);
  let round = 0;
  let known = new Map<string, State>();
  let beginning: State | undefined;
  let kept = 0;

  /** Adds to `waiting` what can come next without a character; says how many steps were looked at. */
  const follow = (from: number, waiting: number[]): number => {
    const open = [from];
    let looks = 0;
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      looks += 1;
      if (reached[at] === round) continue;
      reached[at] = round;
      const step = steps[at]!;
      if ("to" in step) open.push(step.to);
      else waiting.push(at);
      if (step.kind === "fork" || step.kind === "stars") open.push(at + 1);
    }
    return looks;
  };
  const keep = (cost: number): void => {
    kept += cost;
    if (kept <= MOST_KEPT) return;
    known = new Map();
    beginning = undefined;
    kept = cost;
  };
  const stateOf = (waiting: readonly number[]): State => {
    const key = waiting.join();
    const found = known.get(key);
    if (found) return found;
    const made: State = { waiting, ...firsts(waiting), usual: new Array(USUAL), others: new Map() };
    keep(USUAL + waiting.length);
    known.set(key, made);
    return made;
  };
  const firsts = (waiting: readonly number[]): Pick<State, "firstForFiles" | "firstForFolders"> => {
    let [firstForFiles, firstForFolders] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const at of waiting) {
      const number = numberAt.get(at);
      if (number === undefined) continue;
      firstForFolders = Math.min(firstForFolders, number);
      if (!globs[number]!.onlyFolders) firstForFiles = Math.min(firstForFiles, number);
    }
    return { firstForFiles, firstForFolders };
  };
  const next = (state: State, code: number, work: IgnoreWork): State | undefined => {
    round += 1;
    const waiting: number[] = [];
    let looks = 0;
    for (const at of state.waiting) {
      const step = steps[at]!;
      looks += step.kind === "class" ? 1 + step.ranges.length : 1;
      if (takes(step, code)) looks += follow(step.kind === "stars" ? at : at + 1, waiting);
    }
    return work.spend(looks + waiting.length) ? stateOf(waiting) : undefined;
  };
  const step = (state: State, code: number, work: IgnoreWork): State | undefined => {
    const met = code < USUAL ? state.usual[code] : state.others.get(code);
    if (met) return met;
    const made = next(state, code, work);
    if (!made) return undefined;
    if (code < USUAL) state.usual[code] = made;
    else {
      keep(8);
      state.others.set(code, made);
    }
    return made;
  };

  const begin = (work: IgnoreWork): State | undefined => {
    round += 1;
    const waiting: number[] = [];
    let looks = 0;
    for (const start of starts) looks += follow(start, waiting);
    return work.spend(looks) ? stateOf(waiting) : undefined;
  };

  return {
    first(text, isDirectory, work) {
      if (starts.length === 0 || !work.spend(text.length)) return Number.POSITIVE_INFINITY;
      beginning ??= begin(work);
      let state = beginning;
      for (let at = 0; at < text.length && state && state.waiting.length > 0; at++) {
        const code = text.codePointAt(at)!;
        if (code > 0xffff) at += 1;
        state = step(state, code, work);
      }
      if (!state) return Number.POSITIVE_INFINITY;
      return isDirectory ? state.firstForFolders : state.firstForFiles;
    },
  };
}

/** The steps of all globs in one list, where each begins, and which one ends at which step. */
function joined(globs: readonly (Glob | undefined)[]): {
  steps: readonly Step[];
  starts: readonly number[];
  numberAt: ReadonlyMap<number, number>;
} {
  const steps: Step[] = [];
  const starts: number[] = [];
  const numberAt = new Map<number, number>();
  for (const [number, glob] of globs.entries()) {
    if (!glob) continue;
    const start = steps.length;
    starts.push(start);
    for (const step of glob.steps) steps.push("to" in step ? { ...step, to: start + step.to } : step);
    numberAt.set(steps.push({ kind: "end" }) - 1, number);
  }
  return { steps, starts, numberAt };
}
