import { mkdirSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createToolFixture, type ToolFixture } from "./test-fixture.ts";

let fixture: ToolFixture;
beforeEach(() => {
  fixture = createToolFixture({ "b.txt": "", "A.txt": "", ".hidden": "", "src/x": "" });
});
afterEach(() => fixture.remove());

it("lists names without regard to case, folders marked, hidden files too", async () => {
  symlinkSync("src", `${fixture.root}/link`);
  symlinkSync("nowhere", `${fixture.root}/broken`);
  expect(await fixture.call("ls", {})).toEqual({
    content: [{ type: "text", text: ".hidden\nA.txt\nb.txt\nbroken\nlink/\nsrc/" }],
  });
});

it("says when a folder is empty", async () => {
  mkdirSync(`${fixture.root}/void`);
  expect(await fixture.text("ls", { path: "void" })).toBe("(empty directory)");
});

it("stops at the limit and says so", async () => {
  expect(await fixture.call("ls", { limit: 2 })).toEqual({
    content: [{ type: "text", text: ".hidden\nA.txt\n\n[2 entries limit reached. Use limit=4 for more]" }],
    details: { entryLimitReached: 2 },
  });
  expect(await fixture.text("ls", { limit: 4 })).not.toContain("limit");
});

it("names the path that is missing or no folder", async () => {
  await expect(fixture.call("ls", { path: "no" })).rejects.toThrow("Path not found: no");
  await expect(fixture.call("ls", { path: "b.txt" })).rejects.toThrow("Not a directory: b.txt");
  await expect(fixture.call("ls", {}, AbortSignal.abort())).rejects.toThrow("Operation aborted");
});
