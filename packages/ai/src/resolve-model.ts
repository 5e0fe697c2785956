import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import { providerRow } from "./providers/index.ts";
import { DEFAULT_THINKING_LEVEL, isThinkingLevel } from "./thinking-levels.ts";

/** From what people write to a model. Pure. */

export interface ScopedModel {
  model: Model;
  /** Given as `:level` behind the name. */
  thinkingLevel?: ThinkingLevel;
}

export type ModelChoice = ({ ok: true; warning?: string } & ScopedModel) | { ok: false; error: string };

/** The models there are. What is not asked for need not be loaded. */
export interface ModelSource {
  /** Every provider that can be named. */
  providers(): readonly string[];
  modelsOf(provider: string): readonly Model[];
  all(): readonly Model[];
  /** Those that can be asked now. */
  available(): readonly Model[];
  /** A model of a known provider that no list has. */
  unlisted(provider: string, id: string): Model | undefined;
  /** Stands for the first model of a server that tells its models when it is asked; undefined for other providers. */
  firstOf(provider: string): Model | undefined;
  hasCredentials(model: Model): boolean;
}

/** `--provider` and `--model`; undefined when neither was given. */
export function resolveModelOption(
  option: { provider?: string; model?: string },
  source: ModelSource,
): ModelChoice | undefined {
  const { provider: named, model: pattern } = option;
  if (named === undefined && pattern === undefined) return undefined;
  const provider = named === undefined ? undefined : knownProvider(named, source);
  if (named !== undefined && provider === undefined) {
    return { ok: false, error: `Unknown provider "${named}". Use --list-models to see available providers/models.` };
  }
  if (pattern !== undefined) return resolvePattern(pattern, provider, source);
  const model = provider === undefined ? undefined : providerDefault(provider, source);
  if (model) return { ok: true, model };
  return {
    ok: false,
    error: `No model of "${provider}" is known: name one with --model ${provider}/NAME (\`tiller models\` shows those of servers on this machine).`,
  };
}

function resolvePattern(pattern: string, named: string | undefined, source: ModelSource): ModelChoice {
  const provider = named ?? providerPrefix(pattern, source);
  if (provider === undefined) {
    const found = matchAnywhere(pattern, source);
    if (found) return { ok: true, ...found, ...withoutKey(pattern, found.model, source) };
    return taggedModel(pattern, source) ?? notFound(pattern);
  }
  const isPrefixed = pattern.toLowerCase().startsWith(`${provider}/`.toLowerCase());
  const id = isPrefixed ? pattern.slice(provider.length + 1) : pattern;
  const own = source.modelsOf(provider);
  const found =
    matchModel(id, (part) => matchExact(part, own) ?? matchPart(part, own)) ??
    // Where no list is known, the name is taken as it is.
    (named === undefined && own.length > 0 ? matchAnywhere(pattern, source) : undefined);
  if (found) return { ok: true, ...found };
  return (id === "" ? undefined : unlistedModel(id, provider, source)) ?? notFound(pattern);
}

function notFound(pattern: string): ModelChoice {
  const hint = "`tiller models` shows those of servers on this machine too, as in --model ollama/NAME";
  return { ok: false, error: `Model "${pattern}" not found. Use --list-models to see available models; ${hint}.` };
}

/** Nobody shall land at a provider they have no key for without a word. */
function withoutKey(pattern: string, model: Model, source: ModelSource): { warning?: string } {
  if (source.hasCredentials(model)) return {};
  const name = `${model.provider}/${model.id}`;
  const others = `to use a server on this machine: --model ollama/${splitLevel(pattern).name}`;
  return { warning: `No provider with a key has a model "${pattern}". Using ${name}, which has none; ${others}` };
}

/** `qwen3:8b` is how Ollama writes a model and its size, and nobody else does. */
function taggedModel(pattern: string, source: ModelSource): ModelChoice | undefined {
  const { name, level } = splitLevel(pattern);
  if (!/^[\w./-]+:(?=latest$|[\w.-]*\d)[\w.-]+$/.test(name)) return undefined;
  const model = source.providers().includes("ollama") ? source.unlisted("ollama", name) : undefined;
  if (!model) return undefined;
  const warning = `Model "${name}" is in no list. Using ollama/${name}: names like this are Ollama's`;
  return { ok: true, model, ...(level ? { thinkingLevel: level } : {}), warning };
}

/** A model we have not heard of may exist all the same. Where no list is known, that is nothing to warn of. */
function unlistedModel(text: string, provider: string, source: ModelSource): ModelChoice | undefined {
  const { name: id, level } = splitLevel(text);
  const model = source.unlisted(provider, id);
  if (!model) return undefined;
  const warning = `Model "${id}" not found for provider "${provider}". Using custom model id.`;
  return {
    ok: true,
    model,
    ...(level ? { thinkingLevel: level } : {}),
    ...(source.modelsOf(provider).length > 0 ? { warning } : {}),
  };
}

/** Which model a provider means when only the provider is named. */
function defaultModelId(provider: string): string | undefined {
  return providerRow(provider)?.defaultModel;
}

function providerDefault(provider: string, source: ModelSource): Model | undefined {
  const own = source.modelsOf(provider);
  return own.find((model) => model.id === defaultModelId(provider)) ?? own[0] ?? source.firstOf(provider);
}

function knownProvider(name: string, source: ModelSource): string | undefined {
  return source.providers().find((provider) => provider.toLowerCase() === name.toLowerCase());
}

function providerPrefix(pattern: string, source: ModelSource): string | undefined {
  const slash = pattern.indexOf("/");
  return slash > 0 ? knownProvider(pattern.slice(0, slash), source) : undefined;
}

/** More of them are nobody's meaning, and each is another look at all models. */
const MOST_LEVELS = 8;

/** The whole text first, then the same without a `:level` at the end; the last one counts. A suffix that is no level matches nothing. */
function matchModel(pattern: string, match: (part: string) => Model | undefined): ScopedModel | undefined {
  const { level } = splitLevel(pattern);
  let name = pattern;
  for (let levels = 0; levels <= MOST_LEVELS; levels++) {
    const model = match(name);
    if (model) return levels > 0 && level ? { model, thinkingLevel: level } : { model };
    const shorter = splitLevel(name).name;
    if (shorter === name) return undefined;
    name = shorter;
  }
  return undefined;
}

/**
 * Over all providers. The same id is often at several: one that can be asked goes before one without a key, also when
 * a provider of many vendors' models writes the vendor before it (`openai/gpt-5`).
 */
function matchAnywhere(pattern: string, source: ModelSource): ScopedModel | undefined {
  const usable = source.available();
  return matchModel(
    pattern,
    (part) =>
      matchExact(part, usable) ??
      matchTail(part, usable) ??
      matchExact(part, source.all()) ??
      matchPart(part, usable) ??
      matchPart(part, source.all()),
  );
}

function matchExact(pattern: string, models: readonly Model[]): Model | undefined {
  const text = pattern.toLowerCase();
  return models.find((model) => {
    const id = model.id.toLowerCase();
    return id === text || `${model.provider.toLowerCase()}/${id}` === text;
  });
}

function matchTail(pattern: string, models: readonly Model[]): Model | undefined {
  return pattern === "" ? undefined : models.find(({ id }) => id.toLowerCase().endsWith(`/${pattern.toLowerCase()}`));
}

/** Names that move with the vendor (no date, or `-latest`) go before dated ones, then the greatest id wins. */
function matchPart(pattern: string, models: readonly Model[]): Model | undefined {
  const text = pattern.toLowerCase();
  if (text === "") return undefined;
  const hits = models.filter(
    (model) => model.id.toLowerCase().includes(text) || model.name.toLowerCase().includes(text),
  );
  const aliases = hits.filter((model) => !/-\d{8}$/.test(model.id));
  let best: Model | undefined;
  for (const model of aliases.length > 0 ? aliases : hits) if (!best || model.id > best.id) best = model;
  return best;
}

function splitLevel(text: string): { name: string; level?: ThinkingLevel } {
  const colon = text.lastIndexOf(":");
  const suffix = text.slice(colon + 1);
  return colon > 0 && isThinkingLevel(suffix) ? { name: text.slice(0, colon), level: suffix } : { name: text };
}

/** `--models` and `enabledModels`: names, parts of names and globs of usable models, each with an optional `:level`. */
export function resolveScope(
  patterns: readonly string[],
  source: ModelSource,
): { scoped: ScopedModel[]; warnings: string[] } {
  const scoped = new Map<string, ScopedModel>();
  const warnings: string[] = [];
  for (const pattern of patterns.map((text) => text.trim()).filter((text) => text !== "")) {
    const hits = /[*?[]/.test(pattern)
      ? matchGlob(pattern, source.available())
      : matchScopeName(pattern, source, warnings);
    if (hits.length === 0) warnings.push(`No models match pattern "${pattern}"`);
    for (const hit of hits) {
      // An id may hold slashes.
      const key = JSON.stringify([hit.model.provider, hit.model.id]);
      if (!scoped.has(key)) scoped.set(key, hit);
    }
  }
  return { scoped: [...scoped.values()], warnings };
}

/** More forgiving than the option: a suffix that is no level is dropped with a warning. */
function matchScopeName(pattern: string, source: ModelSource, warnings: string[]): ScopedModel[] {
  const usable = source.available();
  const match = (part: string): Model | undefined => matchExact(part, usable) ?? matchPart(part, usable);
  const found = matchModel(pattern, match) ?? unlistedInScope(pattern, source);
  if (found) return [found];
  const colon = pattern.lastIndexOf(":");
  const lenient = colon > 0 ? matchModel(pattern.slice(0, colon), match) : undefined;
  if (!lenient) return [];
  warnings.push(`Invalid thinking level "${pattern.slice(colon + 1)}" in pattern "${pattern}"; it is ignored`);
  return [lenient];
}

/** `ollama/qwen3`: of a provider without a list any name is as good as another. */
function unlistedInScope(pattern: string, source: ModelSource): ScopedModel | undefined {
  const provider = providerPrefix(pattern, source);
  if (provider === undefined || source.modelsOf(provider).length > 0) return undefined;
  const choice = unlistedModel(pattern.slice(provider.length + 1), provider, source);
  if (!choice?.ok || choice.model.id === "" || !source.hasCredentials(choice.model)) return undefined;
  return { model: choice.model, ...(choice.thinkingLevel ? { thinkingLevel: choice.thinkingLevel } : {}) };
}

const MOST_STARS = 4;
const LONGEST_GLOB = 500;

function matchGlob(pattern: string, models: readonly Model[]): ScopedModel[] {
  const { name, level } = splitLevel(pattern);
  // With more of it the engine may get lost, and a project may have written it.
  if (name.length > LONGEST_GLOB || (name.match(/\*+/g) ?? []).length > MOST_STARS) return [];
  const glob = globToRegExp(name);
  if (!glob) return [];
  const hits = models.filter((model) => glob.test(`${model.provider}/${model.id}`) || glob.test(model.id));
  return hits.map((model) => ({ model, ...(level ? { thinkingLevel: level } : {}) }));
}

/**
 * `*` and `?` stay within a part of the path, `**` crosses slashes, `[abc]` is one of these characters. Undefined when
 * nothing can match, as with `[z-a]`.
 */
function globToRegExp(glob: string): RegExp | undefined {
  const source = glob.replace(/\*\*+|\*|\?|\[[^\]]+\]|[\\^$.|+(){}[\]]/g, (token) => {
    if (token.startsWith("**")) return ".*";
    if (token === "*") return "[^/]*";
    if (token === "?") return "[^/]";
    if (token.length > 1) return token.replace(/^\[!/, "[^").replace(/\\/g, "\\\\");
    return `\\${token}`;
  });
  try {
    return new RegExp(`^${source}$`, "i");
  } catch {
    return undefined;
  }
}

export interface InitialModelInputs {
  /** What `resolveModelOption` gave. */
  option?: Model;
  scoped: readonly ScopedModel[];
  /** False when a session is continued: then its own model goes before the scope. */
  isNewSession: boolean;
  /** The model of the session that is continued. */
  restored?: Model;
  /** `defaultProvider` and `defaultModel`. */
  settings?: { provider?: string; model?: string };
  source: ModelSource;
}

/** The model a session starts with. */
export function initialModel(inputs: InitialModelInputs): Model | undefined {
  const { option, scoped, isNewSession, restored, source } = inputs;
  if (option) return option;
  const saved = savedDefault(inputs.settings ?? {}, source);
  if (isNewSession && scoped.length > 0) {
    return (scoped.find(({ model }) => isSame(model, saved)) ?? scoped[0])?.model;
  }
  if (restored ?? saved) return restored ?? saved;
  const available = source.available();
  return available.find((model) => defaultModelId(model.provider) === model.id) ?? available[0];
}

function isSame(model: Model, other: Model | undefined): boolean {
  return model.provider === other?.provider && model.id === other.id;
}

/** The model that the settings name; undefined when they name none or one that cannot be found. */
export function savedDefault(settings: { provider?: string; model?: string }, source: ModelSource): Model | undefined {
  const { provider: named, model } = settings;
  if (named === undefined) {
    return model === undefined ? undefined : (matchExact(model, source.available()) ?? matchExact(model, source.all()));
  }
  const provider = knownProvider(named, source);
  if (provider === undefined) return undefined;
  if (model === undefined) return providerDefault(provider, source);
  return matchExact(model, source.modelsOf(provider)) ?? source.unlisted(provider, model);
}

/** The first level that was given (option, `:level`, session, settings). Not yet fitted to a model: the next one may allow more. */
export function wantedThinkingLevel(...given: (string | undefined)[]): ThinkingLevel {
  const isLevel = (level: string | undefined): level is ThinkingLevel => level !== undefined && isThinkingLevel(level);
  return given.find(isLevel) ?? DEFAULT_THINKING_LEVEL;
}
