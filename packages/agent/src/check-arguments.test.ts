import { expect, it } from "vitest";
import { checkArguments } from "./check-arguments.ts";

const checked = (parameters: object, args: unknown) =>
  checkArguments({ name: "t", parameters: parameters as Record<string, unknown> }, args);

it("names what is wrong and shows what came", () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  expect(checked(schema, { n: "7" })).toEqual({ args: { n: 7 } });
  const { error } = checked(schema, { n: "seven" }) as { error: string };
  expect(error).toMatch(/^Validation failed for tool "t":\n {2}- n: .*number/);
  expect(error).toContain('\n\nReceived arguments:\n{\n  "n": "seven"\n}');
});

it.each([
  ["refers to itself", { $ref: "#" }, "it refers to itself without end"],
  [
    "goes in a circle",
    { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    "it refers to itself without end",
  ],
  ["has a pattern that is none", { properties: { s: { type: "string", pattern: "(" } } }, "Invalid regular expression"],
])("a schema that %s is an error of the call, not of the run", (_story, schema, reason) => {
  const { error } = checked(schema, { s: "x" }) as { error: string };
  expect(error).toMatch(/^Tool "t" was not executed: its schema cannot be used: /);
  expect(error).toContain(reason);
});

it("a schema of a tree is checked as deep as the arguments go", () => {
  const tree = { type: "object", properties: { next: { $ref: "#" }, n: { type: "number" } } };
  expect(checked(tree, { next: { next: { n: 1 } } })).toEqual({ args: { next: { next: { n: 1 } } } });
  expect(checked(tree, { next: { next: { n: "one" } } })).toHaveProperty("error");
});

it("a pattern that takes for ever on some text fails the call, and only that text", () => {
  const schema = { type: "object", properties: { s: { type: "string", pattern: "^(a+)+$" } } };
  expect(checked(schema, { s: "aaa" })).toEqual({ args: { s: "aaa" } });
  expect(checked(schema, { s: "aab" })).toHaveProperty("error", expect.stringContaining("Validation failed"));
  expect(checked(schema, { s: `${"a".repeat(60)}!` })).toEqual({
    error: 'Tool "t" was not executed: its schema cannot be used: a pattern in it takes longer than 250 ms',
  });
  expect(checked(schema, { s: "a" })).toEqual({ args: { s: "a" } });
});
