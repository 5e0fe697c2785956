import { describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { ended, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";

/** Two providers of models.json beside the built-in one; nobody ever asks them. */
const MODELS_JSON = JSON.stringify({
  providers: {
    acme: {
      baseUrl: "http://127.0.0.1:9/v1",
      apiKey: "acme-secret",
      api: "anthropic-messages",
      headers: { "x-tenant": "tenant-secret" },
      models: [
        { id: "small", reasoning: true, input: ["text"], contextWindow: 1000, maxTokens: 100 },
        { id: "plain", headers: { "x-model": "model-secret" } },
      ],
    },
    keyless: { baseUrl: "http://127.0.0.1:9", auth: "none", api: "anthropic-messages", models: [{ id: "free" }] },
    locked: { baseUrl: "http://127.0.0.1:9", api: "anthropic-messages", models: [{ id: "no-key" }] },
  },
});

const start = useRpc({ agentFiles: { "models.json": MODELS_JSON } });
const nameOf = (model: unknown): string => `${at(model, "provider")}/${at(model, "id")}`;
const listed = async (rpc: RpcProcess): Promise<Frame[]> => {
  const response = await rpc.call({ type: "get_available_models" });
  return list(at(response, "data", "models")) as Frame[];
};
const namesOf = async (rpc: RpcProcess): Promise<string[]> => (await listed(rpc)).map(nameOf);
const cycle = async (rpc: RpcProcess): Promise<Frame> => (await rpc.call({ type: "cycle_model" })).data as Frame;
const SMALL = {
  id: "small",
  name: "small",
  api: "anthropic-messages",
  provider: "acme",
  baseUrl: "http://127.0.0.1:9/v1",
  reasoning: true,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1000,
  maxTokens: 100,
};

describe("get_available_models", () => {
  proves("pi.models.list", "lists the models that have a key or need none, whole, in their order", async () => {
    const rpc = start();
    const response = await rpc.call({ id: "l", type: "get_available_models" });
    const { models, ...rest } = response.data as { models: Frame[] };
    expect({ ...response, data: rest }).toEqual({
      id: "l",
      type: "response",
      command: "get_available_models",
      success: true,
      data: {},
    });
    expect(models.map(nameOf)).toEqual(["acme/small", "acme/plain", "keyless/free"]);
    expect(models[0]).toEqual(SMALL);
    expect(models[1]).toMatchObject({ contextWindow: 128_000, maxTokens: 16_384, reasoning: false, input: ["text"] });
  });

  proves("pi.models.list", "has the catalogue of a built-in provider as soon as there is a key for it", async () => {
    const rpc = start({ env: { ANTHROPIC_API_KEY: "test" } });
    const models = await listed(rpc);
    expect(models.map(nameOf)).toEqual(expect.arrayContaining(["anthropic/claude-sonnet-4-5", "acme/small"]));
    for (const model of models) {
      expect(model, nameOf(model)).toMatchObject({
        name: expect.stringMatching(/./),
        api: "anthropic-messages",
        baseUrl: expect.stringMatching(/^https?:/),
        reasoning: expect.any(Boolean),
        input: expect.arrayContaining(["text"]),
        cost: { input: expect.any(Number), output: expect.any(Number) },
      });
      expect(Number(model.contextWindow)).toBeGreaterThan(0);
      expect(Number(model.maxTokens)).toBeGreaterThan(0);
    }
  });

  it("takes the key of auth.json, and the override of a base URL without models of its own", async () => {
    const rpc = start({
      agentFiles: {
        "auth.json": '{"anthropic":{"type":"api_key","key":"stored"}}',
        "models.json": '{"providers":{"anthropic":{"baseUrl":"http://127.0.0.1:9/proxy"}}}',
      },
    });
    const models = await listed(rpc);
    expect(models.map(nameOf)).toContain("anthropic/claude-sonnet-4-5");
    expect(new Set(models.map(({ baseUrl }) => baseUrl))).toEqual(new Set(["http://127.0.0.1:9/proxy"]));
  });

  it("has the offline model only when nothing else is usable or when it was chosen (decision 12)", async () => {
    expect(await namesOf(start({ agentFiles: {} }))).toEqual(["offline/scout"]);
    expect(await namesOf(start())).not.toContain("offline/scout");
    expect(await namesOf(start({ args: ["--model", "offline/scout"] }))).toContain("offline/scout");
  });

  it("shows no key and no header, and neither does any other answer", async () => {
    const rpc = start({ env: { ANTHROPIC_API_KEY: "env-secret" }, args: ["--model", "acme/plain"] });
    for (const type of ["get_available_models", "get_state", "cycle_model", "get_capabilities", "get_messages"]) {
      await rpc.call({ type });
    }
    expect(JSON.stringify(rpc.frames) + rpc.stderr).not.toMatch(/secret/);
  });

  it("tells on stderr what of models.json cannot be used, and uses the rest", async () => {
    const broken = JSON.stringify({ providers: { acme: JSON.parse(MODELS_JSON).providers.acme, odd: { models: 3 } } });
    const rpc = start({ agentFiles: { "models.json": broken } });
    expect(await namesOf(rpc)).toEqual(["acme/small", "acme/plain"]);
    expect(rpc.stderr).toMatch(/models\.json:1:\d+: providers\.odd\.models must be a list/);
  });
});

describe("set_model", () => {
  proves("pi.models.set", "answers with the whole model, and that is the model from then on", async () => {
    const rpc = start({ script: ['text "by the script"'] });
    expect(await rpc.call({ id: "m", type: "set_model", provider: "acme", modelId: "small" })).toEqual({
      id: "m",
      type: "response",
      command: "set_model",
      success: true,
      data: SMALL,
    });
    expect((await stateOf(rpc)).model).toEqual(SMALL);
    await rpc.call({ type: "set_model", provider: "script", modelId: "script" });
    const { frames } = await rpc.prompt("who is it?");
    expect(ended(frames, "assistant")).toMatchObject({ provider: "script", model: "script" });
  });

  proves("pi.models.set", "brings the thinking level down to what the new model has, and back up again", async () => {
    const rpc = start({ args: ["--model", "acme/small", "--thinking", "high"] });
    await rpc.call({ type: "set_model", provider: "acme", modelId: "plain" });
    expect(rpc.frames.slice(-2)).toMatchObject([
      { type: "thinking_level_changed", level: "off" },
      { type: "response", command: "set_model" },
    ]);
    expect((await stateOf(rpc)).thinkingLevel).toBe("off");
    await rpc.call({ type: "set_model", provider: "acme", modelId: "small" });
    expect((await stateOf(rpc)).thinkingLevel).toBe("high");
  });

  it("gives a session that began without a model one, and the thinking level that was meant for it", async () => {
    const none = start({ args: ["--model", "nobody/knows-it"] });
    expect(await stateOf(none)).toMatchObject({ model: null, thinkingLevel: "off" });
    await none.call({ type: "set_model", provider: "acme", modelId: "small" });
    expect(await stateOf(none)).toMatchObject({ model: SMALL, thinkingLevel: "medium" });
    const plain = start({ args: ["--model", "acme/plain", "--thinking", "low"] });
    await plain.call({ type: "set_model", provider: "acme", modelId: "small" });
    expect((await stateOf(plain)).thinkingLevel).toBe("low");
  });

  it.each([
    ["a model nobody knows", "acme", "large"],
    ["a provider nobody knows", "nobody", "small"],
    ["a model without a key", "locked", "no-key"],
  ])("refuses %s and keeps the model it has", async (_name, provider, modelId) => {
    const rpc = start({ args: ["--model", "acme/small"] });
    expect(await rpc.call({ id: "m", type: "set_model", provider, modelId })).toEqual({
      id: "m",
      type: "response",
      command: "set_model",
      success: false,
      error: `Model not found: ${provider}/${modelId}`,
    });
    expect((await stateOf(rpc)).model).toEqual(SMALL);
  });
});

describe("cycle_model", () => {
  proves("pi.models.cycle", "goes to the next of the list and begins again after the last", async () => {
    const rpc = start({ args: ["--model", "acme/small", "--thinking", "low"] });
    const first = await rpc.call({ id: "c", type: "cycle_model" });
    expect(first).toMatchObject({ id: "c", type: "response", command: "cycle_model", success: true });
    expect(first.data).toEqual({
      model: expect.objectContaining({ provider: "acme", id: "plain" }),
      thinkingLevel: "off",
      isScoped: false,
    });
    expect(nameOf((await stateOf(rpc)).model)).toBe("acme/plain");
    expect(nameOf((await cycle(rpc)).model)).toBe("keyless/free");
    expect(await cycle(rpc)).toEqual({ model: SMALL, thinkingLevel: "low", isScoped: false });
  });

  proves("pi.models.cycle", "stays within the models that --models names", async () => {
    const rpc = start({ args: ["--models", "acme/plain,keyless/*"] });
    expect(nameOf((await stateOf(rpc)).model)).toBe("acme/plain");
    expect(await cycle(rpc)).toMatchObject({ model: { provider: "keyless", id: "free" }, isScoped: true });
    expect(await cycle(rpc)).toMatchObject({ model: { provider: "acme", id: "plain" }, isScoped: true });
  });

  proves("pi.models.cycle-single", "answers null when there is no other model, and changes nothing", async () => {
    const rpc = start({ agentFiles: {}, script: ['text "unused"'] });
    expect(await rpc.call({ id: "c", type: "cycle_model" })).toEqual({
      id: "c",
      type: "response",
      command: "cycle_model",
      success: true,
      data: null,
    });
    expect(nameOf((await stateOf(rpc)).model)).toBe("script/script");
  });
});
