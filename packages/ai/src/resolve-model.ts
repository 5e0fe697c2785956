import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import { PROVIDER_DEFAULTS } from "./catalogue.ts";
import { DEFAULT_THINKING_LEVEL, isThinkingLevel } from "./thinking-levels.ts";

/** From what people write to a model. Pure. */

export interface ScopedModel {
  model: Model;
  /** Given as `:level` behind the name. */
  thinkingLevel?: ThinkingLevel;
}

export type ModelChoice = ({ ok: true; warning?: string } & ScopedModel) | { ok: false; error: string };

/** `--provider` and `--model`; undefined when neither was given. */
export function resolveModelOption(
  option: { provider?: string; model?: string },
  models: readonly Model[],
): ModelChoice | undefined {
  const { provider: named, model: pattern } = option;
  if (named === undefined && pattern === undefined) return undefined;
  const provider = named === undefined ? undefined : knownProvider(named, models);
  if (named !== undefined && provider === undefined) {
    return { ok: false, error: `Unknown provider "${named}". Use --list-models to see available providers/models.` };
  }
  if (pattern === undefined) return providerDefault(provider ?? "", models);
  return resolvePattern(pattern, provider, models);
}

function resolvePattern(pattern: string, named: string | undefined, models: readonly Model[]): ModelChoice {
  const inferred = named ?? providerPrefix(pattern, models);
  const prefix = inferred === undefined ? undefined : `${inferred}/`.toLowerCase();
  const isPrefixed = prefix !== undefined && pattern.toLowerCase().startsWith(prefix);
  const id = isPrefixed ? pattern.slice(prefix.length) : pattern;
  const own = inferred === undefined ? models : models.filter((model) => model.provider === inferred);
  const found = matchModel(id, own) ?? (named === undefined && isPrefixed ? matchModel(pattern, models) : undefined);
  if (found) return { ok: true, ...found };
  if (inferred !== undefined && id !== "") return unlistedModel(id, inferred, own);
  return { ok: false, error: `Model "${pattern}" not found. Use --list-models to see available models.` };
}

/** A model we have not heard of may exist all the same: it gets the figures of the provider's default model. */
function unlistedModel(text: string, provider: string, own: readonly Model[]): ModelChoice {
  const { name: id, level } = splitLevel(text);
  const template = own.find((model) => model.id === PROVIDER_DEFAULTS[provider]) ?? own[0]!;
  return {
    ok: true,
    model: { ...template, id, name: id },
    ...(level ? { thinkingLevel: level } : {}),
    warning: `Model "${id}" not found for provider "${provider}". Using custom model id.`,
  };
}

function providerDefault(provider: string, models: readonly Model[]): ModelChoice {
  const own = models.filter((model) => model.provider === provider);
  const model = own.find((candidate) => candidate.id === PROVIDER_DEFAULTS[provider]) ?? own[0];
  if (model) return { ok: true, model };
  return { ok: false, error: `Unknown provider "${provider}". Use --list-models to see available providers/models.` };
}

function knownProvider(name: string, models: readonly Model[]): string | undefined {
  return models.find((model) => model.provider.toLowerCase() === name.toLowerCase())?.provider;
}

function providerPrefix(pattern: string, models: readonly Model[]): string | undefined {
  const slash = pattern.indexOf("/");
  return slash > 0 ? knownProvider(pattern.slice(0, slash), models) : undefined;
}

/** Exact, then part of a name, then the same without a `:level` at the end. A suffix that is no level matches nothing. */
function matchModel(pattern: string, models: readonly Model[]): ScopedModel | undefined {
  const model = matchExact(pattern, models) ?? matchPart(pattern, models);
  if (model) return { model };
  const { name, level } = splitLevel(pattern);
  const found = level === undefined ? undefined : matchModel(name, models);
  return found && level ? { model: found.model, thinkingLevel: level } : undefined;
}

function matchExact(pattern: string, models: readonly Model[]): Model | undefined {
  const text = pattern.toLowerCase();
  return models.find((model) => {
    const id = model.id.toLowerCase();
    return id === text || `${model.provider.toLowerCase()}/${id}` === text;
  });
}

/** Names that move with the vendor (no date, or `-latest`) go before dated ones, then the greatest id wins. */
function matchPart(pattern: string, models: readonly Model[]): Model | undefined {
  const text = pattern.toLowerCase();
  if (text === "") return undefined;
  const hits = models.filter(
    (model) => model.id.toLowerCase().includes(text) || model.name.toLowerCase().includes(text),
  );
  const aliases = hits.filter((model) => !/-\d{8}$/.test(model.id));
  return [...(aliases.length > 0 ? aliases : hits)].sort((a, b) => (a.id < b.id ? 1 : -1))[0];
}

function splitLevel(text: string): { name: string; level?: ThinkingLevel } {
  const colon = text.lastIndexOf(":");
  const suffix = text.slice(colon + 1);
  return colon > 0 && isThinkingLevel(suffix) ? { name: text.slice(0, colon), level: suffix } : { name: text };
}

/** `--models` and `enabledModels`: names, parts of names and globs, each with an optional `:level`. */
export function resolveScope(
  patterns: readonly string[],
  models: readonly Model[],
): { scoped: ScopedModel[]; warnings: string[] } {
  const scoped: ScopedModel[] = [];
  const warnings: string[] = [];
  for (const pattern of patterns.map((text) => text.trim()).filter((text) => text !== "")) {
    const hits = /[*?[]/.test(pattern) ? matchGlob(pattern, models) : matchScopeName(pattern, models, warnings);
    if (hits.length === 0) warnings.push(`No models match pattern "${pattern}"`);
    for (const hit of hits) if (!scoped.some(({ model }) => model === hit.model)) scoped.push(hit);
  }
  return { scoped, warnings };
}

/** More forgiving than the option: a suffix that is no level is dropped with a warning. */
function matchScopeName(pattern: string, models: readonly Model[], warnings: string[]): ScopedModel[] {
  const found = matchModel(pattern, models);
  if (found) return [found];
  const colon = pattern.lastIndexOf(":");
  const lenient = colon > 0 ? matchModel(pattern.slice(0, colon), models) : undefined;
  if (!lenient) return [];
  warnings.push(`Invalid thinking level "${pattern.slice(colon + 1)}" in pattern "${pattern}"; it is ignored`);
  return [lenient];
}

function matchGlob(pattern: string, models: readonly Model[]): ScopedModel[] {
  const { name, level } = splitLevel(pattern);
  const glob = globToRegExp(name);
  const hits = models.filter((model) => glob.test(`${model.provider}/${model.id}`) || glob.test(model.id));
  return hits.map((model) => ({ model, ...(level ? { thinkingLevel: level } : {}) }));
}

/** `*` and `?` stay within a part of the path, `**` crosses slashes, `[abc]` is one of these characters. */
function globToRegExp(glob: string): RegExp {
  const source = glob.replace(/\*\*|\*|\?|\[[^\]]+\]|[\\^$.|+(){}[\]]/g, (token) => {
    if (token === "**") return ".*";
    if (token === "*") return "[^/]*";
    if (token === "?") return "[^/]";
    if (token.length > 1) return token.replace(/^\[!/, "[^").replace(/\\/g, "\\\\");
    return `\\${token}`;
  });
  return new RegExp(`^${source}$`, "i");
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
  all: readonly Model[];
  available: readonly Model[];
}

/** The model a session starts with. */
export function initialModel(inputs: InitialModelInputs): Model | undefined {
  const { option, scoped, isNewSession, restored, available } = inputs;
  if (option) return option;
  const saved = savedDefault(inputs);
  if (isNewSession && scoped.length > 0) {
    return (scoped.find(({ model }) => model === saved) ?? scoped[0])?.model;
  }
  const preferred = available.find((model) => PROVIDER_DEFAULTS[model.provider] === model.id);
  return restored ?? saved ?? preferred ?? available[0];
}

function savedDefault({ settings, all }: InitialModelInputs): Model | undefined {
  if (!settings || (settings.model === undefined && settings.provider === undefined)) return undefined;
  const { provider, model } = settings;
  if (model === undefined) {
    const choice = providerDefault(provider ?? "", all);
    return choice.ok ? choice.model : undefined;
  }
  return matchExact(model, provider === undefined ? all : all.filter((candidate) => candidate.provider === provider));
}

/** The first level that was given (option, `:level`, session, settings). Not yet fitted to a model: the next one may allow more. */
export function wantedThinkingLevel(...given: (string | undefined)[]): ThinkingLevel {
  const isLevel = (level: string | undefined): level is ThinkingLevel => level !== undefined && isThinkingLevel(level);
  return given.find(isLevel) ?? DEFAULT_THINKING_LEVEL;
}
