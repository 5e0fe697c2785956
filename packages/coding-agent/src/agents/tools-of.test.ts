import { expect, test } from "vitest";
import { type ToolChoice, toolsOf } from "./tools-of.ts";

const own = ["read", "bash", "todo", "task", "host_lookup"];
const known = new Set([...own, "grep", "find", "edit"]);
const choice: ToolChoice = { own, mayHave: (name) => known.has(name), mayDelegate: true };

test.each<[what: string, tools: string[] | undefined, change: Partial<ToolChoice>, names: string[], refused: string[]]>(
  [
    ["those of whoever starts it, without the plan", undefined, {}, ["read", "bash", "task", "host_lookup"], []],
    [
      "nobody starts others at the deepest place",
      undefined,
      { mayDelegate: false },
      ["read", "bash", "host_lookup"],
      [],
    ],
    ["nor when it is asked for", ["read", "task"], { mayDelegate: false }, ["read"], []],
    ["those that are named, in their order", ["grep", "read"], {}, ["grep", "read"], []],
    ["names of other programs, each once", ["Read", "Glob", "MultiEdit", "Edit"], {}, ["read", "find", "edit"], []],
    ["not what is not there", ["read", "WebFetch"], {}, ["read"], ["webfetch"]],
    ["not what is not allowed", ["read", "bash"], { mayHave: (name) => name === "read" }, ["read"], ["bash"]],
    ["a star is all of them", ["*", "grep"], {}, ["read", "bash", "task", "host_lookup", "grep"], []],
    ["none", [], {}, [], []],
  ],
)("the tools of a sub-agent: %s", (_what, tools, change, names, refused) => {
  expect(toolsOf({ tools }, { ...choice, ...change })).toEqual({ names, refused });
});
