import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolFixture, type ToolFixture } from "./test-fixture.ts";

let fixture: ToolFixture;
beforeEach(() => {
  fixture = createToolFixture({ "a.txt": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n" });
});
afterEach(() => fixture.remove());

const edit = (path: string, ...pairs: [string, string][]) =>
  fixture.call("edit", { path, edits: pairs.map(([oldText, newText]) => ({ oldText, newText })) });

describe("an edit", () => {
  it("replaces the text and shows what changed", async () => {
    expect(await edit("a.txt", ["six", "6\n6b"])).toEqual({
      content: [{ type: "text", text: "Successfully replaced 1 block(s) in a.txt." }],
      details: {
        diff: "    ...\n  2 two\n  3 three\n  4 four\n  5 five\n- 6 six\n+ 6 6\n+ 7 6b\n  7 seven\n  8 eight\n  9 nine\n 10 ten",
        firstChangedLine: 6,
      },
    });
    expect(fixture.read("a.txt")).toBe("one\ntwo\nthree\nfour\nfive\n6\n6b\nseven\neight\nnine\nten\n");
  });

  it("takes several places at once, each found in the original", async () => {
    await edit("a.txt", ["nine", "one"], ["one", "nine"]);
    expect(fixture.read("a.txt")).toBe("nine\ntwo\nthree\nfour\nfive\nsix\nseven\neight\none\nten\n");
  });

  it("may delete, and takes $ signs as they are", async () => {
    await edit("a.txt", ["two\n", ""], ["three", "$& $1 $$"]);
    expect(fixture.read("a.txt")).toMatch(/^one\n\$& \$1 \$\$\nfour\n/);
  });

  it("keeps the line ends and the mark of a file, also of a mixed one", async () => {
    fixture.write("dos.txt", "\ufeffa\r\nb\r\nc\nd\r\n");
    await edit("dos.txt", ["b\nc", "x\ny"]);
    expect(fixture.read("dos.txt")).toBe("\ufeffa\r\nx\r\ny\nd\r\n");
  });

  it("is found although quotes, dashes and blanks were retyped, and leaves the rest alone", async () => {
    fixture.write("prose", "keep “this”  \nsay “hi” – now \t\nand ﬁn\u00a0“too”\n");
    await edit("prose", ['say "hi" - now\nand', "said\nand"]);
    expect(fixture.read("prose")).toBe("keep “this”  \nsaid\nand ﬁn\u00a0“too”\n");
  });

  it.each([
    ["top-level", { oldText: "one", newText: "1" }],
    ["as a JSON text", { edits: JSON.stringify([{ oldText: "one", newText: "1" }]) }],
  ])("may also be written %s", async (_, args) => {
    await fixture.call("edit", { path: "a.txt", ...args });
    expect(fixture.read("a.txt")).toMatch(/^1\ntwo/);
  });
});

describe("an edit that cannot be", () => {
  const missing = "The old text must match exactly including all whitespace and newlines.";
  it.each<[string, [string, string][], string]>([
    ["text that is not there", [["zero", "0"]], `Could not find the exact text in a.txt. ${missing}`],
    [
      "text that is there twice",
      [["e\n", "E\n"]],
      "Found 4 occurrences of the text in a.txt. The text must be unique. Please provide more context to make it unique.\n\nThey begin in these lines:\n1: one\n3: three\n5: five\n9: nine",
    ],
    ["no text", [["", "x"]], "oldText must not be empty in a.txt."],
    [
      "no change",
      [["one", "one"]],
      "No changes made to a.txt. The replacement produced identical content. Make newText differ from oldText.",
    ],
    [
      "one of several not there",
      [
        ["one", "1"],
        ["zero", "0"],
      ],
      "Could not find edits[1] in a.txt. The oldText must match exactly including all whitespace and newlines.",
    ],
    [
      "one of several empty",
      [
        ["one", "1"],
        ["", "0"],
      ],
      "edits[1].oldText must not be empty in a.txt.",
    ],
    [
      "one of several twice",
      [
        ["ee", "EE"],
        ["ne\n", "N"],
      ],
      "Found 2 occurrences of edits[1] in a.txt. Each oldText must be unique. Please provide more context to make it unique.\n\nThey begin in these lines:\n1: one\n9: nine",
    ],
    [
      "two that overlap",
      [
        ["two\nthree", "x"],
        ["one\ntwo", "y"],
      ],
      "edits[0] and edits[1] overlap in a.txt. Merge them into one edit or target disjoint regions.",
    ],
    ["nothing at all", [], "Edit tool input is invalid. edits must contain at least one replacement."],
  ])("%s", async (_, pairs, message) => {
    const before = fixture.read("a.txt");
    await expect(edit("a.txt", ...pairs)).rejects.toThrow(new Error(message));
    expect(fixture.read("a.txt")).toBe(before);
  });

  it("names the file that is missing or no text, and stops when told", async () => {
    await expect(edit("no.txt", ["a", "b"])).rejects.toThrow(
      new Error("Could not edit file: no.txt. Error code: ENOENT."),
    );
    fixture.write("raw", Buffer.from([0x61, 0xff, 0x62]));
    await expect(edit("raw", ["a", "b"])).rejects.toThrow("It is not UTF-8 text");
    const args = { path: "a.txt", oldText: "one", newText: "1" };
    await expect(fixture.call("edit", args, AbortSignal.abort())).rejects.toThrow("Operation aborted");
  });
});
