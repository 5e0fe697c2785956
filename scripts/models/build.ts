import type { CatalogueEntry, CatalogueFile } from "@tiller/ai/catalogue";
import type { ProviderRow } from "@tiller/ai/providers/provider-row";
import { currentPrices, findPriced, type PricedProvider, pricesOf } from "./prices.ts";

/** Turns the data of the packages and the hand-checked overlay into the catalogue. Pure: the same input, the same file. */

/** What the model profiles say about a model. */
export interface Profile {
  maxInputTokens?: number;
  maxOutputTokens?: number;
  imageInputs?: boolean;
  imageOutputs?: boolean;
  audioOutputs?: boolean;
  videoOutputs?: boolean;
  reasoningOutput?: boolean;
  toolCalling?: boolean;
}

/** A model we want listed. What it leaves out is looked up: at the model named by `like`, in the prices, in the profiles. */
export interface Wanted extends Omit<Partial<CatalogueEntry>, "reasoning" | "images"> {
  id: string;
  reasoning?: boolean;
  images?: boolean;
  /** `provider/id` of a model listed before: the same model, sold here too. */
  like?: string;
  /** Its id in the prices, where it is another one. */
  pricedAs?: string;
}

export interface Section {
  /** The provider's id in the prices. */
  prices?: string;
  models: readonly Wanted[];
  /** Lists what prices and profiles both know as well, unless its id matches one of these. `alwaysThinks`: without `off`. */
  alsoProfiled?: { except: readonly RegExp[]; alwaysThinks?: readonly RegExp[] };
}

export interface Inputs {
  /** `package@version hash`. */
  sources: readonly string[];
  prices: ReadonlyMap<string, PricedProvider>;
  /** By our provider id, then by model. */
  profiles: Readonly<Record<string, Readonly<Record<string, Profile>>>>;
  overlay: Readonly<Record<string, Section>>;
  rows: readonly ProviderRow[];
  /** Prices that begin later do not count yet. */
  asOf: string;
}

export function buildCatalogue(inputs: Inputs): CatalogueFile {
  const listed = new Map<string, CatalogueEntry>();
  const providers: Record<string, CatalogueEntry[]> = {};
  for (const row of inputs.rows) {
    const section = inputs.overlay[row.id];
    if (!section) continue;
    const entries = section.models.map((wanted) => complete(wanted, row, section, inputs, listed));
    for (const entry of entries) listed.set(`${row.id}/${entry.id}`, entry);
    providers[row.id] = [...entries, ...profiled(row, section, inputs, listed)];
  }
  return { sources: inputs.sources, providers };
}

function complete(
  wanted: Wanted,
  row: ProviderRow,
  section: Section,
  inputs: Inputs,
  listed: ReadonlyMap<string, CatalogueEntry>,
): CatalogueEntry {
  const { like, pricedAs, reasoning, images, ...own } = wanted;
  const same = like === undefined ? undefined : listed.get(like);
  if (like !== undefined && !same) throw new Error(`${row.id}/${wanted.id} is to be like ${like}, which is not listed`);
  const priced = findPriced(inputs.prices.get(section.prices ?? ""), pricedAs ?? wanted.id);
  const profile = inputs.profiles[row.id]?.[wanted.id];
  const prices = (own.cost ?? same?.cost) ? undefined : priced && pricesOf(currentPrices(priced.prices, inputs.asOf));
  const entry: Partial<CatalogueEntry> = {
    ...same,
    ...(priced?.name === undefined || same ? {} : { name: priced.name }),
    contextWindow: same?.contextWindow ?? priced?.context_window ?? profile?.maxInputTokens,
    maxTokens: same?.maxTokens ?? profile?.maxOutputTokens,
    ...prices,
    ...own,
  };
  return compact(entry, row, {
    reasoning: reasoning ?? same?.reasoning ?? profile?.reasoningOutput ?? false,
    images: images ?? same?.images ?? profile?.imageInputs ?? false,
  });
}

/** What both sources know: chat models with tools, whose prices and limits are known. */
function profiled(
  row: ProviderRow,
  section: Section,
  inputs: Inputs,
  listed: ReadonlyMap<string, CatalogueEntry>,
): CatalogueEntry[] {
  if (!section.alsoProfiled) return [];
  const { except, alwaysThinks = [] } = section.alsoProfiled;
  const ids = Object.entries(inputs.profiles[row.id] ?? {})
    .filter(([id, profile]) => isChatWithTools(profile) && !except.some((pattern) => pattern.test(id)))
    .map(([id]) => id)
    .filter((id) => !listed.has(`${row.id}/${id}`))
    .sort();
  return ids.flatMap((id) => {
    const priced = findPriced(inputs.prices.get(section.prices ?? ""), id);
    if (!priced || priced.deprecated) return [];
    const cannotStop = alwaysThinks.some((pattern) => pattern.test(id));
    return [complete({ id, ...(cannotStop ? { thinkingLevelMap: { off: null } } : {}) }, row, section, inputs, listed)];
  });
}

function isChatWithTools(profile: Profile): boolean {
  const { toolCalling, imageOutputs, audioOutputs, videoOutputs, maxInputTokens, maxOutputTokens } = profile;
  const textOnly = !imageOutputs && !audioOutputs && !videoOutputs;
  return toolCalling === true && textOnly && (maxInputTokens ?? 0) > 0 && (maxOutputTokens ?? 0) > 0;
}

/** The entry in the order of the file, without what the row says; complains about what is still missing. */
function compact(
  entry: Partial<CatalogueEntry>,
  row: ProviderRow,
  can: { reasoning: boolean; images: boolean },
): CatalogueEntry {
  const { id = "", name, contextWindow, maxTokens, cost, costTiers, api, baseUrl, thinkingLevelMap, compat } = entry;
  if (!contextWindow || !maxTokens || !cost) {
    const missing = Object.entries({ contextWindow, maxTokens, cost }).filter(([, value]) => !value);
    throw new Error(`${row.id}/${id}: no source tells its ${missing.map(([field]) => field).join(", ")}`);
  }
  return {
    id,
    ...(name === undefined || name === id ? {} : { name }),
    contextWindow,
    maxTokens: Math.min(maxTokens, contextWindow),
    cost,
    ...(costTiers && costTiers.length > 0 ? { costTiers } : {}),
    ...(can.reasoning ? { reasoning: true as const } : {}),
    ...(can.images ? { images: true as const } : {}),
    ...(api === undefined || api === row.api ? {} : { api }),
    ...(baseUrl === undefined || baseUrl === row.baseUrl ? {} : { baseUrl }),
    ...(can.reasoning && hasFields(thinkingLevelMap) ? { thinkingLevelMap } : {}),
    ...(hasFields(compat) ? { compat } : {}),
  };
}

const hasFields = (value: object | undefined): boolean => Object.keys(value ?? {}).length > 0;

/** One model a line, so that a change of one model is a change of one line. */
export function renderCatalogue({ sources, providers }: CatalogueFile): string {
  const sections = Object.entries(providers).map(([id, entries]) => {
    const lines = entries.map((entry) => JSON.stringify(entry)).join(",\n");
    return `${JSON.stringify(id)}:[\n${lines}\n]`;
  });
  const list = sources.map((source) => JSON.stringify(source)).join(",\n");
  return `{"sources":[\n${list}\n],\n"providers":{\n${sections.join(",\n")}\n}}\n`;
}
