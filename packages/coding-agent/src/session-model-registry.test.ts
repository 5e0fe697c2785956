import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProviders } from "@tiller/ai/registered-providers";
import type { AssistantMessage } from "@tiller/protocol/message";
import { afterEach, describe, expect, it } from "vitest";
import type { CliOptions } from "./cli-options.ts";
import { loadSettings } from "./config/settings.ts";
import { createModelControl } from "./session/model-control.ts";
import { createModelRegistry } from "./session-model-registry.ts";
import { openModels } from "./session-models.ts";

let folder: string | undefined;
afterEach(() => {
  if (folder) rmSync(folder, { recursive: true });
  folder = undefined;
});

const clock = { now: () => 1000, after: () => () => undefined };

/** The models of a session, as extensions get to see them. */
async function desk({
  options = {},
  env = {},
  auth,
}: {
  options?: object;
  env?: Record<string, string>;
  auth?: object;
}) {
  folder = mkdtempSync(join(tmpdir(), "tiller-models-"));
  if (auth) writeFileSync(join(folder, "auth.json"), JSON.stringify(auth));
  const { settings } = loadSettings({
    dialect: "union",
    rpc: true,
    agentDir: folder,
    cwd: folder,
    projectTrust: "none",
    env,
    flags: { "offlineModel.enabled": false },
  });
  const found = await openModels({
    options: options as CliOptions,
    settings,
    agentDir: folder,
    cwd: folder,
    env,
    clock,
  });
  const models = createModelControl({
    source: found.source,
    initial: found,
    scope: found.scope,
    onModel: () => undefined,
    onThinkingLevel: () => undefined,
  });
  const providers = createProviders({
    registry: found.registry,
    env,
    clock,
    onChange: models.renew,
    onProblem: () => undefined,
  });
  const asked: unknown[] = [];
  const registry = createModelRegistry({
    found,
    models,
    providers,
    ask(model, context, given) {
      asked.push([model, context, given]);
      return Object.assign(noEvents(), { result: async () => ({ stopReason: "stop" }) as AssistantMessage });
    },
  });
  return { found, models, registry, asked };
}

async function* noEvents(): AsyncGenerator<never> {
  // Nobody reads them here.
}

const mine = {
  baseUrl: "https://api.mine.test/v1",
  apiKey: "literal-key",
  api: "openai-completions",
  models: [{ id: "large", reasoning: true }],
};

describe("the models as extensions see them", () => {
  it("are found, listed and have their keys told", async () => {
    const { registry } = await desk({ env: { ANTHROPIC_API_KEY: "sk-env" } });
    const [claude] = registry.getAvailable();
    expect(claude?.provider).toBe("anthropic");
    expect(registry.find("anthropic", claude!.id)).toBe(claude);
    expect(registry.find("anthropic", "nope")).toBeUndefined();
    expect(registry.getAll().length).toBeGreaterThan(registry.getAvailable().length);
    expect(await registry.getApiKey(claude!)).toBe("sk-env");
    expect(await registry.getApiKeyForProvider("anthropic")).toBe("sk-env");
    expect(await registry.getApiKeyAndHeaders(claude!)).toMatchObject({ ok: true, apiKey: "sk-env" });
    expect(registry.hasConfiguredAuth(claude!)).toBe(true);
    expect(registry.isUsingOAuth(claude!)).toBe(false);
    expect(registry.getError()).toBeUndefined();
    expect(registry.getProviderAuthStatus("anthropic")).toEqual({ configured: true, source: "ANTHROPIC_API_KEY" });
  });

  it("say what is missing instead of failing", async () => {
    const { registry } = await desk({});
    const [claude] = registry.getAll();
    expect(registry.hasConfiguredAuth(claude!)).toBe(false);
    expect(await registry.getApiKey(claude!)).toBeUndefined();
    expect(await registry.getApiKeyForProvider("nobody")).toBeUndefined();
    expect(await registry.getApiKeyAndHeaders(claude!)).toMatchObject({
      ok: false,
      error: expect.stringContaining("ANTHROPIC_API_KEY") as string,
    });
  });

  it("know a login from a key", async () => {
    const { registry } = await desk({ auth: { anthropic: { type: "oauth", access: "tok", expires: 9999 } } });
    const [claude] = registry.getAvailable();
    expect(registry.isUsingOAuth(claude!)).toBe(true);
    registry.authStorage.setRuntimeApiKey("anthropic", "sk-given");
    expect(registry.isUsingOAuth(claude!)).toBe(false);
    expect(await registry.authStorage.getApiKey("anthropic")).toBe("sk-given");
    expect(registry.authStorage.list()).toEqual(["anthropic"]);
    registry.authStorage.removeRuntimeApiKey("anthropic");
    expect(await registry.getApiKey(claude!)).toBe("tok");
  });

  it("can be asked, as the lists have them", async () => {
    const { registry, asked } = await desk({});
    const [claude] = registry.getAll();
    await registry.complete({ ...claude! }, { messages: [] }, { maxTokens: 5 });
    expect(asked).toEqual([[claude, { messages: [] }, { maxTokens: 5 }]]);
    expect((asked[0] as unknown[])[0]).toBe(claude);
  });
});

describe("a provider that an extension registers", () => {
  it("can be switched to at once, and its changes reach the model in use", async () => {
    const { registry, models } = await desk({});
    registry.registerProvider("mine", mine);
    expect(models.available().map(({ id }) => id)).toEqual(["large"]);
    expect(await models.set("mine", "large")).toMatchObject({ id: "large" });
    registry.registerProvider("mine", { baseUrl: "https://moved.test" });
    expect(models.model?.baseUrl).toBe("https://moved.test");
    registry.unregisterProvider("mine");
    expect(models.available()).toEqual([]);
    expect(models.model?.id).toBe("large");
    expect((await registry.getApiKeyAndHeaders(models.model!)).ok).toBe(false);
  });

  it("is what the command line meant", async () => {
    const options = { model: "mine/large", thinking: "high", apiKey: "sk-of-the-command-line" };
    const { found, registry, models } = await desk({ options });
    expect(found.model).toBeNull();
    expect(found.problems.join()).toContain("mine");
    registry.registerProvider("mine", mine);
    const choice = found.choose();
    expect(choice).toMatchObject({ model: { provider: "mine", id: "large" }, thinkingLevel: "high", problems: [] });
    models.begin(choice);
    expect([models.model?.id, models.thinkingLevel]).toEqual(["large", "high"]);
    expect(found.unusable(models.model)).toBeUndefined();
    expect(await registry.getApiKey(models.model!)).toBe("sk-of-the-command-line");
  });
});
