import { describe, expect, it } from "vitest";
import type { EntryLog } from "./entry-log.ts";
import { copyPath, labelsOf } from "./fork.ts";
import {
  countingIds,
  entriesOf,
  loadedLog,
  messageEntry,
  type PlainEntry,
  plain,
  testHeader,
  user,
} from "./test-sessions.ts";

const ask = (id: string, parentId: string | null) => messageEntry(id, parentId, user(id));
const label = (id: string, parentId: string, targetId: string, text?: string) =>
  plain(id, parentId, { type: "label", targetId, ...(text === undefined ? {} : { label: text }) });

const header = { ...testHeader, id: "copy" };
const copy = (log: EntryLog, path: number[]) => copyPath(log, path, header, { ids: countingIds(), timestamp: "now" });
const told = (log: EntryLog): string[] =>
  (entriesOf(log) as unknown as PlainEntry[]).map(({ type, id, targetId, label: text }) =>
    type === "label" ? `${targetId}=${text}` : id,
  );

describe("labels", () => {
  it("are the last word on each entry; an empty one takes it away", () => {
    const log = loadedLog([
      ask("a", null),
      label("1", "a", "a", "one"),
      label("2", "1", "b", "two"),
      label("3", "2", "a", "three"),
      label("4", "3", "b", ""),
      label("5", "4", "nobody", "x"),
      plain("6", "5", { type: "label" }),
    ]);
    expect([...labelsOf(log)]).toEqual([
      ["a", "three"],
      ["nobody", "x"],
    ]);
  });
});

describe("a copy of a path", () => {
  it("has its entries as they are, under a header of its own", () => {
    const log = loadedLog([ask("a", null), ask("b", "a"), ask("c", "a")]);
    const copied = copy(log, [0, 2]);
    expect(entriesOf(copied)).toEqual([ask("a", null), ask("c", "a")]);
    expect(copied.header).toBe(header);
    expect(entriesOf(copy(log, []))).toEqual([]);
  });

  const cases: [story: string, lines: PlainEntry[], path: number[], expected: string[]][] = [
    [
      "keeps labels that stand on the path, once",
      [ask("a", null), label("l", "a", "a", "x"), ask("b", "l")],
      [0, 1, 2],
      ["a", "a=x", "b"],
    ],
    ["gives those anew that stand elsewhere", [ask("a", null), label("l", "a", "a", "x")], [0], ["a", "a=x"]],
    [
      "leaves out those of entries that stay behind",
      [ask("a", null), ask("b", "a"), label("l", "b", "b", "x")],
      [0],
      ["a"],
    ],
    [
      "gives the last word, also when the path has an older one",
      [ask("a", null), label("l", "a", "a", "old"), ask("b", "l"), label("m", "b", "a", "new")],
      [0, 1, 2],
      ["a", "a=old", "b", "a=new"],
    ],
    [
      "takes a label away that was taken away elsewhere",
      [ask("a", null), label("l", "a", "a", "old"), ask("b", "l"), label("m", "b", "a")],
      [0, 1, 2],
      ["a", "a=old", "b", "a=undefined"],
    ],
  ];
  for (const [story, lines, path, expected] of cases) {
    it(story, () => {
      const copied = copy(loadedLog(lines), path);
      expect(told(copied)).toEqual(expected);
      const all = labelsOf(loadedLog(lines));
      const known = new Set(path.map((at) => lines[at]!.id));
      expect(labelsOf(copied)).toEqual(new Map([...all].filter(([id]) => known.has(id))));
    });
  }

  it("links labels that are given anew to its end, with ids that are free", () => {
    const lines = [ask("00000001", null), ask("00000002", "00000001")];
    const labels = [label("x", "00000002", "00000001", "one"), label("y", "x", "00000002", "two")];
    const copied = copy(loadedLog([...lines, ...labels]), [0, 1]);
    expect(entriesOf(copied).slice(2)).toEqual([
      { type: "label", id: "00000003", parentId: "00000002", timestamp: "now", targetId: "00000001", label: "one" },
      { type: "label", id: "00000004", parentId: "00000003", timestamp: "now", targetId: "00000002", label: "two" },
    ]);
    expect([copied.parent(2), copied.parent(3)]).toEqual([1, 2]);
  });
});
