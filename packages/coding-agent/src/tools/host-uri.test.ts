import { expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { createTools } from "./create-tools.ts";
import { textOf } from "./test-fixture.ts";
import type { HostUri, UriContent } from "./tool.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function desk(given: Partial<UriContent> = {}, isWritable = true) {
  const said: UriContent = { content: "", contentType: "text/plain", notes: [], ...given };
  const written: string[] = [];
  const uri = (url: string): HostUri => ({
    url,
    scheme: "db",
    isWritable,
    read: async () => said,
    async write(content) {
      written.push(content);
      return said;
    },
  });
  const uris = (path: string) => (path.startsWith("db://") ? uri(path) : undefined);
  const call = async (name: string, args: object) => {
    const [tool] = createTools({ cwd: "/", env: {}, clock: systemClock, uris, names: [name] });
    const { signal } = new AbortController();
    return tool!.execute({ toolCallId: "c", args: { path: "db://x", ...args }, signal, onUpdate: () => undefined });
  };
  return { call, written };
}

test.each<[story: string, given: Partial<UriContent>, args: object, shown: string]>([
  ["as it is", { content: "a\nb\n" }, {}, "a\nb\n"],
  ["nothing", { content: "" }, {}, ""],
  [
    "some lines",
    { content: "a\nb\nc" },
    { offset: 2, limit: 1 },
    "b\n\n[1 more lines in file. Use offset=3 to continue.]",
  ],
  ["with notes", { content: "a", notes: ["old", "cut"] }, {}, "a\n\n[old. cut]"],
  ["another type is text too", { content: '{"a":1}', contentType: "application/json" }, {}, '{"a":1}'],
  ["a drawing is text", { content: "<svg/>", contentType: "image/svg+xml" }, {}, "<svg/>"],
])("read shows a text: %s", async (_story, given, args, shown) => {
  expect(textOf(await desk(given).call("read", args))).toBe(shown);
});

test("read cuts what is long, whatever its size, and says how to go on", async () => {
  const line = `${"x".repeat(99)}\n`;
  const long = await desk({ content: line.repeat(500_000) }).call("read", {});
  expect(textOf(long).length).toBeLessThan(60_000);
  expect(textOf(long)).toMatch(/\[Showing lines 1-512 of 500000 \(50\.0KB limit\)\. Use offset=513 to continue\.\]$/);
  const one = await desk({ content: "y".repeat(100_000) }).call("read", {});
  expect(textOf(one)).toMatch(/exceeds 50\.0KB limit\. Ask the host for a smaller part of it\]$/);
});

test.each([PIXEL, `data:image/png;base64,${PIXEL}`])("read shows an image: %.20s", async (content) => {
  const result = await desk({ content, contentType: "image/jpeg", notes: ["a logo"] }).call("read", {});
  expect(result.content).toEqual([
    { type: "text", text: "Read image file [image/png]\n\n[a logo]" },
    { type: "image", data: PIXEL, mimeType: "image/png" },
  ]);
});

test.each(["hello", "", Buffer.from("hello").toString("base64")])("%j as an image is told", async (content) => {
  const reading = desk({ content, contentType: "image/png" }).call("read", {});
  await expect(reading).rejects.toThrow("db://x came as image/png, but what came is no image in base64");
});

test("write hands over the whole text and shows what the host says to it", async () => {
  const silent = desk();
  expect(textOf(await silent.call("write", { content: "héllo" }))).toBe("Successfully wrote 6 bytes to db://x");
  expect(silent.written).toEqual(["héllo"]);
  const talking = desk({ content: "row 7 changed", notes: ["1 index"] });
  expect(textOf(await talking.call("write", { content: "" }))).toBe("row 7 changed\n\n[1 index]");
});

test("what may only be read is neither written nor edited, and edit names the way", async () => {
  const { call, written } = desk({}, false);
  const edits = [{ oldText: "a", newText: "b" }];
  const readOnly = "Could not write db://x: the host lends db:// for reading only.";
  await expect(call("write", { content: "x" })).rejects.toThrow(readOnly);
  await expect(call("edit", { edits })).rejects.toThrow(readOnly);
  await expect(desk().call("edit", { edits })).rejects.toThrow(
    "Could not edit db://x: it belongs to the host. Read it, and write the whole of it with the tool write.",
  );
  expect(written).toEqual([]);
});

test("every other path is a file", async () => {
  await expect(desk().call("read", { path: "/no/such/place.txt" })).rejects.toThrow(/no such file/i);
});
