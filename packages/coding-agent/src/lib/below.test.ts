import { join } from "node:path";
import { expect, test } from "vitest";
import { below } from "./below.ts";

test.each([
  ["/home/me", ".pi"],
  ["/home/me", ".pi/agent/prompts"],
  ["/", ".git"],
])("what is below %s as %s is what join says", (folder, name) => {
  expect(below(folder, name)).toBe(join(folder, name));
});
