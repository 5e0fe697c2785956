import type { CatalogueEntry } from "@tiller/ai/catalogue";

/** Reads the data of genai-prices: which entry is meant by an id, and what it costs now. Pure. */

export type MatchLogic =
  | { and: MatchLogic[] }
  | { or: MatchLogic[] }
  | { equals: string }
  | { contains: string }
  | { starts_with: string }
  | { ends_with: string }
  | { regex: string };

type Price = number | { base: number; tiers: { start: number; price: number }[] };
export type PriceList = Readonly<Record<string, Price | undefined>>;
export interface Conditional {
  constraint?: { type: string; start_date?: string };
  prices: PriceList;
}

export interface PricedModel {
  id: string;
  name?: string;
  match: MatchLogic;
  context_window?: number;
  deprecated?: boolean;
  prices: PriceList | readonly Conditional[];
}

export interface PricedProvider {
  id: string;
  models: readonly PricedModel[];
}

/** The entry with this id, else the first whose rule accepts it. */
export function findPriced(provider: PricedProvider | undefined, id: string): PricedModel | undefined {
  const models = provider?.models ?? [];
  return models.find((model) => model.id === id) ?? models.find((model) => accepts(model.match, id));
}

function accepts(logic: MatchLogic, id: string): boolean {
  if ("and" in logic) return logic.and.every((part) => accepts(part, id));
  if ("or" in logic) return logic.or.some((part) => accepts(part, id));
  if ("equals" in logic) return id === logic.equals;
  if ("contains" in logic) return id.includes(logic.contains);
  if ("starts_with" in logic) return id.startsWith(logic.starts_with);
  if ("ends_with" in logic) return id.endsWith(logic.ends_with);
  return new RegExp(logic.regex).test(id);
}

/** The list that counts on a day. Prices for some hours of the day are left out: those of the other hours are listed. */
export function currentPrices(prices: PricedModel["prices"], asOf: string): PriceList {
  if (!Array.isArray(prices)) return prices as PriceList;
  const lists = (prices as readonly Conditional[]).filter(({ constraint }) => {
    if (constraint === undefined) return true;
    return constraint.type === "start_date" && (constraint.start_date ?? "") <= asOf;
  });
  const newest = [...lists].sort((a, b) => (startOf(a) < startOf(b) ? 1 : -1))[0];
  if (!newest) throw new Error(`No price counts on ${asOf}`);
  return newest.prices;
}

const startOf = ({ constraint }: Conditional): string => constraint?.start_date ?? "";

const KINDS = ["input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"] as const;

/** Undefined when it is not sold by the token. */
export function pricesOf(list: PriceList): Pick<CatalogueEntry, "cost" | "costTiers"> | undefined {
  if (list.input_mtok === undefined || list.output_mtok === undefined) return undefined;
  const marks = new Set<number>();
  for (const kind of KINDS) for (const { start } of tiersOf(list[kind])) marks.add(start);
  const costTiers = [...marks].sort((a, b) => a - b).map((above) => [above, ...row(list, above)] as const);
  return { cost: row(list, 0), ...(costTiers.length > 0 ? { costTiers } : {}) };
}

function row(list: PriceList, above: number): CatalogueEntry["cost"] {
  const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0] = KINDS.map((kind) => priceAt(list[kind], above));
  return [input, output, cacheRead, cacheWrite];
}

const tiersOf = (price: Price | undefined) => (typeof price === "object" ? price.tiers : []);

function priceAt(price: Price | undefined, above: number): number {
  if (typeof price !== "object") return price ?? 0;
  return price.tiers.findLast(({ start }) => above > 0 && start <= above)?.price ?? price.base;
}
