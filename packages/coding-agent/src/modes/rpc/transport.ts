import type { AgentSession } from "../../session/agent-session.ts";
import type { Announcer } from "./announcer.ts";
import type { EventFrames } from "./event-frames.ts";
import type { FrameWriter } from "./frame-writer.ts";

/** Which version of the protocol is spoken. What version 2 needs is loaded when a host asks for it. */
export interface Transport {
  readonly protocolVersion: 1 | 2;
  /** `begin` is to be called behind the answer: everything that follows is sent in version 2. */
  negotiate(): Promise<{ begin(): void }>;
  /** Frames that are JSON already. */
  send(frames: readonly string[]): void;
  /** An answer was written: what it says may have changed what is announced. */
  answered(): void;
}

export function createTransport(session: AgentSession, writer: FrameWriter, frames: EventFrames): Transport {
  let announcer: Announcer | undefined;
  return {
    get protocolVersion() {
      return announcer ? 2 : 1;
    },
    async negotiate() {
      const [{ createFrameCutter }, { createAnnouncer }] = await Promise.all([
        import("./chunked-frames.ts"),
        import("./announcer.ts"),
      ]);
      return {
        begin() {
          if (announcer) return;
          writer.cutter = createFrameCutter();
          const onProblem = (message: string): void =>
            void frames.take({ type: "notice", level: "warning", source: "commands", message }, undefined);
          announcer = createAnnouncer({ session, write: writer.frame, onProblem });
        },
      };
    },
    send: writer.lines,
    answered: () => announcer?.look(),
  };
}
