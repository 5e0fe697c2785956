import { isatty } from "node:tty";
import { log } from "../../lib/log.ts";
import { visible } from "../../lib/visible.ts";
import type { SessionEvent, SessionListener } from "../../session/session-event.ts";
import { type PromptsInputs, runPrompts } from "./run-prompts.ts";

/** Answers on stdout, and nothing else there; what else happens is told on stderr. Resolves to the exit code. */
export function runPrintMode(inputs: PromptsInputs & { told: readonly string[] }): Promise<number> {
  const { session, told } = inputs;
  session.subscribe(tellOnStderr(told));
  return runPrompts(inputs, {
    mode: "print",
    finished({ result, problem, isAnswered }, writer) {
      // A limit ends a prompt cleanly: what there is until then is worth having. A failure leaves nothing to rely on.
      const isUsable = problem === undefined || result?.limit !== undefined;
      const text = isAnswered && isUsable ? session.lastAssistantText() : undefined;
      // What a model says must not steer the terminal of whoever reads it there. A file or a pipe gets it as it was said.
      if (text !== undefined) writer.raw(isatty(1) ? visible(text) : text);
    },
  });
}

/** Some of what was told at the start is an event too, for those who do not read stderr. */
function tellOnStderr(told: readonly string[]): SessionListener {
  return (event) => {
    const line = lineFor(event);
    if (line !== undefined && !(event.type === "notice" && told.includes(line))) log(line);
    return undefined;
  };
}

function lineFor(event: SessionEvent): string | undefined {
  if (event.type === "notice") return event.message;
  if (event.type === "extension_error") return `${event.extensionPath} (${event.event}): ${event.error}`;
  if (event.type !== "auto_retry_start") return undefined;
  const { attempt, maxAttempts, delayMs, errorMessage } = event;
  return `${errorMessage}; trying again in ${(delayMs / 1000).toFixed(1)} s (${attempt} of ${maxAttempts})`;
}
