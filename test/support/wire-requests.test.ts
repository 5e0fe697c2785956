import { describe, expect, it } from "vitest";
import { refusedIn, saidIn } from "./wire-requests.ts";

/** The checker itself: a good request of each family passes, and each mistake in it is found. */

const anthropic = () => ({
  max_tokens: 8192,
  messages: [
    { role: "user", content: [{ type: "text", text: "hi" }] },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "read", input: {} }] as object[] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "milk" }] }] as object[],
    },
  ],
});
const chat = () => ({
  messages: [
    { role: "system", content: "be good" },
    { role: "user", content: "hi" },
    { role: "assistant", content: null, tool_calls: [{ id: "c1", function: { name: "read", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "c1", content: "milk" },
  ] as Record<string, unknown>[],
});
const responses = () => ({
  input: [
    { role: "user", content: [{ type: "input_text", text: "hi" }] },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
    { type: "function_call", id: "fc_1", call_id: "c1", name: "read", arguments: "{}" },
    { type: "function_call_output", call_id: "c1", output: "milk" },
  ] as Record<string, unknown>[],
});
const google = () => ({
  contents: [
    { role: "user", parts: [{ text: "hi" }] as object[] },
    { role: "model", parts: [{ functionCall: { name: "read", args: {} } }] as object[] },
    { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "milk" } } }] as object[] },
  ],
});

it.each([
  ["anthropic-messages", anthropic()],
  ["openai-completions", chat()],
  ["openai-responses", responses()],
  ["google-generative-ai", google()],
])("%s: a good request is read and not refused", (family, body) => {
  expect(refusedIn(family, body)).toEqual([]);
  expect(saidIn(family, body).filter(({ kind }) => kind !== "thinking")).toMatchObject([
    { by: "user", kind: "text", text: "hi" },
    { by: "model", kind: "call", text: "{}", name: "read" },
    { by: "user", kind: "result", text: "milk" },
  ]);
});

function changed<T>(body: T, change: (body: T) => void): T {
  change(body);
  return body;
}

describe("is refused:", () => {
  it.each<[what: string, family: string, body: Record<string, unknown>, why: RegExp]>([
    [
      "a call without a result",
      "openai-completions",
      changed(chat(), (body) => body.messages.pop()),
      /no results for c1/,
    ],
    [
      "a result without a call",
      "openai-responses",
      changed(responses(), (body) => body.input.splice(1, 2)),
      /not waited for/,
    ],
    [
      "a result twice",
      "openai-responses",
      changed(responses(), (body) => body.input.push(body.input[3] ?? {})),
      /not waited for/,
    ],
    [
      "a user who speaks before the result",
      "openai-completions",
      changed(chat(), (body) => body.messages.splice(3, 0, { role: "user", content: "and?" })),
      /"and\?" comes before the results/,
    ],
    [
      "an id with a forbidden character",
      "anthropic-messages",
      JSON.parse(JSON.stringify(anthropic()).replaceAll("t1", "c|f")),
      /the id "c\|f"/,
    ],
    [
      "thinking without a signature",
      "anthropic-messages",
      changed(anthropic(), (body) =>
        body.messages[1]?.content.unshift({ type: "thinking", thinking: "Hm.", signature: "" }),
      ),
      /without a signature/,
    ],
    [
      "thinking in a turn that began without it",
      "anthropic-messages",
      { ...anthropic(), thinking: { type: "enabled", budget_tokens: 2048 } },
      /begins with tool_use/,
    ],
    [
      "a budget above the limit",
      "anthropic-messages",
      {
        ...anthropic(),
        messages: anthropic().messages.slice(0, 1),
        thinking: { type: "enabled", budget_tokens: 9000 },
      },
      /a budget of 9000/,
    ],
    [
      "no turns",
      "google-generative-ai",
      changed(google(), (body) => body.contents.push({ role: "user", parts: [{ text: "x" }] })),
      /no turns/,
    ],
    [
      "a missing result",
      "google-generative-ai",
      changed(google(), (body) => body.contents.splice(2, 1)),
      /are answered by \[\]/,
    ],
    [
      "reasoning that led to nothing",
      "openai-responses",
      changed(responses(), (body) => body.input.splice(2, 2)),
      /led to nothing/,
    ],
    [
      "a foreign id of an item",
      "openai-responses",
      changed(responses(), (body) => Object.assign(body.input[2] ?? {}, { id: "toolu_1" })),
      /the id "toolu_1"/,
    ],
    [
      "a blank text",
      "openai-completions",
      changed(chat(), (body) => Object.assign(body.messages[1] ?? {}, { content: " " })),
      /a blank text/,
    ],
  ])("%s", (_what, family, body, why) => {
    expect(refusedIn(family, body).join("\n")).toMatch(why);
  });
});
