/** Which lines were replaced by which, with as few of them as possible. Pure. */

/** Lines `from` to `to` (not included) of the old, and of the new that stand there instead. */
export interface LineChange {
  oldFrom: number;
  oldTo: number;
  newFrom: number;
  newTo: number;
}

/** The search takes time with the square of the differences: from so many on the whole block counts as one change. */
const MAX_DIFFERENCES = 300;

export function changedLines(oldLines: readonly string[], newLines: readonly string[]): LineChange[] {
  const shorter = Math.min(oldLines.length, newLines.length);
  let head = 0;
  while (head < shorter && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail += 1;
  const oldTo = oldLines.length - tail;
  const newTo = newLines.length - tail;
  if (head === oldTo && head === newTo) return [];
  const whole = { oldFrom: head, oldTo, newFrom: head, newTo };
  if (head === oldTo || head === newTo) return [whole];
  const steps = shortestEdit(oldLines.slice(head, oldTo), newLines.slice(head, newTo));
  return steps ? joinSteps(steps, head) : [whole];
}

/** A line taken out (`old` grows) or put in (`new` grows) at a position in both texts. */
interface Step {
  old: number;
  new: number;
  takes: "old" | "new";
}

/**
 * Myers' greedy search: for each number of differences, how far one gets on every diagonal (old position minus new
 * position). Undefined when the texts differ too much.
 */
function shortestEdit(oldLines: readonly string[], newLines: readonly string[]): Step[] | undefined {
  const most = Math.min(MAX_DIFFERENCES, oldLines.length + newLines.length);
  const middle = most + 1;
  const reach = new Int32Array(2 * middle + 1);
  const rounds: Int32Array[] = [];
  for (let differences = 0; differences <= most; differences++) {
    rounds.push(reach.slice());
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      let old = takesNew(reach, middle, diagonal, differences)
        ? reach[middle + diagonal + 1]!
        : reach[middle + diagonal - 1]! + 1;
      while (old < oldLines.length && old - diagonal < newLines.length && oldLines[old] === newLines[old - diagonal]) {
        old += 1;
      }
      reach[middle + diagonal] = old;
      if (old >= oldLines.length && old - diagonal >= newLines.length) {
        return stepsBack(rounds, middle, oldLines.length, newLines.length);
      }
    }
  }
  return undefined;
}

/** Whether the best way to a diagonal puts a line in, rather than taking one out. */
function takesNew(reach: Int32Array, middle: number, diagonal: number, differences: number): boolean {
  if (diagonal === -differences) return true;
  return diagonal !== differences && reach[middle + diagonal - 1]! < reach[middle + diagonal + 1]!;
}

function stepsBack(rounds: readonly Int32Array[], middle: number, oldEnd: number, newEnd: number): Step[] {
  const steps: Step[] = [];
  let diagonal = oldEnd - newEnd;
  for (let differences = rounds.length - 1; differences > 0; differences--) {
    const reach = rounds[differences]!;
    const putsIn = takesNew(reach, middle, diagonal, differences);
    diagonal += putsIn ? 1 : -1;
    const old = reach[middle + diagonal]!;
    steps.push({ old, new: old - diagonal, takes: putsIn ? "new" : "old" });
  }
  return steps.reverse();
}

/** Steps without an unchanged line between them are one change. */
function joinSteps(steps: readonly Step[], offset: number): LineChange[] {
  const changes: LineChange[] = [];
  for (const step of steps) {
    const [oldAt, newAt] = [step.old + offset, step.new + offset];
    let last = changes.at(-1);
    if (!last || last.oldTo !== oldAt || last.newTo !== newAt) {
      last = { oldFrom: oldAt, oldTo: oldAt, newFrom: newAt, newTo: newAt };
      changes.push(last);
    }
    if (step.takes === "old") last.oldTo += 1;
    else last.newTo += 1;
  }
  return changes;
}
