import { afterEach, beforeEach, expect, test } from "vitest";
import { compatModule, isCompatModule, needsOmpExtras, ompExtras, prepareOmpExtras } from "./index.ts";
import { createTestHost, type TestHost } from "./test-host.ts";
import { getMarkdownTheme, plainTheme, Theme } from "./theme.ts";

let host: TestHost;
beforeEach(() => {
  host = createTestHost();
});
afterEach(() => host.remove());

const SCOPES = ["@mariozechner", "@earendil-works", "@oh-my-pi"];

test.each([
  ["pi-coding-agent", "createReadTool"],
  ["pi-ai", "StringEnum"],
  ["pi-agent-core", "Agent"],
  ["pi-tui", "Text"],
])("%s is one module under all its names and sub-paths", async (name, exported) => {
  const found = await Promise.all(
    SCOPES.flatMap((scope) => [`${scope}/${name}`, `${scope}/${name}/any/where.js`]).map((path) =>
      compatModule(path, host),
    ),
  );
  expect(new Set(found).size).toBe(1);
  expect(Object.keys(found[0]!)).toContain(exported);
});

test.each([
  ["typebox", "Type"],
  ["@sinclair/typebox", "Type"],
  ["typebox/value", "Check"],
  ["@sinclair/typebox/value", "Value"],
  ["typebox/compile", "Compile"],
  ["@sinclair/typebox/compiler", "TypeCompiler"],
  ["typebox/schema", "Check"],
])("%s has %s", async (specifier, name) => {
  expect(isCompatModule(specifier)).toBe(true);
  expect(await compatModule(specifier, host)).toHaveProperty(name);
});

test.each([
  "lodash",
  "pi-ai",
  "@mariozechner/pi-web",
  "@mariozechner/pi-ai-extra",
  "@someone/pi-ai",
  "typebox-x",
  "typebox/no-such-part",
  "typebox/constructor",
])("%s is none of ours", (specifier) => {
  expect(isCompatModule(specifier)).toBe(false);
  expect(compatModule(specifier, host)).toBeUndefined();
});

test("only what is wanted is loaded, and the rest when it is", async () => {
  const some = await compatModule("@mariozechner/pi-coding-agent", host, ["getAgentDir"]);
  expect(isCompatModule("@mariozechner/pi-coding-agent/hooks")).toBe(true);
  expect(Object.keys(some!)).not.toContain("SessionManager");
  expect(await compatModule("@earendil-works/pi-coding-agent", host, ["SessionManager"])).toBe(some);
  expect(Object.keys(some!)).toContain("SessionManager");
});

test("another host has other modules", async () => {
  const other = createTestHost();
  expect(await compatModule("@mariozechner/pi-tui", other)).not.toBe(await compatModule("@mariozechner/pi-tui", host));
  other.remove();
});

test("an agent of one's own is not to be had, but its type can be named", async () => {
  const core = (await compatModule("@mariozechner/pi-agent-core", host)) as Record<string, new () => object>;
  expect(() => new core.Agent!()).toThrow("Agent is not available inside an extension here");
});

test.each([
  ["const { Type } = pi.typebox;", true],
  ["const { typebox } = pi;", true],
  ["pi.pi.createReadTool()", true],
  ['pi.on("x", () => {})', false],
  ["import { Type } from 'typebox'", false],
])("%j needs what omp adds: %s", (text, needs) => {
  expect(needsOmpExtras(text)).toBe(needs);
});

test("what omp adds", async () => {
  const extras = ompExtras(host);
  extras.logger.warn("careful", { n: 1 });
  extras.logger.error("broken");
  expect(host.lines).toEqual(['warning: careful {"n":1}', "error: broken"]);
  expect([extras.typebox, extras.pi]).toEqual([undefined, undefined]);
  await prepareOmpExtras(host);
  expect(extras.typebox).toHaveProperty("Type");
  expect(extras.pi).toBe(await compatModule("@oh-my-pi/pi-coding-agent", host));
});

test("colours leave every text as it is", () => {
  for (const style of ["bold", "italic", "dim", "underline", "inverse", "strikethrough"] as const) {
    expect(plainTheme[style]("x")).toBe("x");
  }
  expect([plainTheme.fg("accent", "x"), plainTheme.bg("any", "x"), plainTheme.getFgAnsi("any")]).toEqual([
    "x",
    "x",
    "",
  ]);
  expect(new Theme({}, {}, "truecolor", { name: "mine" }).name).toBe("mine");
  expect((getMarkdownTheme().heading as (text: string) => string)("x")).toBe("x");
});
