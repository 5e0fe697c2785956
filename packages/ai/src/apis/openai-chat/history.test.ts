import { describe, expect, test } from "vitest";
import { testModel, testRequest } from "../../testing.ts";
import { bodyText, HISTORIES } from "../test-histories.ts";
import { buildRequest } from "./request.ts";

/** Conversations that other models and accidents left behind make valid requests for every kind of server. */

interface Sent {
  role: string;
  content: unknown;
  tool_call_id?: string;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  [field: string]: unknown;
}

const SERVERS = {
  openai: "https://api.openai.com/v1",
  mistral: "https://api.mistral.ai/v1",
  deepseek: "https://api.deepseek.com",
  openrouter: "https://openrouter.ai/api/v1",
  ollama: "http://127.0.0.1:11434",
};
const ID_RULES: Record<string, RegExp> = { openai: /^[\w-]{1,40}$/, mistral: /^[a-zA-Z0-9]{9}$/ };

function messagesFor(provider: string, baseUrl: string, history: string, sees: boolean): Sent[] {
  const model = testModel({
    id: "gpt-chat-test",
    api: "openai-completions",
    provider,
    baseUrl,
    reasoning: true,
    input: sees ? ["text", "image"] : ["text"],
  });
  const request = testRequest({ model, messages: HISTORIES[history]!, thinkingLevel: "high" });
  return (JSON.parse(bodyText(buildRequest(request).body)) as { messages: Sent[] }).messages;
}

describe.each(Object.entries(SERVERS))("%s", (provider, baseUrl) => {
  test.each(Object.keys(HISTORIES))("the %s history", (history) => {
    const messages = messagesFor(provider, baseUrl, history, true);
    expect(messages[0]!.role).toBe("user");
    const ids: string[] = [];
    messages.forEach((message, at) => {
      if (message.role === "assistant") {
        const calls = message.tool_calls ?? [];
        expect(message.content !== null || calls.length > 0).toBe(true);
        // Every call is answered at once, in its order.
        const results = messages.slice(at + 1, at + 1 + calls.length);
        expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(calls.map(({ id }) => id));
        for (const call of calls) expect(JSON.parse(call.function.arguments)).toBeTypeOf("object");
        ids.push(...calls.map(({ id }) => id));
      }
      if (message.role === "user") expect(messages[at - 1]?.role).not.toBe("user");
      if (message.role === "tool") expect(["assistant", "tool"]).toContain(messages[at - 1]!.role);
      expect(message.content).not.toBe("");
    });
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(ID_RULES[provider] ?? /^[\w.:-]{1,64}$/);
    const text = JSON.stringify(messages);
    for (const foreign of ["EqQBCgIYAhIM", "gAAAAAB", "Q2FsbFNpZ25hdHVyZQ", "[Reasoning redacted]"]) {
      expect(text).not.toContain(foreign);
    }
  });

  test("images only for those who see", () => {
    expect(JSON.stringify(messagesFor(provider, baseUrl, "anthropic", true))).toContain("data:image/png;base64,");
    expect(JSON.stringify(messagesFor(provider, baseUrl, "anthropic", false))).not.toContain("base64");
  });
});

test("a model finds its own thinking in the field it came in, and what it left unsigned as text", () => {
  const messages = messagesFor("openai", SERVERS.openai, "chat", true);
  expect(messages.filter(({ role }) => role === "assistant")).toMatchObject([
    { content: null, reasoning_content: "First this folder." },
    { content: "Now the other." },
    { content: "One file here, none above." },
  ]);
});
