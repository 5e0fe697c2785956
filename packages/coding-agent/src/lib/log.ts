import { writeSync } from "node:fs";
import { oneLine } from "./visible.ts";

/**
 * A line for people, on stderr; where several are meant, a list of them. stdout belongs to the protocol. What others have
 * written into it neither steers the terminal nor begins a line of its own.
 */
export function log(line: string | readonly string[], prefix = "tiller: "): void {
  const lines = typeof line === "string" ? beforeFrames(line) : line;
  try {
    writeSync(2, `${prefix}${lines.map((each) => oneLine(each)).join("\n")}\n`);
  } catch (error) {
    // stderr is closed or full: there is nobody left to tell, and a note is no reason to die.
    if (!(error instanceof Error)) throw error;
  }
}

/** Where an error happened is read line by line. Nobody takes such a line for another message. */
function beforeFrames(line: string): string[] {
  return line.split(/\n(?= {4}at )/);
}
