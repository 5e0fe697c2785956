import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";

/**
 * Tells for certain whether anybody of a tree is alive. The first shell opens a named pipe, and every child inherits the
 * descriptor, unless it closes it. A look through /proc cannot tell: who forks and ends between the listing and the look is
 * not seen, and his child was not listed yet.
 */
export interface Lifeline {
  /** At this very moment. */
  isHeld(): boolean;
  /** How many have taken hold of it so far. */
  holders(): number;
  close(): void;
}

const NAME = "lifeline";

/** The shell command, in the folder of the lifeline. Each that takes hold of it leaves one byte. */
export const holding = (command: string): string => `exec 9>${NAME}; printf x >&9; ${command}`;

export function createLifeline(folder: string): Lifeline {
  const path = join(folder, NAME);
  execFileSync("mkfifo", [path]);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const bytes = Buffer.alloc(64);
  let holders = 0;

  /** Undefined while nothing is to be read and somebody could still write. */
  const read = (): number | undefined => {
    try {
      return readSync(fd, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return undefined;
      throw error;
    }
  };
  const isHeld = (): boolean => {
    for (;;) {
      const length = read();
      if (length === undefined) return true;
      if (length === 0) return false;
      holders += length;
    }
  };
  return {
    isHeld,
    holders() {
      isHeld();
      return holders;
    },
    close: () => closeSync(fd),
  };
}
