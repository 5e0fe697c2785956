import { writeSync } from "node:fs";

/** A line for people, on stderr. stdout belongs to the protocol. */
export function log(line: string, prefix = "tiller: "): void {
  try {
    writeSync(2, `${prefix}${line}\n`);
  } catch (error) {
    // stderr is closed or full: there is nobody left to tell, and a note is no reason to die.
    if (!(error instanceof Error)) throw error;
  }
}
