import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "@tiller/ai/http/test-certificate";
import { afterEach, describe, expect, it } from "vitest";
import { FAMILIES, fourFamilies, KEY } from "../support/four-families.ts";
import { at } from "../support/frame.ts";
import { DIALECTS, type MockLlm, type MockLlmOptions, say, startMockLlm, useTool } from "../support/mock-llm.ts";
import { type MockProxy, type MockProxyOptions, startMockProxy } from "../support/mock-proxy.ts";
import { type RpcOptions, type RpcProcess, repoRoot, useRpc } from "../support/rpc-process.ts";
import { saidIn } from "../support/wire-requests.ts";
import { joined } from "./looking.ts";

/** What stands between us and a model: proxies, certificates, and where the key comes from. */

const closing: (() => Promise<void>)[] = [];
// Hooks run last to first: the process, which `useRpc` ends, goes before the servers it talks to.
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
const startProcess = useRpc();

async function model(options?: MockLlmOptions): Promise<MockLlm> {
  const llm = await startMockLlm(options);
  closing.push(llm.close);
  return llm;
}
async function proxyTo({ baseUrl }: MockLlm, options: Partial<MockProxyOptions> = {}): Promise<MockProxy> {
  const proxy = await startMockProxy({ leadsTo: baseUrl, ...options });
  closing.push(proxy.close);
  return proxy;
}

const ONCE = ["--no-session", "--set", "retry.enabled=false"];
const start = (models: string, options: RpcOptions & { provider?: string } = {}): RpcProcess =>
  startProcess({
    ...options,
    agentFiles: { "models.json": models, ...options.agentFiles },
    args: [...ONCE, "--model", `${options.provider ?? "mock"}/mock-1`],
  });
/** The families at a host that no name server knows, each at the path it has everywhere. */
const hostAt = (origin: string): Pick<MockLlm, "baseUrlOf"> => ({
  baseUrlOf: (family) => origin + DIALECTS.find((dialect) => dialect.family === family)?.basePath,
});
const answerOf = async (rpc: RpcProcess): Promise<unknown[]> => {
  const { frames, result } = await rpc.prompt("hi");
  return [result.status, joined(frames)];
};
const errorOf = async (rpc: RpcProcess): Promise<string> => {
  const { result } = await rpc.prompt("hi");
  expect(result.status).toBe("error");
  return String(at(result, "error", "message"));
};

const PATHS: Record<string, string> = {
  mock: "/v1/messages",
  "mock-openai-completions": "/v1/chat/completions",
  "mock-openai-responses": "/v1/responses",
  "mock-google-generative-ai": "/v1beta/models/mock-1:streamGenerateContent?alt=sse",
};

describe("a proxy", () => {
  it.each(FAMILIES)("brings requests to a host that only it can find ($family)", async ({ provider }) => {
    const llm = await model();
    const proxy = await proxyTo(llm);
    llm.reply(say("Through the proxy."));
    const rpc = start(fourFamilies(hostAt("http://model.invalid")), { provider, env: { http_proxy: proxy.url } });
    expect(await answerOf(rpc)).toEqual(["completed", "Through the proxy."]);
    expect(proxy.seen).toEqual([`POST http://model.invalid${PATHS[provider]}`]);
    expect(llm.requests[0]?.headers.host).toBe("model.invalid");
  });

  it("makes a tunnel for TLS, which is trusted with the certificate of TILLER_CA_FILE, and used again", async () => {
    const authority = makeCertificate("the company");
    const llm = await model({ certificate: makeCertificate("model", { hosts: ["model.invalid"], issuer: authority }) });
    const proxy = await proxyTo(llm);
    llm.reply(say("In secret."), say("In secret."));
    const rpc = start(fourFamilies(hostAt("https://model.invalid")), {
      files: { "company.pem": authority.cert },
      env: { HTTPS_PROXY: proxy.url, TILLER_CA_FILE: "company.pem" },
    });
    for (const _ of [1, 2]) expect(await answerOf(rpc)).toEqual(["completed", "In secret."]);
    expect(proxy.seen).toEqual(["CONNECT model.invalid:443"]);
    expect(llm.requests[0]?.clientPort).toBe(llm.requests[1]?.clientPort);
  });

  it("whose certificates are not known is told with the way out", async () => {
    const certificate = makeCertificate("model", { hosts: ["model.invalid"], issuer: makeCertificate("the company") });
    const proxy = await proxyTo(await model({ certificate }));
    const rpc = start(fourFamilies(hostAt("https://model.invalid")), { env: { HTTPS_PROXY: proxy.url } });
    expect(await errorOf(rpc)).toMatch(/^Connection error: the certificate of model\.invalid .*TILLER_CA_FILE/);
  });

  it("is not asked for what NO_PROXY names, nor for this machine", async () => {
    const llm = await model();
    const proxy = await proxyTo(llm);
    llm.reply(say("Directly."));
    const env = { ALL_PROXY: proxy.url, NO_PROXY: "example.com, .invalid" };
    expect(await answerOf(start(fourFamilies(llm), { env }))).toEqual(["completed", "Directly."]);
    const elsewhere = start(fourFamilies(hostAt("http://model.invalid")), { env });
    expect(await errorOf(elsewhere)).toMatch(/^Connection error: cannot (find|look up) the host model\.invalid/);
    expect(proxy.seen).toEqual([]);
  });

  it.each([["http"], ["https"]])("may want a password, which nobody else gets to see (%s)", async (scheme) => {
    const authority = makeCertificate("the company");
    const certificate = makeCertificate("model", { hosts: ["model.invalid"], issuer: authority });
    const llm = await model(scheme === "https" ? { certificate } : {});
    const secret = "a-password-for-the-proxy";
    const authorization = `Basic ${Buffer.from(`me:${secret}`).toString("base64")}`;
    const proxy = await proxyTo(llm, { authorization });
    const env = { TILLER_CA_FILE: "company.pem", ALL_PROXY: `http://me:${secret}@${proxy.host}` };
    const files = { "company.pem": authority.cert };
    const models = fourFamilies(hostAt(`${scheme}://model.invalid`));
    llm.reply(say("Welcome."));
    const rpc = start(models, { files, env });
    expect(await answerOf(rpc)).toEqual(["completed", "Welcome."]);
    expect(proxy.authorizations).toEqual([authorization]);
    const wrong = start(models, { files, env: { ...env, ALL_PROXY: `http://me:${secret}-no@${proxy.host}` } });
    const refusal = new RegExp(`^The proxy http://${proxy.host} refused the way to model\\.invalid.*407`);
    expect(await errorOf(wrong)).toMatch(refusal);
    for (const { frames, stderr } of [rpc, wrong]) expect(JSON.stringify(frames) + stderr).not.toContain(secret);
    expect(JSON.stringify(llm.requests[0]?.headers)).not.toContain("proxy-authorization");
  });

  it("that is not there is named, with the variable that names it", async () => {
    const gone = await startMockLlm();
    await gone.close();
    const rpc = start(fourFamilies(hostAt("http://model.invalid")), { env: { http_proxy: gone.baseUrl } });
    expect(await errorOf(rpc)).toMatch(
      /^Connection error: cannot reach the proxy http:\/\/127\.0\.0\.1:.*check http_proxy$/,
    );
  });
});

describe("a key reaches the server", () => {
  const provider = (llm: MockLlm, fields: object = {}): string => fourFamilies(llm, { apiKey: undefined, ...fields });
  const yaml = (llm: MockLlm): string => `
providers:
  mine: # a server of our own
    baseUrl: ${llm.baseUrlOf("openai-completions")}
    api: openai-completions
    apiKey: \${MY_KEY}
    models:
      - id: mock-1
        cost: { input: 1, output: 2 }
`;
  type Source = (llm: MockLlm) => { models: string } & RpcOptions & { provider?: string };
  const sources: [story: string, source: Source][] = [
    ["from models.json", (llm) => ({ models: provider(llm, { apiKey: KEY }) })],
    ["from a variable", (llm) => ({ models: provider(llm, { apiKey: "$MY_KEY" }), env: { MY_KEY: KEY } })],
    [
      "from a command",
      (llm) => ({ models: provider(llm, { apiKey: "!cat key.txt" }), agentFiles: { "key.txt": `${KEY}\n` } }),
    ],
    [
      "from auth.json, before any other",
      (llm) => ({
        models: provider(llm, { apiKey: "another key" }),
        agentFiles: { "auth.json": JSON.stringify({ mock: { type: "api_key", key: KEY } }) },
      }),
    ],
    [
      "from a command in auth.json",
      (llm) => ({
        models: provider(llm),
        agentFiles: { "auth.json": JSON.stringify({ mock: { type: "api_key", key: `!echo ${KEY}` } }) },
      }),
    ],
  ];
  it.each(sources)("%s", async (_story, source) => {
    const llm = await model({ requireKey: KEY });
    const { models, ...options } = source(llm);
    llm.reply(say("You may."), say("You still may."));
    const rpc = start(models, options);
    expect(await answerOf(rpc)).toEqual(["completed", "You may."]);
    expect(await answerOf(rpc)).toEqual(["completed", "You still may."]);
    expect(JSON.stringify(rpc.frames) + rpc.stderr).not.toContain(KEY);
  });

  it("from a command that is run once for all prompts", async () => {
    const llm = await model({ requireKey: KEY });
    llm.reply(say("one"), say("two"));
    const rpc = start(provider(llm, { apiKey: `!echo once >> runs.txt; echo ${KEY}` }));
    for (const words of ["one", "two"]) expect(await answerOf(rpc)).toEqual(["completed", words]);
    expect(readFileSync(join(rpc.sandbox.agentDir, "runs.txt"), "utf8")).toBe("once\n");
  });

  it("from models.yml", async () => {
    const llm = await model({ requireKey: KEY });
    llm.reply({ ...say("You may."), usage: { input_tokens: 1000, output_tokens: 500 } });
    const rpc = startProcess({
      agentFiles: { "models.yml": yaml(llm) },
      args: [...ONCE, "--model", "mine/mock-1"],
      env: { MY_KEY: KEY },
    });
    const { frames, result } = await rpc.prompt("hi");
    expect(joined(frames)).toBe("You may.");
    expect(result).toMatchObject({
      status: "completed",
      usage: { cost: { input: 0.001, output: 0.001, total: 0.002 } },
    });
    expect(JSON.stringify(rpc.frames) + rpc.stderr).not.toContain(KEY);
  });
});

describe("a model is found", () => {
  /** The address is ours; everything else is as it comes with the program. */
  const known: [provider: string, variable: string, family: string, path: RegExp][] = [
    ["anthropic", "ANTHROPIC_API_KEY", "anthropic-messages", /^\/v1\/messages$/],
    ["openai", "OPENAI_API_KEY", "openai-responses", /^\/v1\/responses$/],
    ["google", "GEMINI_API_KEY", "google-generative-ai", /^\/v1beta\/models\/[^/]+:streamGenerateContent/],
    ["openrouter", "OPENROUTER_API_KEY", "openai-completions", /^\/v1\/chat\/completions$/],
  ];
  it.each(known)("of %s, with nothing but %s", async (provider, variable, family, path) => {
    const llm = await model({ requireKey: KEY });
    llm.reply(say("Here I am."));
    const models = JSON.stringify({ providers: { [provider]: { baseUrl: llm.baseUrlOf(family) } } });
    const rpc = startProcess({ agentFiles: { "models.json": models }, args: ONCE, env: { [variable]: KEY } });
    expect(await answerOf(rpc)).toEqual(["completed", "Here I am."]);
    expect(llm.requests[0]?.path).toMatch(path);
  });

  it("on this machine, with nothing at all", async () => {
    const llm = await model();
    llm.reply(say("Here I am."));
    const env = { OLLAMA_HOST: new URL(llm.baseUrl).host };
    const rpc = startProcess({ args: [...ONCE, "--model", "ollama/qwen3:8b"], env });
    expect(await answerOf(rpc)).toEqual(["completed", "Here I am."]);
    // It may be asked about its models first.
    const asked = llm.requests.find(({ path }) => path === "/v1/chat/completions");
    expect(asked).toMatchObject({ method: "POST", body: { model: "qwen3:8b" } });
    expect(asked?.headers).not.toHaveProperty("authorization");
  });

  it("in a package of the AI SDK that is installed, by one process after the other", async () => {
    const llm = await model({ requireKey: KEY });
    const compat = { package: "@ai-sdk/openai-compatible", from: repoRoot };
    const baseUrl = llm.baseUrlOf("openai-completions");
    const bridge = { api: "ai-sdk", baseUrl, apiKey: KEY, models: [{ id: "mock-1", compat }] };
    for (const process of ["the first, which compiles itself", "the second, which was compiled by the first"]) {
      llm.reply(useTool("read", { path: "notes.txt" }), say("Milk."));
      const rpc = start(JSON.stringify({ providers: { mock: bridge } }), { files: { "notes.txt": "milk\n" } });
      expect(await answerOf(rpc), process).toEqual(["completed", "Milk."]);
      await rpc.dispose();
      expect(saidIn("openai-completions", llm.requests.at(-1)?.body ?? {}), process).toMatchObject([
        { kind: "text", text: "hi" },
        { kind: "call", name: "read", text: '{"path":"notes.txt"}' },
        { kind: "result", text: expect.stringContaining("milk") },
      ]);
    }
  });

  const names: [args: string[], path: string, effort: unknown][] = [
    [["--provider", "mock-openai-responses", "--model", "mock-1"], "/v1/responses", "medium"],
    [["--model", "MOCK-openai-responses/mock-1:high"], "/v1/responses", "high"],
    [["--model", "mock-openai-responses/mock", "--thinking", "low"], "/v1/responses", "low"],
  ];
  it.each(names)("by its name: %j", async (args, path, effort) => {
    const llm = await model();
    llm.reply(say("Here I am."));
    const rpc = startProcess({ agentFiles: { "models.json": fourFamilies(llm) }, args: [...ONCE, ...args] });
    expect(await answerOf(rpc)).toEqual(["completed", "Here I am."]);
    expect(llm.requests[0]).toMatchObject({ path, body: { model: "mock-1", reasoning: { effort } } });
  });
});
