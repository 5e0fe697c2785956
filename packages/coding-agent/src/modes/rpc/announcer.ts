import type { SessionState } from "@tiller/protocol/state";
import type { AgentSession } from "../../session/agent-session.ts";

/** Tells what has changed around the session in the frames that omp has for it. Only for hosts that negotiated them. */
export interface Announcer {
  /** Something may have changed. */
  look(): void;
}

export interface AnnouncerOptions {
  session: Pick<AgentSession, "state" | "subscribe" | "resources">;
  write(frame: object): void;
  onProblem(message: string): void;
}

export function createAnnouncer({ session, write, onProblem }: AnnouncerOptions): Announcer {
  let told = session.state();

  const tellCommands = async (): Promise<void> => {
    try {
      const { commands } = (await session.resources()).availableCommands();
      write({ type: "available_commands_update", commands });
    } catch (error) {
      onProblem(`The slash commands cannot be listed: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const look = (): void => {
    const now = session.state();
    if (now === told) return;
    const before = told;
    told = now;
    const isOther = now.sessionId !== before.sessionId;
    if (isOther || now.sessionName !== before.sessionName) {
      write({ type: "session_info_update", title: now.sessionName, sessionId: now.sessionId });
    }
    if (!isSameConfig(now, before)) {
      write({ type: "config_update", model: now.model, thinkingLevel: now.thinkingLevel });
    }
    if (isOther) void tellCommands();
  };

  // An extension may have changed something, too.
  session.subscribe((event) => {
    if (event.type !== "message_update") look();
    return undefined;
  });
  void tellCommands();
  return { look };
}

function isSameConfig(one: SessionState, other: SessionState): boolean {
  const isSameModel = one.model?.provider === other.model?.provider && one.model?.id === other.model?.id;
  return isSameModel && one.thinkingLevel === other.thinkingLevel;
}
