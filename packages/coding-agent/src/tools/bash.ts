import type { ToolResult } from "@tiller/protocol/tool";
import { createOutputBuffer, type OutputBuffer } from "../exec/output-buffer.ts";
import {
  type BashArgs,
  failureText,
  joinFailure,
  outputText,
  placeOf,
  runCommand,
  shownLines,
} from "./bash-command.ts";
import { MAX_BYTES } from "./limits.ts";
import { KEEP_BYTES, showOutput } from "./shell-output.ts";
import { createThrottle } from "./throttle.ts";
import { type Execute, type ToolContext, textResult } from "./tool.ts";
import type { TruncationLimits } from "./truncate.ts";

const UPDATE_INTERVAL_MS = 100;

export function createBash(context: ToolContext): Execute<BashArgs> {
  return async ({ args, signal, onUpdate }) => {
    const place = placeOf(context, args);
    if (args.async === true && context.jobs) {
      const [{ startJob }, jobs] = await Promise.all([import("./bash-job.ts"), context.jobs()]);
      return startJob(place, args, jobs, signal);
    }
    const limits = shownLines(args);
    const output = createOutputBuffer({ keepBytes: KEEP_BYTES, spillAfterBytes: MAX_BYTES });
    const updates = createThrottle(context.clock, UPDATE_INTERVAL_MS, () => onUpdate(partialResult(output, limits)));
    onUpdate({ content: [] });
    let truncated = false;
    try {
      const onOutput = (chunk: Buffer): void => {
        output.write(chunk);
        updates.touch();
      };
      const outcome = await runCommand({ ...place, leavesOnAbort: true, onOutput }, args, signal);
      const shown = showOutput(output, limits);
      truncated = shown.truncation.truncated;
      const failure = failureText(outcome, args);
      if (failure) throw new Error(joinFailure(shown, failure, outcome));
      const details = { truncation: shown.truncation, fullOutputPath: shown.fullOutputPath };
      return textResult(outputText(shown), truncated ? details : undefined);
    } finally {
      updates.stop();
      output.close(truncated ? "keep-file" : "remove-file");
    }
  };
}

/** Cumulative, as every update; the two details are always there, so that a client need not ask. */
function partialResult(output: OutputBuffer, limits: TruncationLimits): ToolResult {
  const { content, truncation, fullOutputPath } = showOutput(output, limits);
  return {
    content: [{ type: "text", text: content }],
    details: { truncation: truncation.truncated ? truncation : null, fullOutputPath: fullOutputPath ?? null },
  };
}
