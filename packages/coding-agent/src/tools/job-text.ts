import type { AgentMessage } from "@tiller/protocol/message";
import type { Job } from "./tool.ts";

/** How a job reads. Pure. */

const MAX_COMMAND = 200;

export function shortCommand({ command }: Pick<Job, "command">): string {
  const lines = command.trim().split("\n");
  const line = lines.flatMap((one) => one.trim() || []).join(" ⏎ ");
  return line.length <= MAX_COMMAND ? line : `${line.slice(0, MAX_COMMAND).toWellFormed()}...`;
}

const HOW = { completed: "has completed", failed: "has failed", cancelled: "was ended" } as const;

/** What is to be known of one, with its output. */
export function jobText(job: Job): string {
  const how = job.ending ? HOW[job.ending.status] : "is running";
  const head = `Background job ${job.id} ${how}.\nCommand: ${shortCommand(job)}`;
  return `${head}\n\n${job.ending?.output ?? job.output()}`;
}

export interface JobDetails {
  job: { id: string; command: string; status: string; startedAt: number; exitCode?: number; fullOutputPath?: string };
}

export function jobDetails({ id, command, startedAt, ending }: Job): JobDetails {
  const { status = "running", exitCode, fullOutputPath } = ending ?? {};
  return { job: { id, command: command.toWellFormed(), status, startedAt, exitCode, fullOutputPath } };
}

/** For somebody who named a job that is not there. */
export function noSuchJob(id: string, jobs: readonly Job[]): Error {
  const known = jobs.map((job) => job.id).join(", ") || "none";
  return new Error(`There is no background job "${id}"; there are: ${known}. Jobs end with the session.`);
}

/** A result of poll or cancel_job in the conversation says how the job has ended. Ids are of one process: an older one is of another job. */
export function showsEnd(messages: readonly AgentMessage[], { id, startedAt }: Job): boolean {
  return messages.some((message) => {
    if (message.role !== "toolResult" || message.isError || message.timestamp < startedAt) return false;
    if (message.toolName !== "poll" && message.toolName !== "cancel_job") return false;
    const job = (message.details as Partial<JobDetails> | undefined)?.job;
    return job?.id === id && job.status !== "running";
  });
}
