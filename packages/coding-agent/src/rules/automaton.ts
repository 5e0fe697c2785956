import { compile, type Step } from "../tools/rust-regex-machine.ts";
import type { Condition } from "./condition.ts";

/**
 * Many conditions at once over a text that comes in pieces. All ways through all of them are followed together; a set of
 * ways that was met before is a state with a table of what follows, so that a character mostly costs one look-up, however
 * many conditions there are and however long the text was until here. Nothing of the text is kept. Pure.
 */

export interface State {
  /** Numbers of the conditions that have matched with the last character. */
  readonly hits: readonly number[];
}

export interface Automaton {
  /** Before the first character. */
  start(): State;
  step(state: State, codePoint: number): State;
  /** What matches because the text ends here. */
  end(state: State): readonly number[];
  /** Steps that were looked at where no table had the answer: it grows for as long as the text leads to new states. */
  readonly work: number;
}

/** What was worked out is kept up to this cost, then all is forgotten: memory has a bound, and time only grows by a factor. */
export const MOST_KEPT = 500_000;
const ASCII = 128;

interface KnownState extends State {
  /** Steps that wait for a character, or for what comes behind a place, beside those that wait everywhere. */
  waiting: readonly number[];
  /** Stands for the kind of character that came last. */
  before: string;
  ascii: (KnownState | undefined)[];
  others: Map<number, KnownState>;
}

/** Where a set of ways gets to with one character, and what has matched before it. */
interface Advance {
  targets: readonly number[];
  hits: readonly number[];
}

export function createAutomaton(conditions: readonly Condition[], mostKept = MOST_KEPT): Automaton {
  const { steps, starts, conditionAt } = joined(conditions);
  const reached = new Int32Array(steps.length);
  let round = 0;

  /** Follows all ways that take no character. What comes behind a place is not known yet when `after` is undefined. */
  const follow = (from: readonly number[], before: string, after?: string): { waiting: number[]; hits: number[] } => {
    round += 1;
    const open = [...from];
    const waiting: number[] = [];
    const hits: number[] = [];
    while (open.length > 0) {
      const at = open.pop()!;
      if (reached[at] === round || (after === undefined && isEverywhere[at] === 1)) continue;
      reached[at] = round;
      const step = steps[at]!;
      if (step.kind === "match") hits.push(conditionAt.get(at)!);
      else if (step.kind === "set" || (step.kind === "place" && after === undefined)) waiting.push(at);
      else if (step.kind === "place") {
        if (step.holds(before, after!)) open.push(at + 1);
      } else {
        open.push(step.to);
        if (step.kind === "fork") open.push(at + 1);
      }
    }
    return { waiting, hits };
  };
  const isPlace = (at: number): boolean => steps[at]!.kind === "place";
  const advance = (waiting: readonly number[], before: string, char: string): Advance => {
    const now = waiting.some(isPlace) ? follow(waiting, before, char) : { waiting, hits: [] };
    return { targets: now.waiting.filter((at) => takes(steps[at]!, char)).map((at) => at + 1), hits: now.hits };
  };

  // A match may begin anywhere: what waits at the beginning waits in every state, and is worked out once.
  const isEverywhere = new Uint8Array(steps.length);
  const beginning = follow(starts, "");
  isEverywhere.set(reached.map((number) => (number === round ? 1 : 0)));
  const beginsWithPlace = beginning.waiting.some(isPlace);

  let known = new Map<string, KnownState>();
  let begun = new Map<string, Advance>();
  let kept = 0;
  const keep = (cost: number): void => {
    kept += cost;
    if (kept <= mostKept) return;
    known = new Map();
    begun = new Map();
    kept = cost;
  };
  const begin = (before: string, char: string): Advance => {
    const key = beginsWithPlace ? before + char : char;
    const found = begun.get(key);
    if (found) return found;
    const made = advance(beginning.waiting, before, char);
    keep(8 + made.targets.length);
    begun.set(key, made);
    return made;
  };
  const stateOf = (waiting: number[], hits: readonly number[], before: string): KnownState => {
    waiting.sort((a, b) => a - b);
    const key = `${beginsWithPlace || waiting.some(isPlace) ? before : ""}|${waiting.join()}|${hits.join()}`;
    const found = known.get(key);
    if (found) return found;
    keep(ASCII + waiting.length);
    const made = { waiting, hits, before, ascii: new Array(ASCII), others: new Map() };
    known.set(key, made);
    return made;
  };

  let work = 0;
  const next = (state: KnownState, codePoint: number): KnownState => {
    const char = String.fromCodePoint(codePoint);
    const anew = begin(state.before, char);
    const further = advance(state.waiting, state.before, char);
    const before = kindOf(char);
    const later = follow([...anew.targets, ...further.targets], before);
    work += 1 + state.waiting.length + later.waiting.length;
    return stateOf(later.waiting, sorted(beginning.hits, anew.hits, further.hits, later.hits), before);
  };

  return {
    start: () => stateOf([], sorted(beginning.hits), ""),
    step(given, codePoint) {
      const state = given as KnownState;
      const met = codePoint < ASCII ? state.ascii[codePoint] : state.others.get(codePoint);
      if (met) return met;
      const made = next(state, codePoint);
      if (codePoint < ASCII) state.ascii[codePoint] = made;
      else {
        keep(8);
        state.others.set(codePoint, made);
      }
      return made;
    },
    end(given) {
      const { waiting, before } = given as KnownState;
      return sorted(follow([...beginning.waiting, ...waiting], before, "").hits);
    },
    get work() {
      return work;
    },
  };
}

/** The steps of all conditions in one list, where each begins, and which one has matched at which step. */
function joined(conditions: readonly Condition[]): {
  steps: readonly Step[];
  starts: readonly number[];
  conditionAt: ReadonlyMap<number, number>;
} {
  const steps: Step[] = [];
  const starts: number[] = [];
  const conditionAt = new Map<number, number>();
  for (const [number, { root, leaf }] of conditions.entries()) {
    starts.push(steps.length);
    compile(root, steps, leaf);
    conditionAt.set(steps.push({ kind: "match" }) - 1, number);
  }
  return { steps, starts, conditionAt };
}

const NONE: readonly number[] = [];

function sorted(...lists: (readonly number[])[]): readonly number[] {
  if (lists.every((list) => list.length === 0)) return NONE;
  return [...new Set(lists.flat())].sort((a, b) => a - b);
}

function takes(step: Step, char: string): boolean {
  return step.kind === "set" && step.has(char);
}

/** A place asks no more of the character before it than whether it is a letter or the end of a line. */
function kindOf(char: string): string {
  if (/^\w$/.test(char)) return "a";
  return /^[\n\r\u2028\u2029]$/.test(char) ? "\n" : " ";
}
