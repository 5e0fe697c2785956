import "./lib/guard-stdout.ts";
import { log } from "./lib/log.ts";
import { main } from "./main.ts";
import { printToStdout } from "./modes/rpc/frame-writer.ts";

const [, programName = "tiller", ...argv] = process.argv;
void main({ argv, programName, env: process.env, cwd: workingFolder(), print }).then(process.exit);

/** It may have been removed while somebody stood in it. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    log("Error: the working folder does not exist any more; start in another one", "");
    process.exit(1);
  }
}

function print(text: string): void {
  try {
    printToStdout(text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Who reads no more, as `head` does, has what they wanted.
    if (code === "EPIPE") process.exit(0);
    log(`stdout cannot be written: ${message}`);
    process.exit(1);
  }
}
