import type { Dialect } from "./dialect.ts";
import { union } from "./union.ts";

export const omp: Dialect = {
  ...union,
  name: "omp",
  unexpectedExceptionAsParse: true,
  busyText: "Agent is already processing. Use steer() or followUp() to queue messages, or wait for completion.",
  omittedEvents: new Set(["compaction_start", "compaction_end"]),
  sendsTitle: true,
  answersFailedSends: true,
  unknownFlag: "warning",
  keepsShellState: true,
  moreTools: ["todo", "task"],
  defaults: { interruptMode: "immediate", thinkingLevel: "high" },
};
