import { StringDecoder } from "node:string_decoder";
import { createOutputBuffer } from "./exec/output-buffer.ts";
import type { BashOutcome, RunShell } from "./session/bash-runner.ts";
import type { BashOperations, SessionHooks } from "./session/ports.ts";
import { describeOutput } from "./shell-command.ts";
import { MAX_BYTES } from "./tools/limits.ts";
import { KEEP_BYTES } from "./tools/shell-output.ts";

export interface UserBashPlace {
  hooks: SessionHooks;
  cwd: string;
  /** When no extension wants to have it. */
  runShell: RunShell;
}

/** A shell command of the host that extensions may answer themselves, or run somewhere else. */
export async function runUserBash(
  { hooks, cwd, runShell }: UserBashPlace,
  ...given: Parameters<RunShell>
): Promise<BashOutcome> {
  const [command, onText, signal, isExcluded = false] = given;
  const event = { command, excludeFromContext: isExcluded, cwd };
  const { result, operations, refused } = await hooks.run("user_bash", event, signal);
  if (refused !== undefined) return { refused };
  if (result) {
    if (result.output !== "") void onText(result.output);
    return result;
  }
  return operations ? runElsewhere(operations, cwd, ...given) : runShell(...given);
}

async function runElsewhere(
  operations: BashOperations,
  cwd: string,
  ...given: Parameters<RunShell>
): Promise<BashOutcome> {
  const [command, onText, signal] = given;
  const output = createOutputBuffer({ keepBytes: KEEP_BYTES, spillAfterBytes: MAX_BYTES });
  /** A character may come in two pieces. */
  const decoder = new StringDecoder("utf8");
  const onData = (data: Buffer): void => {
    const bytes = Buffer.from(data);
    output.write(bytes);
    const text = decoder.write(bytes);
    if (text !== "") void onText(text);
  };
  let isFileTold = false;
  const ended = (end: { exitCode?: number; cancelled: boolean }): BashOutcome => {
    const result = describeOutput(output, end);
    isFileTold = result.fullOutputPath !== undefined;
    return result;
  };
  try {
    const done = operations.exec(command, cwd, { onData, signal });
    // Nobody waits for one that does not listen to the abort.
    done.catch(() => undefined);
    const outcome = await Promise.race([done, aborted(signal)]);
    const exitCode =
      !signal.aborted && Number.isInteger(outcome?.exitCode) ? (outcome?.exitCode ?? undefined) : undefined;
    return ended({ exitCode, cancelled: signal.aborted });
  } catch (error) {
    if (signal.aborted) return ended({ cancelled: true });
    return { refused: error instanceof Error ? error.message : String(error) };
  } finally {
    output.close(isFileTold ? "keep-file" : "remove-file");
  }
}

/** Settles when it is aborted, and never otherwise. */
function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
