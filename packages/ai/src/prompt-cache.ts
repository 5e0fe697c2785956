import type { Usage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { emptyUsage, settleUsage } from "./cost.ts";
import type { ModelRequest } from "./provider.ts";
import { providerRow } from "./providers/index.ts";

/** What providers keep of a prompt, for how long, and what that is worth. Pure. */

/** Undefined when nothing is known to be kept. What a built-in provider promises does not hold for another address. */
export function cacheLifetimeMs(model: Model, retention: ModelRequest["cacheRetention"] = "short"): number | undefined {
  if (retention === "none" || model.compat?.cacheControl === false) return undefined;
  const row = providerRow(model.provider);
  const lifetimes = model.promptCache ?? (row?.baseUrl === model.baseUrl ? row.promptCache : undefined);
  const seconds = lifetimes?.[retention];
  return seconds ? seconds * 1000 : undefined;
}

/** In dollars. */
export interface CacheWorth {
  /** What it costs to read so many tokens from the cache once. */
  estimatedCost: number;
  /** What a prompt costs more when they have to be written anew. */
  missCost: number;
}

export function cacheWorth(model: Model, tokens: number, retention: ModelRequest["cacheRetention"]): CacheWorth {
  const read = priceOf(model, { cacheRead: tokens });
  const write = priceOf(model, { cacheWrite: tokens, ...(retention === "long" && { cacheWrite1h: tokens }) });
  return { estimatedCost: read, missCost: Math.max(0, write - read) };
}

function priceOf(model: Model, tokens: Partial<Usage>): number {
  const usage = { ...emptyUsage(), ...tokens };
  settleUsage(usage, model);
  return usage.cost.total;
}
