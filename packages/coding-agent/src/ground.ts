import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { Env } from "./config/paths.ts";
import type { Recording } from "./recording/seams.ts";
import type { ExtendedSetUp } from "./set-up-extensions.ts";

/** What everything stands on: how the process was started, and what was read of its configuration. */
export interface Ground extends ExtendedSetUp {
  env: Env;
  clock: Clock;
  ids: IdSource;
  guestMark?: string;
  /** Everything that comes from outside is recorded or played back. */
  recording?: Recording;
}
