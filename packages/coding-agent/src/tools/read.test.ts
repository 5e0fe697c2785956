import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolFixture, type ToolFixture } from "./test-fixture.ts";
import { splitLines, truncateHead } from "./truncate.ts";

let fixture: ToolFixture;
beforeEach(() => {
  fixture = createToolFixture();
});
afterEach(() => fixture.remove());

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`).join("\n");

describe("reading text", () => {
  it("gives a small file as it is", async () => {
    fixture.write("a.txt", "one\r\ntwo\n");
    expect(await fixture.call("read", { path: "a.txt" })).toEqual({
      content: [{ type: "text", text: "one\r\ntwo\n" }],
    });
  });

  it("gives nothing for an empty file", async () => {
    fixture.write("empty", "");
    expect(await fixture.text("read", { path: "empty", offset: 1 })).toBe("");
  });

  it("stops after 2000 lines and says how to go on", async () => {
    fixture.write("long.txt", `${numbered(2500)}\n`);
    const result = await fixture.call("read", { path: "long.txt" });
    const text = result.content[0]?.type === "text" ? result.content[0].text : "";
    expect(text.endsWith("\nline 2000\n\n[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]")).toBe(true);
    expect(result.details).toMatchObject({
      truncation: { truncated: true, truncatedBy: "lines", totalLines: 2500, outputLines: 2000, totalBytes: 23893 },
    });
    expect(await fixture.text("read", { path: "long.txt", offset: 2001 })).toBe(
      `${splitLines(numbered(2500)).slice(2000).join("\n")}\n`,
    );
  });

  it("stops after 50 KB and says so", async () => {
    fixture.write("wide.txt", Array.from({ length: 100 }, () => "x".repeat(1023)).join("\n"));
    const text = await fixture.text("read", { path: "wide.txt" });
    expect(text.endsWith("x\n\n[Showing lines 1-50 of 100 (50.0KB limit). Use offset=51 to continue.]")).toBe(true);
  });

  it("gives the lines that were asked for, and how many are left", async () => {
    fixture.write("a.txt", `${numbered(10)}\n`);
    expect(await fixture.text("read", { path: "a.txt", offset: 4, limit: 2 })).toBe(
      "line 4\nline 5\n\n[5 more lines in file. Use offset=6 to continue.]",
    );
    expect(await fixture.text("read", { path: "a.txt", offset: 9, limit: 2 })).toBe("line 9\nline 10\n");
  });

  it("points to bash for a line that is too long", async () => {
    fixture.write("min.js", `short\n${"y".repeat(60_000)}\n`);
    expect(await fixture.text("read", { path: "min.js", offset: 2 })).toBe(
      "[Line 2 is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '2p' min.js | head -c 51200]",
    );
  });

  it("agrees with the plain way for every offset of a file with many shapes of lines", async () => {
    const text = `${Array.from({ length: 40 }, (_, i) => "ä".repeat((i * 701) % 9000)).join("\n")}\n`;
    fixture.write("mixed", text);
    const lines = splitLines(text);
    for (let offset = 1; offset <= lines.length; offset++) {
      const expected = truncateHead(`${lines.slice(offset - 1).join("\n")}\n`);
      const shown = await fixture.text("read", { path: "mixed", offset });
      expect(shown.startsWith(expected.content)).toBe(true);
      expect(shown.includes("Use offset=")).toBe(expected.truncated);
    }
  });
});

describe("what cannot be read", () => {
  it("a missing file: Node's own words", async () => {
    await expect(fixture.call("read", { path: "no.txt" })).rejects.toThrow(
      `ENOENT: no such file or directory, access '${fixture.root}/no.txt'`,
    );
  });

  it("an offset behind the end", async () => {
    fixture.write("a.txt", "one\ntwo\n");
    await expect(fixture.call("read", { path: "a.txt", offset: 3 })).rejects.toThrow(
      "Offset 3 is beyond end of file (2 lines total)",
    );
  });

  it("anything after an abort", async () => {
    fixture.write("a.txt", "one");
    await expect(fixture.call("read", { path: "a.txt" }, AbortSignal.abort())).rejects.toThrow("Operation aborted");
  });
});

describe("images", () => {
  it("one that is too large is left out, with a word about it", async () => {
    const bytes = Buffer.alloc(5 * 1024 * 1024);
    bytes.write("\x89PNG\r\n\x1a\n", "latin1");
    fixture.write("big.png", bytes);
    expect(await fixture.text("read", { path: "big.png" })).toBe(
      "Read image file [image/png]\n[Image left out: 6.7MB is more than 4.5MB. Shrink it first.]",
    );
  });
});
