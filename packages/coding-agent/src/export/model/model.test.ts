import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { indexColumns } from "../html/format.ts";
import { contentText, searchText, snippetOf, titleOf } from "./entry-text.ts";
import { createHeights } from "./heights.ts";
import { guessHeights, rowsOf } from "./rows.ts";
import { addColumns, emptyIndex, type SessionIndex } from "./session-index.ts";
import { buildTree, outlineOf, pathTo, siblingsOf } from "./tree.ts";
import { joinTurns, turnsOf } from "./turns.ts";

/** `a:user a>b:assistant ...`: id, parent and kind; a parent that is not named is the entry before. */
function indexOf(text: string): SessionIndex {
  let before: string | null = null;
  const entries = text.split(" ").map((part) => {
    const [, parent, id = "", role] = /^(?:(\w+)>)?(\w+):(\w+)$/.exec(part) ?? [];
    const entry = { type: "message", id, parentId: parent === "root" ? null : (parent ?? before), message: { role } };
    before = id;
    return entry;
  });
  const index = emptyIndex();
  // Blocks of two, so that parents stand in another block too.
  for (let at = 0; at < entries.length; at += 2) {
    addColumns(index, indexColumns(entries.slice(at, at + 2), entries[at - 1]?.id));
  }
  return index;
}

const names = (index: SessionIndex, places: readonly number[]): string =>
  places.map((place) => index.ids[place]).join(" ");

describe("the tree", () => {
  const index = indexOf("a:user b:assistant c:user d:assistant b>e:user f:assistant e>g:assistant root>h:user");
  const tree = buildTree(index);
  const place = (id: string): number => index.places.get(id) ?? -1;

  test("paths, siblings and ends of branches", () => {
    expect(names(index, pathTo(index, place("g")))).toBe("a b e g");
    expect(names(index, siblingsOf(index, tree, place("f")))).toBe("f g");
    expect(names(index, siblingsOf(index, tree, place("a")))).toBe("a h");
    expect(names(index, [tree.ends[place("a")] as number, tree.ends[place("c")] as number])).toBe("g d");
  });

  test("the outline has every branch, those that are left further in", () => {
    const shown = (leaf: string): string[] =>
      outlineOf(index, tree, place(leaf), () => false).map(
        (row) => `${"-".repeat(row.depth)}${row.isBranch ? ">" : ""}${index.ids[row.place]}`,
      );
    expect(shown("g")).toEqual(["->h", "a", "->c", "e", "->f"]);
    expect(shown("d")).toEqual(["->h", "a", "->e", "-->f", "c"]);
    expect(outlineOf(index, tree, place("g"), (at) => at === place("b")).length).toBe(6);
  });

  test("a parent that is not in the file makes a root; a thousand branches are no recursion", () => {
    expect(indexOf("a:user nowhere>b:user").parents).toEqual([-1, -1]);
    const deep = indexOf(Array.from({ length: 20_000 }, (_, i) => `n${i}:user`).join(" "));
    expect(outlineOf(deep, buildTree(deep), 19_999, () => false)).toHaveLength(20_000);
  });
});

test("results of tools belong to the row of their answer", () => {
  const index = indexOf("a:user b:assistant c:toolResult d:toolResult e:assistant f:user g:toolResult");
  const rows = rowsOf(index, pathTo(index, 6));
  expect(rows.entries.map((places) => names(index, places))).toEqual(["a", "b c d", "e", "f", "g"]);
  expect(rows.rowOf.get(3)).toBe(1);
  expect(guessHeights(index, rows).every((height) => height > 0)).toBe(true);
});

test("the guess of a very long session stays below what a browser can lay out", () => {
  const index = indexOf(Array.from({ length: 5_000 }, (_, i) => `n${i}:user`).join(" "));
  index.lines.fill(400);
  const heights = guessHeights(index, rowsOf(index, pathTo(index, 4_999)));
  expect(heights.reduce((sum, height) => sum + height, 0)).toBeLessThan(12_000_001);
});

test("heights: sums, and the row at a position, as a plain list has them", () => {
  const heightList = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(heightList, fc.array(fc.tuple(fc.nat(), fc.nat(50))), fc.nat(2_000), (list, changes, position) => {
      const heights = createHeights(Float64Array.from(list));
      for (const [at, height] of changes) {
        heights.set(at % list.length, height);
        list[at % list.length] = height;
      }
      const before = (row: number): number => list.slice(0, row).reduce((sum, height) => sum + height, 0);
      expect(heights.total()).toBe(before(list.length));
      for (const row of list.keys()) expect(heights.before(row)).toBe(before(row));
      const row = heights.rowAt(position);
      if (position < heights.total()) {
        expect(before(row)).toBeLessThanOrEqual(position);
        expect(before(row) + (list[row] as number)).toBeGreaterThan(position);
      } else expect(row).toBe(list.length - 1);
    }),
  );
  expect(createHeights(new Float64Array(0)).rowAt(5)).toBe(0);
});

test("turns add up what was spent between two messages of the user", () => {
  const usage = (output: number) => ({ input: 1, output, cacheRead: 2, cacheWrite: 3, cost: { total: 0.5 } });
  const roles = ["assistant", "user", "assistant", "assistant", "user"];
  const entries = roles.map((role, i) => ({
    id: `${i}`,
    parentId: i === 0 ? null : `${i - 1}`,
    type: "message",
    message: { role, ...(role === "assistant" && { usage: usage(i) }) },
  }));
  const index = emptyIndex();
  addColumns(index, indexColumns(entries, undefined));
  const turns = turnsOf(index, pathTo(index, 4));
  expect(turns.map(({ place, input, output, cached, cost }) => [place, input, output, cached, cost])).toEqual([
    [0, 4, 0, 2, 0.5],
    [1, 8, 5, 4, 1],
    [4, 0, 0, 0, 0],
  ]);
  expect(joinTurns(turns, 2).map(({ number, count, output }) => [number, count, output])).toEqual([
    [1, 2, 5],
    [3, 1, 0],
  ]);
});

describe("what is found and shown of an entry", () => {
  const entry = {
    type: "message",
    id: "secret-id",
    message: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hmm", thinkingSignature: "c2ln" },
        { type: "text", text: "# Title\nand text" },
        { type: "toolCall", id: "x", name: "bash", arguments: { command: "ls -la" } },
        { type: "image", data: "aaaa", mimeType: "image/png" },
      ],
    },
  };

  test("all text, but no ids, signatures or pictures", () => {
    expect(searchText(entry)).toBe("Hmm\n# Title\nand text\nbash\nls -la");
    expect(searchText(null)).toBe("");
  });

  test("a few words of it", () => {
    expect(titleOf(entry)).toBe("Title and text");
    expect(titleOf({ message: { content: [{ type: "toolCall", name: "bash" }] } })).toBe("bash");
    expect(titleOf({ message: { command: "ls" } })).toBe("ls");
    expect(titleOf("nothing")).toBe("");
    expect(contentText("plain")).toBe("plain");
    expect(contentText({ odd: true })).toBe("");
  });

  test("the text around a hit", () => {
    const text = `${"a ".repeat(40)}the Needle here`;
    const snippet = snippetOf(text, "needle");
    expect(snippet?.text.slice(snippet.at, snippet.at + 6)).toBe("Needle");
    expect(snippet?.text.startsWith("…")).toBe(true);
    expect(snippetOf(text, "nothing")).toBeUndefined();
  });
});
