import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { SessionHeader } from "@tiller/protocol/session-entry";
import { createEntryLog } from "./entry-log.ts";
import type { OpenSession } from "./session-store.ts";

/** Of the files that we write. */
export const FILE_VERSION = 3;

/** What a session that begins here and now is made of. */
export interface SessionOrigin {
  clock: Clock;
  ids: IdSource;
  cwd: string;
}

export interface NewSession {
  id?: string;
  parentSession?: string;
  /** Its file appears there with the first message; undefined: it has none. */
  path?: string;
}

export function beginSession(origin: SessionOrigin, { id, parentSession, path }: NewSession): OpenSession {
  return { log: createEntryLog(newHeader(origin, { id, parentSession })), path };
}

export function newHeader(
  { clock, ids, cwd }: SessionOrigin,
  { id = ids.uuid(), parentSession }: Pick<NewSession, "id" | "parentSession"> = {},
): SessionHeader {
  const timestamp = new Date(clock.now()).toISOString();
  return {
    type: "session",
    version: FILE_VERSION,
    id,
    timestamp,
    cwd,
    ...(parentSession === undefined ? {} : { parentSession }),
  };
}
