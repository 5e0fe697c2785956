import type { ThinkingLevel } from "@tiller/protocol/model";
import type { Ground } from "./ground.ts";
import type { Late } from "./lib/late.ts";
import { sessionDir } from "./part-settings.ts";
import { adoptSession, recordChoice } from "./session/adopt-session.ts";
import type { Compactor } from "./session/compaction/compactor.ts";
import type { EventPipeline } from "./session/event-pipeline.ts";
import type { ModelControl } from "./session/model-control.ts";
import type { SessionHooks } from "./session/ports.ts";
import type { Resumption } from "./session/resumption.ts";
import type { SessionEvent } from "./session/session-event.ts";
import type { EventJournal } from "./session/store/event-journal.ts";
import type { DiskSettings } from "./session/store/session-disk.ts";
import type { SessionStore } from "./session/store/session-store.ts";
import type { SubAgents } from "./session/sub-agents.ts";
import type { Todos } from "./session/todos.ts";
import type { SessionCompaction } from "./session-compaction.ts";
import { createSessionHistory, type EnteringHistory } from "./session-history.ts";

export interface HistoryParts {
  store: SessionStore;
  pipeline: EventPipeline;
  models: ModelControl;
  disk: DiskSettings;
  compactor: Compactor;
  resumption: Resumption;
  summaries: Late<SessionCompaction>;
  hooks: SessionHooks | undefined;
  tellLevel(level: ThinkingLevel, previous: ThinkingLevel): void;
  todos: Late<Todos>;
  subAgents: Late<SubAgents>;
  journal: Late<EventJournal>;
  /** Ends what is going on in the session. */
  stop(reason: string): Promise<void>;
  isStreaming(): boolean;
  openDisk(): Promise<void>;
}

/** Everything about other sessions, and what it means for the parts when another one is entered. */
export async function joinHistory(ground: Ground, parts: HistoryParts): Promise<EnteringHistory> {
  const { run: args, env, clock, ids, agentDir } = ground;
  const { store, pipeline, models, disk, compactor, resumption, summaries, stop, todos, subAgents } = parts;
  const emit = (event: SessionEvent): void =>
    event.type === "notice" ? disk.onNotice(event.level, event.message) : void pipeline.emit(event);
  await Promise.all([
    // A session that comes from a file has a size, and may have a plan.
    summaries.load(),
    todos.load(),
    // Another session has its own numbers, from its first event on.
    args.mode === "rpc" ? parts.journal.load() : undefined,
  ]);
  return createSessionHistory({
    store,
    emit: pipeline.emit,
    hooks: parts.hooks,
    disk,
    clock,
    ids,
    agentDir,
    sessionDir: (folder) => sessionDir(ground, folder),
    keepsFiles: !args.options.noSession,
    env,
    stop,
    adopt(how, keeps = {}) {
      const wasInterrupted = adoptSession(
        { how, ...keeps },
        { store, models, clock, emit, onThinkingLevel: parts.tellLevel },
      );
      resumption.entered(wasInterrupted, how === "resume" ? () => recordChoice(store, models) : undefined);
      compactor.reset();
      todos.made?.adopt();
      if (how !== "tree") subAgents.made?.forget();
    },
    summarize: async (...task) => (await summaries.load()).summarizeBranch(...task),
    handoff: {
      isBusy: () => parts.isStreaming() || compactor.isCompacting,
      summarize: async (...task) => (await summaries.load()).summarizeForHandoff(...task),
      async add(untimed) {
        await parts.openDisk();
        const message = { ...untimed, timestamp: clock.now() };
        void pipeline.emit({ type: "message_start", message });
        void pipeline.emit({ type: "message_end", message });
      },
    },
  });
}
