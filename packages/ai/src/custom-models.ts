import type { Model } from "@tiller/protocol/model";
import { CATALOGUE } from "./catalogue.ts";

/** Reads a parsed models.json: own providers, and changes to the built-in ones. What is wrong is told, the rest counts. */

export interface ProviderSettings {
  apiKey?: string;
  /** Needs no key at all. */
  keyless: boolean;
  /** Send the key as `Authorization: Bearer` too. */
  authHeader: boolean;
  headers: Record<string, string>;
}

export interface CustomModels {
  models: Model[];
  providers: Map<string, ProviderSettings>;
  /** By `provider/id`. Kept away from the models themselves, which hosts can see. */
  modelHeaders: Map<string, Record<string, string>>;
  problems: string[];
}

type Fields = Record<string, unknown>;
type Check = { expected: string; holds: (value: unknown) => boolean };

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isAmount = (value: unknown): boolean => typeof value === "number" && value >= 0 && Number.isFinite(value);

const TEXT: Check = { expected: "a text", holds: (value) => typeof value === "string" && value !== "" };
const FLAG: Check = { expected: "true or false", holds: (value) => typeof value === "boolean" };
const COUNT: Check = { expected: "a number above 0", holds: (value) => isAmount(value) && value !== 0 };
const OBJECT: Check = { expected: "an object", holds: isRecord };
const LIST: Check = { expected: "a list", holds: Array.isArray };
const TEXTS: Check = {
  expected: "an object of texts",
  holds: (value) => isRecord(value) && Object.values(value).every((text) => typeof text === "string"),
};
const LEVELS: Check = {
  expected: "an object of texts and nulls",
  holds: (value) => isRecord(value) && Object.values(value).every((name) => name === null || typeof name === "string"),
};
const INPUTS: Check = {
  expected: 'a list of "text" and "image"',
  holds: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((kind) => kind === "text" || kind === "image"),
};
const COSTS: Check = {
  expected: "an object of numbers (dollars per million tokens)",
  holds: (value) => isRecord(value) && Object.values(value).every(isAmount),
};

const PROVIDER_CHECKS: Readonly<Record<string, Check>> = {
  name: TEXT,
  baseUrl: TEXT,
  apiKey: TEXT,
  api: TEXT,
  auth: TEXT,
  headers: TEXTS,
  compat: OBJECT,
  authHeader: FLAG,
  models: LIST,
  modelOverrides: OBJECT,
};
const MODEL_CHECKS: Readonly<Record<string, Check>> = {
  id: TEXT,
  name: TEXT,
  api: TEXT,
  baseUrl: TEXT,
  reasoning: FLAG,
  input: INPUTS,
  cost: COSTS,
  contextWindow: COUNT,
  maxTokens: COUNT,
  headers: TEXTS,
  compat: OBJECT,
  thinkingLevelMap: LEVELS,
};

const NO_COST: Model["cost"] = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const OVERRIDES = ["baseUrl", "apiKey", "headers", "compat", "modelOverrides", "authHeader", "auth"];

export function readCustomModels(config: unknown): CustomModels {
  const result: CustomModels = { models: [...CATALOGUE], providers: new Map(), modelHeaders: new Map(), problems: [] };
  if (config === undefined || config === null) return result;
  if (!isRecord(config) || !isRecord(config.providers)) {
    result.problems.push('models.json: expected {"providers":{...}}');
    return result;
  }
  for (const [provider, entry] of Object.entries(config.providers)) readProvider(provider, entry, result);
  return result;
}

function readProvider(provider: string, entry: unknown, result: CustomModels): void {
  const where = `models.json: providers.${provider}`;
  const problem = isRecord(entry) ? firstProblem(entry, PROVIDER_CHECKS) : " must be an object";
  if (!isRecord(entry) || problem !== undefined) {
    result.problems.push(where + (problem ?? ""));
    return;
  }
  const isBuiltIn = CATALOGUE.some((model) => model.provider === provider);
  const models = entry.models as unknown[] | undefined;
  const shape = shapeProblem(entry, isBuiltIn, models);
  if (shape !== undefined) {
    result.problems.push(where + shape);
    return;
  }
  result.providers.set(provider, {
    apiKey: entry.apiKey as string | undefined,
    keyless: entry.auth === "none",
    authHeader: entry.authHeader === true,
    headers: (entry.headers as Record<string, string> | undefined) ?? {},
  });
  overrideBuiltIns(provider, entry, result);
  for (const [index, model] of (models ?? []).entries())
    addModel(provider, entry, model, `${where}.models[${index}]`, result);
  overrideModels(provider, entry, where, result);
}

function shapeProblem(entry: Fields, isBuiltIn: boolean, models: unknown[] | undefined): string | undefined {
  if (models === undefined || models.length === 0) {
    if (!isBuiltIn) return " has no models and is not a built-in provider; give it a list of models";
    return OVERRIDES.some((key) => entry[key] !== undefined)
      ? undefined
      : " changes nothing; give it a baseUrl, apiKey, headers, compat or modelOverrides";
  }
  return isBuiltIn || entry.baseUrl !== undefined ? undefined : ".baseUrl is missing";
}

/** `.field must be ...` for the first field that is not what it should be. Unknown fields are ignored. */
function firstProblem(fields: Fields, checks: Readonly<Record<string, Check>>): string | undefined {
  for (const [name, check] of Object.entries(checks)) {
    const value = fields[name];
    if (value !== undefined && value !== null && !check.holds(value)) return `.${name} must be ${check.expected}`;
  }
  return undefined;
}

function overrideBuiltIns(provider: string, entry: Fields, result: CustomModels): void {
  const baseUrl = entry.baseUrl as string | undefined;
  const compat = entry.compat as Fields | undefined;
  if (baseUrl === undefined && compat === undefined) return;
  result.models = result.models.map((model) => {
    if (model.provider !== provider) return model;
    return {
      ...model,
      baseUrl: baseUrl ?? model.baseUrl,
      ...(compat ? { compat: { ...model.compat, ...compat } } : {}),
    };
  });
}

function addModel(provider: string, entry: Fields, fields: unknown, where: string, result: CustomModels): void {
  const { problems, models, modelHeaders } = result;
  if (!isRecord(fields)) return void problems.push(`${where} must be an object`);
  const problem = fields.id === undefined ? ".id is missing" : firstProblem(fields, MODEL_CHECKS);
  if (problem !== undefined) return void problems.push(where + problem);
  const id = fields.id as string;
  const same = models.findIndex((model) => model.provider === provider && model.id === id);
  const sibling = models.find((model) => model.provider === provider);
  const api = fields.api ?? entry.api ?? sibling?.api;
  if (typeof api !== "string") return void problems.push(`${where}.api is missing, here or at the provider`);
  const baseUrl = (fields.baseUrl ?? entry.baseUrl ?? sibling?.baseUrl ?? "") as string;
  const base: Model = {
    id,
    name: id,
    api,
    provider,
    baseUrl,
    reasoning: false,
    input: ["text"],
    cost: NO_COST,
    contextWindow: 128_000,
    maxTokens: 16_384,
    ...(entry.compat ? { compat: entry.compat as Fields } : {}),
  };
  const model = merged(base, fields);
  if (same === -1) models.push(model);
  else models[same] = model;
  if (isRecord(fields.headers)) modelHeaders.set(`${provider}/${id}`, fields.headers as Record<string, string>);
}

function overrideModels(provider: string, entry: Fields, where: string, result: CustomModels): void {
  for (const [id, fields] of Object.entries((entry.modelOverrides as Fields | undefined) ?? {})) {
    const place = `${where}.modelOverrides.${id}`;
    const at = result.models.findIndex((model) => model.provider === provider && model.id === id);
    const problem = isRecord(fields) ? firstProblem(fields, MODEL_CHECKS) : " must be an object";
    if (at === -1) result.problems.push(`${place}: there is no model "${id}" to override`);
    else if (!isRecord(fields) || problem !== undefined) result.problems.push(place + (problem ?? ""));
    else {
      result.models[at] = { ...merged(result.models[at]!, fields), id };
      if (isRecord(fields.headers)) {
        result.modelHeaders.set(`${provider}/${id}`, fields.headers as Record<string, string>);
      }
    }
  }
}

/** The checked fields of a models.json entry over a model; cost and compat are merged, not replaced. */
function merged(model: Model, fields: Fields): Model {
  const given: Fields = {};
  for (const name of Object.keys(MODEL_CHECKS)) {
    if (name !== "headers" && fields[name] !== undefined && fields[name] !== null) given[name] = fields[name];
  }
  const cost = { ...model.cost, ...(given.cost as Partial<Model["cost"]> | undefined) };
  const compat = given.compat ? { ...model.compat, ...(given.compat as Fields) } : model.compat;
  return { ...model, ...(given as Partial<Model>), cost, ...(compat ? { compat } : {}) };
}
