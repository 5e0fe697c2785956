import { afterEach, beforeEach, expect, it } from "vitest";
import { createToolFixture, type ToolFixture } from "./test-fixture.ts";

let fixture: ToolFixture;
beforeEach(() => {
  fixture = createToolFixture({ "old.txt": "a rather long old content" });
});
afterEach(() => fixture.remove());

it("writes a new file and the folders on the way", async () => {
  expect(await fixture.call("write", { path: "x/y/new.txt", content: "häppy\n" })).toEqual({
    content: [{ type: "text", text: "Successfully wrote 6 bytes to x/y/new.txt" }],
  });
  expect(fixture.read("x/y/new.txt")).toBe("häppy\n");
});

it("replaces everything that was there", async () => {
  await fixture.call("write", { path: "old.txt", content: "new" });
  expect(fixture.read("old.txt")).toBe("new");
});

it("takes calls for the same file in turn, so that the last one stands", async () => {
  const contents = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000));
  await Promise.all(contents.map((content) => fixture.call("write", { path: "old.txt", content })));
  expect(fixture.read("old.txt")).toBe(contents[19]);
});

it("touches nothing after an abort", async () => {
  const call = fixture.call("write", { path: "old.txt", content: "new" }, AbortSignal.abort());
  await expect(call).rejects.toThrow("Operation aborted");
  expect(fixture.read("old.txt")).toBe("a rather long old content");
});
