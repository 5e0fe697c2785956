import type { ToolResult } from "@tiller/protocol/tool";
import { createOutputBuffer } from "../exec/output-buffer.ts";
import { throwIfAborted } from "../lib/abort.ts";
import {
  type BashArgs,
  exitCodeOf,
  failureText,
  joinFailure,
  outputText,
  runCommand,
  shownLines,
} from "./bash-command.ts";
import { jobDetails } from "./job-text.ts";
import { MAX_BYTES } from "./limits.ts";
import { KEEP_BYTES, type ShownOutput, showOutput } from "./shell-output.ts";
import { type JobKeeper, type JobWork, type ToolContext, textResult } from "./tool.ts";

/** Starts the command and leaves it alone. */
export function startJob(place: ToolContext, args: BashArgs, jobs: JobKeeper, signal: AbortSignal): ToolResult {
  // What was stopped while all this was loaded shall not leave a job behind.
  throwIfAborted(signal);
  const job = jobs.start(bashJob(place, args));
  if ("refused" in job) throw new Error(job.refused);
  const text = `Runs in the background as ${job.id}. Its result comes as a message when it has ended; poll shows how it is doing, cancel_job ends it.`;
  return textResult(text, jobDetails(job));
}

function bashJob(place: ToolContext, args: BashArgs): JobWork {
  const output = createOutputBuffer({ keepBytes: KEEP_BYTES, spillAfterBytes: MAX_BYTES });
  /** Somebody was told of the file with the whole output. */
  let isFileKnown = false;
  const shown = (): ShownOutput => {
    const now = showOutput(output, shownLines(args));
    isFileKnown ||= now.fullOutputPath !== undefined;
    return now;
  };
  return {
    command: args.command,
    output: () => outputText(shown()),
    async run(signal) {
      try {
        const outcome = await runCommand({ ...place, onOutput: output.write }, args, signal);
        const failure = failureText(outcome, args);
        const last = shown();
        return {
          status: outcome.ended === "aborted" ? "cancelled" : failure ? "failed" : "completed",
          exitCode: outcome.ended === "exited" ? exitCodeOf(outcome) : undefined,
          output: failure ? joinFailure(last, failure, outcome) : outputText(last),
          fullOutputPath: last.fullOutputPath,
        };
      } catch (error) {
        return { status: "failed", output: error instanceof Error ? error.message : String(error) };
      } finally {
        output.close(isFileKnown ? "keep-file" : "remove-file");
      }
    },
  };
}
