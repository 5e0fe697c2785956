import type { Mutation } from "../../test/support/mutate.ts";

/**
 * Mutations that may go unnoticed, and why. Without `op` both are meant. The list is for what no test can or need see,
 * not for tests that are missing.
 */
export interface AcceptedSurvivor {
  frame: string;
  field: string;
  op?: Mutation["op"];
  reason: string;
}

export const ACCEPTED_SURVIVORS: readonly AcceptedSurvivor[] = [
  { frame: "response:prompt", field: "data.agentInvoked", reason: "present only when a local command was run" },
  { frame: "message_end:assistant", field: "message.responseId", reason: "only real providers send one" },
  { frame: "prompt_result", field: "durationMs", op: "change", reason: "any duration is a valid duration" },
  { frame: "message_end:user", field: "message.timestamp", op: "change", reason: "any time is a valid time" },
  { frame: "message_end:assistant", field: "message.timestamp", op: "change", reason: "any time is a valid time" },
  { frame: "message_end:toolResult", field: "message.timestamp", op: "change", reason: "any time is a valid time" },
];

export function acceptedReason({ frame, field, op }: Mutation): string | undefined {
  const found = ACCEPTED_SURVIVORS.find(
    (each) => each.frame === frame && each.field === field && (each.op === undefined || each.op === op),
  );
  return found?.reason;
}
