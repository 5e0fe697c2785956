import type { Admission, AgentSession } from "../../../session/agent-session.ts";
import { type Answer, done, type Handlers, ok, refused } from "../answer.ts";

type Disposition = { disposition: "started" | "queued" };

export function promptingHandlers(
  session: AgentSession,
): Handlers<"prompt" | "steer" | "follow_up" | "abort" | "abort_and_prompt"> {
  return {
    prompt(params, { id, hold }) {
      const admission = session.admit({ ...params, commandId: id });
      // What is looked up for a queue must not be overtaken on its way there.
      if (admission instanceof Promise && session.state().isStreaming) hold();
      return whenAdmitted(admission);
    },
    steer: (params) => whenAdmitted(session.enqueue("steering", params)),
    follow_up: (params) => whenAdmitted(session.enqueue("followUp", params)),
    /** At once; and again in its turn, because a prompt that was read before it may still wait to be started. */
    async abort(_params, { inTurn }) {
      // Those that were read before it must not hold up its turn.
      const goOn = session.giveUpNavigation();
      const abortInTurn = (): Promise<void> => {
        goOn();
        return session.abort();
      };
      await Promise.all([session.abort(), inTurn(abortInTurn)]);
      return done;
    },
    /** Answered after the last event of the old run and before the first one of the new. */
    async abort_and_prompt({ message, images }, { id }) {
      const { admission, over } = session.replace({ message, images, commandId: id });
      await over;
      return answerOf(admission instanceof Promise ? await admission : admission);
    },
  };
}

function whenAdmitted(admission: Admission | Promise<Admission>): Answer<Disposition> | Promise<Answer<Disposition>> {
  return admission instanceof Promise ? admission.then(answerOf) : answerOf(admission);
}

function answerOf(admission: Admission): Answer<Disposition> {
  if ("refused" in admission) return refused(admission.refused);
  const { disposition } = admission;
  return disposition === "started" ? { data: { disposition }, job: admission.job } : ok({ disposition });
}
