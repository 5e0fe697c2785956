import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Model } from "@tiller/protocol/model";
import { providerRow } from "./providers/index.ts";
import type { ProviderRow } from "./providers/provider-row.ts";

/**
 * The models we know without being told. They stand in models.json, which scripts/models.ts writes: one model a line,
 * without what its provider's row already says. The file is read when a built-in model is first asked for, so a start
 * that needs none does not pay for it.
 */

type Prices = readonly [input: number, output: number, cacheRead: number, cacheWrite: number];

/** A line of models.json: the fields of a model, the long ones shortened. */
export interface CatalogueEntry {
  id: string;
  /** Left out when it is the id. */
  name?: string;
  contextWindow: number;
  maxTokens: number;
  cost: Prices;
  costTiers?: readonly (readonly [above: number, ...Prices])[];
  reasoning?: true;
  /** Reads images. */
  images?: true;
  api?: string;
  baseUrl?: string;
  thinkingLevelMap?: Record<string, string | null>;
  compat?: Record<string, unknown>;
}

export interface CatalogueFile {
  /** Where the figures come from: packages with version and hash. */
  sources: readonly string[];
  providers: Readonly<Record<string, readonly CatalogueEntry[]>>;
}

/** Beside this file in the sources and beside cli.js in the bundle, whose chunks are one folder deeper. */
const PLACES = ["./models.json", "../models.json"];

let file: CatalogueFile | undefined;
const expanded = new Map<string, readonly Model[]>();
let everything: readonly Model[] | undefined;

/** All of them, provider by provider. */
export function builtinModels(): readonly Model[] {
  everything ??= Object.keys(catalogueFile().providers).flatMap((provider) => builtinModelsOf(provider));
  return everything;
}

export function builtinModelsOf(provider: string): readonly Model[] {
  const row = providerRow(provider);
  if (!row) return [];
  let models = expanded.get(provider);
  if (!models) {
    const { providers } = catalogueFile();
    models = (providers[provider] ?? []).map((entry) => expandEntry(entry, row));
    expanded.set(provider, models);
  }
  return models;
}

/** Synchronous on purpose: who needs the models needs them now, and they are a millisecond away. */
function catalogueFile(): CatalogueFile {
  file ??= JSON.parse(readFileSync(placeOfFile(), "utf8")) as CatalogueFile;
  return file;
}

function placeOfFile(): URL {
  const places = PLACES.map((place) => new URL(place, import.meta.url));
  const found = places.find((place) => existsSync(place));
  if (found) return found;
  const tried = places.map((place) => fileURLToPath(place)).join(", ");
  throw new Error(`The list of models is missing (looked for ${tried}); install Tiller again`);
}

/** A whole model out of a line of models.json and the row of its provider. */
export function expandEntry(entry: CatalogueEntry, row: ProviderRow): Model {
  const model: Model = {
    id: entry.id,
    name: entry.name ?? entry.id,
    api: entry.api ?? row.api,
    provider: row.id,
    baseUrl: entry.baseUrl ?? row.baseUrl,
    reasoning: entry.reasoning === true,
    input: entry.images ? ["text", "image"] : ["text"],
    cost: prices(entry.cost),
    contextWindow: entry.contextWindow,
    maxTokens: entry.maxTokens,
  };
  if (entry.costTiers) model.costTiers = entry.costTiers.map(([above, ...cost]) => ({ above, ...prices(cost) }));
  if (entry.thinkingLevelMap) model.thinkingLevelMap = entry.thinkingLevelMap;
  if (row.compat || entry.compat) model.compat = { ...row.compat, ...entry.compat };
  return model;
}

function prices([input, output, cacheRead, cacheWrite]: Prices): Model["cost"] {
  return { input, output, cacheRead, cacheWrite };
}

const FREE: Model["cost"] = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const LOCAL_LIMITS = { cost: FREE, contextWindow: 200_000, maxTokens: 8_192 };

/** The rule-based model that needs neither network nor key. */
export const OFFLINE_MODEL: Model = {
  id: "scout",
  name: "Scout (offline, rule-based)",
  api: "offline",
  provider: "offline",
  baseUrl: "offline://scout",
  reasoning: false,
  input: ["text"],
  ...LOCAL_LIMITS,
};

/** The model that plays turns from a file; `baseUrl` tells where the file is. */
export function scriptModel(path: string): Model {
  return {
    id: "script",
    name: "Script (plays turns from a file)",
    api: "script",
    provider: "script",
    baseUrl: pathToFileURL(path).href,
    reasoning: true,
    input: ["text", "image"],
    ...LOCAL_LIMITS,
  };
}

export function isLocal(model: Model): boolean {
  return model.api === "offline" || model.api === "script";
}
