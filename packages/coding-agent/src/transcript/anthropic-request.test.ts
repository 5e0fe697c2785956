import { expect, test } from "vitest";
import { conversationOf } from "./anthropic-request.ts";

test("a request as the script model sees it", () => {
  const body = {
    system: [{ type: "text", text: "be brief" }],
    tools: [{ name: "read", description: "reads", input_schema: { type: "object" } }],
    messages: [
      { role: "user", content: "look" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "tool_use", id: "script_1", name: "read", input: { path: "a" } },
          { type: "of_tomorrow" },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "script_1", content: [{ type: "text", text: "milk" }], is_error: true },
          { type: "text", text: "and this" },
          { type: "image", source: { type: "base64", data: "AA==", media_type: "image/png" } },
        ],
      },
    ],
  };
  expect(conversationOf(body)).toMatchObject({
    systemPrompt: "be brief",
    tools: [{ name: "read", description: "reads", parameters: { type: "object" } }],
    messages: [
      { role: "user", content: [{ type: "text", text: "look" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "toolCall", id: "script_1", name: "read", arguments: { path: "a" } },
        ],
      },
      { role: "toolResult", toolName: "read", isError: true, content: [{ type: "text", text: "milk" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "and this" },
          { type: "image", data: "AA==", mimeType: "image/png" },
        ],
      },
    ],
  });
});

test.each([[null], ["x"], [{ messages: 3, tools: {}, system: 1 }], [{ messages: [null, "x"] }]])(
  "%j has nothing to look at",
  (body) => {
    expect(conversationOf(body)).toEqual({ systemPrompt: "", messages: [], tools: [] });
  },
);
