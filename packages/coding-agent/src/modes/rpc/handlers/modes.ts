import type { AgentSession } from "../../../session/agent-session.ts";
import { done, type Handlers } from "../answer.ts";

/** The switches a host sets for this process; nothing writes them to the user's settings. */
export function modeHandlers(
  session: AgentSession,
): Handlers<
  "set_steering_mode" | "set_follow_up_mode" | "set_interrupt_mode" | "set_auto_compaction" | "set_auto_retry"
> {
  const { modes } = session;
  return {
    set_steering_mode({ mode }) {
      modes.steeringMode = mode;
      return done;
    },
    set_follow_up_mode({ mode }) {
      modes.followUpMode = mode;
      return done;
    },
    set_interrupt_mode({ mode }) {
      modes.interruptMode = mode;
      return done;
    },
    set_auto_compaction({ enabled }) {
      session.setAutoCompaction(enabled);
      return done;
    },
    set_auto_retry({ enabled }) {
      modes.autoRetryEnabled = enabled;
      return done;
    },
  };
}
