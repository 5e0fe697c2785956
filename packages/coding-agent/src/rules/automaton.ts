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
}

/** States are kept up to this cost, then all are forgotten: memory has a bound, and time only grows by a factor. */
export const MOST_KEPT = 500_000;
const ASCII = 128;

interface KnownState extends State {
  /** Steps that wait for a character, or for what comes behind a place. */
  waiting: readonly number[];
  hasPlaces: boolean;
  /** Stands for the kind of character that came last. */
  before: string;
  ascii: (KnownState | undefined)[];
  others: Map<number, KnownState>;
}

export function createAutomaton(conditions: readonly Condition[], mostKept = MOST_KEPT): Automaton {
  const steps: Step[] = [];
  const starts: number[] = [];
  const conditionAt = new Map<number, number>();
  for (const [number, { root, leaf }] of conditions.entries()) {
    starts.push(steps.length);
    compile(root, steps, leaf);
    conditionAt.set(steps.push({ kind: "match" }) - 1, number);
  }
  const reached = new Int32Array(steps.length);
  let round = 0;
  let known = new Map<string, KnownState>();
  let kept = 0;
  let first: KnownState | undefined;

  /** Follows all ways that take no character. What comes behind a place is not known yet when `after` is undefined. */
  const follow = (from: readonly number[], before: string, after?: string): { waiting: number[]; hits: number[] } => {
    round += 1;
    const open = [...from];
    const waiting: number[] = [];
    const hits: number[] = [];
    while (open.length > 0) {
      const at = open.pop()!;
      if (reached[at] === round) continue;
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

  const stateOf = (waiting: number[], hits: readonly number[], before: string): KnownState => {
    waiting.sort((a, b) => a - b);
    const hasPlaces = waiting.some((at) => steps[at]!.kind === "place");
    const key = `${hasPlaces ? before : ""}|${waiting.join()}|${hits.join()}`;
    const found = known.get(key);
    if (found) return found;
    keep(ASCII + waiting.length);
    const made = { waiting, hits, hasPlaces, before, ascii: new Array(ASCII), others: new Map() };
    known.set(key, made);
    return made;
  };

  const keep = (cost: number): void => {
    kept += cost;
    if (kept <= mostKept) return;
    known = new Map();
    first = undefined;
    kept = cost;
  };

  const next = (state: KnownState, codePoint: number): KnownState => {
    const char = String.fromCodePoint(codePoint);
    const now = state.hasPlaces ? follow(state.waiting, state.before, char) : { waiting: state.waiting, hits: [] };
    const beyond = now.waiting.filter((at) => takes(steps[at]!, char)).map((at) => at + 1);
    const before = kindOf(char);
    const later = follow([...starts, ...beyond], before);
    const hits = [...new Set([...now.hits, ...later.hits])].sort((a, b) => a - b);
    return stateOf(later.waiting, hits, before);
  };

  return {
    start() {
      if (first) return first;
      const { waiting, hits } = follow(starts, "");
      first = stateOf(waiting, hits, "");
      return first;
    },
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
      const state = given as KnownState;
      return state.hasPlaces ? follow(state.waiting, state.before, "").hits : [];
    },
  };
}

function takes(step: Step, char: string): boolean {
  return step.kind === "set" && step.has(char);
}

/** A place asks no more of the character before it than whether it is a letter or the end of a line. */
function kindOf(char: string): string {
  if (/^\w$/.test(char)) return "a";
  return /^[\n\r\u2028\u2029]$/.test(char) ? "\n" : " ";
}
