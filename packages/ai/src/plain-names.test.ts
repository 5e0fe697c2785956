import { expect, test } from "vitest";
import { plainName, withPlainNames } from "./plain-names.ts";
import type { Delta, ModelRequest } from "./provider.ts";
import { collect, testRequest } from "./testing.ts";

const tool = (name: string) => ({ name, description: name, parameters: { type: "object" } });
const called = (index: number, name: string): Delta => ({
  type: "open",
  index,
  block: { type: "toolCall", id: `c${index}`, name },
});
const done: Delta = { type: "done", stopReason: "toolUse" };

/** What the provider is asked, and what becomes of the calls that it answers with. */
async function play(tools: readonly string[], answered: readonly string[]) {
  const asked: ModelRequest[] = [];
  const stream = withPlainNames(async function* (request) {
    asked.push(request);
    yield [...answered.map((name, index) => called(index, name)), done];
  });
  const request = testRequest({ tools: tools.map(tool) });
  const deltas = await collect(stream(request));
  expect(deltas.at(-1)).toEqual(done);
  const heard = deltas.flatMap((delta) =>
    delta.type === "open" && delta.block.type === "toolCall" ? [delta.block.name] : [],
  );
  return { told: asked[0]!.tools.map(({ name }) => name), heard, isUntouched: asked[0] === request };
}

test.each<[story: string, tools: string[], told: string[], answered: string[], heard: string[]]>([
  ["a blank", ["a b"], ["a_b"], ["a_b"], ["a b"]],
  ["a dot", ["my.tool", "read"], ["my_tool", "read"], ["read", "my_tool"], ["read", "my.tool"]],
  ["no letter at all", ["日本"], ["__"], ["__"], ["日本"]],
  ["a digit first", ["7up"], ["_7up"], ["_7up"], ["7up"]],
  ["very long", ["x".repeat(300)], ["x".repeat(64)], ["x".repeat(64)], ["x".repeat(300)]],
  ["a model that says the real name", ["a b"], ["a_b"], ["a b", "nobody"], ["a b", "nobody"]],
  ["a plain name that is another tool's", ["a.b", "a_b"], ["a.b", "a_b"], ["a_b"], ["a_b"]],
  ["two that would have one name", ["a.b", "a b"], ["a_b", "a b"], ["a_b"], ["a.b"]],
])(
  "the provider hears a name that it takes, everybody else the tool's own: %s",
  async (_story, tools, told, ...rest) => {
    const [answered, heard] = rest;
    expect(await play(tools, answered)).toEqual({ told, heard, isUntouched: tools.join() === told.join() });
  },
);

test("nothing is made anew where all names are plain", async () => {
  expect(await play(["read", "mcp__a__b-1"], ["read"])).toEqual({
    told: ["read", "mcp__a__b-1"],
    heard: ["read"],
    isUntouched: true,
  });
});

test("a name that was made plain is plain", () => {
  for (const name of ["", "a b", "日本", "7", "x".repeat(300), `7${"x".repeat(300)}`, "\ud800"]) {
    expect(plainName(plainName(name))).toBe(plainName(name));
    expect(plainName(name)).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
  }
});
