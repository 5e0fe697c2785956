import type { Model } from "@tiller/protocol/model";
import { NO_COST, USUAL_LIMITS } from "./custom-models.ts";
import type { ProviderRow } from "./providers/provider-row.ts";

/** Models that no list has: what can be said of them from their id and from their neighbours. Pure. */

/** A server of one's own is often set up for less than its model could do. */
const LOCAL_WINDOW = 32_768;

/** All that can be said of a model of which only the id is known. */
export function bareModel(row: ProviderRow, id: string): Model {
  return {
    id,
    name: id,
    api: row.api,
    provider: row.id,
    baseUrl: row.baseUrl,
    reasoning: false,
    input: ["text"],
    cost: NO_COST,
    ...USUAL_LIMITS,
    ...(row.keyless ? { contextWindow: LOCAL_WINDOW } : {}),
    ...(row.compat ? { compat: { ...row.compat } } : {}),
  };
}

/**
 * Like the listed models whose ids begin the same way, the nearest number first: `claude-opus-4-1` is like
 * `claude-opus-4-5`. Where several are as near, only what all of them have counts. Where none is near, the provider's
 * default model lends its price and its API, and nothing that an older or smaller model could refuse.
 */
export function similarModel(listed: readonly Model[], fallback: Model, id: string): Model {
  const { nearest, isClose } = nearestTo(id, listed);
  const base = isClose ? nearest[0]! : fallback;
  const { costTiers, thinkingLevelMap: _, compat: __, ...rest } = base;
  const common = isClose ? nearest : listed;
  const compat = inAll(common.map((model) => model.compat ?? {}));
  const levels = isClose ? inAll(common.map((model) => model.thinkingLevelMap ?? {})) : {};
  const least = (figure: "contextWindow" | "maxTokens"): number =>
    isClose ? Math.min(...common.map((model) => model[figure])) : Math.min(base[figure], USUAL_LIMITS[figure]);
  return {
    ...rest,
    id,
    name: id,
    reasoning: isClose && common.every(({ reasoning }) => reasoning),
    input: common.every(({ input }) => input.includes("image")) ? ["text", "image"] : ["text"],
    contextWindow: least("contextWindow"),
    maxTokens: least("maxTokens"),
    ...(costTiers ? { costTiers } : {}),
    ...(Object.keys(levels).length > 0 ? { thinkingLevelMap: levels } : {}),
    ...(Object.keys(compat).length > 0 ? { compat } : {}),
  };
}

function inAll<V>(records: readonly Readonly<Record<string, V>>[]): Record<string, V> {
  const [first = {}, ...others] = records;
  const same = ([key, value]: [string, V]): boolean =>
    others.every((other) => JSON.stringify(other[key]) === JSON.stringify(value));
  return Object.fromEntries(Object.entries(first).filter(same));
}

function nearestTo(id: string, listed: readonly Model[]): { nearest: Model[]; isClose: boolean } {
  const near = listed.map((model) => ({ model, ...nearness(id, model.id) }));
  const shared = Math.max(...near.map(({ parts }) => parts));
  const best = near.filter(({ parts }) => parts === shared);
  const distance = Math.min(...best.map((other) => other.distance));
  const nearest = best.filter((other) => other.distance === distance).map(({ model }) => model);
  // What all ids of a provider begin with (`claude-`) says nothing; a number right behind it does.
  const isClose = Number.isFinite(distance) || near.some(({ parts }) => parts < shared);
  return { nearest, isClose: isClose && shared > 0 };
}

/** How many parts two ids begin with in common, and how far apart they are behind that. */
function nearness(id: string, other: string): { parts: number; distance: number } {
  const [mine, theirs] = [partsOf(id), partsOf(other)];
  let parts = 0;
  while (parts < mine.length && mine[parts] === theirs[parts]) parts++;
  return { parts, distance: distanceOf(mine[parts], theirs[parts]) };
}

/** By number, where the end counts as 0: `4` is nearer to `4-5` than to `4-6`. A word more is less than a number. */
function distanceOf(mine: string | undefined, theirs: string | undefined): number {
  if (mine === theirs) return 0;
  const apart = Math.abs(Number(mine ?? 0) - Number(theirs ?? 0));
  if (Number.isFinite(apart)) return apart;
  return mine === undefined || theirs === undefined ? 0.5 : Number.POSITIVE_INFINITY;
}

/** `gpt-5.4-mini-20260101`: gpt, 5, 4, mini */
function partsOf(id: string): string[] {
  const undated = id.toLowerCase().replace(/-(?:\d{8}|\d{4}-\d\d-\d\d)$/, "");
  return undated.match(/[a-z]+|\d+/g) ?? [];
}
