import type { Model } from "@tiller/protocol/model";
import type { ContextUsage } from "@tiller/protocol/state";
import type { SessionStore } from "./store/session-store.ts";

/**
 * How full the context is, worked out once for each state of the conversation: hosts ask for the state again and again.
 * `measure` is undefined while what can measure it is not loaded.
 */
export function createContextUsage(
  store: Pick<SessionStore, "log" | "leaf" | "messageCount">,
  model: () => Model | null,
  measure: () => (() => ContextUsage | undefined) | undefined,
): () => ContextUsage | undefined {
  let known: { log: object; leaf: number; model: Model | null; usage: ContextUsage | undefined } | undefined;
  return () => {
    const { log, leaf } = store;
    const current = model();
    if (known?.log === log && known.leaf === leaf && known.model === current) return known.usage;
    const measured = measure();
    // Before the first run there is nothing in it but what a file has brought, and then this is loaded.
    const usage = measured ? measured() : emptyUsage(current);
    if (measured || store.messageCount === 0) known = { log, leaf, model: current, usage };
    return usage;
  };
}

function emptyUsage(model: Model | null): ContextUsage | undefined {
  const contextWindow = model?.contextWindow ?? 0;
  return contextWindow > 0 ? { tokens: 0, contextWindow, percent: 0 } : undefined;
}
