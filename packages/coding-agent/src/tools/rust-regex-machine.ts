import { foldCase } from "./rust-regex-case.ts";
import { IS_ASCII_WORD, IS_WORD } from "./rust-regex-class.ts";
import type { Place, RegexNode } from "./rust-regex-parse.ts";

/**
 * The slow but sure way to match: all ways through a pattern at once, so that no pattern takes for ever. For those on which
 * the engine of JavaScript, which tries one way after the other, gets lost. Pure.
 */

/** What may be counted out; `(a{1000}){1000}` is too much for ripgrep too. */
const MAX_STEPS = 20_000;

export type Step =
  | { kind: "set"; has: (char: string) => boolean }
  | { kind: "place"; holds: (before: string, after: string) => boolean }
  /** On to the next step, and to another one. */
  | { kind: "fork"; to: number }
  | { kind: "jump"; to: number }
  | { kind: "match" };

/** Undefined for a pattern that cannot be matched this way: what refers back or looks around, or is too large. */
export function createMachine(root: RegexNode): ((line: string) => boolean) | undefined {
  const steps: Step[] = [];
  if (!compile(root, steps, rustLeaf)) return undefined;
  steps.push({ kind: "match" });
  return (line) => run(steps, line);
}

export type LeafNode = Extract<RegexNode, { kind: "set" | "place" }>;
/** What a character or a place between characters is tested with. */
export type Leaf = (node: LeafNode) => Step;

function rustLeaf(node: LeafNode): Step {
  return node.kind === "set"
    ? { kind: "set", has: membership(node.ignoreCase ? foldCase(node.set) : node.set) }
    : { kind: "place", holds: placeTest(node.place, node.ascii) };
}

/** Adds the steps of a pattern to those that are there. False when it cannot be done. */
export function compile(node: RegexNode, steps: Step[], leaf: Leaf): boolean {
  if (steps.length > MAX_STEPS) return false;
  switch (node.kind) {
    case "set":
    case "place":
      return steps.push(leaf(node)) > 0;
    case "sequence":
      return node.parts.every((part) => compile(part, steps, leaf));
    case "choice":
      return compileChoice(node.parts, steps, leaf);
    case "repeat":
      return compileRepeat(node, steps, leaf);
    case "group":
      return compile(node.part, steps, leaf);
    default:
      return false;
  }
}

function compileChoice(parts: readonly RegexNode[], steps: Step[], leaf: Leaf): boolean {
  const ends: { kind: "jump"; to: number }[] = [];
  for (const [index, part] of parts.entries()) {
    const fork = { kind: "fork" as const, to: 0 };
    if (index < parts.length - 1) steps.push(fork);
    if (!compile(part, steps, leaf)) return false;
    const end = { kind: "jump" as const, to: 0 };
    ends.push(end);
    steps.push(end);
    fork.to = steps.length;
  }
  for (const end of ends) end.to = steps.length;
  return true;
}

function compileRepeat({ part, min, max }: Extract<RegexNode, { kind: "repeat" }>, steps: Step[], leaf: Leaf): boolean {
  const before = steps.length;
  for (let i = 0; i < min; i++) {
    if (!compile(part, steps, leaf)) return false;
    // Nothing, however often, is nothing; and it would never be too large.
    if (steps.length === before) return true;
  }
  const forks: { kind: "fork"; to: number }[] = [];
  const isEndless = max === Number.POSITIVE_INFINITY;
  for (let i = min; i < (isEndless ? min + 1 : max); i++) {
    const fork = { kind: "fork" as const, to: 0 };
    const start = steps.push(fork) - 1;
    forks.push(fork);
    if (!compile(part, steps, leaf)) return false;
    if (isEndless) steps.push({ kind: "jump", to: start });
  }
  for (const fork of forks) fork.to = steps.length;
  return true;
}

function run(steps: readonly Step[], line: string): boolean {
  /** For each step, the place in the line where it was last reached. */
  const reached = new Int32Array(steps.length).fill(-1);
  let waiting: number[] = [];
  let before = "";
  for (let at = 0; ; ) {
    const after = at < line.length ? String.fromCodePoint(line.codePointAt(at)!) : "";
    const next: number[] = [];
    // A match may begin anywhere.
    const open = [0, ...waiting];
    while (open.length > 0) {
      const index = open.pop()!;
      if (reached[index] === at) continue;
      reached[index] = at;
      const step = steps[index]!;
      if (step.kind === "match") return true;
      if (step.kind === "set") {
        if (after !== "" && step.has(after)) next.push(index + 1);
      } else if (step.kind === "place") {
        if (step.holds(before, after)) open.push(index + 1);
      } else {
        open.push(step.to);
        if (step.kind === "fork") open.push(index + 1);
      }
    }
    if (after === "") return false;
    waiting = next;
    before = after;
    at += after.length;
  }
}

/** Few characters are asked for often. */
function membership(set: string): (char: string) => boolean {
  const regex = new RegExp(`^${set}$`, "v");
  const known = new Map<string, boolean>();
  return (char) => {
    const has = known.get(char) ?? regex.test(char);
    known.set(char, has);
    return has;
  };
}

const isNoCharacter = (char: string) => char !== "" && !char.isWellFormed();

function placeTest(place: Place, ascii: boolean): (before: string, after: string) => boolean {
  const word = membership(ascii ? IS_ASCII_WORD : IS_WORD);
  const tests: Readonly<Record<Place, (before: string, after: string) => boolean>> = {
    start: (before) => before === "",
    end: (_, after) => after === "",
    boundary: (before, after) => word(before) !== word(after),
    noBoundary: (before, after) => word(before) === word(after) && !isNoCharacter(before) && !isNoCharacter(after),
    wordStart: (before, after) => !word(before) && word(after),
    wordEnd: (before, after) => word(before) && !word(after),
    wordStartHalf: (before) => !word(before),
    wordEndHalf: (_, after) => !word(after),
  };
  return tests[place];
}
