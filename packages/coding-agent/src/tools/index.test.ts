import { expect, it } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { createTools } from "./create-tools.ts";
import { BUILTIN_TOOLS, defaultToolNames, expandToolNames, isBuiltinTool } from "./index.ts";

const context = { cwd: "/", env: {}, clock: systemClock };

it("offers the usual four unless told otherwise", () => {
  expect(defaultToolNames()).toEqual(["read", "bash", "edit", "write"]);
});

it("creates every tool with a name, a description and an object schema that is plain data", () => {
  const tools = createTools({ ...context, names: BUILTIN_TOOLS.map((row) => row.name) });
  expect(tools.map(({ name, concurrency }) => `${name} ${concurrency}`)).toEqual([
    "read shared",
    "bash exclusive",
    "edit exclusive",
    "write exclusive",
    "grep shared",
    "find shared",
    "ls shared",
    "todo exclusive",
    "task shared",
    "poll shared",
    "cancel_job exclusive",
  ]);
  for (const tool of tools) {
    expect(tool.label).toBe(tool.name);
    expect(tool.description.length).toBeGreaterThan(20);
    expect(tool.parameters.type).toBe("object");
    expect(JSON.parse(JSON.stringify(tool.parameters))).toEqual(tool.parameters);
  }
});

it("keeps the order of the names, each once, and names what it does not know", () => {
  const tools = createTools({ ...context, names: ["ls", "read", "ls"] });
  expect(tools.map((tool) => tool.name)).toEqual(["ls", "read"]);
  expect(() => createTools({ ...context, names: ["fly"] })).toThrow(
    'Unknown tool "fly". Built-in tools: read, bash, edit, write, grep, find, ls',
  );
  expect([isBuiltinTool("read"), isBuiltinTool("fly")]).toEqual([true, false]);
});

it.each([
  [["read-only"], ["read", "grep", "find", "ls"]],
  [["coding"], ["read", "bash", "edit", "write"]],
  [["all"], ["read", "bash", "edit", "write", "grep", "find", "ls", "todo", "task", "poll", "cancel_job"]],
  [
    ["Read", "BASH"],
    ["read", "bash"],
  ],
  [
    ["ls", "read-only", "ls"],
    ["ls", "read", "grep", "find"],
  ],
  [
    ["deploy", "constructor"],
    ["deploy", "constructor"],
  ],
  [[], []],
])("the names %j stand for %j", (names, tools) => expect(expandToolNames(names)).toEqual(tools));

it("tells the model of the background only where commands can run in it", () => {
  const offers = (how: object): boolean => {
    const [bash] = createTools({ ...context, ...how, names: ["bash"] });
    return Object.hasOwn(bash?.parameters.properties as object, "async");
  };
  expect([offers({}), offers({ jobs: async () => undefined })]).toEqual([false, true]);
});
