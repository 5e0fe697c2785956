import type { Dialect } from "./dialect.ts";

/** The default: serves the clients of all three systems. */
export const union: Dialect = {
  name: "union",
  sendsReady: true,
  echoesIdOnUnknownCommand: false,
  unexpectedExceptionAsParse: false,
  busyText: "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.",
  omittedEvents: new Set(),
  sendsTitle: false,
  sendsDialogCancel: true,
  answersCommandLate: false,
  answersFailedSends: false,
  unknownFlag: "error",
  trustsProjects: false,
  keepsShellState: false,
  moreTools: [],
  defaults: { interruptMode: "wait", thinkingLevel: "medium" },
};
