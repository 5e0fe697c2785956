import type { AgentTool } from "@tiller/agent/types";
import type { Model } from "@tiller/protocol/model";
import { describe, expect, test } from "vitest";
import { createToolbox, type OtherTools } from "./toolbox.ts";

const model = { provider: "anthropic" } as Model;
const tool = (name: string, label: string): AgentTool => ({ name, label }) as AgentTool;
const builtIn = (name: string): AgentTool => tool(name, "built in");
const others = (names: string[]): OtherTools => ({
  names: () => names,
  tool: (name) => (names.includes(name) ? tool(name, "of an extension") : undefined),
});
const offered = (toolbox: ReturnType<typeof createToolbox>): string[] =>
  toolbox.toolsFor(model, builtIn).map(({ name, label }) => `${name} (${label})`);

describe("what a model is offered", () => {
  test("without extensions the built-in tools", () => {
    expect(offered(createToolbox({ tools: ["read", "ls"] }))).toEqual(["read (built in)", "ls (built in)"]);
  });

  test("with them theirs behind the others, and in the place of those that have the same name", () => {
    expect(offered(createToolbox({ excludeTools: ["edit", "write"] }, others(["read", "forecast"])))).toEqual([
      "read (of an extension)",
      "bash (built in)",
      "forecast (of an extension)",
    ]);
  });

  test("a built-in tool that is not offered by itself is, when an extension has replaced it", () => {
    expect(offered(createToolbox({ noBuiltinTools: true }, others(["grep"])))).toEqual(["grep (of an extension)"]);
  });

  test("a tool that comes and goes with its extension", () => {
    const names: string[] = [];
    const toolbox = createToolbox({ tools: ["read", "cook"] }, others(names));
    expect(toolbox.active.names(model)).toEqual(["read"]);
    names.push("cook");
    expect(toolbox.active.names(model)).toEqual(["read", "cook"]);
  });

  test("what was chosen stays chosen, and a late tool is added to it", () => {
    const names = ["forecast"];
    const toolbox = createToolbox({}, others(names));
    expect(toolbox.active.set(["forecast", "harpoon"])).toEqual(["harpoon"]);
    names.push("cook");
    toolbox.active.add("cook");
    expect(toolbox.active.names(model)).toEqual(["forecast", "cook"]);
  });

  test("no name twice: not of a tool of the host that the command line names too, nor when an extension comes with it later", () => {
    const names: string[] = [];
    const toolbox = createToolbox({ tools: ["read", "cook"] }, others(names));
    const lent = ["cook"];
    toolbox.lend({
      names: () => lent,
      visible: () => lent,
      tool: (name) => (lent.includes(name) ? tool(name, "of the host") : undefined),
    });
    expect(offered(toolbox)).toEqual(["read (built in)", "cook (of the host)"]);
    names.push("cook");
    expect(offered(toolbox)).toEqual(["read (built in)", "cook (of an extension)"]);
  });

  test("what a setting has switched off is not there, and its name is free", () => {
    const off = { usual: [], missing: ["poll"] };
    const toolbox = createToolbox({ tools: ["read", "poll"] }, undefined, off);
    expect([offered(toolbox), toolbox.hasBuiltIn("poll"), toolbox.hasBuiltIn("read")]).toEqual([
      ["read (built in)"],
      false,
      true,
    ]);
    expect(offered(createToolbox({ tools: ["poll"] }, others(["poll"]), off))).toEqual(["poll (of an extension)"]);
  });
});
