import { jobDetails, jobText, noSuchJob } from "./job-text.ts";
import { type Execute, type ToolContext, textResult } from "./tool.ts";

/** Ends a background job for the model. One that has ended already is shown as it ended. */
export function createCancelJob({ jobs }: ToolContext): Execute<{ jobId: string }> {
  return async ({ args: { jobId } }) => {
    if (!jobs) throw new Error("Nothing can run in the background here: the setting async.enabled is off");
    const keeper = await jobs();
    const job = keeper.find(jobId);
    if (!job) throw noSuchJob(jobId, keeper.list());
    await keeper.cancel(job);
    return textResult(jobText(job), jobDetails(job));
  };
}
