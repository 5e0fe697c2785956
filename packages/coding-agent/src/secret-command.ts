import type { RunCommand } from "@tiller/ai/secret-commands";
import type { Clock } from "@tiller/protocol/clock";
import type { Env } from "./config/paths.ts";
import { runProcess } from "./exec/run-process.ts";
import { defaultShell } from "./exec/shell.ts";

const LIMIT_MS = 10_000;
/** No key is longer; a command that prints without end must not fill the memory. */
const LONGEST_OUTPUT = 64 * 1024;

/**
 * Runs the `!command` values of the user's own files, in the folder of these files: nothing of the project is in the way.
 * What a command says on stderr is dropped, because it may say a secret.
 */
export function createSecretCommands(options: { cwd: string; env: Env; clock: Clock; timeoutMs?: number }): RunCommand {
  const { timeoutMs = LIMIT_MS } = options;
  return async (command) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const request = {
      ...options,
      file: defaultShell(),
      args: ["-c", command],
      timeoutMs,
      onOutput(chunk: Buffer, source: "stdout" | "stderr") {
        if (source === "stderr" || size >= LONGEST_OUTPUT) return;
        size += chunk.length;
        chunks.push(chunk);
      },
    };
    try {
      const { ended, exitCode, signal } = await runProcess(request, new AbortController().signal);
      if (ended === "timedOut") return { failure: `it took longer than ${timeoutMs / 1000} s` };
      if (exitCode !== 0) return { failure: exitCode === null ? `ended by ${signal}` : `exit code ${exitCode}` };
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      return { failure: `it could not be started${code ? `: ${code}` : ""}` };
    }
    return { output: Buffer.concat(chunks).toString("utf8") };
  };
}
