import { afterEach, beforeEach, expect, test } from "vitest";
import { AI_PARTS } from "./ai.ts";
import { CODING_AGENT_PARTS } from "./coding-agent.ts";
import { createParts, namesIn, type Part } from "./parts.ts";
import { createTestHost, type TestHost } from "./test-host.ts";

let host: TestHost;
beforeEach(() => {
  host = createTestHost();
});
afterEach(() => host.remove());

test.each([...CODING_AGENT_PARTS, ...AI_PARTS])(
  "a part brings exactly what it says: $names",
  async ({ names, load }) => {
    expect(new Set(Object.keys(await load(host)))).toEqual(namesIn(names));
  },
);

test.each([
  [["a"], ["one"]],
  [["always"], []],
  [
    ["b", "c"],
    ["one", "two"],
  ],
  [["unknown"], []],
  [["*"], ["one", "two"]],
  [["default"], ["one", "two"]],
  [undefined, ["one", "two"]],
])("who wants %j waits for %j", async (wanted, expected) => {
  const loaded: string[] = [];
  const part = (name: string, names: string): Part => ({
    names,
    async load() {
      loaded.push(name);
      return Object.fromEntries([...namesIn(names)].map((key) => [key, `${key} of ${name}`]));
    },
  });
  const open = createParts("pi-x", { always: 1 }, [part("one", "a b"), part("two", "c")], host);
  const module = await open(wanted);
  expect(loaded).toEqual(expected);
  expect(await open(wanted)).toBe(module);
  expect(loaded).toEqual(expected);
  await open();
  expect([module.always, module.a, module.c]).toEqual([1, "a of one", "c of two"]);
});
