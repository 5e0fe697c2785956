import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCache } from "./cache.ts";
import type { Compiled } from "./compiled.ts";
import { createTestFolder, type TestFolder } from "./test-fixture.ts";

let folder: TestFolder;
beforeEach(() => {
  folder = createTestFolder();
});
afterEach(() => folder.remove());

const compiled: Compiled = { kind: "esm", code: "const a = 'ü😀';\n", requires: ["x"] };
const files = (): string[] => readdirSync(folder.at("cache")).map((name) => join(folder.at("cache"), name));

describe("the cache of compiled modules", () => {
  test("gives back what was put in, to another process too", () => {
    createCache(folder.at("cache")).put("source", "ts", compiled);
    expect(createCache(folder.at("cache")).get("source", "ts")).toEqual(compiled);
  });

  test("knows nothing of another source, nor of the same text in another language", () => {
    const cache = createCache(folder.at("cache"));
    cache.put("source", "ts", compiled);
    expect(cache.get("source ", "ts")).toBeUndefined();
    expect(cache.get("source", "js")).toBeUndefined();
  });

  test("compares the source: an equal checksum is not enough", () => {
    const cache = createCache(folder.at("cache"));
    cache.put("source", "ts", compiled);
    const [file = ""] = files();
    writeFileSync(file, readFileSync(file, "utf8").replace(/source$/, "sauce!"));
    expect(cache.get("source", "ts")).toBeUndefined();
  });

  test.each<[string, (file: string) => void]>([
    ["emptied", (file) => truncateSync(file, 0)],
    ["cut off", (file) => truncateSync(file, statSync(file).size - 10)],
    ["changed", (file) => writeFileSync(file, readFileSync(file, "utf8").replace("const a", "const b"))],
    ["of another form", (file) => writeFileSync(file, "null\n")],
    ["with a strange kind", (file) => writeFileSync(file, readFileSync(file, "utf8").replace("esm", "exe"))],
  ])("an entry that was %s does not count, and is made again", (_how, spoil) => {
    const cache = createCache(folder.at("cache"));
    cache.put("source", "ts", compiled);
    for (const file of files()) spoil(file);
    expect(cache.get("source", "ts")).toBeUndefined();
    cache.put("source", "ts", compiled);
    expect(cache.get("source", "ts")).toEqual(compiled);
    expect(files()).toHaveLength(1);
  });

  test("where nothing can be written nothing is kept, and nothing fails", () => {
    folder.write({ file: "" });
    const cache = createCache(folder.at("file/cache"));
    cache.put("source", "ts", compiled);
    expect(cache.get("source", "ts")).toBeUndefined();
    mkdirSync(folder.at("closed"));
    chmodSync(folder.at("closed"), 0o500);
    expect(() => createCache(folder.at("closed/cache")).put("source", "ts", compiled)).not.toThrow();
  });

  test("keeps no more than it may: the oldest go first", () => {
    const big = createCache(folder.at("cache"));
    for (let n = 0; n < 6; n++) big.put(`source${n}`, "ts", compiled);
    for (const file of files()) utimesSync(file, 1, 1);
    createCache(folder.at("cache"), { entries: 3, bytes: 1e6 }).put("new", "ts", compiled);
    expect(files()).toHaveLength(3);
    expect(big.get("new", "ts")).toEqual(compiled);
    createCache(folder.at("cache"), { entries: 3, bytes: 150 }).put("newest", "ts", compiled);
    expect(files()).toHaveLength(1);
    expect(big.get("newest", "ts")).toEqual(compiled);
  });
});
