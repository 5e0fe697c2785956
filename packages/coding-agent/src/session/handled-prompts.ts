import type { EventPipeline } from "./event-pipeline.ts";
import { handledResult, type Unhandled } from "./prompt-result.ts";
import type { AcceptedPrompt } from "./session-event.ts";

/** Prompts that an extension deals with, beside the run or without one. Each gets its result, whatever happens. */
export interface HandledPrompts {
  job(prompt: AcceptedPrompt, work: () => Promise<void>): () => Promise<void>;
  /** Some are accepted and not over. */
  readonly isAny: boolean;
  /** The process ends: nobody waits for those that are still being dealt with. */
  endAll(reason: string): void;
  /** None is being dealt with any more. */
  settled(): Promise<void>;
}

/** Beside them there may be a run, and messages that wait for the next. */
export interface Beside {
  isRunning(): boolean;
  isWaiting(): boolean;
}

export function createHandledPrompts(emit: EventPipeline["emit"], beside: Beside): HandledPrompts {
  const open = new Map<Promise<void>, (reason: string) => void>();
  /** Accepted and not over; some may not have begun. */
  let accepted = 0;
  return {
    job(prompt, work) {
      accepted += 1;
      return () => {
        let end = (_reason: string): void => undefined;
        const ended = new Promise<Unhandled>((resolve) => {
          end = (message) => resolve({ status: "aborted", message });
        });
        const run = async (): Promise<void> => {
          const unhandled = await Promise.race([work().then(() => undefined, failed), ended]);
          open.delete(done);
          accepted -= 1;
          const place = { promptId: prompt.promptId };
          const isLast = accepted === 0 && !beside.isRunning();
          void emit(handledResult(prompt.commandId, isLast && !beside.isWaiting(), unhandled), place);
          if (isLast) void emit({ type: "session_settled" }, place);
        };
        const done = run();
        open.set(done, end);
        return done;
      };
    },
    get isAny() {
      return accepted > 0;
    },
    endAll(reason) {
      for (const end of open.values()) end(reason);
    },
    async settled() {
      while (open.size > 0) await Promise.allSettled(open.keys());
    },
  };
}

/** What the extension needs could not be made ready, a text of the user's, say: the prompt has its end all the same. */
function failed(error: unknown): Unhandled {
  return { status: "error", message: error instanceof Error ? error.message : String(error) };
}
