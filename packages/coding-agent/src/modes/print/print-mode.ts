import { log } from "../../lib/log.ts";
import type { SessionEvent, SessionListener } from "../../session/session-event.ts";
import { type PromptsInputs, runPrompts } from "./run-prompts.ts";

/** Answers on stdout, and nothing else there; what else happens is told on stderr. Resolves to the exit code. */
export function runPrintMode(inputs: PromptsInputs): Promise<number> {
  const { session } = inputs;
  session.subscribe(tellOnStderr);
  return runPrompts(inputs, {
    mode: "print",
    finished({ result, problem, isAnswered }, writer) {
      // A limit ends a prompt cleanly: what there is until then is worth having. A failure leaves nothing to rely on.
      const isUsable = problem === undefined || result?.limit !== undefined;
      const text = isAnswered && isUsable ? session.lastAssistantText() : undefined;
      if (text !== undefined) writer.raw(text);
    },
  });
}

const tellOnStderr: SessionListener = (event) => {
  const line = lineFor(event);
  if (line !== undefined) log(line);
  return undefined;
};

function lineFor(event: SessionEvent): string | undefined {
  if (event.type === "notice") return event.message;
  if (event.type === "extension_error") return `${event.extensionPath} (${event.event}): ${event.error}`;
  if (event.type !== "auto_retry_start") return undefined;
  const { attempt, maxAttempts, delayMs, errorMessage } = event;
  return `${errorMessage}; trying again in ${(delayMs / 1000).toFixed(1)} s (${attempt} of ${maxAttempts})`;
}
