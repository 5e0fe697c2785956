import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { RunArgs } from "./args.ts";
import type { Env } from "./config/paths.ts";
import type { SetUp } from "./set-up.ts";

/** What everything stands on: how the process was started, and what was read of its configuration. */
export interface Ground extends SetUp {
  run: RunArgs;
  env: Env;
  clock: Clock;
  ids: IdSource;
}
