import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testModel, testRequest } from "../../testing.ts";
import { loadModel } from "./load.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tiller-ai-sdk-"));
  const made = "(options) => (id) => ({ specificationVersion: 'v3', provider: 'x', id, options, doStream() {} })";
  await install("required", { main: "index.cjs" }, "index.cjs", `exports.createRequired = ${made};`);
  await install(
    "@acme/imported",
    {
      type: "module",
      exports: { ".": { types: "./x.d.ts", import: "./lib/index.js" }, "./sub": { import: "./lib/index.js" } },
    },
    "lib/index.js",
    `export const createImported = ${made}; export const createSomething = 1;`,
  );
  await install("bare", { exports: "./i.mjs", type: "module" }, "i.mjs", `export const createBare = ${made};`);
  await install("several", { main: "i.cjs" }, "i.cjs", `exports.createA = ${made}; exports.createB = ${made};`);
  await install("none", { main: "i.cjs" }, "i.cjs", "exports.other = 1;");
  await install("broken", { main: "i.cjs" }, "i.cjs", "throw new Error('bad luck');");
  await install(
    "old",
    { main: "i.cjs" },
    "i.cjs",
    "exports.createOld = () => () => ({ specificationVersion: 'v1', doStream() {} });",
  );
  await install(
    "object",
    { main: "i.cjs" },
    "i.cjs",
    `exports.createObject = (options) => ({ prefix: 'p', languageModel(id) { return (${made})(options)(this.prefix + id); },
      chat(id) { return (${made})(options)('chat ' + id); } });`,
  );
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function install(name: string, manifest: object, file: string, code: string): Promise<void> {
  const home = join(folder, "node_modules", name);
  await mkdir(join(home, file, ".."), { recursive: true });
  await writeFile(join(home, "package.json"), JSON.stringify({ name, version: "1.0.0", ...manifest }));
  await writeFile(join(home, file), code);
}

function load(compat: Record<string, unknown>, fields: Parameters<typeof testRequest>[0] = {}, baseUrl = "") {
  const model = testModel({ id: "m", api: "ai-sdk", provider: "mine", baseUrl, compat: { from: folder, ...compat } });
  return loadModel(testRequest({ model, ...fields }));
}

test.each(["required", "@acme/imported", "@acme/imported/sub", "bare"])("the package %s", async (name) => {
  const wanted = name === "@acme/imported" ? { export: "createImported" } : {};
  expect(await load({ package: name, ...wanted })).toMatchObject({ specificationVersion: "v3", id: "m" });
});

test("the factory is given the options, the key, the headers and the base URL", async () => {
  const options = { region: "eu-1", headers: { a: "1", b: "1" } };
  const request = { apiKey: "key-1", headers: { b: "2" } };
  expect(await load({ package: "required", options }, request, "https://here/v1")).toMatchObject({
    options: { region: "eu-1", apiKey: "key-1", baseURL: "https://here/v1", headers: { a: "1", b: "2" } },
  });
  const plain = (await load({ package: "required" })) as unknown as { options: object };
  expect(plain.options).toEqual({});
});

test("a provider that is an object, and another kind of model of it", async () => {
  expect(await load({ package: "object" })).toMatchObject({ id: "pm" });
  expect(await load({ package: "object", method: "chat" })).toMatchObject({ id: "chat m" });
});

test.each<[story: string, compat: Record<string, unknown>, message: RegExp]>([
  ["not installed", { package: "@ai-sdk/nowhere" }, /not installed in .*cd .* && npm install @ai-sdk\/nowhere$/],
  ["a part of a package", { package: "@ai-sdk/nowhere/sub" }, /npm install @ai-sdk\/nowhere$/],
  ["no package", {}, /needs "compat": \{"package"/],
  ["a path instead of a name", { package: "../evil.js" }, /needs "compat": \{"package"/],
  ["no folder", { package: "required", from: undefined }, /needs "compat": \{"from"/],
  ["a relative folder", { package: "required", from: "here" }, /needs "compat": \{"from"/],
  ["several factories", { package: "several" }, /Which factory of several\?.*createA, createB/],
  ["no factory", { package: "none" }, /It has none/],
  ["an unknown factory", { package: "several", export: "createC" }, /no factory "createC".*createA, createB/],
  ["a package that cannot start", { package: "broken" }, /could not be loaded: bad luck/],
  ["an old specification", { package: "old" }, /specification v1; known are v2, v3, v4/],
  ["an unknown method", { package: "object", method: "sing" }, /no method "sing"/],
])("failure: %s", async (_story, compat, message) => {
  await expect(load(compat)).rejects.toMatchObject({
    kind: "bad_request",
    message: expect.stringMatching(message) as string,
  });
});
