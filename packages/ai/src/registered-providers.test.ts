import type { Model } from "@tiller/protocol/model";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { RegistryOptions } from "./model-registry.ts";
import { createModelRegistry } from "./models.ts";
import { createProviders } from "./registered-providers.ts";
import { streamAssistant } from "./stream.ts";
import { answer, collect, testRequest } from "./testing.ts";

const clock = new FakeClock();

function desk(options: Partial<RegistryOptions> & { env?: Record<string, string> } = {}) {
  const env = options.env ?? {};
  const registry = createModelRegistry({
    now: () => 1000,
    runCommand: async () => ({ output: "from-a-command" }),
    offline: false,
    ...options,
    env,
  });
  let changes = 0;
  const problems: string[] = [];
  const providers = createProviders({
    registry,
    env,
    clock,
    onProblem: (name, error) => problems.push(`${name}: ${error instanceof Error ? error.message : error}`),
    onChange: () => {
      changes++;
    },
  });
  return { registry, providers, problems, changes: () => changes };
}

const ids = (models: readonly Model[]) => models.map(({ provider, id }) => `${provider}/${id}`);
const mine = {
  baseUrl: "https://api.mine.test/v1",
  apiKey: "literal-key",
  api: "openai-completions",
  models: [{ id: "large", name: "Mine Large", reasoning: true, contextWindow: 5000, maxTokens: 500 }],
};

const circle = (): object => {
  const options: Record<string, unknown> = { token: "$MY_TOKEN" };
  options.self = options;
  return options;
};
const levels = (count: number, around: (inner: object) => object): object => {
  let options: object = { token: "$MY_TOKEN" };
  for (let level = 0; level < count; level++) options = around(options);
  return options;
};

describe("a new provider", () => {
  it("is in all lists at once and gone again at once", async () => {
    const { registry, providers, changes } = desk();
    providers.register("mine", mine);
    expect(ids(registry.available())).toEqual(["mine/large"]);
    expect(registry.find("mine", "large")).toMatchObject({
      name: "Mine Large",
      api: "openai-completions",
      baseUrl: "https://api.mine.test/v1",
      contextWindow: 5000,
    });
    expect(registry.providers()).toContain("mine");
    expect(await registry.credentials(registry.find("mine", "large")!)).toEqual({ apiKey: "literal-key" });
    expect(registry.named("mine", "typo")).toBeUndefined();
    providers.unregister("mine");
    expect(registry.available()).toEqual([]);
    expect(registry.find("mine", "large")).toBeUndefined();
    expect(registry.providers()).not.toContain("mine");
    expect(changes()).toBe(2);
  });

  it.each([
    ["literal", "literal"],
    ["MY_VARIABLE", "from-the-variable"],
    ["$MY_VARIABLE", "from-the-variable"],
    ["NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE"],
    ["!print-it", "from-a-command"],
  ])("takes %s as its key: %s", async (apiKey, key) => {
    const { registry, providers } = desk({ env: { MY_VARIABLE: "from-the-variable" } });
    providers.register("mine", { ...mine, apiKey });
    expect(await registry.credentials(registry.find("mine", "large")!)).toEqual({ apiKey: key });
  });

  it.each<[name: string, config: () => object]>([
    ["variables that are no list", () => ({ keyVariables: "MYK" })],
    ["variables that are no texts", () => ({ keyVariables: [5, null, { name: "MYK" }] })],
    ["options in a circle", () => ({ compat: { options: circle() } })],
    ["options in a circle of a model", () => ({ models: [{ ...mine.models[0], compat: { options: circle() } }] })],
    ["options in a circle of an override", () => ({ modelOverrides: { large: { compat: { options: circle() } } } })],
    ["options that are nested deep", () => ({ compat: { options: levels(50_000, (rest) => ({ rest })) } })],
    ["options that share their parts", () => ({ compat: { options: levels(60, (one) => ({ one, other: one })) } })],
  ])("is taken with %s", (_name, config) => {
    const { registry, providers } = desk();
    providers.register("mine", { ...mine, apiKey: "$MINE_KEY", ...config() });
    expect(registry.find("mine", "large")).toBeDefined();
    expect([...providers.keyVariables]).toContain("MINE_KEY");
  });

  it("is not there by half when what is said of it cannot be read", () => {
    const { registry, providers, changes } = desk();
    const options = Object.defineProperty({}, "key", {
      enumerable: true,
      get: () => {
        throw new Error("no key yet");
      },
    });
    expect(() => providers.register("mine", { ...mine, compat: { options } })).toThrow("no key yet");
    expect([providers.get("mine"), registry.find("mine", "large"), changes()]).toEqual([undefined, undefined, 0]);
    providers.register("mine", mine);
    expect(ids(registry.available())).toEqual(["mine/large"]);
  });

  it("has no key when the variable it names is not set", () => {
    const { registry, providers } = desk();
    providers.register("mine", { ...mine, apiKey: "$MINE_KEY" });
    expect(registry.available()).toEqual([]);
    expect(registry.unusable(registry.find("mine", "large")!)).toContain("MINE_KEY is not set");
  });

  it("sends headers of its own, of its models, and the key as one when it wants that", async () => {
    const { registry, providers } = desk({ env: { TOKEN: "t-from-env" } });
    const models = [{ id: "large", headers: { "X-Model": "m" } }];
    providers.register("mine", { ...mine, headers: { "X-Org": "TOKEN" }, authHeader: true, models });
    expect(await registry.credentials(registry.find("mine", "large")!)).toEqual({
      apiKey: "literal-key",
      headers: { "x-org": "t-from-env", "x-model": "m", authorization: "Bearer literal-key" },
    });
  });

  it("hides what is secret in its address", async () => {
    const { registry, providers } = desk();
    providers.register("mine", { ...mine, baseUrl: "https://me:pass@api.mine.test/v1?key=k" });
    const model = registry.find("mine", "large")!;
    expect(model.baseUrl).toBe("https://api.mine.test/v1");
    expect(await registry.credentials(model)).toMatchObject({
      baseUrl: "https://api.mine.test/v1?key=k",
      headers: { authorization: expect.stringContaining("Basic") as string },
    });
  });

  it("said again keeps what is not said anew", () => {
    const { registry, providers } = desk();
    providers.register("mine", mine);
    providers.register("mine", { baseUrl: "https://other.test" });
    expect(registry.find("mine", "large")?.baseUrl).toBe("https://other.test");
    expect(providers.get("mine")).toMatchObject({ apiKey: "literal-key" });
  });
});

describe("a provider that is there already", () => {
  const env = { ANTHROPIC_API_KEY: "sk-from-env-0123" };

  it("moves with all its models, and back", async () => {
    const { registry, providers } = desk({ env });
    const before = registry.modelsOf("anthropic");
    providers.register("anthropic", { baseUrl: "https://proxy.test", headers: { "X-Via": "proxy" } });
    const moved = registry.modelsOf("anthropic");
    expect(ids(moved)).toEqual(ids(before));
    expect(new Set(moved.map(({ baseUrl }) => baseUrl))).toEqual(new Set(["https://proxy.test"]));
    expect(registry.modelsOf("anthropic")).toBe(moved);
    expect(await registry.credentials(moved[0]!)).toMatchObject({
      apiKey: "sk-from-env-0123",
      headers: { "x-via": "proxy" },
    });
    providers.unregister("anthropic");
    expect(registry.modelsOf("anthropic")).toBe(before);
    expect(await registry.credentials(before[0]!)).not.toHaveProperty("headers.x-via");
  });

  it("gets other headers for the next request, although it was asked just before", async () => {
    const { registry, providers } = desk({ env });
    const model = registry.modelsOf("anthropic")[0]!;
    expect(await registry.credentials(model)).not.toHaveProperty("headers.x-via");
    providers.register("anthropic", { headers: { "X-Via": "proxy" } });
    expect(await registry.credentials(model)).toHaveProperty("headers.x-via", "proxy");
  });

  it("gets other models instead of its own, also of those that were in use", () => {
    const { registry, providers } = desk({ env });
    const [first] = registry.modelsOf("anthropic");
    registry.adopt({ ...first!, id: "named-by-hand" });
    providers.register("anthropic", { ...mine, api: "anthropic-messages" });
    expect(ids(registry.available())).toEqual(["anthropic/large"]);
    providers.unregister("anthropic");
    expect(registry.find("anthropic", "named-by-hand")).toBeDefined();
    expect(registry.find("anthropic", "large")).toBeUndefined();
  });

  it("keeps what models.json says of it", async () => {
    const models = {
      name: "models.json",
      value: { providers: { mine: { ...mine, baseUrl: "https://u:p@old.test", headers: { "X-File": "f" } } } },
    };
    const { registry, providers } = desk({ models });
    providers.register("mine", { headers: { "X-More": "m" } });
    const model = registry.find("mine", "large")!;
    expect(await registry.credentials(model)).toMatchObject({
      apiKey: "literal-key",
      headers: { "x-file": "f", "x-more": "m", authorization: expect.stringContaining("Basic") as string },
    });
    providers.register("mine", { baseUrl: "https://new.test" });
    expect(await registry.credentials(registry.find("mine", "large")!)).toEqual({
      apiKey: "literal-key",
      headers: { "x-file": "f", "x-more": "m" },
    });
  });
});

describe("what cannot be meant", () => {
  it.each([
    ["mine", undefined, "must be an object"],
    ["", mine, "name of the provider is missing"],
    ["mine", {}, "says nothing"],
    ["mine", { ...mine, baseUrl: undefined }, "baseUrl is missing"],
    ["mine", { ...mine, baseUrl: "not a url" }, 'baseUrl is "not a url"'],
    ["mine", { ...mine, apiKey: undefined }, "apiKey is missing"],
    ["mine", { ...mine, api: undefined }, "models[0].api is missing"],
    ["mine", { ...mine, api: "carrier-pigeon" }, 'api is "carrier-pigeon", which is not known'],
    ["mine", { ...mine, models: [] }, "models is empty"],
    ["mine", { ...mine, models: "large" }, "models must be a list"],
    ["mine", { ...mine, models: [{ name: "x" }] }, "models[0].id is missing"],
    ["mine", { ...mine, models: [{ id: "x", contextWindow: -1 }] }, "models[0].contextWindow must be"],
    ["mine", { ...mine, headers: { a: 1 } }, "headers must be"],
    ["mine", { ...mine, streamSimple: "yes" }, "streamSimple must be a function"],
    ["mine", { ...mine, oauth: "yes" }, "oauth must be an object"],
    ["mine", { streamSimple: () => undefined }, "api is missing"],
    ["mine", { baseUrl: "https://x.test" }, "models is missing"],
  ])("%s %j: %s", (name, config, words) => {
    const { registry, providers } = desk();
    expect(() => providers.register(name, config)).toThrow(words);
    expect(registry.providers()).not.toContain("mine");
  });

  it("leaves what was registered before", () => {
    const { registry, providers } = desk();
    providers.register("mine", mine);
    expect(() => providers.register("mine", { models: [{}] })).toThrow("models[0].id is missing");
    expect(registry.find("mine", "large")).toBeDefined();
  });

  it("is all gone at once", () => {
    const { registry, providers, changes } = desk();
    providers.register("mine", mine);
    providers.register("openai", { baseUrl: "https://proxy.test" });
    providers.clear();
    expect(registry.find("mine", "large")).toBeUndefined();
    expect(registry.modelsOf("openai")[0]?.baseUrl).not.toContain("proxy.test");
    expect(changes()).toBe(3);
  });

  it("does not mind a name that nobody registered", () => {
    const { providers, changes } = desk();
    providers.unregister("nobody");
    expect(changes()).toBe(0);
  });
});

describe("a provider with a stream of its own", () => {
  const streamSimple = async function* (model: Model) {
    yield { type: "done", reason: "stop", message: answer([{ type: "text", text: `I am ${model.id}` }]) };
  };
  const words = async (model: Model) =>
    (await collect(streamAssistant(testRequest({ model })))).flatMap((delta) =>
      delta.type === "grow" ? [delta.text] : [],
    );

  it("answers for its models, without an address and without a key if it wants none", async () => {
    const { registry, providers } = desk();
    providers.register("own", { api: "own-api", streamSimple, models: [{ id: "echo" }] });
    expect(ids(registry.available())).toEqual(["own/echo"]);
    const model = registry.find("own", "echo")!;
    expect(await registry.credentials(model)).toEqual({});
    expect(await words(model)).toEqual(["I am echo"]);
  });

  it("answers for another provider that names its API", async () => {
    const { registry, providers } = desk();
    providers.register("own", { api: "own-api", streamSimple });
    providers.register("mine", { ...mine, api: "own-api" });
    expect(await words(registry.find("mine", "large")!)).toEqual(["I am large"]);
  });

  it("answers for the models of a built-in provider as long as it is registered", async () => {
    const { registry, providers } = desk({ env: { ANTHROPIC_API_KEY: "sk-0123456789" } });
    providers.register("anthropic", { streamSimple });
    const [model] = registry.modelsOf("anthropic");
    expect(await words(model!)).toEqual([`I am ${model!.id}`]);
    providers.unregister("anthropic");
    expect(registry.modelsOf("anthropic")[0]).not.toBe(model);
  });
});

describe("a provider that people log in to", () => {
  const oauth = {
    name: "Corporate",
    login: async () => ({}),
    refreshToken: async () => ({}),
    getApiKey: (login: Readonly<Record<string, unknown>>) => `${login.account}:${login.access}`,
    modifyModels: (models: Model[]) => models.map((model) => ({ ...model, name: `${model.name} (EU)` })),
  };
  const login = (expires: number) => ({
    name: "auth.json",
    value: { corp: { type: "oauth", access: "tok", refresh: "r", expires, account: "acme" } },
  });

  it("makes its key of the login that is stored", async () => {
    const { registry, providers } = desk({ auth: login(5000) });
    providers.register("corp", { ...mine, apiKey: undefined, oauth });
    const model = registry.find("corp", "large")!;
    expect(model.name).toBe("Mine Large (EU)");
    expect(await registry.credentials(model)).toEqual({ apiKey: "acme:tok" });
    expect(providers.logins()).toEqual([{ id: "corp", name: "Corporate" }]);
  });

  it("whose login cannot be read is not to be had, says why, and spoils no list", async () => {
    const { registry, providers } = desk({ auth: login(5000) });
    providers.register("mine", mine);
    const getApiKey = (): string => {
      throw new Error("no such account");
    };
    providers.register("corp", { ...mine, apiKey: undefined, oauth: { ...oauth, getApiKey } });
    expect(ids(registry.available())).toEqual(["mine/large"]);
    const model = registry.find("corp", "large")!;
    await expect(async () => registry.credentials(model)).rejects.toThrow(
      'The login of "corp" could not be read: no such account',
    );
  });

  it.each([[[null]], [[{ id: 7 }]], [[{ id: "large", provider: "other" }]]])(
    "must not make %j of its models",
    (models) => {
      const { registry, providers } = desk({ auth: login(5000) });
      const modifyModels = (() => models) as unknown as typeof oauth.modifyModels;
      const register = () =>
        providers.register("corp", { ...mine, apiKey: undefined, oauth: { ...oauth, modifyModels } });
      expect(register).toThrow('registerProvider("corp"): oauth.modifyModels must give back models of this provider');
      expect(registry.modelsOf("corp")).toEqual([]);
    },
  );

  it("cannot be used without a login, or when it has run out and nobody renews it", () => {
    for (const auth of [undefined, login(500)]) {
      const { registry, providers } = desk({ auth });
      providers.register("corp", { ...mine, apiKey: undefined, oauth: { ...oauth, refreshToken: undefined } });
      expect(registry.available()).toEqual([]);
    }
  });

  it("renews a login that has run out before it is used, once for all who ask, and keeps it", async () => {
    const kept: unknown[] = [];
    const renewed: unknown[] = [];
    const { registry, providers } = desk({
      auth: login(500),
      keepLogin: async (provider, entry) => void kept.push([provider, entry]),
    });
    const refreshToken = async (old: unknown) => {
      renewed.push(old);
      return { access: "new", refresh: "r2", expires: 9000 };
    };
    providers.register("corp", { ...mine, apiKey: undefined, oauth: { ...oauth, refreshToken } });
    const model = registry.find("corp", "large")!;
    expect(registry.unusable(model)).toBeUndefined();
    const answers = await Promise.all([registry.credentials(model), registry.credentials(model)]);
    expect(answers).toEqual([{ apiKey: "acme:new" }, { apiKey: "acme:new" }]);
    expect(renewed).toEqual([login(500).value.corp]);
    expect(kept).toEqual([["corp", { type: "oauth", access: "new", refresh: "r2", expires: 9000, account: "acme" }]]);
    expect(await registry.providerCredentials("corp")).toEqual({ apiKey: "acme:new" });
    expect(renewed).toHaveLength(1);
  });

  it("says why a login could not be renewed, and tries again the next time", async () => {
    let times = 0;
    const { registry, providers } = desk({ auth: login(500) });
    const refreshToken = async () => {
      times += 1;
      throw new Error("the account is closed");
    };
    providers.register("corp", { ...mine, apiKey: undefined, oauth: { ...oauth, refreshToken } });
    const model = registry.find("corp", "large")!;
    for (const _ of [1, 2]) {
      await expect(async () => registry.credentials(model)).rejects.toThrow(
        'The login of "corp" has expired and could not be renewed: the account is closed',
      );
    }
    expect(times).toBe(2);
  });

  it("is logged in to and out of, which may change its models", async () => {
    const kept: unknown[] = [];
    const { registry, providers, changes } = desk({ keepLogin: async (...given) => void kept.push(given) });
    const asked: unknown[] = [];
    const logIn = async (callbacks: unknown) => {
      asked.push(callbacks);
      return { access: "tok", refresh: "r", expires: 9000, account: "acme" };
    };
    providers.register("corp", { ...mine, apiKey: undefined, oauth: { ...oauth, login: logIn } });
    expect(registry.available()).toEqual([]);
    await providers.login("corp", "callbacks");
    expect([asked, changes()]).toEqual([["callbacks"], 2]);
    const model = registry.find("corp", "large")!;
    expect(model.name).toBe("Mine Large (EU)");
    expect(await registry.credentials(model)).toEqual({ apiKey: "acme:tok" });
    await providers.logout("corp");
    expect([registry.available(), registry.find("corp", "large")?.name]).toEqual([[], "Mine Large"]);
    expect(kept.map((given) => (given as unknown[])[1] !== undefined)).toEqual([true, false]);
  });

  it("cannot be logged in to with nothing, or when it is not there", async () => {
    const { registry, providers } = desk();
    providers.register("corp", { ...mine, apiKey: undefined, oauth: { ...oauth, login: async () => undefined } });
    await expect(providers.login("corp", {})).rejects.toThrow('The login of "corp" needs {"type":"oauth"');
    await expect(providers.login("nobody", {})).rejects.toThrow("Unknown OAuth provider: nobody");
    expect(registry.available()).toEqual([]);
  });
});

it("a key for this process goes before all others", async () => {
  const { registry, providers } = desk();
  providers.register("mine", mine);
  registry.setRuntimeKey("mine", "runtime");
  expect(await registry.credentials(registry.find("mine", "large")!)).toEqual({ apiKey: "runtime" });
  registry.setRuntimeKey("mine", undefined);
  expect(await registry.credentials(registry.find("mine", "large")!)).toEqual({ apiKey: "literal-key" });
});

const listed = (id: string, more: object = {}) => ({ id, name: id, api: "harbour", provider: "harbour", ...more });
/** As an extension of a later version brings it along: an object with functions of its own. */
const harbour = (more: object = {}) => ({
  id: "harbour",
  name: "The harbour",
  baseUrl: "https://harbour.test",
  getModels: () => [listed("pier"), listed("quay", { api: "openai-completions", promptCache: { short: 60 } })],
  streamSimple: (model: Model, _context: unknown, options: Record<string, unknown>) => [
    {
      type: "done",
      reason: "stop",
      message: said(`${model.baseUrl} ${options.apiKey} ${JSON.stringify(options.headers)}`),
    },
  ],
  ...more,
});
const said = (text: string) => answer([{ type: "text", text }]);
const ask = async (registry: ReturnType<typeof desk>["registry"], id: string) => {
  const model = registry.find("harbour", id)!;
  const { apiKey, headers } = await registry.credentials(model);
  const deltas = await collect(streamAssistant(testRequest({ model, apiKey, headers })));
  return deltas.flatMap((delta) =>
    delta.type === "grow" ? [delta.text] : delta.type === "error" ? [delta.error.message] : [],
  );
};

describe("a whole provider", () => {
  it("answers for all its models, whatever they speak, and needs no key that it does not ask for", async () => {
    const { registry, providers } = desk();
    providers.register("harbour", harbour());
    expect(ids(registry.available())).toEqual(["harbour/pier", "harbour/quay"]);
    expect(registry.provider("harbour")?.row.name).toBe("The harbour");
    expect(registry.find("harbour", "quay")).toMatchObject({
      promptCache: { short: 60 },
      baseUrl: "https://harbour.test",
    });
    expect(await ask(registry, "pier")).toEqual(["https://harbour.test undefined undefined"]);
    expect(await ask(registry, "quay")).toEqual(["https://harbour.test undefined undefined"]);
    providers.unregister("harbour");
    expect(registry.available()).toEqual([]);
  });

  it("works out what a request needs, from what is kept or by itself", async () => {
    const seen: unknown[] = [];
    const auth = {
      apiKey: {
        name: "Pass",
        async resolve({ credential, env }: { credential?: unknown; env: Record<string, string> }) {
          seen.push(credential, env.PASS);
          return { auth: { apiKey: "pass", headers: { gate: "7" }, baseUrl: "https://gate.test" } };
        },
      },
    };
    const { registry, providers } = desk({ env: { PASS: "x" }, auth: authFile({ type: "api_key", key: "kept" }) });
    providers.register("harbour", harbour({ auth }));
    expect(await ask(registry, "pier")).toEqual(['https://gate.test pass {"gate":"7"}']);
    expect(seen).toEqual([{ type: "api_key", key: "kept" }, "x"]);
    providers.register("harbour", harbour({ auth: { apiKey: { name: "Pass", resolve: async () => undefined } } }));
    expect(await ask(registry, "pier")).toEqual(["https://harbour.test kept undefined"]);
    const none = desk();
    none.providers.register("harbour", harbour({ auth: { apiKey: { name: "Pass", resolve: async () => undefined } } }));
    expect(await ask(none.registry, "pier")).toEqual(['No key for "harbour": its provider finds none (Pass)']);
  });

  it("names the variables of its keys, also after it is gone, and whatever else is in its object", () => {
    const { providers } = desk({ env: { BARE: "x", HDR_BARE: "x" } });
    const model = { ...mine.models[0], headers: { "x-m": `Bearer \${OF_MODEL}` }, compat: {}, self: {} };
    model.self = model;
    model.compat = { model };
    const headers = { "x-h": "HDR_BARE", "x-p": "PLAIN", "x-k": "!pass $COMMAND" };
    providers.register("bare", { ...mine, apiKey: "BARE", headers, models: [model], oauth: { name: "n", model } });
    const compat = { options: { token: `\${OPT}` }, model };
    const modelOverrides = { m: { headers: { "x-o": "$OF_OVERRIDE" }, compat } };
    providers.register("groq", { apiKey: "$OTHER", compat, modelOverrides });
    const auth = { apiKey: { name: "Pass", variables: ["PASS", "OLD_PASS"] } };
    providers.register("harbour", harbour({ auth }));
    providers.unregister("bare");
    providers.clear();
    const named = ["BARE", "HDR_BARE", "OF_MODEL", "OF_OVERRIDE", "OLD_PASS", "OPT", "OTHER", "PASS"];
    expect([...providers.keyVariables].toSorted()).toEqual(named);
  });

  it("has variables for its key, and is there when one of them is", () => {
    const auth = { apiKey: { name: "Pass", variables: ["PASS", "OLD_PASS"] } };
    const { registry, providers } = desk();
    providers.register("harbour", harbour({ auth }));
    expect(registry.available()).toEqual([]);
    const old = desk({ env: { OLD_PASS: "x" } });
    old.providers.register("harbour", harbour({ auth }));
    expect(ids(old.registry.available())).toEqual(["harbour/pier", "harbour/quay"]);
  });

  it("logs in, is asked which key that gives, and renews", async () => {
    const auth = {
      oauth: {
        name: "Berth",
        async login(interaction: { prompt(question: object): Promise<string>; notify(event: object): void }) {
          interaction.notify({ type: "auth_url", url: "https://harbour.test/berth" });
          return { access: await interaction.prompt({ type: "text", message: "Code?" }), refresh: "r", expires: 1 };
        },
        refresh: async () => ({ access: "renewed", refresh: "r", expires: 9999 }),
        toAuth: ({ access }: { access: string }) => ({ apiKey: `berth ${access}` }),
      },
    };
    const { registry, providers } = desk();
    providers.register("harbour", harbour({ auth }));
    expect(providers.logins()).toEqual([{ id: "harbour", name: "Berth" }]);
    const asked: unknown[] = [];
    await providers.login("harbour", {
      onAuth: (where: unknown) => asked.push(where),
      async onPrompt(question: unknown) {
        asked.push(question);
        return "code";
      },
    });
    expect(asked).toEqual([
      { type: "auth_url", url: "https://harbour.test/berth" },
      { type: "text", message: "Code?" },
    ]);
    expect(await ask(registry, "pier")).toEqual(["https://harbour.test berth renewed undefined"]);
  });

  it.each([
    ["nobody to ask", { streamSimple: undefined }, "streamSimple is missing"],
    ["no list", { getModels: () => "pier" }, "getModels must give back a list"],
    ["a model without a name", { getModels: () => [{ api: "harbour" }] }, "models[0].id is missing"],
    ["an address that is none", { baseUrl: "harbour" }, 'baseUrl is "harbour", which is not a URL'],
    ["no models, and no way to find any", { getModels: () => [] }, "models is missing"],
  ])("with %s is refused", (_what, more, why) => {
    const { providers } = desk();
    expect(() => providers.register("harbour", harbour(more))).toThrow(`registerProvider("harbour"): ${why}`);
  });
});

describe("models that have to be found out", () => {
  const news = () => {
    let models: object[] = [];
    const contexts: Record<string, unknown>[] = [];
    const refreshModels = async (context: { publish(news: { update(): void }): void }) => {
      contexts.push({ ...context });
      const update = (): void => {
        models = [listed("pier")];
      };
      context.publish({ update });
    };
    return { contexts, provider: harbour({ getModels: () => models, refreshModels }) };
  };

  it("are there when the provider has been asked, and it is asked rarely", async () => {
    const { registry, providers, problems } = desk();
    const { provider, contexts } = news();
    providers.register("harbour", provider);
    expect(providers.isWaiting).toBe(true);
    expect(registry.available()).toEqual([]);
    await providers.refresh();
    expect(providers.isWaiting).toBe(false);
    expect(ids(registry.available())).toEqual(["harbour/pier"]);
    expect(contexts[0]).toMatchObject({ signal: expect.any(AbortSignal), allowNetwork: true, force: false });
    expect(providers.refresh()).toBeUndefined();
    await providers.refresh(true);
    expect(contexts[1]).toMatchObject({ force: true });
    await clock.advance(60_000);
    expect(providers.refresh()).toBeInstanceOf(Promise);
    expect(problems).toEqual([]);
  });

  it("are asked for again when another provider takes its place", async () => {
    const { registry, providers } = desk();
    providers.register("harbour", news().provider);
    await providers.refresh();
    const { provider, contexts } = news();
    providers.register("harbour", provider);
    expect(registry.available()).toEqual([]);
    await providers.refresh();
    expect(contexts).toHaveLength(1);
    expect(ids(registry.available())).toEqual(["harbour/pier"]);
  });

  it("may be given back as a list by what is only said of a provider", async () => {
    const { registry, providers } = desk();
    const found = [[{ id: "small" }, { id: "huge" }], []];
    providers.register("mine", { ...mine, refreshModels: async () => found.shift() });
    expect(ids(registry.available())).toEqual(["mine/large"]);
    await providers.refresh();
    expect(ids(registry.available())).toEqual(["mine/small", "mine/huge"]);
    await providers.refresh(true);
    expect(registry.available()).toEqual([]);
    expect(() => providers.register("mine", { refreshModels: 7 })).toThrow("refreshModels must be a function");
  });

  it("stay as they were when that fails, takes too long, or is about a provider that is gone", async () => {
    const { registry, providers, problems } = desk();
    const fails = async (): Promise<unknown> => {
      throw new Error("fog");
    };
    providers.register("mine", { ...mine, refreshModels: fails });
    await providers.refresh();
    providers.register("mine", { refreshModels: () => "nonsense" });
    await providers.refresh(true);
    providers.register("mine", { refreshModels: () => new Promise(() => undefined) });
    const looking = providers.refresh(true);
    await clock.advance(10_000);
    await looking;
    expect(problems).toEqual([
      "mine: fog",
      'mine: registerProvider("mine"): refreshModels must give back a list of models',
      "mine: no answer within 10 s",
    ]);
    expect(ids(registry.available())).toEqual(["mine/large"]);
    const { provider } = news();
    providers.register("harbour", provider);
    const late = providers.refresh();
    providers.unregister("harbour");
    await late;
    expect(ids(registry.available())).toEqual(["mine/large"]);
    expect(problems).toHaveLength(3);
  });
});

const authFile = (entry: object) => ({ name: "auth.json", value: { harbour: entry } });
