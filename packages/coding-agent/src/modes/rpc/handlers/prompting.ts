import type { Dialect } from "@tiller/protocol/dialects/dialect";
import type { Admission, AgentSession } from "../../../session/agent-session.ts";
import { type Answer, done, type Handlers, ok, refused } from "../answer.ts";

type Disposition = { disposition: "started" | "queued" | "handled"; agentInvoked?: false };

export function promptingHandlers(
  session: AgentSession,
  { answersCommandLate }: Pick<Dialect, "answersCommandLate">,
): Handlers<"prompt" | "steer" | "follow_up" | "abort" | "abort_and_prompt"> {
  return {
    prompt(params, { id, hold }) {
      const admission = session.admit({ ...params, commandId: id });
      // What is looked up for a queue must not be overtaken on its way there.
      if (admission instanceof Promise && session.state().isStreaming) hold();
      const answer = whenAdmitted(admission);
      if (!answersCommandLate) return answer;
      return answer instanceof Promise ? answer.then(afterItsCommand) : afterItsCommand(answer);
    },
    steer: (params) => whenAdmitted(session.enqueue("steering", params)),
    follow_up: (params) => whenAdmitted(session.enqueue("followUp", params)),
    /** At once; and again in its turn, because a prompt that was read before it may still wait to be started. */
    async abort(_params, { inTurn }) {
      // Those that were read before it must not hold up its turn.
      const goOn = session.giveUpWaiting();
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
      const answer = answerOf(admission instanceof Promise ? await admission : admission);
      return answersCommandLate ? afterItsCommand(answer) : answer;
    },
  };
}

function whenAdmitted(admission: Admission | Promise<Admission>): Answer<Disposition> | Promise<Answer<Disposition>> {
  return admission instanceof Promise ? admission.then(answerOf) : answerOf(admission);
}

function answerOf(admission: Admission): Answer<Disposition> {
  if ("refused" in admission) return refused(admission.refused);
  const { disposition } = admission;
  const data = disposition === "handled" ? { disposition, agentInvoked: false as const } : { disposition };
  return "job" in admission && admission.job ? { data, job: admission.job } : ok(data);
}

/** What an extension deals with is done first; what starts a run is answered before it, as ever. */
function afterItsCommand(answer: Answer<Disposition>): Answer<Disposition> | Promise<Answer<Disposition>> {
  if (!("job" in answer) || answer.data.disposition !== "handled") return answer;
  return answer.job().then(() => ok(answer.data));
}
