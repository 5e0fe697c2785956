import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { fail, type MockLlm, say, startMockLlm, useTool } from "../support/mock-llm.ts";
import { type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { ended, isIncrement, joined, messagesOf, ofType, stateOf } from "./looking.ts";

/** The process and a model behind HTTP, with a provider of models.json: what goes over the wire, and what comes of it. */

let llm: MockLlm;
beforeEach(async () => {
  llm = await startMockLlm();
});
// Hooks run last to first: the process, which `useRpc` ends, goes before the server it talks to.
afterEach(() => llm.close());

const startProcess = useRpc();
const PRICES = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const modelsJson = (model: object = {}): string =>
  JSON.stringify({
    providers: {
      mock: {
        baseUrl: llm.baseUrl,
        apiKey: "key-nobody-may-see",
        api: "anthropic-messages",
        headers: { "x-tenant": "tenant-nobody-may-see" },
        models: [
          { id: "mock-1", reasoning: true, input: ["text", "image"], cost: PRICES, maxTokens: 64_000, ...model },
          { id: "mock-2", maxTokens: 500 },
        ],
      },
    },
  });
const start = ({ agentFiles, ...options }: RpcOptions = {}): RpcProcess =>
  startProcess({ agentFiles: { "models.json": modelsJson(), ...agentFiles }, ...options });
/** For stories of one failure: nothing is tried again. */
const ONCE = ["--set", "retry.enabled=false"];
const bodyOf = (index: number): Record<string, unknown> => llm.requests[index]?.body ?? {};
const wireMessages = (index: number): Frame[] => list(bodyOf(index).messages) as Frame[];
const CACHE = { cache_control: { type: "ephemeral" } };

describe("an answer", () => {
  it("streams in as text, with model, usage and cost", async () => {
    llm.reply({ ...say("Hello from afar", 5), usage: { input_tokens: 1000, output_tokens: 200 } });
    const rpc = start();
    const { frames, result } = await rpc.prompt("hi");
    expect(joined(frames)).toBe("Hello from afar");
    expect(ended(frames, "assistant")).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "Hello from afar" }],
      api: "anthropic-messages",
      provider: "mock",
      model: "mock-1",
      responseId: "msg_mock",
      usage: {
        input: 1000,
        output: 200,
        cacheRead: 0,
        cacheWrite: 0,
        totalTokens: 1200,
        cost: { input: 0.003, output: 0.003, cacheRead: 0, cacheWrite: 0, total: 0.006 },
      },
      stopReason: "stop",
      timestamp: expect.any(Number),
    });
    expect(result).toMatchObject({ status: "completed", agentInvoked: true });
    expect(result).not.toHaveProperty("offline");
  });

  it("may think first; the thinking goes back with the next request, signed", async () => {
    llm.reply(
      { steps: [{ type: "thinking", text: "Hm.", signature: "c2ln" }, ...(say("Yes.").steps ?? [])] },
      say("Sure."),
    );
    const rpc = start();
    const { frames } = await rpc.prompt("is it?");
    expect(ended(frames, "assistant").content).toEqual([
      { type: "thinking", thinking: "Hm.", thinkingSignature: "c2ln" },
      { type: "text", text: "Yes." },
    ]);
    await rpc.prompt("really?");
    expect(wireMessages(1)[1]).toMatchObject({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "c2ln" },
        { type: "text", text: "Yes." },
      ],
    });
  });

  it("that was cut at its limit says so", async () => {
    llm.reply({ ...say("as much as fi"), stopReason: "max_tokens" });
    const { frames, result } = await start().prompt("tell me all");
    expect(ended(frames, "assistant").stopReason).toBe("length");
    expect(result.status).toBe("completed");
  });

  it("can call a tool, and the result goes back to the model", async () => {
    llm.reply(useTool("read", { path: "notes.txt" }), say("You wanted milk."));
    const rpc = start({ files: { "notes.txt": "milk\n" } });
    const { frames, result } = await rpc.prompt("what did I want?");
    expect(result.status).toBe("completed");
    expect(ended(frames, "assistant")).toMatchObject({
      stopReason: "toolUse",
      content: [{ type: "toolCall", id: "toolu_mock_0", name: "read", arguments: { path: "notes.txt" } }],
    });
    expect(wireMessages(1)).toEqual([
      { role: "user", content: [{ type: "text", text: "what did I want?", ...CACHE }] },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "toolu_mock_0", name: "read", input: { path: "notes.txt" } }],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_mock_0", content: [{ type: "text", text: "milk\n" }], ...CACHE },
        ],
      },
    ]);
    expect(llm.requests).toHaveLength(2);
  });

  it("whose tool arguments are broken JSON is told so, and may try again", async () => {
    llm.reply({ steps: [{ type: "toolUse", name: "read", input: {}, rawInput: '{"path": "no' }] }, say("Never mind."));
    const { frames, result } = await start().prompt("read");
    expect(result.status).toBe("completed");
    expect(ofType(frames, "tool_execution_end")).toMatchObject([{ isError: true }]);
    expect(JSON.stringify(wireMessages(1).at(-1))).toMatch(/tool_result.*not valid JSON.*"is_error":true/);
  });
});

describe("a request", () => {
  it("carries the model, the system prompt, the tools and the message, and its key in a header", async () => {
    llm.reply(say("ok"));
    const rpc = start();
    await rpc.prompt("hi");
    const [request] = llm.requests;
    expect(request).toMatchObject({
      method: "POST",
      path: "/v1/messages",
      headers: {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": "key-nobody-may-see",
        "x-tenant": "tenant-nobody-may-see",
      },
    });
    expect(bodyOf(0)).toMatchObject({
      model: "mock-1",
      stream: true,
      max_tokens: expect.any(Number),
      messages: [{ role: "user", content: [{ type: "text", text: "hi", ...CACHE }] }],
    });
    const tools = list(bodyOf(0).tools) as Frame[];
    expect(tools.map(({ name }) => name)).toEqual(["read", "bash", "edit", "write"]);
    for (const tool of tools) {
      expect(tool).toMatchObject({ description: expect.stringMatching(/./), input_schema: { type: "object" } });
    }
    const system = String(at(bodyOf(0), "system", 0, "text"));
    expect(system).toMatch(/coding agent/);
    expect(system).toContain(`Current working directory: ${rpc.sandbox.cwd}`);
  });

  it("carries the whole conversation, and nothing in it that nobody said", async () => {
    llm.reply(say("One."), say("Two."), say("Three."));
    const rpc = start();
    for (const message of ["first", "second", "third"]) await rpc.prompt(message);
    const said = wireMessages(2).map(({ role, content }) => [role, list(content).map((block) => at(block, "text"))]);
    expect(said).toEqual([
      ["user", ["first"]],
      ["assistant", ["One."]],
      ["user", ["second"]],
      ["assistant", ["Two."]],
      ["user", ["third"]],
    ]);
  });

  it("leaves out an answer that failed, so that the next prompt works", async () => {
    llm.reply(fail(500, "api_error", "it broke"), say("Better now."));
    const rpc = start({ args: ONCE });
    await rpc.prompt("first");
    const { result } = await rpc.prompt("second");
    expect(result.status).toBe("completed");
    expect(wireMessages(1).map(({ role }) => role)).toEqual(["user"]);
    expect(list(wireMessages(1)[0]?.content).map((block) => at(block, "text"))).toEqual(["first", "second"]);
  });

  it("has the options of the command line in it", async () => {
    llm.reply(say("ok"));
    const args = [
      "--system-prompt",
      "You are a parrot.",
      "--append-system-prompt",
      "Say it twice.",
      "--tools",
      "read,ls",
    ];
    await start({ args }).prompt("hi");
    expect(at(bodyOf(0), "system", 0, "text")).toMatch(/^You are a parrot\.\n\nSay it twice\.\n\nCurrent date: /);
    expect(list(bodyOf(0).tools).map((tool) => at(tool, "name"))).toEqual(["read", "ls"]);
  });

  it("has images as they were given", async () => {
    llm.reply(say("A dot."));
    const image = { type: "image", data: "aGk=", mimeType: "image/png" };
    await start().prompt("what is it?", { images: [image] });
    expect(wireMessages(0)).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "what is it?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" }, ...CACHE },
        ],
      },
    ]);
  });

  it("follows the thinking level", async () => {
    llm.reply(say("a"), say("b"));
    const rpc = start();
    await rpc.call({ type: "set_thinking_level", level: "low" });
    await rpc.prompt("with");
    await rpc.call({ type: "set_thinking_level", level: "off" });
    await rpc.prompt("without");
    expect(bodyOf(0).thinking).toMatchObject({ type: "enabled", budget_tokens: expect.any(Number) });
    expect(bodyOf(1)).not.toHaveProperty("thinking");
  });

  it("goes to the model that set_model has chosen", async () => {
    llm.reply(say("I am one."), { ...say("I am two."), usage: { input_tokens: 1, output_tokens: 1 } });
    const rpc = start();
    await rpc.prompt("who?");
    await rpc.call({ type: "set_model", provider: "mock", modelId: "mock-2" });
    const { frames } = await rpc.prompt("and now?");
    expect(llm.requests.map(({ body }) => [body.model, body.max_tokens])).toEqual([
      ["mock-1", expect.any(Number)],
      ["mock-2", 500],
    ]);
    expect(ended(frames, "assistant")).toMatchObject({
      model: "mock-2",
      usage: { totalTokens: 2, cost: { total: 0 } },
    });
  });

  it("in the middle of a run goes to the model that is chosen by then, and the result names who failed", async () => {
    llm.reply(
      useTool("bash", { command: "until [ -e go ]; do sleep 0.02; done" }),
      fail(500, "api_error", "not today"),
    );
    const rpc = start({ args: ONCE });
    await rpc.call({ id: "p", type: "prompt", message: "go" });
    await rpc.waitFor("tool_execution_start");
    await rpc.call({ type: "set_model", provider: "mock", modelId: "mock-2" });
    writeFileSync(join(rpc.sandbox.cwd, "go"), "");
    const result = await rpc.waitFor("prompt_result");
    expect(llm.requests.map(({ body }) => body.model)).toEqual(["mock-1", "mock-2"]);
    expect(result).toMatchObject({ status: "error", error: { provider: "mock", model: "mock-2", httpStatus: 500 } });
  });

  it("takes its key from where models.json says, and from --api-key before that", async () => {
    const keyed = (apiKey: string, more: object = {}): string => {
      const config = JSON.parse(modelsJson());
      config.providers.mock = { ...config.providers.mock, apiKey, ...more };
      return JSON.stringify(config);
    };
    const cases: [files: string, args: string[], key: unknown, authorization: unknown][] = [
      [keyed("$MOCK_KEY"), [], "from the environment", undefined],
      [keyed("none"), [], "none", undefined],
      [keyed("k", { authHeader: true }), [], "k", "Bearer k"],
      [keyed("k", { auth: "none" }), [], undefined, undefined],
      [keyed("k"), ["--model", "mock/mock-1", "--api-key", "given"], "given", undefined],
    ];
    for (const [models, args, key, authorization] of cases) {
      llm.reply(say("ok"));
      const env = { MOCK_KEY: "from the environment" };
      await start({ agentFiles: { "models.json": models }, args, env }).prompt("hi");
      const headers = llm.requests.at(-1)?.headers;
      expect([headers?.["x-api-key"], headers?.authorization]).toEqual([key, authorization]);
    }
  });

  it("costs nothing beside it: one prompt is one request, no title is asked for", async () => {
    llm.reply(say("Hello."));
    const rpc = start();
    await rpc.prompt("hi");
    await stateOf(rpc);
    expect(llm.requests).toHaveLength(1);
  });
});

describe("a failure", () => {
  const failures = [
    ["401", fail(401, "authentication_error", "invalid x-api-key"), /^401 .*invalid x-api-key/, 401, false],
    ["529", fail(529, "overloaded_error", "Overloaded"), /^529 .*Overloaded/, 529, true],
    ["429", fail(429, "rate_limit_error", "slow down", { "retry-after": "7" }), /^429 .*slow down/, 429, true],
    ["400", fail(400, "invalid_request_error", "messages: wrong"), /^400 .*messages: wrong/, 400, false],
  ] as const;

  it.each(failures)(
    "%s ends the prompt with status, text and whether it may pass",
    async (_name, reply, text, status, retryable) => {
      llm.reply(reply);
      const { frames, result } = await start({ args: ONCE }).prompt("hi");
      expect(ended(frames, "assistant")).toMatchObject({ stopReason: "error", content: [] });
      expect(ended(frames, "assistant").errorMessage).toMatch(text);
      expect(result).toMatchObject({
        status: "error",
        agentInvoked: true,
        error: { provider: "mock", model: "mock-1", httpStatus: status, retryable },
      });
      expect(at(result, "error", "message")).toMatch(text);
      expect(ofType(frames, "agent_end")).toMatchObject([{ willRetry: false }]);
      expect(llm.requests).toHaveLength(1);
    },
  );

  const broken = [
    [
      "a connection that breaks",
      { steps: [{ type: "text", text: "half" }, { type: "delay", ms: 20 }, { type: "cut" }] },
    ],
    ["a stream that ends early", { steps: [{ type: "text", text: "half" }, { type: "endEarly" }] }],
    [
      "an error inside the stream",
      {
        steps: [
          { type: "text", text: "half" },
          { type: "errorEvent", kind: "overloaded_error", message: "Overloaded" },
        ],
      },
    ],
  ] satisfies [string, Parameters<MockLlm["reply"]>[0]][];

  it.each(broken)("%s keeps what was said, and the prompt may be tried again", async (_name, reply) => {
    llm.reply(reply, say("whole"));
    const rpc = start({ args: ONCE });
    const { frames, result } = await rpc.prompt("hi");
    expect(ended(frames, "assistant")).toMatchObject({
      stopReason: "error",
      content: [{ type: "text", text: "half" }],
    });
    expect(joined(frames)).toBe("half");
    expect(result).toMatchObject({ status: "error", error: { retryable: true } });
    expect((await rpc.prompt("again")).result.status).toBe("completed");
  });

  it("that may pass is tried again after the pause the server asks for, without the answer that failed", async () => {
    llm.reply(
      fail(429, "rate_limit_error", "slow down", { "retry-after": "1" }),
      { steps: [{ type: "text", text: "half" }, { type: "endEarly" }] },
      say("whole"),
    );
    const { frames, result } = await start({ args: ["--set", "retry.baseDelayMs=10"] }).prompt("hi");
    expect(result).toMatchObject({ status: "completed", turns: 3 });
    expect(ofType(frames, "auto_retry_start")).toMatchObject([
      { attempt: 1, maxAttempts: 3, delayMs: 1000, errorMessage: expect.stringMatching(/^429 .*slow down/) },
      { attempt: 2, maxAttempts: 3, delayMs: expect.any(Number) },
    ]);
    expect(ofType(frames, "agent_end").map(({ willRetry }) => willRetry)).toEqual([true, true, false]);
    expect(llm.requests).toHaveLength(3);
    for (const index of [1, 2]) expect(wireMessages(index)).toEqual(wireMessages(0));
  });

  it("by silence in the middle of an answer is given up and asked again", async () => {
    llm.reply({ steps: [{ type: "text", text: "half" }, { type: "stall" }] }, say("whole"));
    const args = ["--set", "retry.provider.idleTimeoutMs=150", "--set", "retry.baseDelayMs=10"];
    const { frames, result } = await start({ args }).prompt("hi");
    expect(ofType(frames, "auto_retry_start")).toMatchObject([
      { attempt: 1, errorMessage: expect.stringMatching(/^Timed out: waited 0\.15 s for /) },
    ]);
    expect(result).toMatchObject({ status: "completed", turns: 2 });
  });

  it("by silence before the first byte is told after the time that was set", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const agentFiles = { "models.json": modelsJson().replace(llm.baseUrl, baseUrl) };
    const rpc = start({ args: [...ONCE, "--set", "retry.provider.timeoutMs=150"], agentFiles });
    const { result } = await rpc.prompt("hi");
    expect(at(result, "error", "message")).toMatch(/^Timed out: waited 0\.15 s for an answer from 127\.0\.0\.1/);
    expect(at(result, "error", "retryable")).toBe(true);
    silent.closeAllConnections();
    silent.close();
  });

  it("in reaching the server names it", async () => {
    const gone = await startMockLlm();
    await gone.close();
    const models = modelsJson({ baseUrl: gone.baseUrl });
    const { result } = await start({ agentFiles: { "models.json": models }, args: ONCE }).prompt("hi");
    expect(result).toMatchObject({ status: "error", error: { retryable: true } });
    expect(at(result, "error", "message")).toContain(new URL(gone.baseUrl).host);
  });
});

describe("an abort", () => {
  it("in the middle of an answer closes the connection and keeps what was said", async () => {
    llm.reply({ steps: [{ type: "text", text: "half" }, { type: "stall" }] }, say("Hello again."));
    const rpc = start();
    await rpc.call({ id: "p", type: "prompt", message: "go" });
    await rpc.waitFor(isIncrement("text_delta"));
    expect(llm.requests[0]?.aborted).toBe(false);
    await rpc.call({ type: "abort" });
    await expect.poll(() => llm.requests[0]?.aborted).toBe(true);
    expect(await rpc.waitFor("prompt_result")).toMatchObject({ id: "p", status: "aborted" });
    expect((await messagesOf(rpc)).at(-1)).toMatchObject({ stopReason: "aborted", content: [{ text: "half" }] });
    expect((await rpc.prompt("on")).result.status).toBe("completed");
  });

  it("before the first byte of the answer closes it too", async () => {
    llm.reply({ steps: [{ type: "stall" }] });
    const rpc = start();
    await rpc.call({ type: "prompt", message: "go" });
    await expect.poll(() => llm.requests.length).toBe(1);
    await rpc.call({ type: "abort" });
    await expect.poll(() => llm.requests[0]?.aborted).toBe(true);
    expect(ended(rpc.frames, "assistant")).toMatchObject({ stopReason: "aborted", content: [] });
  });
});

it("no key and no secret header is ever on stdout or stderr, whatever happens", async () => {
  llm.reply(
    say("ok"),
    fail(401, "authentication_error", "invalid x-api-key"),
    useTool("bash", { command: "echo hi" }),
    say("."),
  );
  const rpc = start();
  await rpc.prompt("one");
  await rpc.prompt("two");
  await rpc.prompt("three");
  const rest = [
    "get_state",
    "get_available_models",
    "get_messages",
    "cycle_model",
    "get_capabilities",
    "get_session_stats",
  ];
  for (const type of rest) await rpc.call({ type });
  expect(llm.requests[0]?.headers["x-api-key"]).toBe("key-nobody-may-see");
  expect(JSON.stringify(rpc.frames)).not.toContain("nobody-may-see");
  expect(rpc.stderr).not.toContain("nobody-may-see");
});
