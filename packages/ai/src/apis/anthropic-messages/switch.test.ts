import type Anthropic from "@anthropic-ai/sdk";
import type { LlmMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { testModel, testRequest } from "../../testing.ts";
import {
  ANTHROPIC_HISTORY,
  BROKEN_HISTORY,
  bodyText,
  CHAT_HISTORY,
  GOOGLE_HISTORY,
  HISTORIES,
  RESPONSES_HISTORY,
} from "../test-histories.ts";
import { buildRequest } from "./request.ts";

/** The model is changed in mid-session: what the new one is sent of a conversation that others had. */

function sent(messages: readonly LlmMessage[], model: Model = testModel()): Anthropic.Messages.MessageParam[] {
  const { body } = buildRequest(testRequest({ messages, model, cacheRetention: "none" }));
  return (JSON.parse(bodyText(body)) as { messages: Anthropic.Messages.MessageParam[] }).messages;
}

/** One line for each block, enough to see what became of it. */
function outline(messages: readonly Anthropic.Messages.MessageParam[]): string[] {
  return messages.flatMap(({ role, content }) =>
    (content as Anthropic.Messages.ContentBlockParam[]).map((block) => `${role} ${told(block)}`),
  );
}

function told(block: Anthropic.Messages.ContentBlockParam): string {
  if (block.type === "text") return `says ${block.text}`;
  if (block.type === "thinking") return `thinks ${block.thinking} (${block.signature})`;
  if (block.type === "redacted_thinking") return `thinks what is hidden (${block.data})`;
  if (block.type === "tool_use") return `calls ${block.name} ${block.id}`;
  if (block.type === "tool_result") {
    const inside = (block.content ?? []) as Anthropic.Messages.ContentBlockParam[];
    return `returns ${block.tool_use_id}${block.is_error ? " (failed)" : ""}: ${inside.map(told).join(", ")}`;
  }
  return block.type;
}

const NOTE = "(image left out: this model reads only text)";

test.each<[story: string, history: readonly LlmMessage[], model: Model, expected: string[]]>([
  [
    "its own conversation",
    ANTHROPIC_HISTORY,
    testModel(),
    [
      "user says What is in these pictures?",
      "user image",
      "assistant thinks I should look at both files. (EqQBCgIYAhIM)",
      "assistant thinks what is hidden (EmwKAhgBEgy3)",
      "assistant says Let me look.",
      "assistant calls read toolu_01A",
      "assistant calls ls toolu_01B",
      "user returns toolu_01A: says a.png, 1x1, image",
      "user returns toolu_01B: says a.png",
      "assistant thinks One pixel. (EqQBCgIYBBIM)",
      "assistant says A single pixel.",
      "user says And what colour is it?",
    ],
  ],
  [
    "another model of the same vendor",
    ANTHROPIC_HISTORY,
    testModel({ id: "claude-other" }),
    [
      "user says What is in these pictures?",
      "user image",
      "assistant says I should look at both files.",
      "assistant says Let me look.",
      "assistant calls read toolu_01A",
      "assistant calls ls toolu_01B",
      "user returns toolu_01A: says a.png, 1x1, image",
      "user returns toolu_01B: says a.png",
      "assistant says One pixel.",
      "assistant says A single pixel.",
      "user says And what colour is it?",
    ],
  ],
  [
    "a model that reads only text, behind another server",
    ANTHROPIC_HISTORY,
    testModel({ id: "local", provider: "local", input: ["text"] }),
    [
      "user says What is in these pictures?",
      `user says ${NOTE}`,
      "assistant says I should look at both files.",
      "assistant says Let me look.",
      "assistant calls read toolu_01A",
      "assistant calls ls toolu_01B",
      `user returns toolu_01A: says a.png, 1x1, says ${NOTE}`,
      "user returns toolu_01B: says a.png",
      "assistant says One pixel.",
      "assistant says A single pixel.",
      "user says And what colour is it?",
    ],
  ],
  [
    "ids with a bar, encrypted thoughts and signed text of the Responses API",
    RESPONSES_HISTORY,
    testModel(),
    [
      "user says Run the tests, please.",
      "assistant says **Finding the tests**",
      "assistant says Running them.",
      "assistant calls bash call_abc",
      "assistant calls ls call_xyz",
      "user returns call_abc: says 12 passed",
      "user returns call_xyz: says package.json",
      "assistant says All 12 pass.",
      "user says Thanks. And the linter?",
    ],
  ],
  [
    "an id that two calls share, from a chat server",
    CHAT_HISTORY,
    testModel(),
    [
      "user says List the folder, then the one above.",
      "assistant says First this folder.",
      "assistant calls ls call_0",
      "user returns call_0: says a.txt",
      "assistant says Now the other.",
      "assistant calls ls call_0_2",
      "user returns call_0_2: ",
      "assistant says One file here, none above.",
      "user says Good.",
    ],
  ],
  [
    "calls without ids and signatures everywhere, from Google",
    GOOGLE_HISTORY,
    testModel(),
    [
      "user says Read both files.",
      "assistant says **Reading**\n\nTwo files.",
      "assistant calls read call",
      "assistant calls read call_2",
      "user returns call: says contents of a",
      "user returns call_2: image",
      "assistant says Read them.",
      "user says Which one is longer?",
    ],
  ],
  [
    "what crashes and aborts left behind",
    BROKEN_HISTORY,
    testModel(),
    [
      "user says (The beginning of this conversation is not available.)",
      "assistant says An answer to a question that was cut away.",
      "user says Go on.",
      "user says Please.",
      "assistant says Two calls with one id, and one that nobody answered.",
      "assistant calls ls same",
      "assistant calls ls same_2",
      "assistant calls bash lost",
      "user returns same: says first",
      "user returns same_2: says second",
      "user returns lost (failed): says No result provided",
      "user says (said while the tools ran)",
    ],
  ],
])("%s", (_story, history, model, expected) => {
  expect(outline(sent(history, model))).toEqual(expected);
});

test.each(Object.keys(HISTORIES))(
  "a request that can be sent twice: nothing foreign is in it, roles alternate (%s)",
  (name) => {
    const messages = sent(HISTORIES[name]!, testModel({ id: "claude-other" }));
    expect(messages.map(({ role }) => role)).toEqual(messages.map((_, i) => (i % 2 === 0 ? "user" : "assistant")));
    expect(JSON.stringify(messages)).not.toMatch(/signature|encrypted|redacted|gAAAAAB|\|fc_|msg_0a/i);
    for (const block of messages.flatMap(({ content }) => content as Anthropic.Messages.ContentBlockParam[])) {
      if (block.type === "tool_use") expect(block.id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      if (block.type === "text") expect(block.text.trim()).not.toBe("");
    }
  },
);
