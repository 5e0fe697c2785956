import type { CustomMessage } from "@tiller/protocol/message";
import type { Refused, SessionSwitch } from "./session-switch.ts";
import type { SessionStore } from "./store/session-store.ts";

/** Hands the work over to a new session, which begins with notes on it. */
export interface Handoff {
  run(focus: string | undefined, signal: AbortSignal): Promise<HandedOff | Refused>;
}

/** An extension said no; or where the notes lie, undefined when sessions have no files. */
export type HandedOff = { cancelled: true } | { cancelled: false; savedPath: string | undefined };

export interface HandoffOptions {
  store: Pick<SessionStore, "messages" | "sessionFile" | "leafId" | "writeProblem">;
  /** A run or a compaction is going on. */
  isBusy(): boolean;
  /** The notes on the conversation as it stands. */
  summarize(focus: string | undefined, signal: AbortSignal): Promise<{ summary: string } | Refused>;
  /** Writes the notes to a file, if there are to be files. May throw. */
  keep(notes: string): string | undefined;
  files: Pick<SessionSwitch, "newSession">;
  /** Adds a message to the session that is open, and tells it. */
  add(message: Omit<CustomMessage, "timestamp">): Promise<void>;
}

export const HANDOFF_TYPE = "tiller.handoff";
const BUSY = "Cannot hand off while a response is in progress";
const RUNNING = "A handoff is already in progress";
const EMPTY = "Nothing to hand off: the session has no messages yet";
const INTRODUCTION =
  "The work goes on here from an earlier session. These are the notes that were written when it was handed over:";

export function createHandoff(options: HandoffOptions): Handoff {
  let isRunning = false;
  return {
    async run(focus, signal) {
      // A second one would write notes for a session that the first is about to leave.
      if (isRunning) return { refused: RUNNING };
      isRunning = true;
      try {
        return await handOver(focus, signal, options);
      } finally {
        isRunning = false;
      }
    },
  };
}

async function handOver(
  focus: string | undefined,
  signal: AbortSignal,
  options: HandoffOptions,
): Promise<HandedOff | Refused> {
  const { store, isBusy, files } = options;
  if (isBusy()) return { refused: BUSY };
  if (store.messages.length === 0) return { refused: EMPTY };
  const unwritable = await store.writeProblem();
  if (unwritable !== undefined) return { refused: unwritable };
  const from = store.leafId;
  const notes = await options.summarize(focus, signal);
  if ("refused" in notes) return notes;
  const saved = keepNotes(options, notes.summary);
  if ("refused" in saved) return saved;
  const { savedPath } = saved;
  // Whoever has gone on meanwhile wants to stay.
  if (isBusy() || store.leafId !== from) return { refused: wentOn(savedPath) };
  const { sessionFile } = store;
  if ((await files.newSession(sessionFile)).cancelled) return { cancelled: true };
  await options.add({
    role: "custom",
    customType: HANDOFF_TYPE,
    content: `${INTRODUCTION}\n\n${notes.summary}`,
    display: true,
    details: { savedPath, sessionFile },
  });
  return { cancelled: false, savedPath };
}

function keepNotes({ keep }: HandoffOptions, notes: string): { savedPath: string | undefined } | Refused {
  try {
    return { savedPath: keep(notes) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { refused: `The notes cannot be written, and the session goes on: ${why}` };
  }
}

function wentOn(savedPath: string | undefined): string {
  const where = savedPath === undefined ? "" : `; the notes are in ${savedPath}`;
  return `The session went on while the notes were being written, so it was not left${where}`;
}
