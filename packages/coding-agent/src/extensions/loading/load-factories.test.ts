import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../../../test/support/fake-clock.ts";
import { loadFactories } from "./load-factories.ts";
import { createModuleLoader } from "./module-loader.ts";
import { createTestFolder, type TestFolder } from "./test-fixture.ts";

let folder: TestFolder;
let clock: FakeClock;
beforeEach(() => {
  folder = createTestFolder();
  clock = new FakeClock();
});
afterEach(() => folder.remove());

const loadAll = (files: Record<string, string>) => {
  folder.write(files);
  const loader = createModuleLoader({ cacheFolder: folder.at("cache"), builtin: () => undefined });
  const sources = Object.keys(files).map((name) => ({ path: folder.at(name) }));
  return loadFactories(sources, loader, { timeoutMs: 5000, clock });
};
const results = async (files: Record<string, string>): Promise<string[]> =>
  (await loadAll(files)).map((loaded) =>
    "factory" in loaded ? `${folder.short(loaded.source.path)} ok` : folder.short(loaded.error),
  );

describe("the functions that make extensions", () => {
  test("are found in every form, in the order of the sources", async () => {
    const files = {
      "slow.ts": "await null; await null; export default () => {}",
      "named.ts": "const run = () => {}; export { run as default }",
      "common.js": "module.exports = function () {}",
      "compiled.js": "Object.defineProperty(exports, '__esModule', { value: true }); exports.default = () => {}",
      "wrapped.ts": "export default { default: () => {} }",
      "class.ts": "export default class {}",
    };
    expect(await results(files)).toEqual(Object.keys(files).map((name) => `${name} ok`));
    expect(clock.pending).toBe(0);
  });

  test("an extension that fails does not stop the others", async () => {
    const files = {
      "none.ts": "export const a = 1",
      "empty.ts": "",
      "value.ts": "export default { name: 'x' }",
      "throws.ts": "throw new Error('boom'); export default 1",
      "nothing.ts": "export default () => {}; throw undefined",
      "syntax.ts": "export default (",
      "import.ts": 'import { x } from "./gone"; export default x',
      "call.ts": 'import { missing } from "node:fs"; missing(); export default () => {}',
      "fine.ts": "export default () => {}",
    };
    const found = await results(files);
    expect(found[5]).toMatch(/^Failed to load extension: syntax\.ts:1:\d+: /);
    expect(found.toSpliced(5, 1)).toEqual([
      "Extension does not export a valid factory function: none.ts",
      "Extension does not export a valid factory function: empty.ts",
      "Extension does not export a valid factory function: value.ts",
      "Failed to load extension: boom",
      "Failed to load extension: undefined",
      'Failed to load extension: Cannot find module "./gone" imported from import.ts',
      "Failed to load extension: missing is not a function",
      "fine.ts ok",
    ]);
  });

  test("a module that never ends loading is given up", async () => {
    const waiting = loadAll({
      "never.ts": "await new Promise(() => {}); export default 1",
      "fine.ts": "export default () => {}",
    });
    await expect.poll(() => clock.pending).toBe(1);
    await clock.advance(5000);
    const [never, fine] = await waiting;
    expect(never).toMatchObject({ error: expect.stringMatching(/^Failed to load extension: .* 5000 ms/) });
    expect(fine).toHaveProperty("factory");
  });

  test("the stack of a failure has the lines of the source", async () => {
    const [loaded] = await loadAll({
      "a.ts": "interface A {\n  a: 1;\n}\nexport default 1 as unknown as A;\nthrow new Error('x');\n",
    });
    expect(loaded).toHaveProperty("stack", expect.stringContaining(`${folder.at("a.ts")}:5:`));
  });
});
