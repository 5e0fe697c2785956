import type { Model } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import {
  type InitialModelInputs,
  initialModel,
  type ModelSource,
  resolveModelOption,
  resolveScope,
  savedDefault,
  wantedThinkingLevel,
} from "./resolve-model.ts";
import { testModel } from "./testing.ts";

const model = (name: string): Model => {
  const slash = name.indexOf("/");
  return testModel({ provider: name.slice(0, slash), id: name.slice(slash + 1), name: name.slice(slash + 1) });
};
const models = [
  "anthropic/claude-opus-5-5",
  "anthropic/claude-sonnet-4-5",
  "anthropic/claude-sonnet-4-5-20250929",
  "anthropic/claude-haiku-4-5-20251001",
  "router/anthropic/claude-sonnet-4-5",
  "router/qwen:free",
  "local/llama-3",
].map(model);
/** Models with a list; what is usable is said by `provider/id`, and `bare` is a provider without a list. */
function source(all: readonly Model[], usable: (model: Model) => boolean = () => true): ModelSource {
  const modelsOf = (provider: string) => all.filter((model) => model.provider === provider);
  return {
    providers: () => [...new Set(all.map(({ provider }) => provider)), "bare"],
    modelsOf,
    all: () => all,
    available: () => all.filter(usable),
    unlisted: (provider, id) => ({ ...(modelsOf(provider)[0] ?? testModel({ provider })), id, name: id }),
    firstOf: () => undefined,
    hasCredentials: usable,
  };
}
const nameOf = ({ provider, id }: Model) => `${provider}/${id}`;

test.each<[provider: string | undefined, pattern: string | undefined, expected: unknown]>([
  [undefined, undefined, undefined],
  [undefined, "claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"],
  [undefined, "CLAUDE-Sonnet-4-5", "anthropic/claude-sonnet-4-5"],
  [undefined, "anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"],
  ["Anthropic", "claude-opus-5-5", "anthropic/claude-opus-5-5"],
  ["anthropic", "anthropic/claude-opus-5-5", "anthropic/claude-opus-5-5"],
  ["router", "anthropic/claude-sonnet-4-5", "router/anthropic/claude-sonnet-4-5"],
  [undefined, "router/anthropic/claude-sonnet-4-5", "router/anthropic/claude-sonnet-4-5"],
  ["anthropic", undefined, "anthropic/claude-opus-5-5"],
  ["local", undefined, "local/llama-3"],
  // Part of a name: without a date before with one, then the greatest.
  ["anthropic", "sonnet", "anthropic/claude-sonnet-4-5"],
  [undefined, "haiku", "anthropic/claude-haiku-4-5-20251001"],
  [undefined, "llama", "local/llama-3"],
  ["anthropic", "claude", "anthropic/claude-sonnet-4-5"],
  // Levels, and colons that are part of an id.
  [undefined, "llama:high", "local/llama-3 at high"],
  [undefined, "anthropic/sonnet:xhigh", "anthropic/claude-sonnet-4-5 at xhigh"],
  [undefined, "qwen:free", "router/qwen:free"],
  [undefined, "qwen:free:low", "router/qwen:free at low"],
  [undefined, "llama:high:low", "local/llama-3 at low"],
])("--provider %s --model %s", (provider, pattern, expected) => {
  const choice = resolveModelOption({ provider, model: pattern }, source(models));
  const said = choice?.ok ? nameOf(choice.model) + (choice.thinkingLevel ? ` at ${choice.thinkingLevel}` : "") : choice;
  expect(said).toEqual(expected);
});

const notFound = (name: string) =>
  `Model "${name}" not found. Use --list-models to see available models; \`tiller models\` shows those of servers on this machine too, as in --model ollama/NAME.`;

test.each<[provider: string | undefined, pattern: string | undefined, error: string]>([
  ["nobody", "x", 'Unknown provider "nobody". Use --list-models to see available providers/models.'],
  [
    "bare",
    undefined,
    'No model of "bare" is known: name one with --model bare/NAME (`tiller models` shows those of servers on this machine).',
  ],
  ["nobody", undefined, 'Unknown provider "nobody". Use --list-models to see available providers/models.'],
  [undefined, "gpt-9", notFound("gpt-9")],
  [undefined, "llama:loud", notFound("llama:loud")],
  [undefined, "nobody/x", notFound("nobody/x")],
  [undefined, "", notFound("")],
])("--provider %s --model %s is refused", (provider, pattern, error) => {
  expect(resolveModelOption({ provider, model: pattern }, source(models))).toEqual({ ok: false, error });
});

test.each<[option: { provider?: string; model: string }, id: string, level: string | undefined]>([
  [{ provider: "anthropic", model: "claude-brand-new" }, "claude-brand-new", undefined],
  [{ model: "anthropic/claude-brand-new:high" }, "claude-brand-new", "high"],
])("a model of a known provider that is not listed is tried: %j", (option, id, thinkingLevel) => {
  expect(resolveModelOption(option, source(models))).toEqual({
    ok: true,
    model: { ...models[0], id, name: id },
    ...(thinkingLevel ? { thinkingLevel } : {}),
    warning: `Model "${id}" not found for provider "anthropic". Using custom model id.`,
  });
});

test("of a provider without a list any model may be named, without a warning", () => {
  const others = source([...models, model("router/bare/qwen3:8b")]);
  for (const option of [{ provider: "Bare", model: "qwen3:8b" }, { model: "bare/qwen3:8b" }]) {
    expect(resolveModelOption(option, others)).toEqual({
      ok: true,
      model: testModel({ provider: "bare", id: "qwen3:8b", name: "qwen3:8b" }),
    });
  }
  expect(resolveModelOption({ model: "bare/" }, source(models))).toMatchObject({ ok: false });
});

test("the name of a server that tells its models means the first of them", () => {
  const first = testModel({ provider: "bare", id: "default" });
  const asked = { ...source(models), firstOf: (provider: string) => (provider === "bare" ? first : undefined) };
  expect(resolveModelOption({ provider: "bare" }, asked)).toEqual({ ok: true, model: first });
  expect(savedDefault({ provider: "bare" }, asked)).toBe(first);
  expect(savedDefault({ provider: "local" }, asked)).toMatchObject({ id: "llama-3" });
});

test.each<[pattern: string, expected: string | undefined]>([
  ["qwen3:8b", "ollama/qwen3:8b"],
  ["qwen3:8b:high", "ollama/qwen3:8b at high"],
  ["library/llama3.2:1b-instruct-q4_K_M", "ollama/library/llama3.2:1b-instruct-q4_K_M"],
  ["gemma:latest", "ollama/gemma:latest"],
  // A level that there is not, and a tag that a list has.
  ["llama:loud", undefined],
  ["gpt-9", undefined],
  ["qwen:free", "router/qwen:free"],
])("a name with a tag is Ollama's, unless a list has it: --model %s", (pattern, expected) => {
  const all = source(models);
  const choice = resolveModelOption({ model: pattern }, { ...all, providers: () => [...all.providers(), "ollama"] });
  const said = choice?.ok && nameOf(choice.model) + (choice.thinkingLevel ? ` at ${choice.thinkingLevel}` : "");
  expect(said || undefined).toBe(expected);
  if (expected?.startsWith("ollama/")) expect(choice).toMatchObject({ warning: expect.stringContaining("Ollama") });
});

const GPTS = [
  "openai/gpt-5",
  "openai/gpt-5-mini",
  "azure/gpt-5",
  "openrouter/openai/gpt-5",
  "openrouter/gpt-6-preview-20260101",
].map(model);

test.each<[keys: string[], pattern: string, expected: string]>([
  [["openai"], "gpt-5", "openai/gpt-5"],
  [["azure"], "gpt-5", "azure/gpt-5"],
  [["azure", "openai"], "gpt-5", "openai/gpt-5"],
  // A reseller writes the vendor before the name.
  [["openrouter"], "gpt-5", "openrouter/openai/gpt-5"],
  [["openrouter"], "gpt-5:low", "openrouter/openai/gpt-5"],
  // Nobody has a key: the first, and the prompt will say what is missing.
  [[], "gpt-5", "openai/gpt-5"],
  // Parts of a name, too, where there is a key.
  [["openai"], "gpt", "openai/gpt-5-mini"],
  [["azure"], "gpt", "azure/gpt-5"],
  [["openrouter"], "GPT-6", "openrouter/gpt-6-preview-20260101"],
  [["azure"], "mini", "openai/gpt-5-mini"],
  // Who names a provider gets it, key or not.
  [["azure"], "openai/gpt-5", "openai/gpt-5"],
  [["openai"], "azure/gpt", "azure/gpt-5"],
])("with keys for %j, --model %s is %s", (keys, pattern, expected) => {
  const choice = resolveModelOption(
    { model: pattern },
    source(GPTS, ({ provider }) => keys.includes(provider)),
  );
  expect(choice?.ok && nameOf(choice.model)).toBe(expected);
  // Who is sent to a provider without a key, without having named it, is told so.
  const isSilent = keys.includes(expected.split("/")[0] ?? "") || pattern.includes("/");
  const warning = `No provider with a key has a model "${pattern}". Using ${expected}, which has none; to use a server on this machine: --model ollama/${pattern}`;
  expect(choice?.ok && choice.warning).toBe(isSilent ? undefined : warning);
});

test.each<[settings: { provider?: string; model?: string }, expected: string | undefined]>([
  [{}, undefined],
  [{ provider: "anthropic" }, "anthropic/claude-opus-5-5"],
  [{ provider: "ANTHROPIC", model: "claude-sonnet-4-5" }, "anthropic/claude-sonnet-4-5"],
  [{ model: "claude-sonnet-4-5" }, "anthropic/claude-sonnet-4-5"],
  // A newer model than the list, and one of a provider without a list.
  [{ provider: "anthropic", model: "claude-next" }, "anthropic/claude-next"],
  [{ provider: "bare", model: "qwen3" }, "bare/qwen3"],
  [{ provider: "bare" }, undefined],
  [{ provider: "gone", model: "x" }, undefined],
  // Settings are exact: half a name is no name.
  [{ model: "sonnet" }, undefined],
])("settings %j mean %s", (settings, expected) => {
  const saved = savedDefault(settings, source(models));
  expect(saved && nameOf(saved)).toBe(expected);
});

test.each<[patterns: string[], names: string[], warnings: string[]]>([
  [["claude-opus-5-5", " llama:low ", ""], ["anthropic/claude-opus-5-5", "local/llama-3 at low"], []],
  // A glob is held against provider/id and against the id alone.
  [["anthropic/*"], models.slice(0, 5).map(nameOf), []],
  [["ANTHROPIC/*haiku*:high"], ["anthropic/claude-haiku-4-5-20251001 at high"], []],
  [["*opus*", "claude-opus-5-5:high"], ["anthropic/claude-opus-5-5"], []],
  [["router/*"], ["router/qwen:free"], []],
  [["router/**"], ["router/anthropic/claude-sonnet-4-5", "router/qwen:free"], []],
  [["llama-?", "[lq]*-3"], ["local/llama-3"], []],
  [["gpt-*", "nothing"], [], ['No models match pattern "gpt-*"', 'No models match pattern "nothing"']],
  [["llama:loud"], ["local/llama-3"], ['Invalid thinking level "loud" in pattern "llama:loud"; it is ignored']],
  [["bare/qwen3:8b", "bare/qwen3:high", "bare/qwen3:8b"], ["bare/qwen3:8b", "bare/qwen3 at high"], []],
  [["a.b*(c"], [], ['No models match pattern "a.b*(c"']],
  [["llama-[9-0]", "llama-3"], ["local/llama-3"], ['No models match pattern "llama-[9-0]"']],
  [["router/***"], ["router/anthropic/claude-sonnet-4-5", "router/qwen:free"], []],
  [[`${"*".repeat(40)}zzz`], [], [`No models match pattern "${"*".repeat(40)}zzz"`]],
])("scope %j", (patterns, names, warnings) => {
  const scope = resolveScope(patterns, source(models));
  const said = scope.scoped.map(
    (entry) => nameOf(entry.model) + (entry.thinkingLevel ? ` at ${entry.thinkingLevel}` : ""),
  );
  expect({ said, warnings: scope.warnings }).toEqual({ said: names, warnings });
});

test("a glob that opens a million brackets holds nobody up", () => {
  const pattern = "[".repeat(1_000_000);
  expect(resolveScope([pattern, "llama-3"], source(models)).scoped.map((entry) => nameOf(entry.model))).toEqual([
    "local/llama-3",
  ]);
});

test.each([
  ["levels", `llama${":high".repeat(1_000_000)}`],
  ["digits", `a:${"1".repeat(1_000_000)}!`],
])("a name with a million %s holds nobody up", (_, pattern) => {
  expect(resolveModelOption({ model: pattern }, source(models))).toMatchObject({ ok: false });
});

const [opus, sonnet, , haiku] = models as [Model, Model, Model, Model];
const llama = models.at(-1)!;
const usable = (...some: Model[]) => source(models, (candidate) => some.includes(candidate));

test.each<[story: string, inputs: Partial<InitialModelInputs>, expected: Model | undefined]>([
  ["the option wins", { option: haiku, scoped: [{ model: opus }], restored: sonnet }, haiku],
  ["then the first in scope", { scoped: [{ model: haiku }, { model: opus }], restored: sonnet }, haiku],
  [
    "or the saved one, when it is in scope",
    { scoped: [{ model: haiku }, { model: opus }], settings: { model: "claude-opus-5-5" } },
    opus,
  ],
  [
    "a continued session keeps its model",
    { scoped: [{ model: haiku }], restored: sonnet, isNewSession: false },
    sonnet,
  ],
  ["then the settings", { settings: { provider: "anthropic", model: "claude-sonnet-4-5" } }, sonnet],
  ["also as provider/id", { settings: { model: "local/llama-3" } }, llama],
  ["also a provider alone", { settings: { provider: "anthropic" } }, opus],
  ["even without a key for it", { settings: { model: "local/llama-3" }, source: usable(opus) }, llama],
  ["settings that name nothing are passed over", { settings: { provider: "gone", model: "x" } }, opus],
  ["then the default of a provider", { source: usable(haiku, opus) }, opus],
  ["then the first", { source: usable(llama, haiku) }, haiku],
  ["then none", { source: usable() }, undefined],
])("initial model: %s", (_story, inputs, expected) => {
  expect(initialModel({ scoped: [], isNewSession: true, source: source(models), ...inputs })).toBe(expected);
});

test("wanted thinking: the first level that was given, whatever the model can do", () => {
  expect(wantedThinkingLevel()).toBe("medium");
  expect(wantedThinkingLevel(undefined, "low", "high")).toBe("low");
  expect(wantedThinkingLevel("nonsense", "low")).toBe("low");
  expect(wantedThinkingLevel("xhigh", "low")).toBe("xhigh");
});
