import type { Model } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { createMachinery } from "./run-machinery.ts";
import { createToolbox } from "./toolbox.ts";

test("the system prompt stays the same past midnight", () => {
  let now = Date.parse("2026-11-15T23:59:59Z");
  const { ports } = createMachinery({
    cwd: "/project",
    env: {},
    clock: { now: () => now, after: () => () => undefined },
    messages: () => [],
    model: () => ({ provider: "offline", id: "scout" }) as Model,
    thinkingLevel: () => "off",
    credentials: () => ({}),
    toolbox: createToolbox({ noTools: true }),
    systemPrompt: { append: [] },
    request: {},
  });
  const before = ports.systemPrompt([]);
  now += 10_000;
  expect(before).toContain("2026-11-15");
  expect(ports.systemPrompt([])).toBe(before);
});

test("the tool that starts sub-agents says which there are; nobody looks for them where it is not offered", async () => {
  let asked = 0;
  const delegate = async () => {
    asked += 1;
    return { describe: async () => "Agents:\n- scribe: writes", run: async () => [] };
  };
  const toolsWith = async (tools: string[]) => {
    const { ports } = createMachinery({
      cwd: "/project",
      env: {},
      clock: { now: () => 0, after: () => () => undefined },
      messages: () => [],
      model: () => ({ provider: "p", id: "m" }) as Model,
      thinkingLevel: () => "off",
      credentials: () => ({}),
      toolbox: createToolbox({ tools }),
      delegate,
      systemPrompt: { append: [] },
      request: {},
    });
    return ports.tools();
  };
  expect((await toolsWith(["read"])).map(({ name }) => name)).toEqual(["read"]);
  expect(asked).toBe(0);
  const [read, task] = await toolsWith(["read", "task"]);
  expect([read?.name, task?.name]).toEqual(["read", "task"]);
  expect(task?.description).toMatch(/^Hand out work .*\n\nAgents:\n- scribe: writes$/s);
});
