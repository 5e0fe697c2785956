import type { CompatHost } from "./host.ts";
import {
  buildSessionContext,
  getLatestCompactionEntry,
  migrateSessionEntries,
  parseSessionEntries,
} from "./session-entries.ts";
import { sessionManagerFor } from "./session-manager.ts";
import type { Names } from "./stand-in.ts";

const SESSION_VERSION = 3;

export function sessionNames(host: CompatHost): Names {
  return {
    SessionManager: sessionManagerFor(host),
    CURRENT_SESSION_VERSION: SESSION_VERSION,
    buildSessionContext,
    parseSessionEntries,
    migrateSessionEntries: (entries: Parameters<typeof migrateSessionEntries>[0]) =>
      migrateSessionEntries(entries, host.ids.short),
    getLatestCompactionEntry,
  };
}
