import type { AssistantContent, ImageContent } from "@tiller/protocol/content";
import type {
  AssistantMessage,
  LlmMessage,
  StopReason,
  ToolResultMessage,
  UserMessage,
} from "@tiller/protocol/message";
import { emptyUsage } from "../cost.ts";
import { joinedPayload, type Payload } from "../http/payload.ts";

/**
 * Conversations as they are stored after talks with different providers. Every API family has to make a valid request of
 * each of them, whoever wrote it: models are changed in mid-session. For tests only.
 */

interface Author {
  api: string;
  provider: string;
  model: string;
}

export const ANTHROPIC_AUTHOR: Author = { api: "anthropic-messages", provider: "anthropic", model: "claude-test" };
export const CHAT_AUTHOR: Author = { api: "openai-completions", provider: "openai", model: "gpt-chat-test" };
export const RESPONSES_AUTHOR: Author = { api: "openai-responses", provider: "openai", model: "gpt-test" };
export const GOOGLE_AUTHOR: Author = { api: "google-generative-ai", provider: "google", model: "gemini-test" };

const PIXEL: ImageContent = {
  type: "image",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  mimeType: "image/png",
};

let stamp = 1_700_000_000_000;

function said(content: UserMessage["content"]): UserMessage {
  return { role: "user", content, timestamp: stamp++ };
}

function answered(
  author: Author,
  content: AssistantContent[],
  stopReason: StopReason = "stop",
  fields: Partial<AssistantMessage> = {},
): AssistantMessage {
  return { role: "assistant", content, ...author, usage: emptyUsage(), stopReason, timestamp: stamp++, ...fields };
}

function called(id: string, name: string, args: Record<string, unknown> = {}, thoughtSignature?: string) {
  return { type: "toolCall" as const, id, name, arguments: args, ...(thoughtSignature ? { thoughtSignature } : {}) };
}

function returned(toolCallId: string, toolName: string, content: ToolResultMessage["content"]): ToolResultMessage {
  return { role: "toolResult", toolCallId, toolName, content, isError: false, timestamp: stamp++ };
}

function text(words: string, textSignature?: string) {
  return { type: "text" as const, text: words, ...(textSignature ? { textSignature } : {}) };
}

/** Signed and redacted thinking, two tools at once, images in the question and in a result. */
export const ANTHROPIC_HISTORY: readonly LlmMessage[] = [
  said([text("What is in these pictures?"), PIXEL]),
  answered(
    ANTHROPIC_AUTHOR,
    [
      { type: "thinking", thinking: "I should look at both files.", thinkingSignature: "EqQBCgIYAhIM" },
      { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: "EmwKAhgBEgy3", redacted: true },
      text("Let me look."),
      called("toolu_01A", "read", { path: "a.png" }),
      called("toolu_01B", "ls", { path: "." }),
    ],
    "toolUse",
    { responseId: "msg_01" },
  ),
  returned("toolu_01A", "read", [text("a.png, 1x1"), PIXEL]),
  returned("toolu_01B", "ls", [text("a.png")]),
  answered(ANTHROPIC_AUTHOR, [
    { type: "thinking", thinking: "One pixel.", thinkingSignature: "EqQBCgIYBBIM" },
    text("A single pixel."),
  ]),
  said("And what colour is it?"),
];

const LONG_ITEM_ID = `fc_${"0123456789abcdef".repeat(28)}`;

/** Ids of calls joined with those of their items, also very long ones; a whole item as the signature of a thought. */
export const RESPONSES_HISTORY: readonly LlmMessage[] = [
  said("Run the tests, please."),
  answered(
    RESPONSES_AUTHOR,
    [
      {
        type: "thinking",
        thinking: "**Finding the tests**",
        thinkingSignature: JSON.stringify({
          type: "reasoning",
          id: "rs_01",
          summary: [{ type: "summary_text", text: "**Finding the tests**" }],
          encrypted_content: "gAAAAAB",
        }),
      },
      text("Running them.", "msg_0a1b"),
      called("call_abc|fc_def", "bash", { command: "npm test" }),
      called(`call_xyz|${LONG_ITEM_ID}`, "ls", {}),
    ],
    "toolUse",
    { responseId: "resp_01", responseModel: "gpt-test-2026-01-01" },
  ),
  returned("call_abc|fc_def", "bash", [text("12 passed")]),
  returned(`call_xyz|${LONG_ITEM_ID}`, "ls", [text("package.json")]),
  answered(RESPONSES_AUTHOR, [text("All 12 pass.", "msg_0a1c")]),
  said("Thanks. And the linter?"),
];

/** Unsigned and named reasoning, an id used in two turns, an answer with only a tool call. */
export const CHAT_HISTORY: readonly LlmMessage[] = [
  said("List the folder, then the one above."),
  answered(
    CHAT_AUTHOR,
    [
      { type: "thinking", thinking: "First this folder.", thinkingSignature: "reasoning_content" },
      called("call_0", "ls", { path: "." }),
    ],
    "toolUse",
  ),
  returned("call_0", "ls", [text("a.txt")]),
  answered(
    CHAT_AUTHOR,
    [{ type: "thinking", thinking: "Now the other." }, called("call_0", "ls", { path: ".." })],
    "toolUse",
  ),
  returned("call_0", "ls", []),
  answered(CHAT_AUTHOR, [text("One file here, none above.")]),
  said("Good."),
];

/** Signatures on calls and on text, also on an empty one; calls without ids of their own; an image as a result. */
export const GOOGLE_HISTORY: readonly LlmMessage[] = [
  said("Read both files."),
  answered(
    GOOGLE_AUTHOR,
    [
      { type: "thinking", thinking: "**Reading**\n\nTwo files." },
      called("", "read", { path: "a" }, "Q2FsbFNpZ25hdHVyZQ=="),
      called("", "read", { path: "b" }),
    ],
    "toolUse",
  ),
  returned("", "read", [text("contents of a")]),
  returned("", "read", [PIXEL]),
  answered(GOOGLE_AUTHOR, [text("Read them.", "VGV4dFNpZ25hdHVyZQ=="), text("", "TGFzdFNpZ25hdHVyZQ==")]),
  said("Which one is longer?"),
];

/** What crashes, aborts and edits leave behind. */
export const BROKEN_HISTORY: readonly LlmMessage[] = [
  returned("call_gone", "ls", [text("a result whose call was cut away")]),
  answered(ANTHROPIC_AUTHOR, [text("An answer to a question that was cut away.")]),
  said("Go on."),
  said([text("  "), text("Please.")]),
  answered(ANTHROPIC_AUTHOR, [text("Half an ans")], "aborted"),
  answered(ANTHROPIC_AUTHOR, [called("call_failed", "bash")], "error", { errorMessage: "overloaded" }),
  returned("call_failed", "bash", [text("never ran")]),
  said(""),
  answered(ANTHROPIC_AUTHOR, [text("  ")]),
  answered(ANTHROPIC_AUTHOR, [
    text("Two calls with one id, and one that nobody answered."),
    called("same", "ls", { path: "1" }),
    called("same", "ls", { path: "2" }),
    called("lost", "bash", { command: "sleep 9" }),
  ]),
  returned("same", "ls", [text("first")]),
  said("(said while the tools ran)"),
  returned("same", "ls", [text("second")]),
  returned("same", "ls", [text("once too often")]),
];

export const HISTORIES: Readonly<Record<string, readonly LlmMessage[]>> = {
  anthropic: ANTHROPIC_HISTORY,
  responses: RESPONSES_HISTORY,
  chat: CHAT_HISTORY,
  google: GOOGLE_HISTORY,
  broken: BROKEN_HISTORY,
};

/** The body of a request, as the server reads it. */
export function bodyText(body: Payload): string {
  return joinedPayload(body).toString("utf8");
}
