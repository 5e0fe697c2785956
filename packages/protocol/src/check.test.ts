import { describe, expect, test } from "vitest";
import { explainCommand, explainEvent, explainFrame, explainResult } from "./check.ts";
import type { CommandType } from "./commands/index.ts";

const LONG = "x".repeat(200);

test.each<[CommandType, Record<string, unknown>, string]>([
  ["prompt", { message: 42 }, 'prompt: "message" must be a string, got a number (42)'],
  ["prompt", {}, 'prompt: "message" is missing, it must be a string'],
  [
    "set_subagent_subscription",
    {},
    'set_subagent_subscription: "level" is missing, it must be "off", "progress" or "events"',
  ],
  ["prompt", { message: null }, 'prompt: "message" must be a string, got null'],
  ["prompt", { message: "hi", images: "cat.png" }, 'prompt: "images" must be an array, got a string ("cat.png")'],
  [
    "prompt",
    {
      message: "hi",
      images: [
        { type: "image", data: "", mimeType: "image/png" },
        { type: "image", data: 1 },
      ],
    },
    'prompt: "images[1].data" must be a string, got a number (1)',
  ],
  [
    "prompt",
    { message: "hi", streamingBehavior: "later" },
    'prompt: "streamingBehavior" must be "steer" or "followUp", got a string ("later")',
  ],
  [
    "set_thinking_level",
    { level: "huge" },
    'set_thinking_level: "level" must be "off", "minimal", "low", "medium", "high" or "xhigh", got a string ("huge")',
  ],
  ["set_auto_retry", { enabled: "yes" }, 'set_auto_retry: "enabled" must be a boolean, got a string ("yes")'],
  ["set_steering_mode", { mode: [] }, 'set_steering_mode: "mode" must be "all" or "one-at-a-time", got an array'],
  ["set_event_filter", { events: ["notice", 1] }, 'set_event_filter: "events[1]" must be a string, got a number (1)'],
  ["set_event_filter", { events: 1 }, 'set_event_filter: "events" must be an array or null, got a number (1)'],
  ["set_host_tools", { tools: 7 }, 'set_host_tools: "tools" must be an array, got a number (7)'],
  [
    "set_todos",
    { phases: [{ name: "a", tasks: [{ content: "b", status: "maybe" }] }] },
    'set_todos: "phases[0].tasks[0].status" must be "pending", "in_progress", "completed", "abandoned" or null, got a string ("maybe")',
  ],
  ["set_model", { provider: "a", modelId: { LONG } }, 'set_model: "modelId" must be a string, got an object'],
])("%s %j is explained", (type, value, sentence) => {
  expect(explainCommand(type, value)).toBe(sentence);
});

test("a long wrong value is cut in the explanation", () => {
  const sentence = explainCommand("set_interrupt_mode", { mode: LONG });
  expect(sentence).toContain("xxx...");
  expect(sentence.length).toBeLessThan(160);
});

describe("frames, events and results", () => {
  test("a frame with several forms is explained by the form that was meant", () => {
    const request = { type: "extension_ui_request", id: "ui-1", method: "select", title: "Which?" };
    expect(explainFrame("extension_ui_request", request)).toBe(
      'extension_ui_request: "options" is missing, it must be an array',
    );
  });

  test("a message with a wrong role is wrong in an event", () => {
    const message = { role: "system", content: "x", timestamp: 1 };
    expect(explainEvent("message_end", { type: "message_end", seq: 1, message })).toMatch(
      /"message" must be an object/,
    );
  });

  test("data where none belongs, and wrong data", () => {
    expect(explainResult("abort", undefined)).toBeUndefined();
    expect(explainResult("abort", {})).toBe("abort data: must be absent, got an object");
    expect(explainResult("cycle_thinking_level", null)).toBeUndefined();
    expect(explainResult("get_available_models", { models: [{}] })).toBe(
      'get_available_models data: "models[0].id" is missing, it must be a string',
    );
  });
});
