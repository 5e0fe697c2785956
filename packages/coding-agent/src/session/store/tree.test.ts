import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { childrenOf, commonAncestor, type Parents, pathTo, walkTree } from "./tree.ts";

const tree = (...parents: number[]): Parents => ({ length: parents.length, parent: (at) => parents[at]! });
/** Two roots; 1 and 2 below 0, 3 below 1; 5 below 4. */
const wood = tree(-1, 0, 0, 1, -1, 4);

function told(entries: Parents): string {
  let text = "";
  for (const { position, isOver } of walkTree(entries)) text += isOver ? ")" : `(${position}`;
  return text;
}

describe("a tree of entries", () => {
  it("has a path from the root to each entry", () => {
    expect([-1, 0, 3, 5].map((leaf) => pathTo(wood, leaf))).toEqual([[], [0], [0, 1, 3], [4, 5]]);
  });

  it("has children in the order they were written", () => {
    expect([...childrenOf(wood)]).toEqual([
      [-1, [0, 4]],
      [0, [1, 2]],
      [1, [3]],
      [4, [5]],
    ]);
  });

  const meetings: [one: number, other: number, at: number][] = [
    [3, 2, 0],
    [3, 1, 1],
    [1, 3, 1],
    [2, 2, 2],
    [3, 5, -1],
    [-1, 3, -1],
    [3, -1, -1],
  ];
  for (const [one, other, at] of meetings) {
    it(`${one} and ${other} meet at ${at}`, () => expect(commonAncestor(wood, one, other)).toBe(at));
  }

  it("is told from its roots on, children before what comes after", () => {
    expect(told(wood)).toBe("(0(1(3))(2))(4(5))");
    expect(told(tree())).toBe("");
  });

  it("is told as it was when that was asked for", () => {
    const parents = [-1, 0];
    const growing: Parents = { length: 2, parent: (at) => parents[at]! };
    const steps = walkTree(growing);
    parents[1] = -1;
    expect([...steps].map(({ position }) => position)).toEqual([0, 1, 1, 0]);
  });

  it("may be as deep as a long conversation", () => {
    const chain: Parents = { length: 200_000, parent: (at) => at - 1 };
    expect(told(chain)).toHaveLength(2 * 200_000 + [...Array(200_000).keys()].join("").length);
    expect(pathTo(chain, 199_999)).toHaveLength(200_000);
  });

  it("is told with every entry once, each inside its parent, also when parents come later in the file", () => {
    const anyTree = fc
      .array(fc.nat(), { maxLength: 20 })
      .chain((picks) =>
        fc.tuple(fc.constant(picks), fc.shuffledSubarray([...picks.keys()], { minLength: picks.length })),
      )
      .map(([picks, order]) => {
        const parents = picks.map(() => -1);
        for (const [at, position] of order.entries())
          parents[position] = at === 0 ? -1 : (order[(picks[at]! % (at + 1)) - 1] ?? -1);
        return parents;
      });
    fc.assert(
      fc.property(anyTree, (parents) => {
        const open: number[] = [];
        const seen: number[] = [];
        for (const { position, isOver } of walkTree(tree(...parents))) {
          if (isOver) expect(open.pop()).toBe(position);
          else {
            expect(parents[position]).toBe(open.at(-1) ?? -1);
            open.push(position);
            seen.push(position);
          }
        }
        expect(open).toEqual([]);
        expect(seen.toSorted((a, b) => a - b)).toEqual([...parents.keys()]);
      }),
    );
  });
});
