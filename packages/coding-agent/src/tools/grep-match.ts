import { runGuarded } from "./guarded-match.ts";
import type { LinePattern } from "./rust-regex.ts";
import { createMachine } from "./rust-regex-machine.ts";

/** Which lines match. Some patterns take longer than anyone lives; those are matched in another way. */

export type LineMatcher = (
  block: string,
  lines: readonly string[],
  path: string,
) => ((index: number) => boolean) | undefined;

/** After so long the engine has got lost in a block. */
const MAX_LOST_MS = 250;
/** A block that takes longer in the sure way too is given up. */
const MAX_MATCH_MS = 10_000;

/** `isSuspect` says that the pattern is of the kind that can get lost. */
export function createLineMatcher(pattern: LinePattern, isSuspect: boolean): LineMatcher {
  const { regex, canSkip, root } = pattern;
  /** Most files have no match, and one look at all lines is quicker than one per line. */
  const overLines = new RegExp(regex.source, `${regex.flags}m`);
  const cannotMatch = (block: string) => canSkip && !overLines.test(block);
  if (!isSuspect) {
    return (block, lines) => (cannotMatch(block) ? undefined : (index) => regex.test(withoutEnd(lines[index]!)));
  }
  let machine: ReturnType<typeof createMachine>;
  return (block, lines, path) => {
    const all = (matches: (line: string) => boolean) => lines.map((line) => matches(withoutEnd(line)));
    const quickly = runGuarded(MAX_LOST_MS, () => (cannotMatch(block) ? [] : all((line) => regex.test(line))));
    machine ??= !quickly && root ? createMachine(root) : undefined;
    const surely = machine;
    const verdicts = quickly ?? (surely && runGuarded(MAX_MATCH_MS, () => all(surely)));
    if (!verdicts) throw new Error(`The pattern takes too long on ${path}. Use a simpler pattern or literal=true.`);
    return verdicts.includes(true) ? (index) => verdicts[index]! : undefined;
  };
}

function withoutEnd(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
