/**
 * The globs of ignore files, as ripgrep reads them: each becomes a list of steps, of which `ignore-globs.ts` follows many at once.
 * Pure.
 */

export type Step =
  | { kind: "char"; code: number }
  | { kind: "class"; ranges: readonly Range[]; isNegated: boolean }
  /** As many characters as there are; `any` takes slashes too. */
  | { kind: "stars"; any: boolean }
  /** On to the next step, and to another one, counted from the beginning of the glob. */
  | { kind: "fork"; to: number }
  | { kind: "jump"; to: number }
  | { kind: "end" };

type Range = readonly [first: number, last: number];

const SLASH = 0x2f;
const STARS: Step = { kind: "stars", any: false };
const ANY_STARS: Step = { kind: "stars", any: true };
const SLASH_STEP: Step = { kind: "char", code: SLASH };
const NAME_CHARACTER: Step = { kind: "class", ranges: [], isNegated: true };

/** Only two stars take a slash that is not written. */
export function takes(step: Step, code: number): boolean {
  if (step.kind === "char") return step.code === code;
  if (step.kind === "stars") return step.any || code !== SLASH;
  if (step.kind !== "class" || code === SLASH) return false;
  return step.ranges.some(([first, last]) => code >= first && code <= last) !== step.isNegated;
}

/** A choice that is still open: the fork to its next part, and the jumps from the parts before to its end. */
interface Choice {
  fork: { kind: "fork"; to: number };
  ends: { kind: "jump"; to: number }[];
}

/** Undefined for what is no glob: a bracket or a brace that is never closed, a class such as [z-a]. */
export function readIgnoreGlob(glob: string): Step[] | undefined {
  const chars = [...glob];
  const steps: Step[] = [];
  const choices: Choice[] = [];
  const nextFork = () => {
    const fork = { kind: "fork" as const, to: steps.length + 1 };
    steps.push(fork);
    return fork;
  };
  /** Some folders, or none. */
  const pushFolders = () => steps.push({ kind: "fork", to: steps.length + 3 }, ANY_STARS, SLASH_STEP);
  for (let i = 0; i < chars.length; ) {
    const char = chars[i]!;
    const choice = choices.at(-1);
    if (i === 0 && isFolders(chars, 0)) {
      pushFolders();
      i += 3;
    } else if (char === "/" && isFolders(chars, i + 1)) {
      steps.push(SLASH_STEP);
      pushFolders();
      i += 4;
    } else if (char === "*") {
      while (chars[i] === "*") i += 1;
      steps.push(STARS);
    } else if (char === "[") {
      const found = readClass(chars, i + 1);
      if (!found) return undefined;
      steps.push(found.step);
      i = found.end;
    } else if (char === "\\") {
      if (i + 1 === chars.length) return undefined;
      steps.push(charStep(chars[i + 1]!));
      i += 2;
    } else {
      if (char === "{") choices.push({ fork: nextFork(), ends: [] });
      else if (char === "?") steps.push(NAME_CHARACTER);
      else if (char === "}" || (char === "," && choice)) {
        if (!choice) return undefined;
        const end = { kind: "jump" as const, to: steps.length + 1 };
        steps.push(end);
        choice.ends.push(end);
        if (char === ",") {
          choice.fork.to = steps.length;
          choice.fork = nextFork();
        } else {
          for (const jump of choice.ends) jump.to = steps.length;
          choices.pop();
        }
      } else steps.push(charStep(char));
      i += 1;
    }
  }
  return choices.length === 0 ? steps : undefined;
}

function isFolders(chars: readonly string[], at: number): boolean {
  return chars[at] === "*" && chars[at + 1] === "*" && chars[at + 2] === "/";
}

function charStep(char: string): Step {
  return { kind: "char", code: char.codePointAt(0)! };
}

/** `[a-z]`, `[!a]`, `[]a]`: a bracket right at the beginning is a member. `start` is behind the opening one. */
function readClass(chars: readonly string[], start: number): { step: Step; end: number } | undefined {
  const isNegated = chars[start] === "!" || chars[start] === "^";
  const members: { code: number; isDash: boolean }[] = [];
  let at = isNegated ? start + 1 : start;
  for (let isFirst = true; isFirst || chars[at] !== "]"; isFirst = false) {
    const isEscaped = chars[at] === "\\";
    const char = chars[isEscaped ? at + 1 : at];
    if (char === undefined) return undefined;
    members.push({ code: char.codePointAt(0)!, isDash: char === "-" && !isEscaped });
    at += isEscaped ? 2 : 1;
  }
  const ranges: Range[] = [];
  for (let i = 0; i < members.length; ) {
    const first = members[i]!.code;
    const isRange = members[i + 1]?.isDash === true && i + 2 < members.length;
    const last = isRange ? members[i + 2]!.code : first;
    if (last < first) return undefined;
    ranges.push([first, last]);
    i += isRange ? 3 : 1;
  }
  return { step: { kind: "class", ranges, isNegated }, end: at + 1 };
}
