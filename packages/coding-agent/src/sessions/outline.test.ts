import { describe, expect, it } from "vitest";
import { type OutlineItem, outline } from "./outline.ts";

/** `a<root`, `b<a: text`: an entry, its parent and, for a user message, its text. */
function items(...notes: string[]): OutlineItem[] {
  return notes.map((note) => {
    const [, id = "", parent = "", text] = /^(\w+)<(\w*)(?:: (.*))?$/.exec(note) ?? [];
    return { id, parentId: parent || null, ...(text === undefined ? {} : { text }) };
  });
}

describe("an outline", () => {
  it("is a list as long as nothing branches off", () => {
    expect(outline(items("m<", "a<m: one", "x<a", "b<x: two", "y<b"))).toEqual(["* one", "* two"]);
  });

  it("indents branches and marks the way to the last entry", () => {
    const tree = items("a<: one", "x<a", "b<x: left", "c<b: further left", "d<x: right", "e<d: last", "y<e");
    expect(outline(tree)).toEqual(["* one", "    - left", "      further left", "*   - right", "*     last"]);
  });

  it("shows branches of branches", () => {
    const tree = items("a<: one", "b<a: two", "c<b: three", "d<b: four", "e<a: five");
    expect(outline(tree)).toEqual(["* one", "    - two", "      - three", "      - four", "*   - five"]);
  });

  it("shows several beginnings as branches of nothing", () => {
    expect(outline(items("a<: one", "b<gone: two"))).toEqual(["    - one", "*   - two"]);
  });

  it("does not follow a circle", () => {
    expect(outline(items("a<b: one", "b<a: two"))).toEqual(["* one", "* two"]);
  });

  it("keeps each message on its line, without what would steer a terminal", () => {
    expect(outline(items("a<: x")).length).toBe(1);
    expect(outline([{ id: "a", parentId: null, text: "one\n\u001b[31mtwo\u2028\u202ethree" }])).toEqual([
      "* one [31mtwo three",
    ]);
    expect(outline([{ id: "a", parentId: null, text: "x".repeat(200) }])).toEqual([`* ${"x".repeat(97)}...`]);
    expect(outline([{ id: "a", parentId: null, text: " " }])).toEqual(["* (no text)"]);
  });

  it("is as deep as the conversation", () => {
    const long = Array.from({ length: 20_000 }, (_, i) => ({ id: `${i}`, parentId: i ? `${i - 1}` : null, text: "x" }));
    expect(outline(long)).toHaveLength(20_000);
  });
});
