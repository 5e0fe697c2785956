import { askedModel } from "@tiller/ai/model-secrets";
import type { ModelRequest } from "@tiller/ai/provider";
import { guardStream } from "@tiller/ai/stream";
import type { Ground } from "./ground.ts";
import type { Machinery } from "./run-machinery.ts";
import { createCacheWarming } from "./session/cache-warming.ts";
import type { EventPipeline } from "./session/event-pipeline.ts";
import type { ModelControl } from "./session/model-control.ts";
import type { SessionRun } from "./session/session-run.ts";
import type { SessionStore } from "./session/store/session-store.ts";

export interface WarmingParts {
  store: SessionStore;
  pipeline: EventPipeline;
  models: ModelControl;
  machinery(): Promise<Machinery>;
  run(): Pick<SessionRun, "spend" | "exhausted">;
}

export interface JoinedWarming {
  begin(last: { request: ModelRequest; at: number }): void;
  end(): void;
}

/** Cache warming in a session: what it costs stands there as an entry, and counts for its limits. */
export function joinCacheWarming({ settings, clock, extensions }: Ground, parts: WarmingParts): JoinedWarming {
  const { store, pipeline } = parts;
  const hooks = extensions?.host.hooks;
  /** The session that it was begun in. */
  let sessionId: string | undefined;
  const warming = createCacheWarming({
    clock,
    retention: settings.get("cacheRetention"),
    times: settings.get("cacheWarmingTimes"),
    async decide(event, signal) {
      if (!hooks?.listens("cache_warming_decision")) return event.action;
      return (await hooks.run("cache_warming_decision", event, signal)).action;
    },
    ask: (request) =>
      guardStream(async () => {
        const { ports } = await parts.machinery();
        const { apiKey, headers, ...secrets } = await ports.credentials(ports.model());
        return ports.stream({ ...request, model: askedModel(ports.model(), secrets), apiKey, headers });
      }, request.signal),
    done({ provider, id }, usage, error) {
      if (usage.totalTokens > 0) {
        parts.run().spend(usage);
        if (store.sessionId === sessionId) {
          store.append({ type: "usage", kind: "cache_warm", provider, model: id, usage });
          const entry = store.log.entry(store.leaf);
          if (entry) void pipeline.emit({ type: "entry_appended", entry });
        }
      }
      if (!error) return;
      const message = `The cache of ${provider}/${id} is not kept warm any longer: ${error.message}`;
      void pipeline.emit({ type: "notice", level: "warning", source: "cache_warming", message });
    },
  });

  return {
    begin({ request, at }) {
      sessionId = store.sessionId;
      const answer = store.messages.findLast((message) => message.role === "assistant");
      const cachedTokens = answer ? answer.usage.cacheRead + answer.usage.cacheWrite : 0;
      warming.begin({ request, at, cachedTokens, isCurrent: sameConversation(parts, request) });
    },
    end: warming.end,
  };
}

/** Nothing has happened to the conversation but that it went on, and the same model would be asked in the same way. */
function sameConversation({ store, models, run }: WarmingParts, request: ModelRequest): () => boolean {
  const { sessionId } = store;
  const idsNow = (): (string | null)[] => store.context.map((position) => store.log.id(position));
  const before = idsNow();
  const [first, last] = [before[0], before.at(-1)];
  return () => {
    if (store.sessionId !== sessionId || last === undefined) return false;
    const ids = idsNow();
    if (ids[0] !== first || !ids.includes(last)) return false;
    const { model, thinkingLevel } = models;
    if (model?.provider !== request.model.provider || model.id !== request.model.id) return false;
    return thinkingLevel === request.thinkingLevel && run().exhausted === undefined;
  };
}
