import type { Clock } from "@tiller/protocol/clock";
import type { FrameWriter } from "./frame-writer.ts";
import type { Lanes } from "./lanes.ts";

/**
 * When to stop reading and answering commands. A host that reads its answers is read no faster than it reads. One that writes all its
 * commands before it reads must not be locked out, as far as memory goes; and an `abort` must come through.
 */
export interface Intake {
  /** So many bytes were read and worked off. Undefined: read on; else when it resolves. */
  took(bytes: number): undefined | Promise<void>;
  /** A command was answered. Undefined: the next may be worked off; else when it resolves. */
  answered(): undefined | Promise<void>;
}

export interface IntakeOptions {
  writer: Pick<FrameWriter, "waiting" | "roomForAnswers" | "drainedTo">;
  lanes: Pick<Lanes, "waiting">;
  clock: Clock;
}

/** More than this in wait and the host is behind with its reading; it goes on when half of it is left. */
const ENOUGH_BYTES = 2 * 1024 * 1024;
/** A host that has not read that by then does not read yet. */
const PATIENCE_MS = 200;

/** So much is read while there is no room for answers, the commands that wait for them with their weight in memory. */
const READ_AHEAD_BYTES = 32 * 1024 * 1024;
const COMMAND_WEIGHT = 300;

export function createIntake({ writer, lanes, clock }: IntakeOptions): Intake {
  /** Read while there was no room for answers. */
  let ahead = 0;
  let readsLater = false;
  /** There was no room, and commands wait since then: from now on they are worked off no faster than the host reads. */
  let isBehind = false;

  const untilRead = (): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.after(PATIENCE_MS, () => {
        readsLater = true;
        resolve();
      });
      void writer.drainedTo(ENOUGH_BYTES / 2).then(() => {
        cancel();
        resolve();
      });
    });

  return {
    answered() {
      const room = writer.roomForAnswers();
      isBehind = room !== undefined || (isBehind && lanes.waiting > 0);
      return room ?? (isBehind && writer.waiting >= ENOUGH_BYTES ? writer.drainedTo(ENOUGH_BYTES / 2) : undefined);
    },
    took(bytes) {
      const room = writer.roomForAnswers();
      // A host that reads a little makes room again, but the commands that wait go on waiting for it to read the rest.
      const isAhead = room !== undefined || (isBehind && lanes.waiting > 0);
      ahead = isAhead ? ahead + bytes : 0;
      if (isAhead && ahead + lanes.waiting * COMMAND_WEIGHT >= READ_AHEAD_BYTES) {
        return room ?? writer.drainedTo(ENOUGH_BYTES / 2);
      }
      if (room) return undefined;
      if (writer.waiting < ENOUGH_BYTES) readsLater = false;
      return readsLater || writer.waiting < ENOUGH_BYTES ? undefined : untilRead();
    },
  };
}
