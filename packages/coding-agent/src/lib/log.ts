import { writeSync } from "node:fs";
import { oneLine } from "./visible.ts";

/**
 * A line for people, on stderr; where several are meant, a list of them. stdout belongs to the protocol. What others have
 * written into it neither steers the terminal nor begins a line of its own: its further lines are set in.
 */
export function log(line: string | readonly string[], prefix = "tiller: "): void {
  const lines = typeof line === "string" ? line.split(/\r?\n/).map(setIn) : line;
  try {
    writeSync(2, `${prefix}${lines.map((each) => oneLine(each)).join("\n")}\n`);
  } catch (error) {
    // stderr is closed or full: there is nobody left to tell, and a note is no reason to die.
    if (!(error instanceof Error)) throw error;
  }
}

/** Where an error happened stands as everybody knows it. */
const IS_FRAME = /^ {4}at /;

const setIn = (line: string, at: number): string => (at === 0 || IS_FRAME.test(line) ? line : `  ${line}`);
