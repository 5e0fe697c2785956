import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";

export const RETRY = table({
  set_auto_retry: defineCommand({
    type: "set_auto_retry",
    summary: "Turns retrying after passing provider errors (overload, rate limit, 5xx) on or off.",
    params: { enabled: Type.Boolean() },
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [{ params: { enabled: false } }],
  }),
  abort_retry: defineCommand({
    type: "abort_retry",
    summary: "Gives up a retry that is being waited for; a success also when there is none.",
    params: {},
    lane: "control",
    systems: ["pi", "omp", "xcsh"],
    examples: [{ params: {} }],
  }),
});
