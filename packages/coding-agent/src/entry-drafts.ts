import type { Clock } from "@tiller/protocol/clock";
import type { AgentMessage } from "@tiller/protocol/message";
import type { ExtensionActions } from "./extensions/actions.ts";
import type { EventPipeline } from "./session/event-pipeline.ts";
import type { EntryDraft } from "./session/ports.ts";
import type { NewEntry, SessionStore } from "./session/store/session-store.ts";

interface DraftKeeperParts {
  store: Pick<SessionStore, "log" | "path">;
  pipeline: Pick<EventPipeline, "emit">;
  clock: Pick<Clock, "now">;
  /** Adds an entry and tells it. */
  append(entry: NewEntry): string;
}

/** Adds what extensions want to have in the session at the end of a turn or of a run. */
export function createDraftKeeper(parts: DraftKeeperParts): ExtensionActions["entries"] {
  const { store, pipeline, clock, append } = parts;
  const isThere = (id: string): boolean => store.log.find(id) >= 0;

  /** Gives back why not. */
  const add = (draft: Exclude<EntryDraft, { type: "custom_message" }>): string | undefined => {
    if (draft.type === "custom") append({ ...draft, data: draft.data });
    else if (draft.type === "context_edit") {
      if (!isThere(draft.targetId)) return `there is no entry "${draft.targetId}" whose words could be changed`;
      append(draft);
    } else {
      const { firstKeptEntryId: kept } = draft;
      if (kept !== null && !isThere(kept)) return `there is no entry "${kept}" from which on to keep the conversation`;
      append({ ...draft, firstKeptEntryId: kept ?? append(CUT), fromHook: true });
    }
    return undefined;
  };

  return {
    idOf(message) {
      const { log } = store;
      // Only what was said in this process is an object that can be known again.
      for (const position of store.path().toReversed()) {
        if (position < log.loadedLength) return undefined;
        const entry = log.entry(position);
        const held = entry?.type === "message" ? entry.message : undefined;
        if (held === message) return entry?.id;
      }
      return undefined;
    },
    keep: (drafts, by) =>
      drafts.flatMap((draft): AgentMessage[] => {
        if (draft.type === "custom_message") {
          const { type: _, ...rest } = draft;
          return [{ role: "custom", ...rest, timestamp: clock.now() }];
        }
        const error = add(draft);
        if (error !== undefined)
          void pipeline.emit({ type: "extension_error", extensionPath: "<runtime>", event: by, error });
        return [];
      }),
  };
}

/** Marks the place of a cut behind which nothing is kept. */
const CUT: NewEntry = { type: "custom", customType: "tiller.cut", data: {} };
