import type { Dialect } from "./dialect.ts";
import { union } from "./union.ts";

export const pi: Dialect = {
  ...union,
  name: "pi",
  sendsReady: false,
  echoesIdOnUnknownCommand: true,
  omittedEvents: new Set(["prompt_result", "session_settled"]),
  sendsTitle: true,
  sendsDialogCancel: false,
  answersCommandLate: true,
  trustsProjects: true,
  defaults: { interruptMode: "immediate", thinkingLevel: "medium" },
};
