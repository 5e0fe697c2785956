import { mkdirSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createToolFixture, type ToolFixture } from "./test-fixture.ts";

let fixture: ToolFixture;
beforeEach(() => {
  fixture = createToolFixture({
    "a.ts": "",
    ".env.ts": "",
    "src/b.ts": "",
    "src/deep/c.ts": "",
    "src/deep/c.js": "",
    "node_modules/pkg/d.ts": "",
    ".git/e.ts": "",
  });
});
afterEach(() => fixture.remove());

it.each([
  ["*.ts", ".env.ts\na.ts\nsrc/b.ts\nsrc/deep/c.ts"],
  ["c.*", "src/deep/c.js\nsrc/deep/c.ts"],
  ["src/*.ts", "src/b.ts"],
  ["src/**/*.ts", "src/b.ts\nsrc/deep/c.ts"],
  ["./src/*", "src/b.ts\nsrc/deep/"],
  ["**/*.js", "src/deep/c.js"],
  ["*.{js,mjs}", "src/deep/c.js"],
  ["d.ts", "No files found matching pattern"],
])("%s", async (pattern, found) => expect(await fixture.text("find", { pattern })).toBe(found));

it("gives paths relative to the searched folder", async () => {
  expect(await fixture.text("find", { pattern: "*.ts", path: "src" })).toBe("b.ts\ndeep/c.ts");
});

it("stops at the limit only when there is more", async () => {
  expect(await fixture.call("find", { pattern: "*.ts", limit: 2 })).toEqual({
    content: [
      {
        type: "text",
        text: ".env.ts\na.ts\n\n[2 results limit reached. Use limit=4 for more, or refine pattern]",
      },
    ],
    details: { resultLimitReached: 2 },
  });
  expect(await fixture.call("find", { pattern: "*.ts", limit: 4 })).not.toHaveProperty("details");
});

it("does not run in circles through links", async () => {
  symlinkSync("..", `${fixture.root}/src/up`);
  expect(await fixture.text("find", { pattern: "b.ts" })).toBe("src/b.ts");
});

it("follows every .gitignore on the way, the deepest word counting", async () => {
  fixture.write(".gitignore", "*.js\n/a.ts\nbuild/\n");
  fixture.write("src/.gitignore", "!keep.js\nb.ts\n");
  fixture.write("src/keep.js", "");
  fixture.write("build/out.ts", "");
  expect(await fixture.text("find", { pattern: "*.{ts,js}" })).toBe(".env.ts\nsrc/deep/c.ts\nsrc/keep.js");
});

it.each(["find", "grep"])("%s says when an ignore file is too large", async (tool) => {
  fixture.write("src/.ignore", "b.ts\n".repeat(60_000));
  fixture.write("src/b.ts", "b");
  const found = await fixture.text(tool, { pattern: tool === "find" ? "b.ts" : "b", glob: "b.*" });
  expect(found).toMatch(/^src\/b\.ts.*\n\n\[The ignore files here are too large/);
});

it("knows the rules of the repository above, but shows an ignored folder to whoever asks for it by name", async () => {
  fixture.write(".gitignore", "*.log\nbuild/\n");
  fixture.write("src/x.log", "");
  fixture.write("build/out.txt", "");
  expect(await fixture.text("find", { pattern: "x.log", path: "src" })).toBe("No files found matching pattern");
  expect(await fixture.text("find", { pattern: "*", path: "build" })).toBe("out.txt");
});

it("names what is missing, and stops when told", async () => {
  mkdirSync(`${fixture.root}/empty`);
  expect(await fixture.text("find", { pattern: "*", path: "empty" })).toBe("No files found matching pattern");
  await expect(fixture.call("find", { pattern: "*", path: "no" })).rejects.toThrow("Path not found: no");
  await expect(fixture.call("find", { pattern: "*", path: "a.ts" })).rejects.toThrow("Not a directory: a.ts");
  const stop = new AbortController();
  const search = fixture.call("find", { pattern: "*" }, stop.signal);
  stop.abort();
  await expect(search).rejects.toThrow("Operation aborted");
});
