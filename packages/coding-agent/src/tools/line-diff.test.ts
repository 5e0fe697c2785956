import fc from "fast-check";
import { expect, it } from "vitest";
import { changedLines } from "./line-diff.ts";

const lines = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 14 });

it("turns the old lines into the new, with as few changed lines as can be", () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const changes = changedLines(before, after);
      const rebuilt: string[] = [];
      let position = 0;
      let count = 0;
      for (const { oldFrom, oldTo, newFrom, newTo } of changes) {
        rebuilt.push(...before.slice(position, oldFrom));
        expect(rebuilt).toHaveLength(newFrom);
        rebuilt.push(...after.slice(newFrom, newTo));
        position = oldTo;
        count += oldTo - oldFrom + newTo - newFrom;
      }
      expect([...rebuilt, ...before.slice(position)]).toEqual(after);
      expect(count).toBe(before.length + after.length - 2 * commonLength(before, after));
    }),
  );
});

it("gives up on the fewest when everything differs, and stays right", () => {
  const before = ["same", ...Array.from({ length: 2000 }, (_, i) => `old ${i}`), "end"];
  const after = ["same", ...Array.from({ length: 2000 }, (_, i) => `new ${i}`), "end"];
  expect(changedLines(before, after)).toEqual([{ oldFrom: 1, oldTo: 2001, newFrom: 1, newTo: 2001 }]);
});

/** The plain way: the longest common subsequence by a table. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const x of a) {
    const next = [0];
    for (const [j, y] of b.entries()) next.push(x === y ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!));
    row = next;
  }
  return row[b.length]!;
}
