import { ProviderError } from "@tiller/ai/errors";
import { answer } from "@tiller/ai/testing";
import type { AssistantMessage } from "@tiller/protocol/message";
import { afterEach, expect, test } from "vitest";
import { aiModule } from "./ai.ts";
import type { AskFunction } from "./api-providers.ts";
import { registeredApi } from "./api-providers.ts";
import { createAssistantMessageEventStream } from "./event-stream.ts";
import { createTestHost, type TestHost } from "./test-host.ts";

const hosts: TestHost[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.remove();
});

type Functions = Record<string, (...given: never[]) => unknown>;

async function open(...given: Parameters<typeof createTestHost>) {
  const host = createTestHost(...given);
  hosts.push(host);
  return { host, ai: (await aiModule(host)()) as Functions & { stream: AskFunction } };
}

const context = { systemPrompt: "Be brief", messages: [{ role: "user" as const, content: "?", timestamp: 0 }] };

test("a model is asked with what the extension gives, and answers with a message", async () => {
  const { host, ai } = await open();
  const complete = ai.complete as unknown as (...given: unknown[]) => Promise<AssistantMessage>;
  const options = { apiKey: "theirs", headers: { "x-their": "2" }, maxTokens: 99, reasoning: "high" };
  const message = await complete(host.model, context, options);
  expect(message).toMatchObject({
    role: "assistant",
    content: [{ type: "text", text: "Hello you" }],
    stopReason: "stop",
  });
  expect(message.usage).toMatchObject({ input: 10, output: 2, totalTokens: 12 });
  expect(host.asked[0]).toMatchObject({
    systemPrompt: "Be brief",
    messages: context.messages,
    apiKey: "theirs",
    headers: { "x-own": "1", "x-their": "2" },
    maxTokens: 99,
    // The model does not think.
    thinkingLevel: "off",
  });
});

test("without a key ours is used, but never at an address that is not ours", async () => {
  const { host, ai } = await open();
  await ai.stream(host.model, context).result();
  await ai.stream({ ...host.model, baseUrl: "https://elsewhere" }, context).result();
  expect(host.asked.map(({ apiKey, headers }) => [apiKey, headers])).toEqual([
    ["ours", { "x-own": "1" }],
    [undefined, {}],
  ]);
});

test("the answer can be followed event by event", async () => {
  const { host, ai } = await open();
  const answering = ai.stream(host.model, context);
  const seen: string[] = [];
  const partials = new Set<unknown>();
  for await (const event of answering) {
    seen.push(event.type === "text_delta" ? event.delta : event.type);
    if ("partial" in event) partials.add(event.partial);
  }
  expect(seen).toEqual(["start", "text_start", "Hello ", "you", "text_end", "done"]);
  // It is the message itself, which grows.
  expect([...partials]).toEqual([await answering.result()]);
});

test("a failure is a message, and a missing key is told in its own words", async () => {
  const failing = await open([{ type: "error", error: new ProviderError("server", "on fire") }]);
  const message = await failing.ai.stream(failing.host.model, context).result();
  expect([message.stopReason, message.errorMessage]).toEqual(["error", "on fire"]);

  const { host, ai } = await open();
  host.models.credentials = () => {
    throw new ProviderError("auth", "Set a key");
  };
  expect((await ai.stream(host.model, context).result()).errorMessage).toBe("Set a key");
  expect((await ai.stream(host.model, context, { apiKey: "k" }).result()).stopReason).toBe("stop");
});

test("an answer of too many blocks ends in an error, not in silence", async () => {
  const block = { type: "open", index: 0, block: { type: "text" } } as const;
  const { host, ai } = await open([...new Array(1001).fill(block), { type: "done", stopReason: "stop" }]);
  const message = await ai.stream(host.model, context).result();
  expect([message.stopReason, message.content.length]).toEqual(["error", 1000]);
  expect(message.errorMessage).toContain("was ended after 1000 blocks");
});

test("an aborted question ends at once", async () => {
  const { host, ai } = await open();
  const message = await ai.stream(host.model, context, { signal: AbortSignal.abort() }).result();
  expect([message.stopReason, host.asked]).toEqual(["aborted", []]);
});

test("who registers an API answers for its models", async () => {
  const { host, ai } = await open();
  const own = answer([{ type: "text", text: "mine" }]);
  const stream: AskFunction = () => {
    const events = createAssistantMessageEventStream();
    events.push({ type: "done", reason: "stop", message: own });
    return events;
  };
  (ai.registerApiProvider as (...given: unknown[]) => void)({ api: "mine", stream, streamSimple: stream }, "me");
  const model = { ...host.model, api: "mine" };
  expect(await ai.stream(model, context).result()).toBe(own);
  expect(registeredApi(host, "mine")?.stream).toBe(stream);
  (ai.unregisterApiProviders as (id: string) => void)("me");
  expect(registeredApi(host, "mine")).toBeUndefined();
});

test("an API that nobody speaks says so", async () => {
  const { host, ai } = await open();
  const streamVertex = ai.streamSimpleGoogleVertex as unknown as AskFunction;
  const message = await streamVertex(host.model, context).result();
  expect(message.errorMessage).toContain('uses the API family "google-vertex"');
  expect(host.asked).toEqual([]);
});

test("small things", async () => {
  const { host, ai } = await open();
  const call = (name: string, ...given: unknown[]) => (ai[name] as (...given: unknown[]) => unknown)(...given);
  expect(call("StringEnum", ["a", "b"], { description: "d" })).toMatchObject({
    type: "string",
    enum: ["a", "b"],
    description: "d",
  });
  expect(call("getModel", "anthropic", "claude-test")).toBe(host.model);
  expect(call("getModels", "nobody")).toEqual([]);
  expect(call("getEnvApiKey", "anthropic")).toBe("from-env");
  expect(call("getEnvApiKey", "openai")).toBeUndefined();
  expect(call("modelsAreEqual", host.model, { ...host.model })).toBe(true);
  expect(call("modelsAreEqual", host.model, null)).toBe(false);
  expect(call("parseStreamingJson", '{"a":[1,2')).toEqual({ a: [1, 2] });
  expect(call("supportsXhigh", host.model)).toBe(false);
  expect(call("uuidv7")).toMatch(/^[\da-f]{8}-[\da-f]{4}-7/);
  const usage = answer([]).usage;
  expect(call("calculateCost", host.model, Object.assign(usage, { input: 1_000_000 }))).toMatchObject({
    input: 3,
    total: 3,
  });
  const long = answer([], { stopReason: "error", errorMessage: "prompt is too long" });
  expect([call("isContextOverflow", long), call("isContextOverflow", answer([]))]).toEqual([true, false]);
  const tool = { name: "t", description: "", parameters: { type: "object", properties: { n: { type: "number" } } } };
  expect(call("validateToolArguments", tool, { arguments: { n: "3" } })).toEqual({ n: 3 });
  expect(() => call("validateToolCall", [tool], { name: "t", arguments: { n: "x" } })).toThrow(
    'Validation failed for tool "t"',
  );
  expect(() => call("validateToolCall", [], { name: "t", arguments: {} })).toThrow('Tool "t" not found');
  await expect(call("loginAnthropic")).rejects.toThrow("there is no login");
});
