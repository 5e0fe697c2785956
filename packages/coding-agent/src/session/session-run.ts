import type { AgentRun } from "@tiller/agent/agent-loop";
import type { AgentPorts, RunOutcome } from "@tiller/agent/types";
import type { IdSource } from "@tiller/protocol/clock";
import type { UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { EventPipeline } from "./event-pipeline.ts";
import type { CommandId, PromptResult } from "./session-event.ts";

export interface AcceptedPrompt {
  promptId: string;
  /** Runs the prompt to its end. Started by the dispatcher once the acceptance has been answered. */
  job(): Promise<void>;
}

export interface SessionRun {
  /** Reserves the run at once, so that the next line already sees it. */
  accept(message: UserMessage, commandId: CommandId | undefined): AcceptedPrompt;
  /** Ends the run, if there is one; resolves after its last event. `reason` is what its result says about the cause. */
  abort(reason?: string): Promise<void>;
  /** From acceptance until `agent_end` has been told. */
  readonly isStreaming: boolean;
  /** Nothing is running and every ending has been told. */
  readonly isSettled: boolean;
  settled(): Promise<void>;
}

/** What a run needs, loaded with the first prompt so that nobody waits for it at start. */
export interface RunMachinery {
  runAgent(run: AgentRun): Promise<RunOutcome>;
  ports: AgentPorts;
}

interface Run {
  promptId: string;
  commandId: CommandId | undefined;
  controller: AbortController;
  abortReason?: string;
  /** `agent_end` has been told: the next prompt may come. */
  ended: boolean;
  settled: Promise<void>;
}

export interface SessionRunOptions {
  pipeline: EventPipeline;
  ids: IdSource;
  machinery(): Promise<RunMachinery>;
  model(): Model | null;
}

export function createSessionRun({ pipeline, ids, machinery, model }: SessionRunOptions): SessionRun {
  let current: Run | undefined;

  /** The run procedure: run the agent, tell its end, settle. The order of the frames is the order of the statements. */
  const execute = async (run: Run, message: UserMessage, before: Promise<void> | undefined): Promise<void> => {
    await before;
    const { promptId, controller } = run;
    let begun = false;
    let outcome: RunOutcome | undefined;
    let crash: unknown;
    const emit: AgentRun["emit"] = (event) => {
      begun = true;
      return pipeline.emit(event, promptId);
    };
    try {
      const { runAgent, ports } = await machinery();
      outcome = await runAgent({ ports, prompts: [message], emit, signal: controller.signal });
    } catch (error) {
      crash = error;
    }
    if (begun) void pipeline.emit({ type: "agent_end", messages: outcome?.messages ?? [], willRetry: false }, promptId);
    run.ended = true;
    await Promise.resolve();
    const result = endingOf(run, outcome, crash, model());
    void pipeline.emit({ type: "agent_settled", aborted: result.status === "aborted" }, promptId);
    void pipeline.emit(result, promptId);
    void pipeline.emit({ type: "session_settled" }, promptId);
    if (current === run) current = undefined;
    if (crash !== undefined) throw crash;
  };

  return {
    accept(message, commandId) {
      const before = current?.settled;
      let finish = (): void => undefined;
      const settled = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const run: Run = {
        promptId: ids.count("prompt"),
        commandId,
        controller: new AbortController(),
        ended: false,
        settled,
      };
      current = run;
      return { promptId: run.promptId, job: () => execute(run, message, before).finally(finish) };
    },
    async abort(reason) {
      if (current) current.abortReason ??= reason;
      current?.controller.abort();
      await current?.settled;
    },
    get isStreaming() {
      return current !== undefined && !current.ended;
    },
    get isSettled() {
      return current === undefined;
    },
    async settled() {
      await current?.settled;
    },
  };
}

function endingOf(run: Run, outcome: RunOutcome | undefined, crash: unknown, model: Model | null): PromptResult {
  const result: PromptResult = {
    type: "prompt_result",
    id: run.commandId,
    status: "completed",
    agentInvoked: true,
    sessionSettled: true,
  };
  // Who answered, not who would be asked next: the host may have chosen another model meanwhile.
  const answers = (outcome?.messages ?? []).filter((message) => message.role === "assistant");
  const last = answers.at(-1);
  if (answers.some(({ provider }) => provider === "offline")) result.offline = true;
  if (outcome?.stopReason === "aborted") {
    result.status = "aborted";
    result.error = { message: run.abortReason ?? "Request was aborted", retryable: false };
  } else if (outcome?.error || crash !== undefined) {
    result.status = "error";
    result.error = {
      message: outcome?.error?.message ?? (crash instanceof Error ? crash.message : String(crash)),
      provider: last?.provider ?? model?.provider,
      model: last?.model ?? model?.id,
      httpStatus: outcome?.error?.status,
      retryable: outcome?.error?.retryable ?? false,
    };
  }
  return result;
}
