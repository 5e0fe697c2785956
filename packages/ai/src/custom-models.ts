import type { Model } from "@tiller/protocol/model";
import { API_FAMILIES } from "./api-families.ts";
import {
  DISCOVERY,
  type Fields,
  firstProblem,
  isRecord,
  levelsBetween,
  MODEL_CHECKS,
  PROVIDER_CHECKS,
} from "./custom-fields.ts";
import { type KeyPath, type ParsedFile, problemAt } from "./parsed-file.ts";
import { providerRow } from "./providers/index.ts";
import type { ProviderRow } from "./providers/provider-row.ts";

/** Reads a parsed models.json: own providers, and changes to the built-in ones. What is wrong is told, the rest counts. */

/** A provider that the file says something about. */
export interface CustomProvider {
  /** As if it were built in: the row, or what the file says instead of one. */
  row: ProviderRow;
  /** As it stands in the file: a key, `$NAME` or `!command`. */
  apiKey?: string;
  /** Works without a key. */
  keyless: boolean;
  /** `"auth": "none"`: a key is not sent even when there is one. */
  isOpen: boolean;
  /** Send the key as `Authorization: Bearer` too. */
  authHeader: boolean;
  headers: Readonly<Record<string, string>>;
  /** `compat.options` for its models, unless a model has its own. */
  options?: Fields;
  /** The server tells which models it has. */
  isDiscovered: boolean;
  /** The built-in ones, changed, and those of the file. */
  models: Model[];
}

export interface CustomModels {
  providers: Map<string, CustomProvider>;
  /** By `provider/id`. Kept away from the models themselves, which hosts can see. */
  modelHeaders: Map<string, Readonly<Record<string, string>>>;
  /** By `provider/id`: `compat.options`, which may hold keys. */
  modelOptions: Map<string, Fields>;
  problems: string[];
}

export interface CustomModelsOptions {
  builtinModelsOf(provider: string): readonly Model[];
  /** Where packages that models name (`ai-sdk`) are looked for. */
  packagesFrom?: string;
  /** Is there somebody who speaks this API, which is none of our families? */
  speaks?(api: string): boolean;
}

/** What reading one provider needs and fills. */
interface Reading extends CustomModels, CustomModelsOptions {
  problem(path: KeyPath, what: string): void;
}

/** The models of one provider while they are read, by id: there may be thousands. */
interface ReadModels {
  row: ProviderRow;
  models: Map<string, Model>;
}

export const NO_COST: Model["cost"] = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** For a model of which nothing else is known. */
export const USUAL_LIMITS = { contextWindow: 128_000, maxTokens: 16_384 };

const OVERRIDES = [
  "baseUrl",
  "apiKey",
  "headers",
  "compat",
  "modelOverrides",
  "authHeader",
  "auth",
  "name",
  "discovery",
];

export function readCustomModels(file: ParsedFile | undefined, options: CustomModelsOptions): CustomModels {
  const result: CustomModels = { providers: new Map(), modelHeaders: new Map(), modelOptions: new Map(), problems: [] };
  const config = file?.value;
  if (file === undefined || config === undefined || config === null) return result;
  const problem = (path: KeyPath, what: string): void => void result.problems.push(problemAt(file, path, what));
  if (!isRecord(config) || !isRecord(config.providers)) problem([], 'expected {"providers":{...}}');
  else {
    const reading: Reading = { ...result, ...options, problem };
    for (const [provider, entry] of Object.entries(config.providers)) readProvider(provider, entry, reading);
  }
  return result;
}

function readProvider(id: string, entry: unknown, reading: Reading): void {
  const path = ["providers", id];
  if (!isRecord(entry)) return void reading.problem(path, "must be an object");
  const wrong = firstProblem(entry, PROVIDER_CHECKS);
  if (wrong) return void reading.problem([...path, wrong.field], `must be ${wrong.expected}`);
  const builtin = providerRow(id);
  const models = (entry.models as unknown[] | undefined | null) ?? [];
  const shape = shapeProblem(entry, builtin, models);
  if (shape) return void reading.problem([...path, ...(shape.field ? [shape.field] : [])], shape.what);

  const row = rowOf(id, entry, builtin);
  const { compat, options } = splitCompat(entry);
  const read: ReadModels = { row, models: new Map() };
  for (const model of reading.builtinModelsOf(id)) {
    read.models.set(model.id, {
      ...model,
      ...(typeof entry.baseUrl === "string" ? { baseUrl: entry.baseUrl } : {}),
      ...(compat ? { compat: { ...model.compat, ...compat } } : {}),
    });
  }
  for (const [index, model] of models.entries()) addModel(read, entry, model, [...path, "models", index], reading);
  overrideModels(read, entry, [...path, "modelOverrides"], reading);
  reading.providers.set(id, {
    row,
    ...(typeof entry.apiKey === "string" ? { apiKey: entry.apiKey } : {}),
    keyless: entry.auth === "none" || (entry.auth === undefined && row.keyless === true),
    isOpen: entry.auth === "none",
    authHeader: entry.authHeader === true,
    headers: { ...row.headers, ...(entry.headers as Record<string, string> | undefined) },
    ...(options ? { options } : {}),
    isDiscovered: isRecord(entry.discovery),
    models: [...read.models.values()],
  });
}

function shapeProblem(
  entry: Fields,
  builtin: ProviderRow | undefined,
  models: readonly unknown[],
): { field?: string; what: string } | undefined {
  const isGiven = (key: string): boolean => entry[key] !== undefined && entry[key] !== null;
  const isDiscovered = isGiven("discovery");
  if (models.length === 0 && !builtin && !isDiscovered) {
    return { what: "has no models and is not a built-in provider; give it a list of models" };
  }
  if (models.length === 0 && !OVERRIDES.some(isGiven)) {
    return { what: "changes nothing; give it a baseUrl, apiKey, headers, compat or modelOverrides" };
  }
  const isAiSdk = [entry.api, ...models.map((model) => isRecord(model) && model.api)].includes("ai-sdk");
  const needsUrl = !builtin && !isDiscovered && !isAiSdk && !isGiven("baseUrl");
  const everyModelHasOne = models.every((model) => isRecord(model) && typeof model.baseUrl === "string");
  return needsUrl && !everyModelHasOne ? { field: "baseUrl", what: "is missing" } : undefined;
}

/** The built-in row with what the file changes, or one made of what the file says. */
function rowOf(id: string, entry: Fields, builtin: ProviderRow | undefined): ProviderRow {
  const type = isRecord(entry.discovery) ? String(entry.discovery.type) : undefined;
  const like = builtin ?? (type === undefined ? undefined : providerRow(DISCOVERY[type] ?? ""));
  const api = (entry.api as string | undefined) ?? like?.api ?? firstApi(entry) ?? "";
  const baseUrl = (entry.baseUrl as string | undefined) ?? like?.baseUrl ?? "";
  return {
    ...(like ?? { keyVariables: [] }),
    id,
    name: (entry.name as string | undefined) ?? builtin?.name ?? id,
    api,
    baseUrl,
    ...(isRecord(entry.compat) ? { compat: { ...like?.compat, ...splitCompat(entry).compat } } : {}),
    modelsPath: like?.modelsPath ?? modelsPath(api, baseUrl),
  };
}

/** Where servers of a family list their models, for a base URL with or without the usual path. */
const MODELS_PATHS: Readonly<Record<string, { root: string; usual: RegExp }>> = {
  "openai-completions": { root: "/v1/models", usual: /./ },
  "openai-responses": { root: "/v1/models", usual: /./ },
  "anthropic-messages": { root: "/v1/models", usual: /\/v1$/ },
  "google-generative-ai": { root: "/v1beta/models", usual: /./ },
};

function modelsPath(api: string, baseUrl: string): string | undefined {
  const known = Object.hasOwn(MODELS_PATHS, api) ? MODELS_PATHS[api] : undefined;
  const path = URL.canParse(baseUrl) ? new URL(baseUrl).pathname.replace(/\/+$/, "") : "";
  return known && (known.usual.test(path) ? "/models" : known.root);
}

function firstApi(entry: Fields): string | undefined {
  const models = (entry.models as unknown[] | undefined | null) ?? [];
  return models.map((model) => (isRecord(model) ? model.api : undefined)).find((api) => typeof api === "string");
}

function addModel({ row, models }: ReadModels, entry: Fields, fields: unknown, path: KeyPath, reading: Reading): void {
  if (!isRecord(fields)) return void reading.problem(path, "must be an object");
  if (fields.id === undefined || fields.id === null) return void reading.problem([...path, "id"], "is missing");
  const wrong = firstProblem(fields, MODEL_CHECKS);
  if (wrong) return void reading.problem([...path, wrong.field], `must be ${wrong.expected}`);
  const [first] = models.values();
  const api = (fields.api ?? entry.api ?? first?.api ?? row.api) as string;
  if (api === "") return void reading.problem([...path, "api"], "is missing, here or at the provider");
  if (!API_FAMILIES.includes(api) && !reading.speaks?.(api)) {
    const at = fields.api === undefined ? ["providers", row.id, "api"] : [...path, "api"];
    return void reading.problem(at, `is "${api}", which is not known; use one of ${familyNames()}`);
  }
  const id = fields.id as string;
  const base: Model = {
    id,
    name: id,
    api,
    provider: row.id,
    baseUrl: (entry.baseUrl ?? first?.baseUrl ?? row.baseUrl) as string,
    reasoning: false,
    input: ["text"],
    cost: NO_COST,
    ...USUAL_LIMITS,
    ...(row.compat ? { compat: { ...row.compat } } : {}),
  };
  models.set(id, withPackages(merged(base, fields), reading.packagesFrom));
  noteSecrets(row.id, id, fields, reading);
}

/** Those that a file can name: the two that need no provider are not among them. */
function familyNames(): string {
  return API_FAMILIES.filter((name) => name !== "offline" && name !== "script").join(", ");
}

/** A bridge to an installed package looks for it beside the file that names it. */
function withPackages(model: Model, from: string | undefined): Model {
  if (model.api !== "ai-sdk" || from === undefined || model.compat?.from !== undefined) return model;
  return { ...model, compat: { ...model.compat, from } };
}

function overrideModels({ row, models }: ReadModels, entry: Fields, path: KeyPath, reading: Reading): void {
  for (const [id, fields] of Object.entries((entry.modelOverrides as Fields | undefined | null) ?? {})) {
    const model = models.get(id);
    const wrong = isRecord(fields) ? firstProblem(fields, MODEL_CHECKS) : undefined;
    if (!isRecord(fields)) reading.problem([...path, id], "must be an object");
    else if (!model) reading.problem([...path, id], `changes a model that "${row.id}" does not have`);
    else if (wrong) reading.problem([...path, id, wrong.field], `must be ${wrong.expected}`);
    else if (typeof fields.api === "string" && !API_FAMILIES.includes(fields.api)) {
      reading.problem([...path, id, "api"], `is "${fields.api}", which is not known; use one of ${familyNames()}`);
    } else {
      models.set(id, { ...merged(model, fields), id });
      noteSecrets(row.id, id, fields, reading);
    }
  }
}

function noteSecrets(provider: string, id: string, fields: Fields, reading: Reading): void {
  const { options } = splitCompat(fields);
  if (options) reading.modelOptions.set(`${provider}/${id}`, options);
  if (isRecord(fields.headers)) {
    reading.modelHeaders.set(`${provider}/${id}`, fields.headers as Record<string, string>);
  }
}

/** The quirks that everybody may see, and the options of a package, which may hold keys. */
function splitCompat(fields: Fields): { compat?: Fields; options?: Fields } {
  if (!isRecord(fields.compat)) return {};
  const { options, ...compat } = fields.compat;
  return { compat, ...(isRecord(options) ? { options } : {}) };
}

/** Joined in their own way, or kept apart. */
const NOT_PART_OF_A_MODEL = new Set(["headers", "thinking", "compat"]);

/** The checked fields of an entry over a model; cost and compat are merged, not replaced. */
function merged(model: Model, fields: Fields): Model {
  const given: Fields = {};
  for (const name of Object.keys(MODEL_CHECKS)) {
    const value = fields[name];
    if (!NOT_PART_OF_A_MODEL.has(name) && value !== undefined && value !== null) given[name] = value;
  }
  const levels = levelsBetween(fields.thinking);
  const cost = { ...model.cost, ...(given.cost as Partial<Model["cost"]> | undefined) };
  const compat = { ...model.compat, ...thinkingCompat(fields), ...splitCompat(fields).compat };
  return {
    ...model,
    ...(levels ? { reasoning: true, thinkingLevelMap: { ...model.thinkingLevelMap, ...levels } } : {}),
    ...(given as Partial<Model>),
    cost,
    ...(given.costTiers ? { costTiers: wholeTiers(given.costTiers as Fields[], cost) } : {}),
    ...(Object.keys(compat).length > 0 ? { compat } : {}),
  };
}

/** A price that a tier leaves out is the model's. The lowest mark first: the last one that is passed counts. */
function wholeTiers(tiers: readonly Fields[], cost: Model["cost"]): Model["costTiers"] {
  const whole = tiers.map((tier) => ({ ...cost, ...(tier as Partial<Model["cost"]>), above: tier.above as number }));
  return whole.sort((one, other) => one.above - other.above);
}

/** omp names the way of thinking beside its levels; the Anthropic family knows two of them. */
function thinkingCompat(fields: Fields): Fields {
  const mode = isRecord(fields.thinking) ? fields.thinking.mode : undefined;
  if (typeof mode !== "string") return {};
  const thinking = ["adaptive", "budget"].find((word) => mode.includes(word));
  return { thinkingMode: mode, ...(thinking ? { thinking } : {}) };
}
