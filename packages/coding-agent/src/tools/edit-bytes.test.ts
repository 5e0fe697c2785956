import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createToolFixture, type ToolFixture } from "./test-fixture.ts";

/** What an edit does to the bytes of a file, whatever is in it. */

let fixture: ToolFixture;
beforeEach(() => {
  fixture = createToolFixture();
});
afterEach(() => fixture.remove());

const edit = (edits: { oldText: string; newText: string }[]) => fixture.call("edit", { path: "f", edits });
const bytes = () => readFileSync(join(fixture.root, "f"));

const text = fc
  .array(fc.constantFrom(..."abc \t\n“”–é😀$\u00a0".split(""), "\n", "\n", "word"), { maxLength: 60 })
  .map((parts) => parts.join("").toWellFormed());

it("an edit and its reverse give the same bytes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        text,
        endings: fc.constantFrom("\n", "\r\n"),
        mark: fc.boolean(),
        from: fc.nat(),
        length: fc.nat(20),
        replacement: text,
      }),
      async ({ text: body, endings, mark, from, length, replacement }) => {
        // The first line is never touched: it shows which endings the file has.
        const characters = [...body];
        const at = from % (characters.length + 1);
        const oldText = characters.slice(at, at + length + 1).join("");
        const newText = `§${replacement}§`;
        const plain = `first\n${body}`;
        fc.pre(oldText !== "" && isOnce(plain, oldText));
        const original = Buffer.from((mark ? "\ufeff" : "") + plain.replaceAll("\n", endings));
        fixture.write("f", original);
        await edit([{ oldText, newText }]);
        const changed = plain.replace(oldText, () => newText);
        expect(bytes().toString()).toBe((mark ? "\ufeff" : "") + changed.replaceAll("\n", endings));
        await edit([{ oldText: newText, newText: oldText }]);
        expect(bytes().equals(original)).toBe(true);
      },
    ),
  );
});

function isOnce(whole: string, part: string): boolean {
  return whole.indexOf(part) !== -1 && whole.indexOf(part) === whole.lastIndexOf(part);
}

it("a loosely found text is replaced, and every byte around it stays", async () => {
  const line = fc.array(fc.constantFrom("a", "b", " ", "“", "’", "–", "\u00a0", "ﬁ", "é", "e\u0301"), {
    minLength: 1,
    maxLength: 8,
  });
  const ending = fc.constantFrom("", "  ", "\t");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(line, ending), { minLength: 1, maxLength: 6 }), fc.nat(), async (rows, pick) => {
      const lines = rows.map(([characters, blanks], index) => `${index}${characters.join("")}.${blanks}`);
      const wanted = pick % lines.length;
      // As a model would retype it; the number in front makes it unique.
      const oldText = retype(lines[wanted]!.trimEnd());
      fc.pre(!lines.join("\n").includes(oldText));
      fixture.write("f", lines.join("\n"));
      await edit([{ oldText, newText: "NEW" }]);
      const blanks = /\s*$/.exec(lines[wanted]!)![0];
      expect(fixture.read("f")).toBe(lines.with(wanted, `NEW${blanks}`).join("\n"));
    }),
  );
});

function retype(line: string): string {
  return line
    .replaceAll("“", '"')
    .replaceAll("’", "'")
    .replaceAll("–", "-")
    .replaceAll("\u00a0", " ")
    .replaceAll("ﬁ", "fi")
    .normalize("NFC");
}

it("edits of one file take turns, also under two names for it", async () => {
  fixture.write("f", Array.from({ length: 20 }, (_, i) => `<${i}>`).join("\n"));
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => {
      const path = i % 2 ? "f" : `${fixture.root}/./f`;
      return fixture.call("edit", { path, edits: [{ oldText: `<${i}>`, newText: `[${i}]` }] });
    }),
  );
  expect(fixture.read("f")).toBe(Array.from({ length: 20 }, (_, i) => `[${i}]`).join("\n"));
});

it("a file that was changed since it was read is found as it is now", async () => {
  fixture.write("f", "one\ntwo\n");
  expect(await fixture.text("read", { path: "f" })).toBe("one\ntwo\n");
  fixture.write("f", "zero\none\nTWO\n");
  await edit([{ oldText: "one", newText: "1" }]);
  expect(fixture.read("f")).toBe("zero\n1\nTWO\n");
  await expect(edit([{ oldText: "1\ntwo", newText: "2" }])).rejects.toThrow(
    /Nearest lines in the file:\n2: 1\n3: TWO$/,
  );
});
