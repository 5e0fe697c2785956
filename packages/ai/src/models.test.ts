import { describe, expect, test } from "vitest";
import { API_FAMILIES } from "./api-families.ts";
import { builtinModelsOf, OFFLINE_MODEL } from "./catalogue.ts";
import { ProviderError } from "./errors.ts";
import type { ModelRegistry, RegistryOptions } from "./model-registry.ts";
import { askedModel } from "./model-secrets.ts";
import { createModelRegistry } from "./models.ts";
import { keyName } from "./parsed-file.ts";
import { resolveScope } from "./resolve-model.ts";
import { testModel } from "./testing.ts";

interface Given extends Partial<Omit<RegistryOptions, "models" | "auth">> {
  /** models.json */
  custom?: unknown;
  /** auth.json */
  auth?: unknown;
}

/** A variable, the long way. */
const braced = (name: string) => `$\{${name}}`;
const NOW = Date.UTC(2026, 0, 2, 3, 4);

function registry({ custom, auth, ...fields }: Given = {}): ModelRegistry {
  return createModelRegistry({
    env: {},
    offline: true,
    now: () => NOW,
    runCommand: () => Promise.reject(new Error("no command may run")),
    ...(custom === undefined ? {} : { models: { name: "models.json", value: custom } }),
    ...(auth === undefined ? {} : { auth: { name: "auth.json", value: auth } }),
    ...fields,
  });
}

const ids = (models: readonly { provider: string; id: string }[]) =>
  models.map(({ provider, id }) => `${provider}/${id}`);
const own = (entry: object) => ({
  providers: { mine: { baseUrl: "http://127.0.0.1:9", api: "anthropic-messages", ...entry } },
});
const FAMILIES = API_FAMILIES.filter((name) => name !== "offline" && name !== "script").join(", ");
const withKey = { ANTHROPIC_API_KEY: "env-key" };

function authError(models: ModelRegistry, provider: string, id: string): ProviderError {
  try {
    models.credentials(models.find(provider, id)!);
  } catch (error) {
    expect(models.unusable(models.find(provider, id)!)).toBe((error as Error).message);
    if (error instanceof ProviderError) return error;
  }
  throw new Error(`expected ${provider}/${id} to have no credentials`);
}

const CLAUDES = builtinModelsOf("anthropic");

test("with nothing configured only the offline model can be used", () => {
  const models = registry();
  expect(models.available()).toEqual([OFFLINE_MODEL]);
  expect(models.all()).toEqual(expect.arrayContaining([...CLAUDES, OFFLINE_MODEL]));
  expect(models.credentials(OFFLINE_MODEL)).toEqual({});
  expect(registry({ offline: false }).available()).toEqual([]);
  expect(registry({ offline: false }).find("offline", "scout")).toBeUndefined();
  expect(models.problems).toEqual([]);
});

test("next to usable models the offline one is listed only while it is in use", () => {
  const models = registry({ env: withKey });
  expect(ids(models.available())).toEqual(ids(CLAUDES));
  expect(models.available(OFFLINE_MODEL).at(-1)).toBe(OFFLINE_MODEL);
  expect(models.available(CLAUDES[0])).not.toContain(OFFLINE_MODEL);
});

test("a script that was chosen at start is listed", () => {
  const script = { path: "/tmp/a b.json" };
  expect(registry({ script }).available()).toMatchObject([
    { provider: "script", id: "script", api: "script", baseUrl: "file:///tmp/a%20b.json" },
  ]);
  expect(ids(registry({ script, env: withKey }).available())).toContain("script/script");
});

test.each<[story: string, options: Given, apiKey: string]>([
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

describe("what of a model hosts may not see", () => {
  const sdk = {
    api: "ai-sdk",
    auth: "none",
    compat: { package: "some-sdk", options: { region: "eu-1", secretAccessKey: "$AWS_SECRET" } },
    models: [
      { id: "m1" },
      {
        id: "m2",
        compat: { options: { apiKey: "!vault", list: [`Bearer ${braced("AWS_SECRET")}`, 3], pem: "-- a\n-- b\n" } },
      },
      { id: "m3", compat: { options: "not an object" } },
    ],
    modelOverrides: { m3: { compat: { method: "chat" } } },
  };
  const env = { AWS_SECRET: "planted-secret\n" };
  const models = registry({
    custom: { providers: { sdk } },
    env,
    runCommand: async () => ({ output: "planted-key\n" }),
  });

  test("options of a package are kept beside it, and their values are filled in when it is asked", async () => {
    const [m1, m2, m3] = models.modelsOf("sdk");
    expect(JSON.stringify([m1, m2, m3, models.provider("sdk")])).not.toMatch(/options|planted|AWS|vault|eu-1|not an/);
    expect(models.modelsOf("sdk").map(({ compat }) => compat)).toEqual([
      { package: "some-sdk" },
      { package: "some-sdk" },
      { package: "some-sdk", method: "chat" },
    ]);
    const options = { region: "eu-1", secretAccessKey: "planted-secret" };
    expect(models.credentials(m1!)).toEqual({ options });
    expect(models.credentials(m3!)).toEqual({ options });
    expect(await models.credentials(m2!)).toEqual({
      options: { apiKey: "planted-key", list: ["Bearer planted-secret", 3], pem: "-- a\n-- b\n" },
    });
    const asked = askedModel(m1!, await models.credentials(m1!));
    expect(asked).toEqual({ ...m1, compat: { package: "some-sdk", options } });
    expect(models.credentials(models.unlisted("sdk", "other")!)).toEqual({ options });
  });

  test("an option that cannot be had is named", () => {
    const without = registry({ custom: { providers: { sdk } } });
    expect(authError(without, "sdk", "m1").message).toBe(
      "compat.options.secretAccessKey of sdk/m1 in models.json: the environment variable AWS_SECRET is not set",
    );
    expect(without.unusable(without.find("sdk", "m2")!)).toContain("compat.options.list[0] of sdk/m2");
  });

  test.each<[baseUrl: string, seen: string, credentials: object]>([
    ["http://box:1/v1", "http://box:1/v1", {}],
    [
      "http://me:planted%21@box:1/v1",
      "http://box:1/v1",
      { headers: { authorization: `Basic ${btoa("me:planted!")}` } },
    ],
    ["http://box:1/v1?key=planted", "http://box:1/v1", { baseUrl: "http://box:1/v1?key=planted" }],
    [
      "http://planted@box:1/v1?api-version=7&code=planted",
      "http://box:1/v1?api-version=7",
      {
        baseUrl: "http://box:1/v1?api-version=7&code=planted",
        headers: { authorization: `Basic ${btoa("planted:")}` },
      },
    ],
    ["http://box:1/v1?api-version=7", "http://box:1/v1?api-version=7", {}],
    ["me:planted@box:1/v1", "box:1/v1", {}],
  ])("of the base URL %s hosts see %s", (baseUrl, seen, credentials) => {
    const own = { baseUrl, api: "openai-completions", auth: "none", models: [{ id: "m1" }] };
    for (const provider of ["mine", "openai"]) {
      const models = registry({ custom: { providers: { [provider]: own } } });
      expect(models.find(provider, "m1")?.baseUrl).toBe(seen);
      expect(models.provider(provider)).toMatchObject({ row: { baseUrl: seen }, baseUrl: { url: seen } });
      expect(JSON.stringify([models.modelsOf(provider), models.provider(provider)])).not.toContain("planted");
      for (const model of [models.find(provider, "m1")!, models.unlisted(provider, "m2")!]) {
        expect(models.credentials(model)).toMatchObject(credentials);
      }
      expect(models.providerCredentials(provider)).toMatchObject(credentials);
    }
  });

  test("a header of one's own goes before the login of the base URL", () => {
    const custom = own({
      baseUrl: "http://me:planted@box",
      auth: "none",
      headers: { Authorization: "mine" },
      models: [{ id: "m1" }],
    });
    const models = registry({ custom });
    expect(models.credentials(models.find("mine", "m1")!)).toEqual({ headers: { authorization: "mine" } });
  });

  test("an address in a variable may have a login too", () => {
    const models = registry({ env: { OLLAMA_HOST: "http://me:planted@box" } });
    const model = models.named("ollama", "a")!;
    expect(model.baseUrl).toBe("http://box/v1");
    expect(models.credentials(model)).toEqual({ headers: { authorization: `Basic ${btoa("me:planted")}` } });
  });
});

describe("a key", () => {
  const keyOf = (given: Given) => {
    const models = registry(given);
    return models.credentials(models.find("anthropic", "claude-sonnet-4-5")!);
  };

  test.each<[story: string, given: Given]>([
    ["a variable", { env: { ANTHROPIC_API_KEY: " the-key\r\n" } }],
    ["a variable that a file names", { env: { K: "the-key\n" }, auth: { anthropic: { key: "$K" } } }],
    ["auth.json", { auth: { anthropic: { key: "the-key\n" } } }],
    ["a login", { auth: { anthropic: { type: "oauth", access: "\tthe-key\n", expires: NOW + 1 } } }],
    ["models.json", { custom: { providers: { anthropic: { apiKey: " the-key\n" } } } }],
    ["the command line", { runtimeKey: { provider: "anthropic", key: "the-key\n" } }],
  ])("from %s has no white space around it", (_story, given) => {
    expect(keyOf(given)).toEqual({ apiKey: "the-key" });
  });

  test("of nothing but white space is none", () => {
    expect(() => keyOf({ env: { ANTHROPIC_API_KEY: " \n" } })).toThrow(/^No API key for anthropic/);
    expect(registry({ env: { ANTHROPIC_API_KEY: "\n" } }).available()).toEqual([OFFLINE_MODEL]);
  });

  test.each<[story: string, given: Given, source: string]>([
    ["a line break", { env: { ANTHROPIC_API_KEY: "planted\nkey" } }, "ANTHROPIC_API_KEY"],
    ["a tab", { auth: { anthropic: { key: "planted\tkey" } } }, "auth.json"],
    ["what a text processor makes of quotes", { auth: { anthropic: { key: "“planted”" } } }, "auth.json"],
    ["a space of no width", { runtimeKey: { provider: "anthropic", key: "planted\u200b" } }, "--api-key"],
  ])("with %s in it is refused before it is sent, by its place and not by its value", (_story, given, source) => {
    const error = authError(registry(given), "anthropic", "claude-sonnet-4-5");
    expect(error).toMatchObject({ kind: "auth", retryable: false });
    expect(error.message).toMatch(`The key of anthropic/claude-sonnet-4-5 from ${source} holds a line break`);
    expect(error.message).not.toContain("planted");
  });

  test("that a command prints is looked at too, and so is a header", async () => {
    const custom = own({ apiKey: "!vault", models: [{ id: "m1" }] });
    const models = registry({ custom, runCommand: async () => ({ output: "planted\nkey\n" }) });
    const refused = models.credentials(models.find("mine", "m1")!);
    await expect(refused).rejects.toMatchObject({
      kind: "auth",
      message: expect.stringMatching(/from models\.json \(a c/),
    });
    const header = registry({
      custom: own({ auth: "none", headers: { "x-a": "$A" }, models: [{ id: "m1" }] }),
      env: { A: "planted\u2026" },
    });
    expect(authError(header, "mine", "m1").message).toMatch(/^Header "x-a" of mine\/m1 in models\.json holds a line/);
    const latin = registry({
      custom: own({ auth: "none", headers: { "x-a": "caf\u00e9\tau lait" }, models: [{ id: "m1" }] }),
    });
    expect(latin.unusable(latin.find("mine", "m1")!)).toBeUndefined();
  });
});

test("values that cannot be had are named", () => {
  const unset = registry({ custom: own({ apiKey: "$MY_KEY", models: [{ id: "m1" }] }) });
  expect(unset.available()).toEqual([OFFLINE_MODEL]);
  expect(authError(unset, "mine", "m1").message).toMatch(
    /^No API key for mine\/m1 \(models\.json has a key for "mine", but the environment variable MY_KEY is not set\)\./,
  );
  const header = registry({ custom: own({ apiKey: "k", headers: { "x-a": "$NOPE" }, models: [{ id: "m1" }] }) });
  expect(authError(header, "mine", "m1").message).toBe(
    'Header "x-a" of mine/m1 in models.json: the environment variable NOPE is not set',
  );
});

test("a provider that needs no key", () => {
  const models = registry({ custom: own({ auth: "none", apiKey: "unused", models: [{ id: "m1" }] }) });
  expect(ids(models.available())).toEqual(["mine/m1"]);
  expect(models.credentials(models.find("mine", "m1")!)).toEqual({});
});

test("a built-in provider can be sent elsewhere without losing its models", () => {
  const models = registry({
    custom: { providers: { anthropic: { baseUrl: "http://127.0.0.1:9/v1", compat: { a: 1 } } } },
    env: withKey,
  });
  expect(models.problems).toEqual([]);
  expect(ids(models.available())).toEqual(ids(CLAUDES));
  for (const model of models.available())
    expect(model).toMatchObject({ baseUrl: "http://127.0.0.1:9/v1", compat: { a: 1 } });
  expect(CLAUDES[0]?.baseUrl).toBe("https://api.anthropic.com");
});

test("very many models hold nobody up", () => {
  const names = Array.from({ length: 60_000 }, (_, index) => `model-${index}`);
  const custom = own({
    apiKey: "k",
    discovery: { type: "ollama" },
    models: names.map((id) => ({ id })),
    modelOverrides: Object.fromEntries(names.map((id) => [id, { contextWindow: 5 }])),
  });
  // A look at all of them for each of them would need minutes; the test's own limit is what notices.
  const models = registry({ custom });
  expect(models.problems).toEqual([]);
  models.learn(
    "mine",
    [...names, "one-more"].reverse().map((id) => testModel({ provider: "mine", id })),
  );
  for (const { model } of resolveScope(["mine/*"], models).scoped) models.adopt(model);
  const available = models.available();
  expect(available).toHaveLength(names.length + 1);
  expect(available[0]).toMatchObject({ id: "model-0", contextWindow: 5 });
  expect(available.at(-1)).toMatchObject({ id: "one-more" });
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
  expect(models.modelsOf("anthropic")).toHaveLength(CLAUDES.length + 1);
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
  [own({ models: ["m"] }), "models.json: providers.mine.models[0] must be an object"],
  [
    own({ api: "soap", models: [{ id: "m" }] }),
    `models.json: providers.mine.api is "soap", which is not known; use one of ${FAMILIES}`,
  ],
  [
    own({ models: [{ id: "m", api: "soap" }] }),
    `models.json: providers.mine.models[0].api is "soap", which is not known; use one of ${FAMILIES}`,
  ],
  [own({ auth: "maybe", models: [] }), 'models.json: providers.mine.auth must be "apiKey", "none" or "oauth"'],
  [
    own({ discovery: { type: "guess" } }),
    "models.json: providers.mine.discovery must be an object whose type is one of ollama, llama.cpp, lm-studio, vllm, openai",
  ],
  [
    own({ models: [{ id: "m", thinking: { minLevel: "loud" } }] }),
    "models.json: providers.mine.models[0].thinking must be an object with minLevel and maxLevel out of off, minimal, low, medium, high, xhigh",
  ],
  [
    own({ models: [{ id: "m", costTiers: [{ input: 1 }] }] }),
    'models.json: providers.mine.models[0].costTiers must be a list of {"above": tokens, "input": ..., "output": ..., "cacheRead": ..., "cacheWrite": ...}',
  ],
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
    'models.json: providers.anthropic.modelOverrides.x changes a model that "anthropic" does not have',
  ],
])("a mistake is named and costs nothing else: %j", (custom, problem) => {
  const models = registry({ custom, env: withKey });
  expect(models.problems).toEqual([problem]);
  expect(models.available().length).toBeGreaterThanOrEqual(CLAUDES.length);
});

test("a bare name of a variable that is set looks like a mistake, and is told", () => {
  const models = registry({ custom: own({ apiKey: "MY_KEY", models: [{ id: "m" }] }), env: { MY_KEY: "x" } });
  expect(models.credentials(models.find("mine", "m")!)).toEqual({ apiKey: "MY_KEY" });
  expect(models.problems).toEqual([
    'models.json: providers.mine.apiKey is used as the key itself; to use the environment variable, write "$MY_KEY"',
  ]);
});

test("what cannot be used of auth.json is told", () => {
  expect(registry({ auth: { anthropic: { type: "oauth" }, b: {}, c: 3 } }).problems).toEqual([
    'auth.json: anthropic needs {"type":"oauth","access":"...","expires":...}',
    'auth.json: b needs {"type":"api_key","key":"..."}',
    'auth.json: c needs {"type":"api_key","key":"..."}',
  ]);
  expect(registry({ auth: [] }).problems).toEqual(["auth.json: expected an object with one entry for each provider"]);
});

test("a login is used until it expires, then the next source counts, and the error tells the time", () => {
  const login = (expires: number) => ({ anthropic: { type: "oauth", access: "token", refresh: "r", expires } });
  const keyWith = (given: Given) => {
    const models = registry(given);
    return models.credentials(models.find("anthropic", "claude-sonnet-4-5")!);
  };
  expect(keyWith({ auth: login(NOW + 1) })).toEqual({ apiKey: "token" });
  expect(keyWith({ auth: login(NOW + 1), env: withKey })).toEqual({ apiKey: "token" });
  expect(keyWith({ auth: login(NOW), env: withKey })).toEqual({ apiKey: "env-key" });
  const expired = registry({ auth: login(NOW) });
  expect(expired.problems).toEqual([]);
  expect(authError(expired, "anthropic", "claude-sonnet-4-5").message).toContain(
    'the login of "anthropic" in auth.json expired at 2026-01-02 03:04 UTC and is not renewed here',
  );
});

test.each<[story: string, given: Given, source: string]>([
  ["a variable", { env: withKey }, "ANTHROPIC_API_KEY"],
  ["auth.json", { auth: { anthropic: { key: "planted" } } }, "auth.json"],
  [
    "auth.json with a variable",
    { auth: { anthropic: { key: braced("K") } }, env: { K: "planted" } },
    `auth.json (${braced("K")})`,
  ],
  ["auth.json with a command", { auth: { anthropic: { key: "!pass planted" } } }, "auth.json (a command)"],
  [
    "a login",
    { auth: { anthropic: { type: "oauth", access: "planted", expires: NOW + 60_000 } } },
    "auth.json (login, until 2026-01-02 03:05 UTC)",
  ],
  ["models.json", { custom: { providers: { anthropic: { apiKey: "planted" } } } }, "models.json"],
  ["a key that begins with $", { custom: { providers: { anthropic: { apiKey: "$planted-1" } } } }, "models.json"],
  ["--api-key", { runtimeKey: { provider: "anthropic", key: "planted" } }, "--api-key"],
])("where a key was found can be told without telling the key: %s", (_story, given, source) => {
  expect(registry(given).provider("anthropic")).toMatchObject({ key: { source }, configured: true });
});

describe("a command", () => {
  const custom = own({ apiKey: "! pass show x ", headers: { "X-Who": "!whoami" }, models: [{ id: "m1" }] });
  const outputs: Record<string, string> = { "pass show x": " the-key\n", whoami: "me" };

  test("counts as a key without being run, and runs once when the model is asked", async () => {
    const ran: string[] = [];
    const runCommand = async (command: string) => {
      ran.push(command);
      return { output: outputs[command] ?? "" };
    };
    const models = registry({ custom, runCommand });
    const model = models.find("mine", "m1")!;
    expect([ids(models.available()), models.unusable(model), ran]).toEqual([["mine/m1"], undefined, []]);
    const wanted = { apiKey: "the-key", headers: { "x-who": "me" } };
    expect(await Promise.all([models.credentials(model), models.credentials(model)])).toEqual([wanted, wanted]);
    expect(models.credentials(model)).toEqual(wanted);
    expect(ran).toEqual(["pass show x", "whoami"]);
  });

  test("that fails is an auth error that names the provider and how it ended, and is tried again", async () => {
    const ends = [{ failure: "exit code 3" }, { output: " \n" }, { output: "late" }];
    const models = registry({
      custom: own({ apiKey: "!vault", models: [{ id: "m1" }] }),
      runCommand: async () => ends.shift()!,
    });
    const model = models.find("mine", "m1")!;
    const failure = (why: string) => ({ kind: "auth", message: expect.stringContaining(`of "mine" failed (${why})`) });
    await expect(models.credentials(model)).rejects.toMatchObject(failure("exit code 3"));
    await expect(models.credentials(model)).rejects.toMatchObject(failure("it printed nothing"));
    expect(await models.credentials(model)).toEqual({ apiKey: "late" });
  });

  test("without a command is a key that is missing", () => {
    const models = registry({ custom: own({ apiKey: "! ", models: [{ id: "m1" }] }) });
    expect(authError(models, "mine", "m1").message).toContain("there is no command behind the !");
  });
});

test("a header may hold a variable inside its text", () => {
  const headers = {
    authorization: `Bearer ${braced("TOKEN")}`,
    "x-price": "$5 a month",
    "x-team": `${braced("TEAM")}-${braced("TOKEN")}`,
  };
  const custom = own({ auth: "none", headers, models: [{ id: "m1" }] });
  const models = registry({ custom, env: { TOKEN: "t1", TEAM: "blue" } });
  expect(models.credentials(models.find("mine", "m1")!)).toEqual({
    headers: { authorization: "Bearer t1", "x-price": "$5 a month", "x-team": "blue-t1" },
  });
  expect(authError(registry({ custom, env: { TEAM: "blue" } }), "mine", "m1").message).toBe(
    'Header "authorization" of mine/m1 in models.json: the environment variable TOKEN is not set',
  );
});

describe("servers on this machine", () => {
  test("are known, but have no models until somebody names one", () => {
    const models = registry();
    expect(models.providers()).toEqual(expect.arrayContaining(["ollama", "lmstudio", "llamacpp", "vllm"]));
    expect(models.available()).toEqual([OFFLINE_MODEL]);
    const model = models.unlisted("ollama", "qwen3:8b")!;
    expect(model).toMatchObject({
      id: "qwen3:8b",
      provider: "ollama",
      api: "openai-completions",
      baseUrl: "http://127.0.0.1:11434/v1",
      compat: { supportsDeveloperRole: false },
    });
    expect(models.unusable(model)).toBeUndefined();
    expect(models.credentials(model)).toEqual({});
    models.adopt(model);
    models.adopt(model);
    expect(models.available()).toEqual([model]);
    expect(models.find("ollama", "qwen3:8b")).toBe(model);
  });

  test("have any model that is named, and so have providers without a list, if there is a key", () => {
    const models = registry({ env: { HF_TOKEN: "k", ...withKey } });
    expect(models.named("ollama", "a")).toMatchObject({ provider: "ollama", id: "a" });
    expect(models.named("huggingface", "b/c")).toMatchObject({ provider: "huggingface", id: "b/c" });
    expect(ids(models.available())).toEqual(expect.arrayContaining(["ollama/a", "huggingface/b/c"]));
    expect(models.named("anthropic", "nope")).toBeUndefined();
    expect(models.named("opencode", "no-key")).toBeUndefined();
    expect(models.named("nobody", "x")).toBeUndefined();
    expect(models.named("ollama", "")).toBeUndefined();
  });

  test("may tell what they have, which replaces what they told before", () => {
    const models = registry();
    const model = (id: string) => ({ ...models.unlisted("ollama", id)!, contextWindow: 4096 });
    models.learn("ollama", [model("a"), model("b")]);
    expect(ids(models.available())).toEqual(["ollama/a", "ollama/b"]);
    models.learn("ollama", [model("b")]);
    expect(models.available()).toEqual([model("b")]);
  });

  test("do not have a model just because somebody named it: it is listed while it is in use", () => {
    const models = registry();
    const typo = models.named("ollama", "typo")!;
    models.learn("ollama", [models.unlisted("ollama", "a")!]);
    expect(ids(models.available())).toEqual(["ollama/a"]);
    expect(ids(models.available(typo))).toEqual(["ollama/a", "ollama/typo"]);
  });

  test("say more of a model than was assumed, but not more than models.json", () => {
    const custom = { providers: { ollama: { models: [{ id: "told" }] } } };
    const models = registry({ custom, env: withKey });
    const named = models.named("ollama", "a")!;
    expect(models.isAssumed(named)).toBe(true);
    expect(models.isAssumed(models.find("ollama", "told")!)).toBe(false);
    expect(models.isAssumed(models.unlisted("anthropic", "new")!)).toBe(false);
    models.describe({ ...named, reasoning: true });
    expect(models.isAssumed(named)).toBe(false);
    expect(models.find("ollama", "a")).toMatchObject({ reasoning: true });
  });

  test("have a first model, whatever it is", () => {
    const models = registry({ env: withKey });
    const first = models.firstOf("ollama")!;
    expect(first).toMatchObject({ provider: "ollama", id: "default", name: "First model of Ollama" });
    models.adopt(first);
    expect(models.isFirstOf(first)).toBe(true);
    expect(models.isFirstOf({ ...first })).toBe(false);
    expect(models.find("ollama", "default")).toBeUndefined();
    expect(models.firstOf("anthropic")).toBeUndefined();
    expect(models.firstOf("nobody")).toBeUndefined();
  });

  test("may be elsewhere, and may want a key", () => {
    const models = registry({ env: { OLLAMA_HOST: "box:1234", OLLAMA_API_KEY: "k" } });
    const model = models.unlisted("ollama", "a")!;
    expect(model.baseUrl).toBe("http://box:1234/v1");
    expect(models.credentials(model)).toEqual({ apiKey: "k" });
    const told = registry({
      custom: { providers: { ollama: { baseUrl: "http://mine:1/v1" } } },
      env: { OLLAMA_HOST: "box" },
    });
    expect(told.problems).toEqual([]);
    expect(told.unlisted("ollama", "a")?.baseUrl).toBe("http://mine:1/v1");
    expect(told.provider("ollama")).toMatchObject({ baseUrl: { url: "http://mine:1/v1" }, configured: true });
  });

  test("can be described with models", () => {
    const models = registry({ custom: { providers: { ollama: { models: [{ id: "a" }] } } } });
    expect(models.problems).toEqual([]);
    expect(models.available()).toMatchObject([
      { provider: "ollama", id: "a", api: "openai-completions", baseUrl: "http://127.0.0.1:11434/v1" },
    ]);
  });

  test("under a name of one's own, to be discovered", () => {
    const custom = { providers: { attic: { baseUrl: "http://attic:1234/v1", discovery: { type: "lm-studio" } } } };
    const models = registry({ custom });
    expect(models.problems).toEqual([]);
    expect(models.provider("anthropic")?.discovers).toBe(false);
    expect(models.provider("attic")).toMatchObject({
      discovers: true,
      row: { api: "openai-completions", keyVariables: ["LM_API_TOKEN"] },
      keyless: true,
    });
    expect(models.unlisted("attic", "a")).toMatchObject({ provider: "attic", baseUrl: "http://attic:1234/v1" });
  });
});

test.each([
  ["openai-completions", "http://box:1", "/v1/models"],
  ["openai-completions", "http://box:1/v1/", "/models"],
  ["anthropic-messages", "http://box:1/proxy", "/v1/models"],
  ["anthropic-messages", "http://box:1/v1", "/models"],
  ["google-generative-ai", "http://box:1", "/v1beta/models"],
  ["ai-sdk", "http://box:1", undefined],
])("a server of %s at %s has its list of models at %s", (api, baseUrl, modelsPath) => {
  const models = registry({ custom: { providers: { mine: { api, baseUrl, models: [{ id: "m" }] } } } });
  expect(models.provider("mine")?.row.modelsPath).toBe(modelsPath);
});

test("an address that needs a variable is missing until it is set", () => {
  const key = { AZURE_OPENAI_API_KEY: "k" };
  const without = registry({ env: key });
  const model = without.unlisted("azure-openai", "gpt-5")!;
  expect(without.hasCredentials(model)).toBe(false);
  expect(without.unusable(model)).toBe(
    "The address of Azure OpenAI is not known: set AZURE_OPENAI_RESOURCE_NAME or AZURE_OPENAI_BASE_URL.",
  );
  const models = registry({ env: { ...key, AZURE_OPENAI_RESOURCE_NAME: "acme" } });
  expect(models.unlisted("azure-openai", "gpt-5")).toMatchObject({
    baseUrl: "https://acme.openai.azure.com/openai/v1",
  });
});

test("what omp's models.yml says beside the rest is understood", () => {
  const models = registry({
    custom: {
      providers: {
        mine: {
          baseUrl: "http://127.0.0.1:9",
          api: "anthropic-messages",
          auth: "oauth",
          transport: "auto",
          models: [
            { id: "m1", thinking: { minLevel: "low", maxLevel: "high", mode: "anthropic-budget-effort" } },
            { id: "m2", thinking: { maxLevel: "max" }, contextPromotionTarget: "m1" },
            { id: "m3", cost: { input: 1, output: 2 }, costTiers: [{ above: 200_000, input: 3 }] },
          ],
        },
      },
      equivalence: {},
    },
    auth: { mine: { type: "oauth", access: "token", expires: NOW + 1 } },
  });
  expect(models.problems).toEqual([]);
  expect(models.find("mine", "m1")).toMatchObject({
    reasoning: true,
    thinkingLevelMap: { minimal: null, xhigh: null },
    compat: { thinking: "budget" },
  });
  expect(models.find("mine", "m2")).toMatchObject({ reasoning: true, thinkingLevelMap: { xhigh: "xhigh" } });
  expect(models.find("mine", "m3")?.costTiers).toEqual([
    { above: 200_000, input: 3, output: 2, cacheRead: 0, cacheWrite: 0 },
  ]);
  expect(models.credentials(models.find("mine", "m1")!)).toEqual({ apiKey: "token" });
});

test("prices of long prompts may stand in any order", () => {
  const costTiers = [500_000, 200_000].map((above) => ({ above, input: above }));
  const models = registry({ custom: own({ models: [{ id: "m", costTiers }] }) });
  expect(models.find("mine", "m")?.costTiers?.map(({ above }) => above)).toEqual([200_000, 500_000]);
});

test("quirks of provider and model are joined", () => {
  const models = registry({
    custom: own({
      compat: { a: 1, b: 1 },
      models: [{ id: "m1", compat: { b: 2 } }],
      modelOverrides: { m1: { compat: { c: 3 } } },
    }),
  });
  expect(models.find("mine", "m1")?.compat).toEqual({ a: 1, b: 2, c: 3 });
});

test("a model of an installed package is looked for beside the file that names it, unless it says otherwise", () => {
  const models = registry({
    custom: {
      providers: {
        sdk: { api: "ai-sdk", auth: "none", models: [{ id: "a" }, { id: "b", compat: { from: "/elsewhere" } }] },
      },
    },
    packagesFrom: "/agent",
  });
  expect(models.problems).toEqual([]);
  expect(models.modelsOf("sdk").map(({ compat }) => compat)).toEqual([{ from: "/agent" }, { from: "/elsewhere" }]);
});

test("a mistake is told with its place when the file knows it", () => {
  const paths: unknown[] = [];
  const models = createModelRegistry({
    env: {},
    offline: true,
    now: () => NOW,
    runCommand: () => Promise.reject(new Error("no command may run")),
    models: {
      name: "/home/me/models.json",
      value: own({ models: [{ id: "ok" }, { id: "m", contextWindow: "big" }] }),
      locate(path) {
        paths.push(path);
        return { line: 12, column: 7 };
      },
    },
  });
  expect(models.problems).toEqual([
    "/home/me/models.json:12:7: providers.mine.models[1].contextWindow must be a number above 0",
  ]);
  expect(paths).toEqual([["providers", "mine", "models", 1, "contextWindow"]]);
  expect(models.find("mine", "ok")).toBeDefined();
});

test.each<[path: (string | number)[], name: string]>([
  [["providers", "mine", "models", 0, "id"], "providers.mine.models[0].id"],
  [["providers", "my-own", "modelOverrides", "gpt-4.1"], 'providers.my-own.modelOverrides["gpt-4.1"]'],
  [[3], "[3]"],
])("%j is written %s", (path, name) => {
  expect(keyName(path)).toBe(name);
});
