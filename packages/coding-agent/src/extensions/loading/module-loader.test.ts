import { readdirSync } from "node:fs";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anyText } from "../../../../../test/support/any-text.ts";
import { createModuleLoader, type ModuleLoader } from "./module-loader.ts";
import { createTestFolder, type TestFolder } from "./test-fixture.ts";

let folder: TestFolder;
let loader: ModuleLoader;
const given: Record<string, object> = {
  "@mariozechner/pi-ai": { hello: "from us", default: 1 },
  typebox: { Type: {} },
};
const newLoader = (): ModuleLoader =>
  createModuleLoader({
    cacheFolder: folder.at("cache"),
    builtin(name) {
      const module = given[name];
      return module && (async () => module);
    },
  });

beforeEach(() => {
  folder = createTestFolder();
  loader = newLoader();
});
afterEach(() => folder.remove());

/** Loads `main.ts`, or the first file if there is none of that name. */
const load = async (files: Record<string, string>): Promise<Record<string, unknown>> => {
  folder.write(files);
  const entry = "main.ts" in files ? "main.ts" : (Object.keys(files)[0] as string);
  return loader.load(folder.at(entry));
};
const failure = async (files: Record<string, string>): Promise<string> => {
  const error = await load(files).then(
    () => "nothing failed",
    (reason: unknown) =>
      reason instanceof Error || (reason as Error).message ? (reason as Error).message : String(reason),
  );
  return folder.short(error);
};

describe("what a module may export", () => {
  test.each([
    ["an expression", "export default 5", { default: 5 }],
    ["values", "export const a = 1; export let b = 2; b = 3", { a: 1, b: 3 }],
    ["from patterns", "export const { a, b: [c], ...d } = { a: 1, b: [2], e: 3 }", { a: 1, c: 2, d: { e: 3 } }],
    ["under other names", "const a = 1; export { a as b, a as default }", { b: 1, default: 1 }],
    ["an enum", "export enum E { A = 1, B }", { E: { A: 1, B: 2, 1: "A", 2: "B" } }],
    ["a namespace", "export namespace N { export const x = 1 }", { N: { x: 1 } }],
    ["after waiting", "export default await Promise.resolve(7)", { default: 7 }],
    ["with types", "type T = number; export type { T }; export const a = (<T>(x: T) => x)(1) satisfies T", { a: 1 }],
    ["nothing", "", { default: {} }],
    ["nothing but a comment", "// export default 5\n/* export const a = 1 */", { default: {} }],
    [
      "texts that look like code",
      'export default `export default 1; import x from "y"`',
      { default: 'export default 1; import x from "y"' },
    ],
    ["texts in quotes", `export default "import 'a'; export { b }"`, { default: "import 'a'; export { b }" }],
    ["a regular expression", "export default /export default import/.source", { default: "export default import" }],
    ["after a byte order mark", "\uFEFFexport default 1", { default: 1 }],
    ["after a shebang line", "#!/usr/bin/env node\nexport default 1", { default: 1 }],
    ["with CRLF", "const a: number = 1;\r\nexport default a;\r\n", { default: 1 }],
    ["with private fields", "class A { #x = 4; get x() { return this.#x } }\nexport default new A().x", { default: 4 }],
    [
      "with parameter properties",
      "class A { constructor(readonly x = 3) {} }\nexport default new A().x",
      { default: 3 },
    ],
  ])("%s", async (_what, source, expected) => {
    expect({ ...(await load({ "main.ts": source })) }).toEqual(expected);
  });

  test.each([
    ["a named function", "export default function go() { return 1 }"],
    ["a function without name", "export default function () { return 1 }"],
    ["an async arrow", "export default async () => 1"],
    ["a class without name", "export default class { run() {} }"],
  ])("as default %s", async (_what, source) => {
    expect((await load({ "main.ts": source })).default).toBeTypeOf("function");
  });

  test("bindings stay live", async () => {
    const files = {
      "main.ts": 'import { count, add } from "./counter"; const before = count; add(); export default [before, count]',
      "counter.ts": "export let count = 0; export function add() { count++ }",
    };
    expect((await load(files)).default).toEqual([0, 1]);
  });

  test("what other modules export", async () => {
    const files = {
      "main.ts":
        'export * from "./a"; export * as b from "./b"; export { x as y, default as z } from "./b"; export const own = 1',
      "a.ts": "export const a = 1; export const own = 2; export default 3",
      "b.ts": "export const x = 4; export default 5",
    };
    const { b, ...rest } = await load(files);
    expect(rest).toEqual({ a: 1, own: 1, y: 4, z: 5 });
    expect({ ...(b as object) }).toEqual({ x: 4, default: 5 });
  });

  test("decorators as TypeScript had them first", async () => {
    const source = `
      const log: string[] = [];
      function mark(target: object, key: string, descriptor: PropertyDescriptor) {
        const inner = descriptor.value;
        descriptor.value = function (...args: unknown[]) { log.push(key); return inner.apply(this, args) };
      }
      const seal = (name: string) => (target: { label?: string }) => { target.label = name };
      @seal("x") class A { static label: string; @mark run() { return 1 } }
      new A().run();
      export default [log, A.label];`;
    expect((await load({ "main.ts": source })).default).toEqual([["run"], "x"]);
  });

  test("using, also where the runtime does not know it", async () => {
    const source = `
      const log: string[] = [];
      const thing = (name: string) => ({ [Symbol.dispose]() { log.push(name) }, async [Symbol.asyncDispose]() { await null; log.push(name + "!") } });
      async function run() { using a = thing("a"); await using b = thing("b"); using none = null; log.push("body"); throw new Error("oops") }
      await run().catch((error) => log.push(error.message));
      export default log;`;
    expect((await load({ "main.ts": source })).default).toEqual(["body", "b!", "a", "oops"]);
  });
});

describe("what a module may import", () => {
  test.each([
    ["./x", "x.ts"],
    ["./x", "x.mjs"],
    ["./x.js", "x.ts"],
    ["./x.mjs", "x.mts"],
    ["./x.ts", "x.ts"],
    ["./x", "x/index.ts"],
    ["./x.config", "x.config.ts"],
    ["./deep/../x.ts", "x.ts"],
  ])("%s, which is %s", async (specifier, path) => {
    expect((await load({ "main.ts": `export { x } from "${specifier}"`, [path]: "export const x = 1" })).x).toBe(1);
  });

  test("JSON, and other files as text", async () => {
    const files = {
      "main.ts":
        'import d, { a } from "./d.json" with { type: "json" }; import t from "./t.md"; export default [d, a, t]',
      "d.json": '{"a": 1}',
      "t.md": "# Text",
    };
    expect((await load(files)).default).toEqual([{ a: 1 }, 1, "# Text"]);
  });

  test("modules of Node, with and without prefix", async () => {
    const source = `import fs, { readFileSync } from "node:fs"; import * as path from "path"; import { readFile } from "fs/promises";
      export default [fs.readFileSync === readFileSync, typeof path.join, typeof readFile, typeof path.default.join]`;
    expect((await load({ "main.ts": source })).default).toEqual([true, "function", "function", "function"]);
  });

  test("modules of ours by name, and types that nobody has", async () => {
    const source = `import type { A } from "nowhere"; import { B } from "nowhere-either"; import { hello } from "@mariozechner/pi-ai";
      const b: B | A = hello; export default b`;
    expect((await load({ "main.ts": source })).default).toBe("from us");
  });

  test("only for what it does", async () => {
    const files = {
      "main.ts": 'import "./side"; export default (globalThis as Record<string, unknown>).__side',
      "side.ts": "(globalThis as Record<string, unknown>).__side = 9",
    };
    expect((await load(files)).default).toBe(9);
    delete (globalThis as Record<string, unknown>).__side;
  });

  test("later, by a name that is known only then; another query is another module", async () => {
    const files = {
      "main.ts": `const name = "x"; const a = await import("./" + name); const b = await import(new URL("./x.ts?2", import.meta.url).href);
        export default [a.x.n, a === b, a === await import("./x.ts")]`,
      "x.ts": "export const x = { n: 1 }",
    };
    expect((await load(files)).default).toEqual([1, false, true]);
  });

  test("packages: by the conditions of an import, by main, and paths in them", async () => {
    folder.write({
      "node_modules/a/package.json":
        '{"type":"module","exports":{".":{"require":"./no.cjs","import":"./yes.js"},"./sub/*":"./lib/*.js"}}',
      "node_modules/a/yes.js": 'export const a = "import"',
      "node_modules/a/lib/s.js": 'export const s = "sub"',
      "node_modules/b/package.json": '{"main":"./main"}',
      "node_modules/b/main.js": "const key = 'hid' + 'den'; module.exports = { b: 'main', [key]: 1 }",
    });
    const source =
      'import { a } from "a"; import { s } from "a/sub/s"; import { b, hidden } from "b"; export default [a, s, b, hidden]';
    expect((await load({ "main.ts": source })).default).toEqual(["import", "sub", "main", 1]);
  });

  test("packages written in TypeScript, and those that import modules of ours", async () => {
    folder.write({
      "node_modules/typed/package.json": '{"exports":"./src/index.ts"}',
      "node_modules/typed/src/index.ts": "export const typed: number = 1",
      "node_modules/friend/package.json": '{"type":"module","main":"index.js"}',
      "node_modules/friend/index.js": 'import { more } from "./more.js"; export const friend = more',
      "node_modules/friend/more.js": 'export { hello as more } from "@mariozechner/pi-ai"',
    });
    const source = 'import { typed } from "typed"; import { friend } from "friend"; export default [typed, friend]';
    expect((await load({ "main.ts": source })).default).toEqual([1, "from us"]);
  });

  test("packages that the runtime begins to load and cannot finish", async () => {
    folder.write({
      "node_modules/mixed/package.json": '{"type":"module","main":"index.js"}',
      "node_modules/mixed/index.js": 'export { value } from "./value.ts"',
      "node_modules/mixed/value.ts": "export enum E { A = 4 }\nexport const value: E = E.A",
      "node_modules/old/package.json": "{}",
      "node_modules/old/index.js": 'const { hello } = require("@mariozechner/pi-ai"); exports.old = hello',
    });
    const source = 'import { value } from "mixed"; import { old } from "old"; export default [value, old]';
    expect((await load({ "main.ts": source })).default).toEqual([4, "from us"]);
  });

  test("private names of its own package", async () => {
    folder.write({
      "package.json": '{"name":"me","imports":{"#x":"./lib/x.ts"},"exports":"./lib/x.ts"}',
      "lib/x.ts": "export default 3",
    });
    expect(
      (await load({ "main.ts": 'import x from "#x"; import y from "me"; export default [x, y]' })).default,
    ).toEqual([3, 3]);
  });

  test("names of its own sources with a star, written without an extension", async () => {
    const files = {
      "package.json": '{"name":"me","imports":{"#src/*":"./src/*"}}',
      "src/deep/x.ts": "export default 1;",
      "src/y.ts": "export default 2;",
      "main.ts": 'import x from "#src/deep/x"; import y from "#src/y.js"; export default [x, y]',
    };
    expect((await load(files)).default).toEqual([1, 2]);
  });

  test("a linked file looks for its neighbours where it really is", async () => {
    folder.write({ "dev/ext.ts": 'export { x } from "./x"', "dev/x.ts": "export const x = 1" });
    folder.link("extensions/ext.ts", "dev/ext.ts");
    expect((await loader.load(folder.at("extensions/ext.ts"))).x).toBe(1);
  });

  test("import.meta", async () => {
    const source =
      'export default [import.meta.url, import.meta.dirname, import.meta.filename, import.meta.resolve("./a.json"), import.meta.resolve("fs")]';
    const found = (await load({ "main.ts": source, "a.json": "1" })).default as string[];
    expect(found.map((text) => text.replace(folder.root, ""))).toEqual([
      "file:///main.ts",
      "",
      "/main.ts",
      "file:///a.json",
      "node:fs",
    ]);
  });
});

test.each([
  [
    "files and modules of ours",
    'import { Type } from "typebox"; import { x } from "./x.ts"; export default [Type, x]',
    0,
  ],
  ["one of the runtime", 'import { sep } from "node:path"; export default sep', 1],
  ["one of the runtime, by require", 'const { sep } = require("path"); module.exports = sep', 1],
  ["a package", 'import late from "late"; export default late', 1],
])("who guards what the runtime has hears in time of %s", async (_what, source, times) => {
  const heard: unknown[] = [];
  const onNative = (): void => void heard.push(Reflect.get(globalThis, "lateIsHere"));
  const builtin = (name: string) => given[name] && (async () => given[name] as object);
  const packageFile = { "node_modules/late/package.json": '{"main":"main.js"}' };
  folder.write({ ...packageFile, "node_modules/late/main.js": "module.exports = globalThis.lateIsHere = true" });
  folder.write({ "main.ts": source, "x.ts": "export const x = 1" });
  try {
    await createModuleLoader({ cacheFolder: folder.at("cache"), builtin, onNative }).load(folder.at("main.ts"));
  } finally {
    Reflect.deleteProperty(globalThis, "lateIsHere");
  }
  expect(heard).toEqual(Array(times).fill(undefined));
});

describe("modules that need each other", () => {
  test("functions can be used at once, values later", async () => {
    const files = {
      "main.ts":
        'import { b, late } from "./b"; export function a() { return "a" } export const value = 5; export default [b, late()]',
      "b.ts": 'import { a, value } from "./main"; export const b = a(); export const late = () => value',
    };
    expect((await load(files)).default).toEqual(["a", 5]);
  });

  test("two entries that reach the circle from both sides both load", async () => {
    folder.write({
      "one.ts": 'import "./x"; export default 1',
      "two.ts": 'import "./y"; export default 2',
      "x.ts": 'import "./y"; await null; export const x = 1',
      "y.ts": 'import "./z"; await null; export const y = 1',
      "z.ts": 'import "./x"; await null; export const z = 1',
    });
    const both = await Promise.all([loader.load(folder.at("one.ts")), loader.load(folder.at("two.ts"))]);
    expect(both.map((module) => module.default)).toEqual([1, 2]);
  });

  test("also when one waits for the other by a late import, or for itself", async () => {
    const files = {
      "main.ts":
        'export const a = 1; const b = await import("./b"); const me = await import("./main"); export default [b.b, me.a]',
      "b.ts": 'import { a } from "./main"; export const b = a + 1',
    };
    expect((await load(files)).default).toEqual([2, 1]);
  });

  test("a module runs once for all who import it, and anew for another loader", async () => {
    const files = {
      "main.ts": 'import { s } from "./a"; import { s as t } from "./b"; export default s === t; export { s }',
      "a.ts": 'export { s } from "./s"',
      "b.ts": 'export { s } from "./s"',
      "s.ts": "export const s = { n: 0 }",
    };
    const first = await load(files);
    expect(first.default).toBe(true);
    expect(await loader.load(folder.at("main.ts"))).toBe(first);
    expect((await newLoader().load(folder.at("main.ts"))).s).not.toBe(first.s);
  });

  test("another loader sees a file that has changed", async () => {
    expect((await load({ "main.ts": "export default 1" })).default).toBe(1);
    folder.write({ "main.ts": "export default 2" });
    expect((await newLoader().load(folder.at("main.ts"))).default).toBe(2);
  });
});

describe("CommonJS", () => {
  test.each([
    ["a function", "main.js", "module.exports = () => 1"],
    ["a function in a .cjs file", "main.cjs", "module.exports = function () {}"],
    ["as compilers write it", "main.js", '"use strict"; exports.__esModule = true; exports.default = () => 1'],
    ["with export =", "main.ts", "function go() {}\nexport = go"],
    ["beside imports", "main.ts", 'import { join } from "node:path"; module.exports = join'],
    ["as old scripts are", "main.js", "var old = 010; module.exports = function () {}; return"],
  ])("exports %s", async (_what, name, source) => {
    expect((await load({ [name]: source })).default).toBeTypeOf("function");
  });

  test("require: files, data, modules of Node, of ours, and modules that are not CommonJS", async () => {
    const files = {
      "main.cts": `const one = require("./one"); const { hello } = require("@mariozechner/pi-ai"); const { join } = require("path");
        module.exports = [one.n, one.again(), require("./d.json").a, hello, join("a", "b"), require("./esm").x, __filename, __dirname]`,
      "one.js": 'exports.n = 1; exports.again = () => require("./main.cts") === undefined',
      "d.json": '{"a":2}',
      "esm.ts": "export const x = await Promise.resolve(3)",
    };
    const found = (await load(files)).default;
    expect(found).toEqual([1, false, 2, "from us", "a/b", 3, folder.at("main.cts"), folder.root]);
  });

  test("a require that fails is an error only for who calls it", async () => {
    const source =
      'let ok; try { require("./gone"); } catch { ok = "caught" } module.exports = ok; function never() { require("./broken") }';
    expect((await load({ "main.js": source, "broken.ts": "const =" })).default).toBe("caught");
  });

  test("a module that throws does so for everybody who asks", async () => {
    const files = {
      "main.js": 'let n = 0; for (let i = 0; i < 2; i++) try { require("./bad") } catch { n++ } module.exports = n',
      "bad.js": "exports.half = 1; throw new Error('bad')",
    };
    expect((await load(files)).default).toBe(2);
    await expect(loader.load(folder.at("bad.js"))).rejects.toThrow("bad");
  });

  test("modules that require each other see what is there so far", async () => {
    const files = {
      "main.js": 'exports.early = 1; exports.b = require("./b").seen; ',
      "b.js": 'exports.seen = require("./main").early',
    };
    expect((await load(files)).b).toBe(1);
  });

  test("TypeScript may use the names of CommonJS, or have its own of these names", async () => {
    expect((await load({ "main.ts": "export default [__dirname, typeof require]" })).default).toEqual([
      folder.root,
      "function",
    ]);
    const own =
      'import { createRequire } from "node:module"; const require = createRequire(import.meta.url); const __dirname = "mine"; export default [__dirname, typeof require("fs")]';
    expect((await load({ "own.ts": own })).default).toEqual(["mine", "object"]);
  });
});

describe("what goes wrong", () => {
  test.each([
    ["const a = 1;\nconst = 4;", /^main\.ts:2:7: Unexpected token/],
    ["export default {\n  a: 1", /^main\.ts:2:\d+: /],
    ["export default 1; export default 2", /^main\.ts:1:\d+: .*[Dd]efault/],
  ])("a syntax error names file, line and column: %j", async (source, message) => {
    expect(await failure({ "main.ts": source })).toMatch(message);
  });

  test("also in plain JavaScript", async () => {
    expect(await failure({ "main.js": "let a = 1;\n  let b = ;" })).toMatch(/^main\.js:2:11: /);
    expect(await failure({ "wide.ts": "/* ü😀 */ const = 1" })).toMatch(/^wide\.ts:1:17: /);
    expect(await failure({ "other.mjs": "import a from;" })).toMatch(/^other\.mjs:1:14: /);
  });

  test.each(["./gone", "no-such-package", "@scope/none/sub", "node:nothing", "/gone/x.ts"])(
    "an import of %s",
    async (name) => {
      expect(await failure({ "main.ts": `import { x } from "${name}"; export default x` })).toBe(
        `Cannot find module "${name}" imported from main.ts`,
      );
    },
  );

  test("an import that a neighbour lacks names the neighbour", async () => {
    const files = { "main.ts": 'export * from "./a"', "a.ts": 'import x from "./gone.js"; export default x' };
    expect(await failure(files)).toBe('Cannot find module "./gone.js" imported from a.ts');
  });

  test("what a package lacks is told as Node tells it", async () => {
    folder.write({
      "node_modules/p/index.mjs": 'import "missing-thing"',
      "node_modules/p/package.json": '{"exports":"./index.mjs"}',
    });
    expect(await failure({ "main.ts": 'import "p"' })).toMatch(/missing-thing/);
  });

  test("what a module throws, also if it is no error", async () => {
    expect(await failure({ "main.ts": 'throw new Error("boom"); export default 1' })).toBe("boom");
    expect(await failure({ "text.ts": 'export default 1; throw "just text"' })).toBe("just text");
    expect(await failure({ "main.js": 'module.exports = 1; throw new Error("sync")' })).toBe("sync");
  });

  test("broken JSON", async () => {
    expect(await failure({ "main.ts": 'import "./a.json"', "a.json": "{" })).toMatch(/^a\.json: not valid JSON/);
  });

  test("a file that is not there", async () => {
    await expect(loader.load(folder.at("gone.ts"))).rejects.toThrow("gone.ts");
  });
});

test("a stack names the lines of the source", async () => {
  const source = `import { readFileSync } from "node:fs";
interface Long {
  a: string;
  b: number;
}

export const used = readFileSync;

export function fail(x: Long): never {
  const text: string = x.a;
  throw new Error(text);
}
`;
  const { fail } = (await load({ "main.ts": source })) as { fail(x: object): never };
  let caught: unknown;
  try {
    fail({ a: "oh" });
  } catch (error) {
    caught = error;
  }
  const stack = folder.short(await loader.stackOf(caught));
  expect(stack.split("\n").slice(0, 2)).toEqual([
    "Error: oh",
    expect.stringMatching(/^ {4}at fail \(main\.ts:11:\d+\)$/),
  ]);
  expect(await loader.stackOf("no error")).toBe("no error");
});

test("texts survive, whatever is in them, with a cold and with a warm cache", async () => {
  const property = fc.asyncProperty(anyText(), async (text) => {
    folder.write({ "main.ts": `const text: string = ${JSON.stringify(text)};\nexport default text;` });
    expect((await newLoader().load(folder.at("main.ts"))).default).toBe(text);
    expect((await newLoader().load(folder.at("main.ts"))).default).toBe(text);
  });
  await fc.assert(property, {
    numRuns: 60,
    examples: [["export default 1; import x from 'y'"], ["\u2028\u2029"], ["\ud800"], ["`$"], ["*/ // \\"]],
  });
});

test("a megabyte of source loads", async () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => `export const value${n}: number = ${n}; // some more text`);
  expect((await load({ "main.ts": lines.join("\n") })).value19999).toBe(19_999);
});

test("what was compiled once is taken from the cache", async () => {
  expect((await load({ "main.ts": 'export { x } from "./x"', "x.ts": "export const x: number = 1" })).x).toBe(1);
  const kept = readdirSync(folder.at("cache"));
  expect(kept).toHaveLength(2);
  expect((await newLoader().load(folder.at("main.ts"))).x).toBe(1);
  expect(readdirSync(folder.at("cache"))).toEqual(kept);
});

test("without a folder for the cache everything works the same", async () => {
  folder.write({ file: "", "main.ts": "export default 1 as number" });
  const uncached = createModuleLoader({ cacheFolder: folder.at("file/cache"), builtin: () => undefined });
  expect((await uncached.load(folder.at("main.ts"))).default).toBe(1);
});
