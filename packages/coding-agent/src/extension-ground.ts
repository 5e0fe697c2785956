import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { Env } from "./config/paths.ts";
import type { SetUp } from "./set-up.ts";

/** What extensions stand on: they are loaded before there is a session. */
export interface ExtensionGround extends SetUp {
  env: Env;
  /** Where the process was started. */
  startFolder: string;
  clock: Clock;
  ids: IdSource;
  /** There when the process is somebody else's. */
  guestMark?: string;
}
