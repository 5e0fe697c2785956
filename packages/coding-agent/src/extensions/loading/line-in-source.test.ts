import { afterEach, beforeEach, expect, test } from "vitest";
import { lineInSource } from "./line-in-source.ts";
import { createTestFolder, type TestFolder } from "./test-fixture.ts";
import { transform } from "./transform.ts";

let folder: TestFolder;
beforeEach(() => {
  folder = createTestFolder();
});
afterEach(() => folder.remove());

const SOURCE = `#!/usr/bin/env node
import type { Wind } from "./wind";

interface Sail {
  size: number;
}

const here: Sail = { size: 1 };

export function loop(): void {
  // a comment that does not stay
  for (;;) here.size += 1;
}
`;

test.each(["a.ts", "a.mts"])("the line that stands in %s, not that of the compiled code", async (name) => {
  folder.write({ [name]: SOURCE });
  const { code } = await transform(folder.at(name), SOURCE);
  const lines = code.split("\n");
  const line = lines.findIndex((text) => text.includes("for (")) + 1;
  const column = (lines[line - 1] ?? "").indexOf("for (") + 1;
  expect(line).not.toBe(12);
  expect(lineInSource(folder.at(name), { line, column })).toBe(12);
});

test("nobody can tell for a file that is gone, or is no code any more", () => {
  folder.write({ "b.ts": "export const const;" });
  expect(lineInSource(folder.at("gone.ts"), { line: 1, column: 1 })).toBeUndefined();
  expect(lineInSource(folder.at("b.ts"), { line: 1, column: 1 })).toBeUndefined();
});
