import type { Model } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { createActiveTools, unknownTools } from "./active-tools.ts";

const real = { provider: "anthropic" } as Model;
const offline = { provider: "offline" } as Model;
const FOUR = ["read", "bash", "edit", "write"];

test.each<[story: string, options: Parameters<typeof createActiveTools>[0], model: Model, names: string[]]>([
  ["the usual four", {}, real, FOUR],
  ["the offline model looks around too", {}, offline, [...FOUR, "ls", "find", "grep"]],
  ["exactly what is named", { tools: ["read", "grep"] }, real, ["read", "grep"]],
  ["a preset", { tools: ["read-only"] }, real, ["read", "grep", "find", "ls"]],
  [
    "a preset without one of it",
    { tools: ["all"], excludeTools: ["bash", "write"] },
    real,
    ["read", "edit", "grep", "find", "ls", "todo", "task", "poll", "cancel_job"],
  ],
  ["names in any case, each once", { tools: ["Read", "READ", "Ls"] }, real, ["read", "ls"]],
  ["none", { noTools: true }, offline, []],
  ["none but those that are named", { noTools: true, tools: ["read"] }, real, ["read"]],
  ["no built-in ones", { noBuiltinTools: true }, real, []],
  ["what is no tool is left out", { tools: ["fly", "read"] }, real, ["read"]],
])("tools of a start: %s", (_story, options, model, names) => {
  expect(createActiveTools(options).names(model)).toEqual(names);
});

test.each<[options: Parameters<typeof createActiveTools>[0], names: string[]]>([
  [{}, ["read", "grep", "find", "ls", "fly"]],
  [{ excludeTools: ["grep"] }, ["read", "find", "ls", "fly"]],
  [{ tools: ["bash"] }, ["bash"]],
  [{ noBuiltinTools: true }, ["fly"]],
])("a setting may put others in the place of the usual ones: %j", (options, names) => {
  const exists = (name: string) => name === "fly" || FOUR.includes(name) || ["grep", "find", "ls"].includes(name);
  const others = { usual: ["todo"], chosen: ["Read-Only", "swim"], added: () => ["fly"], lent: () => [], exists };
  expect(createActiveTools(options, others).names(offline)).toEqual(names);
});

test("each look is at what there is: another model, a tool that came with an extension, one that went", () => {
  let added: string[] = [];
  const tools = createActiveTools({}, { usual: [], added: () => added, lent: () => [], exists: () => true });
  expect(tools.names(real)).toEqual(FOUR);
  expect(tools.names(offline)).toEqual([...FOUR, "ls", "find", "grep"]);
  added = ["fly"];
  expect(tools.names(real)).toEqual([...FOUR, "fly"]);
  added = ["swim", "fly"];
  expect(tools.names(real)).toEqual([...FOUR, "swim", "fly"]);
  added = [];
  expect(tools.names(real)).toEqual(FOUR);
});

test("a change counts from the next look on, and can be taken back", () => {
  const active = createActiveTools({});
  expect(active.set(["read-only", "fly"])).toEqual(["fly"]);
  expect(active.names(real)).toEqual(["read", "grep", "find", "ls"]);
  expect(active.set([])).toEqual([]);
  expect(active.names(real)).toEqual([]);
  active.set(undefined);
  expect(active.names(real)).toEqual(FOUR);
});

test("what was named and is no tool is told", () => {
  expect(unknownTools({ tools: ["read", "fly"], excludeTools: ["swim", "bash"] })).toEqual([
    'there is no tool "fly"; it is left out',
    'there is no tool "swim"; it is left out',
  ]);
});

test.each<[story: string, options: Parameters<typeof createActiveTools>[0], may: string[]]>([
  ["whatever is built in", {}, [...FOUR, "grep"]],
  ["not what the command line leaves out", { excludeTools: ["bash", "grep"] }, ["read", "edit", "write"]],
  ["only what the command line names", { tools: ["read", "grep"] }, ["read", "grep"]],
  ["nothing without tools", { noTools: true }, []],
  ["nothing without built-in tools", { noBuiltinTools: true }, []],
])("what could be offered: %s", (_story, options, may) => {
  const { mayOffer } = createActiveTools(options);
  expect([...FOUR, "grep", "fly"].filter((name) => mayOffer(name, real))).toEqual(may);
});

test("what could be offered, once somebody has chosen: that and nothing else", () => {
  const active = createActiveTools({});
  active.set(["read", "ls"]);
  expect([...FOUR, "grep", "ls"].filter((name) => active.mayOffer(name, real))).toEqual(["read", "ls"]);
});

test("a tool that a setting has switched off is told with the setting, unless an extension has one of its name", () => {
  const off = ["poll", "cancel_job"];
  expect(unknownTools({ tools: ["poll", "read"], excludeTools: ["cancel_job"] }, [], off)).toEqual([
    'the tool "poll" needs --set async.enabled=true; it is left out',
  ]);
  expect(unknownTools({ tools: ["poll"] }, ["poll"], off)).toEqual([]);
});
