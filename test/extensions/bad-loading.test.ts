import { describe, expect, test } from "vitest";
import { command, errorsOf, extension, pathOf, tool, useBad, useBadForAll, worksStill } from "./bad-support.ts";

/** Extensions that cannot be loaded, or not as they want: the others still work, and so does the process. */

const start = useBad();
const good = extension(command("hello", `ctx.ui.notify("hello");`));

/** Each as an extension of its own, under a name that says where it stands in the list. */
const named = (codes: readonly string[]): Record<string, string> =>
  Object.fromEntries(codes.map((code, at) => [nameAt(at), code]));
const nameAt = (at: number): string => `bad-${String(at).padStart(2, "0")}`;

const NOT_LOADED: readonly (readonly [string, string, RegExp])[] = [
  ["has a syntax error", "export default function (pi) { const = ; }", /Failed to load extension: .*bad-00\.ts:1/s],
  ["throws while it is evaluated", `throw new Error("no tide");\n${good}`, /no tide/],
  ["throws in its factory", extension(`throw new Error("no wind");`), /Failed to load extension: no wind/],
  ["rejects in its factory", extension(`await Promise.reject(new Error("no crew"));`), /no crew/],
  ["throws nothing in particular", extension("throw undefined;"), /Failed to load extension: undefined/],
  ["imports a file that is not there", `import x from "./nowhere.ts";\nx();\n${good}`, /\.\/nowhere\.ts/],
  ["imports a package that is not there", `import x from "no-such-pkg";\nx();\n${good}`, /no-such-pkg/],
  ["imports a part that is not there", `import x from "node:nothing";\nx();\n${good}`, /node:nothing/],
  ["exports no function", "export default 42;", /does not export a valid factory function/],
  ["exports nothing", "const x = 1;", /does not export a valid factory function/],
  ["is empty", "", /does not export a valid factory function/],
  ["is no text", "\u0000\u0001\u0002", /Failed to load extension/],
];

describe("of many extensions that cannot be loaded", () => {
  const codes = NOT_LOADED.map(([, code]) => code);
  const rpcOf = useBadForAll({ ...named(codes), good }, { script: ['text "aye"'] });

  test.each(NOT_LOADED.map(([what, , error], at) => [what, at, error] as const))(
    "the one that %s is named",
    async (_, at, error) => {
      const rpc = rpcOf();
      await rpc.call({ type: "get_state" });
      const told = errorsOf(rpc).filter(({ extensionPath }) => extensionPath === pathOf(rpc, nameAt(at)));
      expect(told).toEqual([expect.objectContaining({ event: "load", error: expect.stringMatching(error) })]);
    },
  );

  test("nothing else is said, and the good one works", async () => {
    const rpc = rpcOf();
    await worksStill(rpc);
    expect(errorsOf(rpc)).toHaveLength(NOT_LOADED.length);
    const { result } = await rpc.prompt("/hello");
    expect(result).toMatchObject({ status: "completed", agentInvoked: false });
  });
});

test("a factory and a module that never end are given up", async () => {
  // Modules come first, then the factories.
  const endless = [`await new Promise(() => {});\n${good}`, extension("await new Promise(() => {});")];
  const rpc = start(
    { ...named(endless), good },
    { script: ['text "aye"'], settings: { "extensionLimits.loadMs": 1500 } },
  );
  await worksStill(rpc);
  const error = expect.stringMatching(/did not finish.*within/);
  expect(errorsOf(rpc)).toEqual(
    endless.map((_, at) => ({ extensionPath: pathOf(rpc, nameAt(at)), event: "load", error })),
  );
  expect((await rpc.prompt("/hello")).result.agentInvoked).toBe(false);
});

test("a factory that was given up registers nothing afterwards", async () => {
  const code = extension(
    `await new Promise((done) => setTimeout(done, 3000));
     ${command("late", "")}
     ${tool("late", `return "x"`)}
     pi.on("input", () => ({ action: "handled" }));`,
  );
  const rpc = start(
    { bad: code, good },
    { script: ['delay 3500 + text "aye"', 'text "aye"'], settings: { "extensionLimits.loadMs": 1500 } },
  );
  await worksStill(rpc);
  await worksStill(rpc);
  const { data } = await rpc.call({ type: "get_commands" });
  expect((data as { commands: { name: string }[] }).commands.map(({ name }) => name)).toEqual(["hello"]);
});

test("an extension that leaves a rejected promise in its factory is named, and works", async () => {
  const code = extension(`Promise.reject(new Error("nobody cares")); ${command("fine", "")}`);
  const rpc = start(code, { script: ['text "aye"'] });
  await worksStill(rpc);
  expect((await rpc.prompt("/fine")).result.agentInvoked).toBe(false);
  expect(errorsOf(rpc)).toEqual([
    { extensionPath: pathOf(rpc), event: "unhandled_rejection", error: expect.stringContaining("nobody cares") },
  ]);
});

test("of two tools of one name the first counts, and the second is named", async () => {
  const rpc = start(
    { a: extension(tool("twin", `return "of a"`)), b: extension(tool("twin", `return "of b"`)) },
    { script: ["toolCall twin {}", 'expect toolResult "of a" + text "aye"'] },
  );
  await worksStill(rpc);
  expect(errorsOf(rpc)).toEqual([
    { extensionPath: pathOf(rpc, "b"), event: "registerTool", error: expect.stringContaining(pathOf(rpc, "a")) },
  ]);
});

test("of two commands of one name both can be called", async () => {
  const says = (word: string): string => extension(command("twin", `ctx.ui.notify(${JSON.stringify(word)} + args);`));
  const rpc = start({ a: says("of a "), b: says("of b ") });
  await rpc.prompt("/twin:1 x");
  await rpc.prompt("/twin:2 y");
  const said = rpc.frames.filter(({ method }) => method === "notify").map(({ message }) => message);
  expect(said).toEqual(["of a x", "of b y"]);
});

const SCHEMAS: readonly (readonly [string, string, RegExp])[] = [
  ["a type nobody knows", `{ type: "object", properties: { at: { type: "harbour" } } }`, /"harbour"/],
  ["a list", "[]", /a list/],
  ["a text", `"object"`, /string/],
  ["null", "null", /object/],
  ["a circle", "(() => { const a = { type: 'object', properties: {} }; a.properties.a = a; return a; })()", /circular/],
  ["a BigInt", `{ type: "object", properties: { n: { type: "number", maximum: 10n } } }`, /BigInt/],
  ["a getter that throws", `{ get type() { throw new Error("rusty"); } }`, /rusty/],
];

test("tools with schemas that are none are left out and named, the rest of each extension works", async () => {
  const codes = SCHEMAS.map(([, schema], at) =>
    extension(
      `pi.registerTool({ name: "bad_${at}", description: "d", parameters: ${schema}, execute: async () => "x" });
       ${tool(`good_${at}`, `return "fine ${at}"`)}`,
    ),
  );
  const asked = SCHEMAS.flatMap((_, at) => [`toolCall good_${at} {}`, `expect toolResult "fine ${at}" + text "aye"`]);
  const rpc = start(named(codes), { script: asked });
  for (const [what] of SCHEMAS) await worksStill(rpc, what);
  expect(errorsOf(rpc)).toEqual(
    SCHEMAS.map(([, , error], at) => ({
      extensionPath: pathOf(rpc, nameAt(at)),
      event: "registerTool",
      error: expect.stringMatching(error),
    })),
  );
});

const WRONG_CALLS: readonly (readonly [string, string])[] = [
  ["registerTool without anything", "pi.registerTool();"],
  ["registerTool with null", "pi.registerTool(null);"],
  ["registerTool with a name that is no name", `pi.registerTool({ name: "a b", execute() {} });`],
  ["registerTool without execute", `pi.registerTool({ name: "x" });`],
  ["registerCommand without a handler", `pi.registerCommand("x");`],
  ["registerCommand with a number as its name", "pi.registerCommand(7, { handler() {} });"],
  ["registerFlag of no type", `pi.registerFlag("x", {});`],
  ["on for an event nobody knows", `pi.on("tide", () => {});`],
  ["on with a symbol", "pi.on(Symbol('x'), () => {});"],
  ["registerProvider with nonsense", `pi.registerProvider("x", 42);`],
  ["registerProvider without a name", "pi.registerProvider();"],
];

describe("among many extensions that call what they may not so", () => {
  const codes = WRONG_CALLS.map(([, code], at) => extension(`${code}\n${command(`after-${at}`, "")}`));
  const rpcOf = useBadForAll(named(codes), { script: ['text "aye"'] });

  test.each(WRONG_CALLS.map(([what], at) => [what, at] as const))(
    "%s is told, and what comes after it counts",
    async (_, at) => {
      const rpc = rpcOf();
      expect((await rpc.prompt(`/after-${at}`)).result.agentInvoked).toBe(false);
      expect(errorsOf(rpc).filter(({ extensionPath }) => extensionPath === pathOf(rpc, nameAt(at)))).toHaveLength(1);
    },
  );

  test("nothing else is said, and a prompt is answered", async () => {
    await worksStill(rpcOf());
    expect(errorsOf(rpcOf())).toHaveLength(WRONG_CALLS.length);
  });
});

test("an extension with a thousand tools works, and the answer of the last one is seen", async () => {
  const code = extension(
    `for (let i = 0; i < 1000; i++) pi.registerTool({ name: "tool_" + i, description: "d", parameters: { type: "object", properties: {} }, execute: async () => "number " + i });`,
  );
  const rpc = start(code, { script: ["toolCall tool_999 {}", 'expect toolResult "number 999" + text "aye"'] });
  await worksStill(rpc);
  expect(errorsOf(rpc)).toEqual([]);
});
