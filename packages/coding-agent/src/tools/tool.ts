import type { ToolInvocation } from "@tiller/agent/types";
import type { Clock } from "@tiller/protocol/clock";
import type { Subagent } from "@tiller/protocol/sub-agent";
import type { TodoPhase, TodoPhaseInput } from "@tiller/protocol/todo";
import type { ToolResult } from "@tiller/protocol/tool";
import type { ShellSettings } from "../exec/shell.ts";

/** What a built-in tool is made of. It knows a folder, an environment and a clock, and nothing of the session. */

export interface ToolContext {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Of the session that the commands run for; they find it in their environment. */
  sessionId?(): string;
  /** Which shell runs commands, when it is not the usual one. */
  shell?: ShellSettings;
  /** The plan of the session. */
  plan?(): Promise<PlanKeeper>;
  /** What the host lends under a URL of its own; undefined for every other path. */
  uris?(path: string): HostUri | undefined;
  /** Commands may run in the background. */
  jobs?(): Promise<JobKeeper>;
  /** Starts sub-agents. */
  delegate?(): Promise<Delegate>;
}

/** Starts agents that work on tasks of their own, and waits for them. */
export interface Delegate {
  /** What the tool says of the agents there are. */
  describe(): Promise<string>;
  /**
   * Never rejects because one of them fails; it does when none can be started. `onProgress` gets all of them in their
   * order. Resolves when all have ended, which an abort of the signal brings about.
   */
  run(
    request: TaskRequest,
    call: { toolCallId: string; signal: AbortSignal; onProgress(all: readonly Subagent[]): void },
  ): Promise<TaskReport[]>;
}

export interface TaskRequest {
  /** By name; undefined: the general one, or the one that the instructions describe. */
  agent?: string;
  inline?: { instructions: string; tools?: readonly string[] };
  /** What all of them are told. */
  context?: string;
  tasks: readonly { id: string; description?: string; assignment: string }[];
}

export interface TaskReport {
  about: Subagent;
  /** The last that it has said. */
  text?: string;
}

/** Keeps the plan that the model and the host share. */
export interface PlanKeeper {
  readonly phases: readonly TodoPhase[];
  set(phases: readonly TodoPhaseInput[], by: "model"): TodoPhase[] | { refused: string };
  /** As the model reads it. */
  text(): string;
}

/** Something behind a URL of the host. Both reject with what the model shall read. */
export interface HostUri {
  url: string;
  scheme: string;
  isWritable: boolean;
  read(signal: AbortSignal): Promise<UriContent>;
  write(content: string, signal: AbortSignal): Promise<UriContent>;
}

export interface UriContent {
  /** Text, or an image in base64. */
  content: string;
  contentType: string;
  /** To be shown under it. */
  notes: readonly string[];
}

/** Looks after the commands that run in the background. */
export interface JobKeeper {
  start(work: JobWork): Job | { refused: string };
  /** In the order in which they were started. */
  list(): readonly Job[];
  find(id: string): Job | undefined;
  /** Resolves when the job has ended; it then has its ending. */
  ended(job: Job): Promise<void>;
  /** Ends it; resolves when it has ended. */
  cancel(job: Job): Promise<void>;
}

/** A command that can be left alone. */
export interface JobWork {
  command: string;
  /** Runs it to its end. Never rejects. */
  run(signal: AbortSignal): Promise<JobEnding>;
  /** The end of what it has printed so far, as the model reads it. */
  output(): string;
}

export interface JobEnding {
  status: "completed" | "failed" | "cancelled";
  exitCode?: number;
  /** The end of what it has printed, and what went wrong. */
  output: string;
  fullOutputPath?: string;
}

export interface Job {
  readonly id: string;
  readonly command: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Undefined while it runs. */
  readonly ending: JobEnding | undefined;
  output(): string;
}

/** What a tool does. The loop has checked the arguments against the tool's parameters before. */
export type Execute<Args> = (call: ToolInvocation<Args>) => Promise<ToolResult>;

/** A result of one text block; `details` is left out when there is nothing in it. */
export function textResult(text: string, details?: object): ToolResult {
  const content: ToolResult["content"] = [{ type: "text", text }];
  return details && Object.keys(details).length > 0 ? { content, details } : { content };
}

/** Notices under a listing: `\n\n[A. B]`. */
export function withNotices(text: string, notices: readonly string[]): string {
  return notices.length === 0 ? text : `${text}\n\n[${notices.join(". ")}]`;
}
