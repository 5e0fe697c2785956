import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import type { AssistantMessage, LlmMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MockLlm, startMockLlm } from "../../../../test/support/mock-llm.ts";
import { anthropicMessages } from "../apis/anthropic-messages/family.ts";
import type { HttpCall } from "../apis/api.ts";
import { googleGenerativeAi } from "../apis/google/family.ts";
import { openaiChat } from "../apis/openai-chat/family.ts";
import { openaiResponses } from "../apis/openai-responses/family.ts";
import { bodyText } from "../apis/test-histories.ts";
import { createAssembly } from "../assemble.ts";
import { builtinModelsOf, expandEntry } from "../catalogue.ts";
import { emptyUsage } from "../cost.ts";
import type { ModelRequest } from "../provider.ts";
import { streamAssistant } from "../stream.ts";
import { collect, testRequest } from "../testing.ts";
import { PROVIDERS, resolveBaseUrl } from "./index.ts";
import type { ProviderRow } from "./provider-row.ts";

/**
 * What each provider is sent, byte for byte, in golden/<provider>.json: a change of a row, of the catalogue or of an API
 * family shows there. After a deliberate change: UPDATE_GOLDEN=1 npx vitest run packages/ai/src/providers/golden.test.ts
 */

const FOLDER = new URL("./golden/", import.meta.url);
const FAMILIES: Readonly<Record<string, { buildRequest(request: ModelRequest): HttpCall }>> = {
  "anthropic-messages": anthropicMessages,
  "google-generative-ai": googleGenerativeAi,
  "openai-completions": openaiChat,
  "openai-responses": openaiResponses,
  "azure-openai-responses": openaiResponses,
};
/** For providers whose models nobody can know beforehand. */
const ANY = { id: "model-1", contextWindow: 32_768, maxTokens: 8192, cost: [0, 0, 0, 0], reasoning: true } as const;
const READ_TOOL = {
  name: "read",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

function modelOf(row: ProviderRow): Model {
  const model = builtinModelsOf(row.id).find(({ id }) => id === row.defaultModel) ?? expandEntry(ANY, row);
  const base = resolveBaseUrl(row, { AZURE_OPENAI_RESOURCE_NAME: "acme" });
  return { ...model, baseUrl: "url" in base ? base.url : base.missing };
}

/** A question, a look into a file, and the next question. */
function conversation({ api, provider, id }: Model): LlmMessage[] {
  const answered = { api, provider, model: id, usage: emptyUsage(), timestamp: 2 };
  const call = { type: "toolCall", id: "call_1", name: "read", arguments: { path: "a.txt" } } as const;
  return [
    { role: "user", content: "What is in a.txt?", timestamp: 1 },
    { role: "assistant", content: [{ type: "text", text: "Let me look." }, call], ...answered, stopReason: "toolUse" },
    {
      ...{ role: "toolResult", toolCallId: "call_1", toolName: "read", isError: false, timestamp: 3 },
      content: [{ type: "text", text: "hello" }],
    },
    { role: "user", content: "And in b.txt?", timestamp: 4 },
  ];
}

const requestTo = (model: Model, row: ProviderRow): ModelRequest =>
  testRequest({
    model,
    systemPrompt: "You are helpful.",
    messages: conversation(model),
    tools: [READ_TOOL],
    thinkingLevel: "high",
    sessionId: "session-1",
    apiKey: row.keyless ? undefined : "test-key",
    headers: row.headers,
  });

async function answerOf(request: ModelRequest): Promise<AssistantMessage> {
  const assembly = createAssembly(request.model, 0);
  for (const delta of await collect(streamAssistant(request))) {
    if (delta.type === "done") assembly.finish(delta.stopReason);
    else if (delta.type === "error") assembly.fail(delta.error);
    else assembly.apply(delta);
  }
  return assembly.message;
}

function golden(name: string, fresh: unknown): unknown {
  const file = new URL(`${name}.json`, FOLDER);
  if (process.env.UPDATE_GOLDEN) writeFileSync(file, `${formatted(fresh)}\n`);
  if (!existsSync(file)) throw new Error(`golden/${name}.json is missing; write it with UPDATE_GOLDEN=1`);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** As the formatter of the project would have it: lists of words on one line. */
function formatted(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/\[\s+([^[\]{}]+?)\s+\]/g, (_, words: string) => {
    return `[${words.split(/,\s+/).join(", ")}]`;
  });
}

test.each(PROVIDERS.map((row) => [row.id, row] as const))("the request to %s", (id, row) => {
  const { url, headers, body } = FAMILIES[row.api]!.buildRequest(requestTo(modelOf(row), row));
  const sent = { url, headers, body: JSON.parse(bodyText(body)) };
  expect(sent).toEqual(golden(id, sent));
});

test("no golden request is left of a provider that is gone", () => {
  const files = readdirSync(FOLDER).map((file) => basename(file, ".json"));
  expect(files.sort()).toEqual(PROVIDERS.map(({ id }) => id).sort());
});

describe("a tool call that streams in", () => {
  let mock: MockLlm;
  beforeAll(async () => {
    mock = await startMockLlm();
  });
  afterAll(() => mock.close());

  test.each(PROVIDERS.map((row) => [row.id, row] as const))("from %s", async (_, row) => {
    const model = modelOf(row);
    const path = new URL(model.baseUrl).pathname.replace(/\/$/, "");
    const here = { ...model, baseUrl: mock.baseUrl + path };
    const input = { path: "b.txt", lines: [1, 2] };
    mock.reply({
      steps: [
        { type: "text", text: "Again." },
        { type: "toolUse", name: "read", input },
      ],
    });
    const { content, stopReason, errorMessage } = await answerOf(requestTo(here, row));
    expect(errorMessage).toBeUndefined();
    expect(stopReason).toBe("toolUse");
    expect(content).toMatchObject([
      { type: "text", text: "Again." },
      { type: "toolCall", name: "read", arguments: input },
    ]);
    expect(mock.requests.at(-1)?.path.startsWith(path)).toBe(true);
  });
});
