import type { Model } from "@tiller/protocol/model";
import type { Settings } from "./config/settings.ts";
import { createAskModel } from "./session/compaction/ask-model.ts";
import { type Compactor, createCompactor } from "./session/compaction/compactor.ts";
import { type CompactionSettings, contextUsageOf } from "./session/compaction/policy.ts";
import type { EventPipeline } from "./session/event-pipeline.ts";
import type { HandoffOptions } from "./session/handoff.ts";
import type { SessionHooks } from "./session/ports.ts";
import { fromLeaf } from "./session/restore.ts";
import type { RetrySettings } from "./session/retry-policy.ts";
import type { RunMachinery } from "./session/run-options.ts";
import type { SessionRun } from "./session/session-run.ts";
import type { SessionStore } from "./session/store/session-store.ts";
import type { TreeNavigationOptions } from "./session/tree-navigation.ts";

export interface CompactionOptions {
  hooks?: SessionHooks;
  store: SessionStore;
  pipeline: EventPipeline;
  settings: Settings;
  /** Compacting by itself is switched on. */
  isEnabled(): boolean;
  machinery(): Promise<RunMachinery>;
  model(): Model | null;
  retrySettings(): RetrySettings | undefined;
  lot(): number;
  run: Pick<SessionRun, "spend">;
}

export interface SessionCompaction {
  compactor: Compactor;
  contextUsage(): ReturnType<typeof contextUsageOf>;
  summarizeBranch: TreeNavigationOptions["summarize"];
  summarizeForHandoff: HandoffOptions["summarize"];
}

/** Everything that makes summaries of this session. Loaded with the first run. */
export function createSessionCompaction(options: CompactionOptions): SessionCompaction {
  const { store, pipeline, settings, model, run } = options;
  const backwards = () => fromLeaf(store.log, store.leaf);
  const ask: Parameters<typeof createCompactor>[0]["ask"] = async (request, signal) => {
    const { ports } = await options.machinery();
    const onRetry = (message: string): void =>
      void pipeline.emit({ type: "notice", level: "warning", source: "compaction", message });
    return createAskModel({ ...options, ports, onRetry, onUsage: run.spend })(request, signal);
  };
  const compactionSettings = (): CompactionSettings => ({
    enabled: options.isEnabled() && settings.get("compaction.strategy") !== "off",
    reserveTokens: settings.get("compaction.reserveTokens"),
    keepRecentTokens: settings.get("compaction.keepRecentTokens"),
    thresholdTokens: settings.get("compaction.thresholdTokens"),
    thresholdPercent: settings.get("compaction.thresholdPercent"),
    autoContinue: settings.get("compaction.autoContinue"),
  });
  return {
    compactor: createCompactor({
      fromLeaf: backwards,
      append: store.append,
      ask,
      emit: pipeline.emit,
      settings: compactionSettings,
      model,
      hooks: options.hooks,
      sessionId: () => store.sessionId,
    }),
    contextUsage: () => contextUsageOf(backwards(), model()),
    async summarizeBranch(entries, focus, signal) {
      const current = model();
      if (!current) return { refused: "No model selected" };
      const { summarizeBranch, sumOf } = await import("./session/compaction/summarize.ts");
      const reserveTokens = settings.get("branchSummary.reserveTokens");
      const made = await summarizeBranch(entries, { ask, model: current, reserveTokens, signal }, focus);
      return "refused" in made ? made : { summary: made.summary, details: made.details, usage: sumOf(made.usages) };
    },
    async summarizeForHandoff(focus, signal) {
      const current = model();
      if (!current) return { refused: "No model selected" };
      const { summarizeForHandoff } = await import("./session/compaction/summarize.ts");
      const summarizer = { ask, model: current, reserveTokens: settings.get("compaction.reserveTokens"), signal };
      return summarizeForHandoff(store.branch(), store.messages, summarizer, focus);
    },
  };
}
