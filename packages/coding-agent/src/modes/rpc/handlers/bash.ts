import type { AgentSession } from "../../../session/agent-session.ts";
import { done, type Handlers, ok, refused } from "../answer.ts";

export function bashHandlers({ bash }: AgentSession): Handlers<"bash" | "abort_bash"> {
  return {
    async bash(params, { id }) {
      const outcome = await bash.run({ ...params, commandId: id });
      return "refused" in outcome ? refused(outcome.refused) : ok(outcome);
    },
    /** At once, and again in its turn: a command that was read before may still wait to be started. Answered before those it ends. */
    abort_bash(_params, { inTurn }) {
      bash.abortAll();
      void inTurn(async () => bash.abortAll());
      return done;
    },
  };
}
