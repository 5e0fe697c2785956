import { existsSync } from "node:fs";
import type { AgentMessage } from "@tiller/protocol/message";
import { journalsFolder } from "./config/paths.ts";
import type { Ground } from "./ground.ts";
import { createEventJournal, type EventJournal } from "./session/store/event-journal.ts";
import type { DiskSettings } from "./session/store/session-disk.ts";
import type { SessionStore } from "./session/store/session-store.ts";

/** What the host is told of the session, kept for it. */
export function sessionJournal({ agentDir, settings }: Ground, store: SessionStore, disk: DiskSettings): EventJournal {
  const isCopy = (): boolean => store.log.header.parentSession !== undefined;
  const hasFile = (): boolean => store.sessionFile !== undefined && existsSync(store.sessionFile);
  return createEventJournal({
    session: {
      get sessionId() {
        return store.sessionId;
      },
      get sessionFile() {
        return store.sessionFile;
      },
      get hasBegun() {
        // Who has gone back to before the first message has none, and a file all the same; a copy of nothing has neither.
        return store.messageCount > 0 || ((store.log.loadedLength > 0 || isCopy()) && hasFile());
      },
      get isContinued() {
        return store.log.loadedLength > 0 || (isCopy() && (store.messageCount > 0 || hasFile()));
      },
      get isInUse() {
        return store.isInUse;
      },
      newestFirst: () => saidInReverse(store),
    },
    folder: journalsFolder(agentDir),
    maxBytes: settings.get("journal.maxBytes"),
    onTrouble: (message) => disk.onNotice("warning", message),
  });
}

/** Of shell commands hosts are told in other ways. */
function* saidInReverse(store: SessionStore): Generator<AgentMessage> {
  for (const position of store.path().toReversed()) {
    const entry = store.log.kind(position) === "message" ? store.log.entry(position) : undefined;
    if (entry?.type === "message" && entry.message.role !== "bashExecution") yield entry.message;
  }
}
