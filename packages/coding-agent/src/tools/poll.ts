import type { ToolResult } from "@tiller/protocol/tool";
import { throwIfAborted } from "../lib/abort.ts";
import { sleep } from "../lib/clock.ts";
import { jobDetails, jobText, noSuchJob, shortCommand } from "./job-text.ts";
import { type Execute, type Job, type ToolContext, textResult } from "./tool.ts";

interface PollArgs {
  jobId?: string;
  /** In seconds. */
  wait?: number;
}

/** Nobody shall be kept for hours by a server that never ends. */
const MAX_WAIT_SECONDS = 300;

/** The model's look at its background jobs. */
export function createPoll({ jobs, clock }: ToolContext): Execute<PollArgs> {
  return async ({ args, signal }) => {
    if (!jobs) throw new Error("Nothing can run in the background here: the setting async.enabled is off");
    const keeper = await jobs();
    throwIfAborted(signal);
    if (args.jobId === undefined) return listed(keeper.list());
    const job = keeper.find(args.jobId);
    if (!job) throw noSuchJob(args.jobId, keeper.list());
    const seconds = Math.min(args.wait ?? 0, MAX_WAIT_SECONDS);
    if (!job.ending && seconds > 0) {
      const enough = new AbortController();
      await Promise.race([keeper.ended(job), sleep(clock, seconds * 1000, AbortSignal.any([signal, enough.signal]))]);
      enough.abort();
    }
    throwIfAborted(signal);
    return textResult(jobText(job), jobDetails(job));
  };
}

function listed(jobs: readonly Job[]): ToolResult {
  if (jobs.length === 0) return textResult("There are no background jobs.");
  const lines = jobs.map((job) => `${job.id} ${job.ending?.status ?? "running"}: ${shortCommand(job)}`);
  return textResult(lines.join("\n"));
}
