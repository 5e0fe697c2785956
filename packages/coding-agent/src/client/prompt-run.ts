import type { CommandParams } from "@tiller/protocol/plain-types.generated";
import type { ClientEvent } from "./events.ts";
import type { PromptOutcome } from "./prompts.ts";

/**
 * One prompt: `for await (const event of run)` gives its events up to its end, `await run.result` how it ended. Events are
 * kept only for a loop that was begun at once; who reads slowly slows the agent down. To leave the loop early aborts the prompt.
 */
export interface PromptRun extends AsyncIterable<ClientEvent> {
  /** Rejects when the prompt was refused, the agent went away, or the time was over. */
  readonly result: Promise<PromptOutcome>;
  /** Asks the agent to end it; `result` tells when that has happened. */
  abort(): void;
}

export interface RunOptions extends Omit<CommandParams["prompt"], "message"> {
  /** Aborts the prompt; the loop goes on to its end. */
  signal?: AbortSignal;
  /** How long it may take; it is aborted then, and `result` rejects. */
  timeoutMs?: number;
}
