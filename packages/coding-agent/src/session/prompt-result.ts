import type { RunOutcome } from "@tiller/agent/types";
import type { AssistantMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { type LimitUse, reachedText } from "./limits.ts";
import type { FinishedPrompt } from "./progress.ts";
import type { PromptResult } from "./session-event.ts";

export interface Ending {
  outcome: RunOutcome | undefined;
  /** The loop itself broke. */
  crash: unknown;
  model: Model | null;
  abortReason: string | undefined;
  limit: LimitUse | undefined;
  /** Somebody else has dealt with the prompt. */
  isTaken: boolean;
}

/** The one frame that a prompt ends with. Pure. */
export function promptResult(done: FinishedPrompt, ending: Ending, sessionSettled: boolean): PromptResult {
  const { prompt, spending, durationMs } = done;
  return {
    type: "prompt_result",
    id: prompt.commandId,
    ...statusOf(ending),
    agentInvoked: !ending.isTaken,
    sessionSettled,
    ...(ending.limit ? { limit: ending.limit } : {}),
    ...(answers(ending).some(({ provider }) => provider === "offline") ? { offline: true as const } : {}),
    ...spending,
    durationMs,
  };
}

/** Why a prompt that an extension deals with has come to no end of its own. */
export interface Unhandled {
  status: "aborted" | "error";
  message: string;
}

/** For a prompt that the model never saw because an extension dealt with it, or was to. */
export function handledResult(
  commandId: PromptResult["id"],
  sessionSettled: boolean,
  unhandled: Unhandled | undefined,
): PromptResult {
  const end = { agentInvoked: false, sessionSettled };
  if (!unhandled) return { type: "prompt_result", id: commandId, status: "completed", ...end };
  const { status, message } = unhandled;
  return { type: "prompt_result", id: commandId, status, error: { message, retryable: false }, ...end };
}

/** For a prompt that waited in a queue and was taken out of it before any model saw it. */
export function droppedResult(commandId: PromptResult["id"], reason: string, sessionSettled: boolean): PromptResult {
  return handledResult(commandId, sessionSettled, { status: "aborted", message: reason });
}

/** Who answered, not who would be asked next: the host may have chosen another model meanwhile. */
function answers({ outcome }: Ending): AssistantMessage[] {
  return (outcome?.messages ?? []).filter((message) => message.role === "assistant");
}

function statusOf(ending: Ending): Pick<PromptResult, "status" | "error"> {
  const { outcome, crash, abortReason, limit } = ending;
  const last = answers(ending).at(-1);
  const who = { provider: last?.provider ?? ending.model?.provider, model: last?.model ?? ending.model?.id };
  if (crash !== undefined) {
    const message = crash instanceof Error ? crash.message : String(crash);
    return { status: "error", error: { message, ...who, retryable: false } };
  }
  const isStopped = outcome?.limit !== undefined || outcome?.stopReason === "aborted";
  if (limit && isStopped)
    return { status: "aborted", error: { message: `Stopped: ${reachedText(limit)}`, retryable: false } };
  if (outcome?.stopReason === "aborted") {
    return { status: "aborted", error: { message: abortReason ?? "Request was aborted", retryable: false } };
  }
  if (!outcome?.error) return { status: "completed" };
  const { message, kind, status, retryable } = outcome.error;
  return { status: "error", error: { message, ...who, kind, httpStatus: status, retryable } };
}
