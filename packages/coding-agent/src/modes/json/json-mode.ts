import type { Dialect } from "@tiller/protocol/dialects/dialect";
import type { SessionHeader } from "@tiller/protocol/session-entry";
import type { UpdateMode } from "@tiller/protocol/state";
import { type PromptsInputs, runPrompts } from "../print/run-prompts.ts";
import { createEventFrames } from "../rpc/event-frames.ts";

export interface JsonModeInputs extends PromptsInputs {
  header(): SessionHeader;
  dialect: Dialect;
  updates: UpdateMode;
  notices: readonly string[];
}

/** The header of the session, then every event as RPC mode sends it, one line each. Resolves to the exit code. */
export function runJsonMode(inputs: JsonModeInputs): Promise<number> {
  const { session, dialect, clock, updates, header, notices } = inputs;
  let tell: (level: "warning" | "error", message: string) => void = () => undefined;
  return runPrompts(inputs, {
    mode: "json",
    begin(writer) {
      const frames = createEventFrames({ writer, dialect, clock, mode: updates });
      tell = (level, message) => void frames.take({ type: "notice", level, message }, undefined);
      writer.frame(header());
      session.subscribe(frames.take);
      for (const message of notices) tell("warning", message);
    },
    ended({ result, problem }) {
      // A prompt that was refused has no event of its own.
      if (!result && problem !== undefined) tell("error", problem);
    },
  });
}
