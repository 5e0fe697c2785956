import type { LlmMessage } from "@tiller/protocol/message";
import { expect, test } from "vitest";
import type { ModelRequest } from "../provider.ts";
import { answer, testModel, testRequest } from "../testing.ts";
import { callOptions } from "./ai-sdk/call-options.ts";
import type { LanguageModel } from "./ai-sdk/spec.ts";
import { anthropicMessages } from "./anthropic-messages/family.ts";
import { googleGenerativeAi } from "./google/family.ts";
import { openaiChat } from "./openai-chat/family.ts";
import { openaiResponses } from "./openai-responses/family.ts";
import { bodyText } from "./test-histories.ts";

/** A model once called a tool by a name that no API takes. The conversation goes on, with every family. */

const sdkModel: LanguageModel = {
  ...{ specificationVersion: "v3", provider: "x", modelId: "x" },
  doStream: () => Promise.reject(new Error("not asked")),
};

const BODIES: Readonly<Record<string, (request: ModelRequest) => string>> = {
  "anthropic-messages": (request) => bodyText(anthropicMessages.buildRequest(request).body),
  "openai-completions": (request) => bodyText(openaiChat.buildRequest(request).body),
  "openai-responses": (request) => bodyText(openaiResponses.buildRequest(request).body),
  "google-generative-ai": (request) => bodyText(googleGenerativeAi.buildRequest(request).body),
  "ai-sdk": (request) => JSON.stringify(callOptions(request, sdkModel, request.signal).prompt),
};

test.each(Object.keys(BODIES))("%s", (api) => {
  const called = (id: string, name: string): LlmMessage[] => [
    answer([{ type: "toolCall", id, name, arguments: {} }]),
    { role: "toolResult", toolCallId: id, toolName: name, content: [], isError: true, timestamp: 0 },
  ];
  const messages = [
    { role: "user" as const, content: "go", timestamp: 0 },
    ...called("1", "functions.read"),
    ...called("2", ""),
    ...called("3", "my.tool"),
  ];
  const tools = [{ name: "my.tool", description: "", parameters: { type: "object" } }];
  const body = BODIES[api]!(testRequest({ model: testModel({ api }), messages, tools }));
  expect(body).not.toContain("functions.read");
  expect(body).toContain('"functions_read"');
  expect(body).toContain('"unknown"');
  expect(body).not.toMatch(/"(name|toolName)":""/);
  // What is defined in the same request is the user's to name.
  expect(body.match(/"my\.tool"/g)?.length).toBeGreaterThan(0);
  expect(body).not.toContain("my_tool");
});
