import { expect, test, vi } from "vitest";
import { createCache } from "./cache.ts";
import { createModuleLoader } from "./module-loader.ts";
import { createTestFolder } from "./test-fixture.ts";

vi.mock("./transform.ts", () => {
  throw new Error("the compiler was loaded");
});

test("with a warm cache the compiler is not loaded", async () => {
  const folder = createTestFolder();
  try {
    const source = "export default 1 as number";
    folder.write({ "main.ts": source, "cold.ts": "export default 2" });
    createCache(folder.at("cache")).put(source, "ts", { kind: "cjs", code: "module.exports = 'kept'", requires: [] });
    const loader = createModuleLoader({ cacheFolder: folder.at("cache"), builtin: () => undefined });
    expect((await loader.load(folder.at("main.ts"))).default).toBe("kept");
    await expect(loader.load(folder.at("cold.ts"))).rejects.toThrow();
  } finally {
    folder.remove();
  }
});
