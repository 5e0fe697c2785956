import { describe, expect, test } from "vitest";
import { diffOfRegions } from "../../tools/edit-diff.ts";
import { diffLines, replacedLines } from "./diff.ts";

describe("diffLines", () => {
  test("a unified diff, with the numbers of its lines", () => {
    const text =
      "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,3 +3,3 @@ f()\n same\n-old\n--- dashes\n+new\n\\ No newline at end of file\n";
    expect(diffLines(text)).toEqual([
      { kind: "head", text: "diff --git a/x b/x" },
      { kind: "head", text: "--- a/x" },
      { kind: "head", text: "+++ b/x" },
      { kind: "gap", text: "@@ -3,3 +3,3 @@ f()" },
      { kind: "same", number: 3, text: "same" },
      { kind: "removed", number: 4, text: "old" },
      { kind: "removed", number: 5, text: "-- dashes" },
      { kind: "added", number: 4, text: "new" },
      { kind: "head", text: "\\ No newline at end of file" },
    ]);
  });

  test("what the edit tool gives", () => {
    const old = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`).join("\n");
    const start = old.indexOf("line 10");
    const { diff } = diffOfRegions(old, [{ start, end: start + 7, newText: "changed" }]);
    const lines = diffLines(diff);
    expect(lines.filter(({ kind }) => kind === "gap").length).toBe(2);
    expect(lines.find(({ kind }) => kind === "removed")).toEqual({ kind: "removed", number: 10, text: "line 10" });
    expect(lines.find(({ kind }) => kind === "added")).toEqual({ kind: "added", number: 10, text: "changed" });
  });

  test("empty lines and lines without a sign are kept", () => {
    expect(diffLines("+ 1\n-2 x\n")).toEqual([
      { kind: "added", number: 1, text: "" },
      { kind: "removed", number: 2, text: "x" },
    ]);
    expect(diffLines("nothing of a diff")).toEqual([{ kind: "same", text: "nothing of a diff" }]);
    expect(diffLines("")).toEqual([{ kind: "same", text: "" }]);
  });
});

test("replacedLines keeps what both begin and end with", () => {
  expect(replacedLines("a\nb\nc", "a\nx\ny\nc").map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    "same a",
    "removed b",
    "added x",
    "added y",
    "same c",
  ]);
});
