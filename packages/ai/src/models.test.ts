import { expect, test } from "vitest";
import { CATALOGUE, OFFLINE_MODEL } from "./catalogue.ts";
import { ProviderError } from "./errors.ts";
import { createModelRegistry, type ModelRegistry, type RegistryOptions } from "./models.ts";

function registry(fields: Partial<RegistryOptions> = {}): ModelRegistry {
  return createModelRegistry({ env: {}, offline: true, ...fields });
}

const ids = (models: readonly { provider: string; id: string }[]) =>
  models.map(({ provider, id }) => `${provider}/${id}`);
const own = (entry: object) => ({
  providers: { mine: { baseUrl: "http://127.0.0.1:9", api: "anthropic-messages", ...entry } },
});
const withKey = { ANTHROPIC_API_KEY: "env-key" };

function authError(models: ModelRegistry, provider: string, id: string): ProviderError {
  try {
    models.credentials(models.find(provider, id)!);
  } catch (error) {
    if (error instanceof ProviderError) return error;
  }
  throw new Error(`expected ${provider}/${id} to have no credentials`);
}

test("every model of the catalogue is complete and has its vendor's id once", () => {
  for (const model of [...CATALOGUE, OFFLINE_MODEL]) {
    expect(model.contextWindow).toBeGreaterThan(0);
    expect(model.maxTokens).toBeGreaterThan(0);
    expect(model.input).toContain("text");
    expect(model.name).not.toBe("");
    expect(model.baseUrl).not.toBe("");
    for (const price of Object.values(model.cost)) expect(price).toBeGreaterThanOrEqual(0);
  }
  expect(ids(CATALOGUE)).toContain("anthropic/claude-sonnet-4-5");
  expect(new Set(ids(CATALOGUE)).size).toBe(CATALOGUE.length);
});

test("with nothing configured only the offline model can be used", () => {
  const models = registry();
  expect(models.available()).toEqual([OFFLINE_MODEL]);
  expect(models.all()).toHaveLength(CATALOGUE.length + 1);
  expect(models.credentials(OFFLINE_MODEL)).toEqual({});
  expect(registry({ offline: false }).available()).toEqual([]);
  expect(registry({ offline: false }).find("offline", "scout")).toBeUndefined();
  expect(models.problems).toEqual([]);
});

test("next to usable models the offline one is listed only while it is in use", () => {
  const models = registry({ env: withKey });
  expect(ids(models.available())).toEqual(ids(CATALOGUE));
  expect(models.available(OFFLINE_MODEL).at(-1)).toBe(OFFLINE_MODEL);
  expect(models.available(CATALOGUE[0])).not.toContain(OFFLINE_MODEL);
});

test("a script that was chosen at start is listed", () => {
  const script = { path: "/tmp/a b.json" };
  expect(registry({ script }).available()).toMatchObject([
    { provider: "script", id: "script", api: "script", baseUrl: "file:///tmp/a%20b.json" },
  ]);
  expect(ids(registry({ script, env: withKey }).available())).toContain("script/script");
});

test.each<[story: string, options: Partial<RegistryOptions>, apiKey: string]>([
  ["the environment", { env: withKey }, "env-key"],
  ["a login token goes first", { env: { ...withKey, ANTHROPIC_OAUTH_TOKEN: "token" } }, "token"],
  [
    "auth.json before the environment",
    { env: withKey, auth: { anthropic: { type: "api_key", key: "stored" } } },
    "stored",
  ],
  ["auth.json naming a variable", { env: { K: "v" }, auth: { anthropic: { type: "api_key", key: "$K" } } }, "v"],
  [
    "the environment before models.json",
    { env: withKey, custom: { providers: { anthropic: { apiKey: "file" } } } },
    "env-key",
  ],
  ["models.json", { custom: { providers: { anthropic: { apiKey: "file" } } } }, "file"],
  [
    "the command line before all",
    { env: withKey, auth: { anthropic: { key: "s" } }, runtimeKey: { provider: "anthropic", key: "cli" } },
    "cli",
  ],
])("the key comes from %s", (_story, options, apiKey) => {
  const models = registry(options);
  expect(models.credentials(models.find("anthropic", "claude-sonnet-4-5")!)).toEqual({ apiKey });
});

test("without a key the error says how to get one", () => {
  const error = authError(registry(), "anthropic", "claude-sonnet-4-5");
  expect(error.kind).toBe("auth");
  expect(error.message).toBe(
    'No API key for anthropic/claude-sonnet-4-5. To configure one: set ANTHROPIC_API_KEY, or start with --api-key, or add "anthropic": {"type":"api_key","key":"..."} to auth.json.',
  );
});

test("a provider of one's own, with defaults for what is not said", () => {
  const models = registry({
    custom: own({ apiKey: "none", models: [{ id: "m1" }, { id: "m2", reasoning: true, cost: { input: 0.25 } }] }),
  });
  expect(models.problems).toEqual([]);
  expect(ids(models.available())).toEqual(["mine/m1", "mine/m2"]);
  expect(models.find("mine", "m1")).toEqual({
    id: "m1",
    name: "m1",
    api: "anthropic-messages",
    provider: "mine",
    baseUrl: "http://127.0.0.1:9",
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 128_000,
    maxTokens: 16_384,
  });
  expect(models.find("mine", "m2")).toMatchObject({ reasoning: true, cost: { input: 0.25, output: 0 } });
  expect(models.credentials(models.find("mine", "m1")!)).toEqual({ apiKey: "none" });
});

test("secrets and headers stay away from the model, which hosts can see", () => {
  const custom = own({
    apiKey: "$MY_KEY",
    authHeader: true,
    headers: { "X-Team": "blue", "X-Who": "$WHO" },
    models: [{ id: "m1", headers: { "x-team": "red" } }],
  });
  const models = registry({ custom, env: { MY_KEY: "secret", WHO: "me" } });
  const model = models.find("mine", "m1")!;
  expect(JSON.stringify(model)).not.toMatch(/secret|red|blue|MY_KEY/);
  expect(models.credentials(model)).toEqual({
    apiKey: "secret",
    headers: { "x-team": "red", "x-who": "me", authorization: "Bearer secret" },
  });
});

test("values that cannot be had are named", () => {
  const unset = registry({ custom: own({ apiKey: "$MY_KEY", models: [{ id: "m1" }] }) });
  expect(unset.available()).toEqual([OFFLINE_MODEL]);
  expect(authError(unset, "mine", "m1").message).toMatch(
    /^No API key for mine\/m1 \(models\.json has a key for "mine", but the environment variable MY_KEY is not set\)\./,
  );
  const command = registry({ custom: own({ apiKey: "!pass show x", models: [{ id: "m1" }] }) });
  expect(authError(command, "mine", "m1").message).toMatch(/it is a !command, which a later version will run/);
  const header = registry({ custom: own({ apiKey: "k", headers: { "x-a": "$NOPE" }, models: [{ id: "m1" }] }) });
  expect(authError(header, "mine", "m1").message).toBe(
    'Header "x-a" of mine/m1 in models.json: the environment variable NOPE is not set',
  );
});

test("a provider that needs no key", () => {
  const models = registry({ custom: own({ auth: "none", models: [{ id: "m1" }] }) });
  expect(ids(models.available())).toEqual(["mine/m1"]);
  expect(models.credentials(models.find("mine", "m1")!)).toEqual({});
});

test("a built-in provider can be sent elsewhere without losing its models", () => {
  const models = registry({
    custom: { providers: { anthropic: { baseUrl: "http://127.0.0.1:9/v1", compat: { a: 1 } } } },
    env: withKey,
  });
  expect(models.problems).toEqual([]);
  expect(ids(models.available())).toEqual(ids(CATALOGUE));
  for (const model of models.available())
    expect(model).toMatchObject({ baseUrl: "http://127.0.0.1:9/v1", compat: { a: 1 } });
  expect(CATALOGUE[0]?.baseUrl).toBe("https://api.anthropic.com");
});

test("a model can be replaced, added to a built-in provider, or changed in part", () => {
  const models = registry({
    custom: {
      providers: {
        anthropic: {
          models: [{ id: "claude-sonnet-4-5", contextWindow: 5 }, { id: "claude-next" }],
          modelOverrides: { "claude-haiku-4-5": { name: "Quick", cost: { input: 2 } } },
        },
      },
    },
  });
  expect(models.problems).toEqual([]);
  expect(models.find("anthropic", "claude-sonnet-4-5")).toMatchObject({ contextWindow: 5, reasoning: false });
  expect(models.find("anthropic", "claude-next")).toMatchObject({
    api: "anthropic-messages",
    baseUrl: "https://api.anthropic.com",
  });
  expect(models.find("anthropic", "claude-haiku-4-5")).toMatchObject({ name: "Quick", cost: { input: 2, output: 5 } });
  expect(models.all()).toHaveLength(CATALOGUE.length + 2);
});

test.each<[custom: unknown, problem: string]>([
  [[], 'models.json: expected {"providers":{...}}'],
  [{ providers: { mine: 3 } }, "models.json: providers.mine must be an object"],
  [
    { providers: { mine: {} } },
    "models.json: providers.mine has no models and is not a built-in provider; give it a list of models",
  ],
  [
    { providers: { anthropic: {} } },
    "models.json: providers.anthropic changes nothing; give it a baseUrl, apiKey, headers, compat or modelOverrides",
  ],
  [{ providers: { mine: { models: [{ id: "m" }] } } }, "models.json: providers.mine.baseUrl is missing"],
  [
    { providers: { mine: { baseUrl: "http://x", models: [{ id: "m" }] } } },
    "models.json: providers.mine.models[0].api is missing, here or at the provider",
  ],
  [own({ headers: { a: 1 }, models: [{ id: "m" }] }), "models.json: providers.mine.headers must be an object of texts"],
  [own({ models: [{}] }), "models.json: providers.mine.models[0].id is missing"],
  [
    own({ models: [{ id: "ok" }, { id: "m", contextWindow: 0 }] }),
    "models.json: providers.mine.models[1].contextWindow must be a number above 0",
  ],
  [
    own({ models: [{ id: "m", input: ["sound"] }] }),
    'models.json: providers.mine.models[0].input must be a list of "text" and "image"',
  ],
  [
    { providers: { anthropic: { modelOverrides: { x: {} } } } },
    'models.json: providers.anthropic.modelOverrides.x: there is no model "x" to override',
  ],
])("a mistake is named and costs nothing else: %j", (custom, problem) => {
  const models = registry({ custom, env: withKey });
  expect(models.problems).toEqual([problem]);
  expect(models.available().length).toBeGreaterThanOrEqual(CATALOGUE.length);
});

test("a bare name of a variable that is set looks like a mistake, and is told", () => {
  const models = registry({ custom: own({ apiKey: "MY_KEY", models: [{ id: "m" }] }), env: { MY_KEY: "x" } });
  expect(models.credentials(models.find("mine", "m")!)).toEqual({ apiKey: "MY_KEY" });
  expect(models.problems).toEqual([
    'models.json: providers.mine.apiKey is used as the key itself; to use the environment variable, write "$MY_KEY"',
  ]);
});

test("what cannot be used of auth.json is told", () => {
  expect(registry({ auth: { anthropic: { type: "oauth", access: "a" }, b: {} } }).problems).toEqual([
    'auth.json: the login of "anthropic" (oauth) cannot be used yet; use an API key',
    'auth.json: "b" needs {"type":"api_key","key":"..."}',
  ]);
  expect(registry({ auth: [] }).problems).toEqual(["auth.json: expected an object with one entry for each provider"]);
});
