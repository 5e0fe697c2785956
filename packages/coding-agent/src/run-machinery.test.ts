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
