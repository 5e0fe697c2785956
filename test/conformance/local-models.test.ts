import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { stateOf } from "./looking.ts";

/** Servers on this machine in RPC mode: they are asked when it matters, and never at the start. */

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
const startProcess = useRpc();

interface FakeOllama {
  host: string;
  /** `METHOD path`, and what a chat asked for. */
  seen: string[];
  names: string[];
}

/** Speaks as much of Ollama as is needed: its list, what it says of one model, and chats. */
async function ollama(...names: string[]): Promise<FakeOllama> {
  const seen: string[] = [];
  const fake = { seen, names, host: "" };
  const server = createServer((request, response) => void answer(fake, request, response));
  fake.host = await listen(server);
  return fake;
}

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answer({ seen, names }: FakeOllama, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
  seen.push(`${request.method} ${request.url}${body.model === undefined ? "" : ` ${body.model}`}`);
  const json = (value: object, status = 200): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
  if (request.url === "/api/tags") json({ models: names.map((name) => ({ name, model: name, details: {} })) });
  else if (request.url === "/api/show") {
    const info = { "general.architecture": "qwen3", "qwen3.context_length": 8192 };
    if (names.includes(String(body.model)))
      json({ capabilities: ["completion", "thinking", "vision"], model_info: info });
    else json({ error: "model not found" }, 404);
  } else if (request.url === "/v1/chat/completions") {
    const event = { id: "1", choices: [{ index: 0, delta: { content: "Hi." }, finish_reason: "stop" }] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`);
  } else json({ error: "no such thing" }, 404);
}

const NOBODY = "127.0.0.1:9";
/** Servers that happen to run beside the test are none of its business. */
const ELSEWHERE = { LMSTUDIO_BASE_URL: NOBODY, LLAMACPP_BASE_URL: NOBODY, VLLM_BASE_URL: NOBODY };
const start = (host: string, { env, args = [], ...rest }: RpcOptions = {}): RpcProcess =>
  startProcess({ ...rest, args: ["--no-session", ...args], env: { OLLAMA_HOST: host, ...ELSEWHERE, ...env } });
const nameOf = (model: unknown): string => `${at(model, "provider")}/${at(model, "id")}`;
const listed = async (rpc: RpcProcess): Promise<string[]> => {
  const { data } = await rpc.call({ type: "get_available_models" });
  return list(at(data, "models")).map(nameOf);
};
/** A busy machine may need longer than a server is waited for. */
const listedWith = async (rpc: RpcProcess, name: string): Promise<string[]> => {
  for (let attempt = 0; attempt < 5; attempt++) {
    const names = await listed(rpc);
    if (names.includes(name)) return names;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
  return await listed(rpc);
};
const said = (frames: readonly Frame[]): unknown =>
  frames.findLast((frame) => frame.type === "message_end" && at(frame, "message", "role") === "assistant")?.message;

describe("a server that runs", () => {
  it("is not asked at the start, and then listed with what it has", async () => {
    const server = await ollama("qwen3:8b", "llama3:latest");
    const rpc = start(server.host);
    await stateOf(rpc);
    expect(server.seen).toEqual([]);
    expect(await listedWith(rpc, "ollama/qwen3:8b")).toEqual([
      "ollama/qwen3:8b",
      "ollama/llama3:latest",
      "offline/scout",
    ]);
    expect(new Set(server.seen)).toEqual(new Set(["GET /api/tags"]));
  });

  it("is left alone with --offline and with PI_OFFLINE", async () => {
    const server = await ollama("qwen3:8b");
    for (const options of [{ args: ["--offline"] }, { env: { PI_OFFLINE: "1" } }]) {
      expect(await listed(start(server.host, options))).toEqual(["offline/scout"]);
    }
    expect(server.seen).toEqual([]);
  });

  it("has any model that set_model names, listed or not", async () => {
    const server = await ollama("qwen3:8b");
    const rpc = start(server.host);
    for (const modelId of ["qwen3:8b", "not-pulled-yet"]) {
      const { success, data } = await rpc.call({ type: "set_model", provider: "ollama", modelId });
      expect([success, nameOf(data)]).toEqual([true, `ollama/${modelId}`]);
      expect(nameOf((await stateOf(rpc)).model)).toBe(`ollama/${modelId}`);
    }
    expect(await rpc.call({ type: "set_model", provider: "anthropic", modelId: "x" })).toMatchObject({
      success: false,
    });
    const { result } = await rpc.prompt("hi");
    expect(result.status).toBe("completed");
    expect(server.seen).toContain("POST /v1/chat/completions not-pulled-yet");
  });

  it("says what its model can do before the first prompt, and get_state tells it from then on", async () => {
    const server = await ollama("qwen3:8b");
    const rpc = start(server.host, { args: ["--model", "ollama/qwen3:8b"] });
    expect((await stateOf(rpc)).model).toMatchObject({ reasoning: false, contextWindow: 32_768 });
    expect((await stateOf(rpc)).thinkingLevel).toBe("off");
    // Half a second is long enough on any but a very busy machine.
    for (let attempt = 0; attempt < 5; attempt++) {
      await rpc.prompt("hi");
      if (at((await stateOf(rpc)).model, "reasoning") === true) break;
    }
    const state = await stateOf(rpc);
    expect(state.model).toMatchObject({
      id: "qwen3:8b",
      reasoning: true,
      contextWindow: 8192,
      input: ["text", "image"],
    });
    expect(state.thinkingLevel).toBe("medium");
    const asked = server.seen.filter((line) => line.startsWith("POST /api/show"));
    await rpc.prompt("again");
    expect(server.seen.filter((line) => line.startsWith("POST /api/show"))).toEqual(asked);
  });

  it("gives its first model when only the provider is named", async () => {
    const server = await ollama("qwen3:8b", "llama3");
    const rpc = start(server.host, { args: ["--provider", "ollama"] });
    expect(nameOf((await stateOf(rpc)).model)).toBe("ollama/default");
    const { result, frames } = await rpc.prompt("hi");
    expect(result.status).toBe("completed");
    expect(said(frames)).toMatchObject({ provider: "ollama", model: "qwen3:8b" });
    expect(nameOf((await stateOf(rpc)).model)).toBe("ollama/qwen3:8b");
    expect(server.seen).toContain("POST /v1/chat/completions qwen3:8b");
  });

  it("has no model yet", async () => {
    const server = await ollama();
    const { result } = await start(server.host, { args: ["--provider", "ollama"] }).prompt("hi");
    expect(result).toMatchObject({ status: "error", error: { retryable: false } });
    expect(at(result, "error", "message")).toBe(
      `Ollama at http://${server.host}/v1 has no model to chat with yet; give it one first.`,
    );
  });

  it("serves a name with a size that no list has, and a warning says who was taken", async () => {
    const server = await ollama("qwen3:8b");
    const rpc = start(server.host, { args: ["--model", "qwen3:8b"] });
    expect((await rpc.prompt("hi")).result.status).toBe("completed");
    expect(server.seen).toContain("POST /v1/chat/completions qwen3:8b");
    expect(rpc.stderr).toContain('Model "qwen3:8b" is in no list. Using ollama/qwen3:8b');
  });

  it("is found under a name of one's own, with a key that hosts do not see", async () => {
    const server = await ollama("qwen3:8b");
    const attic = {
      baseUrl: `http://${server.host}/v1`,
      discovery: { type: "ollama" },
      apiKey: "!echo planted-key-77",
    };
    const agentFiles = { "models.json": JSON.stringify({ providers: { attic } }) };
    const rpc = start(NOBODY, { agentFiles });
    expect(await listedWith(rpc, "attic/qwen3:8b")).toContain("attic/qwen3:8b");
    expect(JSON.stringify(rpc.frames) + rpc.stderr).not.toContain("planted");
  });
});

it("a server that goes away takes its models along", async () => {
  const server = await ollama("qwen3:8b");
  const rpc = start(server.host);
  expect(await listedWith(rpc, "ollama/qwen3:8b")).toContain("ollama/qwen3:8b");
  for (const close of closing.splice(0)) close();
  // What was said a moment ago still counts.
  await expect.poll(() => listed(rpc), { timeout: 15_000, interval: 500 }).toEqual(["offline/scout"]);
}, 30_000);

describe("no server", () => {
  it("costs nothing: what was known is listed", async () => {
    expect(await listed(start(NOBODY))).toEqual(["offline/scout"]);
  });

  it("that only listens and never answers costs the limit, not the answer", async () => {
    const hole = await listen(createServer(() => undefined));
    const rpc = start(hole, { env: { GROQ_API_KEY: "k" } });
    const names = await listed(rpc);
    expect(names.length).toBeGreaterThan(0);
    expect(names.every((name) => name.startsWith("groq/"))).toBe(true);
  });

  it("behind a provider that was named is told with the way out", async () => {
    const { result } = await start(NOBODY, { args: ["--provider", "ollama"] }).prompt("hi");
    expect(result).toMatchObject({ status: "error", error: { retryable: false } });
    const text = String(at(result, "error", "message"));
    expect(text).toMatch(
      /^Ollama does not answer at 127\.0\.0\.1:9: .*Is the server running\? .*--model ollama\/NAME\.$/,
    );
  });

  it("and no key: a loose name that only a provider without a key has is used with a warning", async () => {
    const rpc = start(NOBODY, { args: ["--model", "qwen3-coder"] });
    const { model } = await stateOf(rpc);
    expect(at(model, "provider")).toBe("openrouter");
    expect(rpc.stderr).toMatch(
      /No provider with a key has a model "qwen3-coder"\. Using openrouter\/.*--model ollama\/qwen3-coder/,
    );
  });
});
