import { expect, test } from "vitest";
import { readOptions } from "./options.mjs";

test.each([
  ["", true],
  ["--peers /somewhere", true],
  ["--out /somewhere.md", true],
  ["--wait 60", true],
  ["--wait 0", false],
  ["--wait 0.0", false],
  ["--cli /another/cli.js", false],
  ["--floor /another/floor.mjs", false],
  ["--only start", false],
  ["--quick", false],
  ["--reps 1", false],
  ["--sessions 40,20,60", false],
  ["--without-peers", false],
])("with '%s' a run is one that may replace the committed report: %s", (options, isWhole) => {
  expect(readOptions(options.split(" ").filter(Boolean)).isWhole).toBe(isWhole);
});
