import type { AgentRun } from "@tiller/agent/agent-loop";
import { createMessageQueue } from "@tiller/agent/message-queue";
import type { AgentPorts, RunOutcome } from "@tiller/agent/types";
import { ProviderError } from "@tiller/ai/errors";
import type { Clock } from "@tiller/protocol/clock";
import type { UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { createEventPipeline } from "./event-pipeline.ts";
import type { JobResults } from "./job-results.ts";
import type { RetrySettings } from "./retry-policy.ts";
import type { RunCompaction } from "./run-compaction.ts";
import type { RunRules, SessionRunOptions } from "./run-options.ts";
import type { EventPlace, SessionEvent } from "./session-event.ts";
import { createSessionQueue, type WaitingMessage } from "./session-queue.ts";
import { createSessionRun } from "./session-run.ts";
import { noSpending } from "./usage-tally.ts";

/** Runs for tests: an agent that does what it is told, and timers that fire when the test says so. */

export const message: UserMessage = { role: "user", content: "go", timestamp: 0 };
const model = { provider: "p", id: "m", contextWindow: 1000 } as Model;

/** Timers fire when the test says so. */
function handClock() {
  const timers: { ms: number; fn: () => void }[] = [];
  const clock: Clock = {
    now: () => 0,
    after(ms, fn) {
      const timer = { ms, fn };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
  };
  return { clock, delays: () => timers.map(({ ms }) => ms), ring: () => timers.shift()?.fn() };
}

export interface SessionParts {
  retry?: RetrySettings;
  compaction?(emit: (event: SessionEvent) => void): RunCompaction;
  rules?: RunRules;
  jobs?: JobResults;
  beforeSettle?: SessionRunOptions["beforeSettle"];
  rest?: SessionRunOptions["rest"];
}

export function session(
  runAgent: (run: AgentRun) => Promise<RunOutcome>,
  { retry, compaction, rules, jobs, beforeSettle, rest }: SessionParts = {},
) {
  const events: (SessionEvent & { place?: EventPlace })[] = [];
  const pipeline = createEventPipeline({ keep: () => undefined, endTurn: () => undefined });
  pipeline.subscribe((event, place) => {
    events.push({ ...event, place: place && { ...place } });
    return undefined;
  });
  const counts = new Map<string, number>();
  const count = (prefix: string): string => {
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    return `${prefix}-${counts.get(prefix)}`;
  };
  const ids = { uuid: () => "", short: () => "", lot: () => 0, count };
  const waiting = createMessageQueue<WaitingMessage>({
    steeringMode: "one-at-a-time",
    followUpMode: "one-at-a-time",
    interruptMode: "wait",
  });
  const { clock, delays, ring } = handClock();
  const leftOut: unknown[] = [];
  const marks: string[] = [];
  const queue = createSessionQueue(waiting, ids, () => undefined);
  const handled = { isAny: false };
  const run = createSessionRun({
    isAnyHandled: () => handled.isAny,
    pipeline,
    queue,
    clock,
    ids,
    machinery: async () => ({ runAgent, ports: {} as AgentPorts, rules }),
    model: () => model,
    retrySettings: () => retry,
    jobs,
    atRest: () => undefined,
    leaveOut: (messages) => leftOut.push(...messages),
    compaction: compaction?.((event) => void pipeline.emit(event)),
    beforeSettle,
    rest,
    markEnd: (status) => marks.push(`${status} before ${events.length}`),
    sessionLimits: {},
    sessionSpending: noSpending(),
    sessionStartedAt: 0,
  });
  return {
    run,
    handled,
    queue,
    events,
    delays,
    ring,
    leftOut,
    marks,
    accept: (commandId?: string, limits = {}) => run.accept(message, { promptId: count("prompt"), commandId }, limits),
    types: () => events.map((event) => event.type),
    result: () => events.find((event) => event.type === "prompt_result"),
  };
}

/** An agent that says it has begun and then does what the test wants. */
export const agent =
  (then: (run: AgentRun) => Promise<Partial<RunOutcome>>) =>
  async (run: AgentRun): Promise<RunOutcome> => {
    run.emit({ type: "agent_start" });
    return { stopReason: "stop", messages: [], ...(await then(run)) };
  };

export const untilAborted = (run: AgentRun): Promise<Partial<RunOutcome>> =>
  new Promise((resolve) => {
    const stop = () => resolve({ stopReason: "aborted" });
    if (run.signal.aborted) stop();
    else run.signal.addEventListener("abort", stop);
  });

export const failing = (error: ProviderError): Partial<RunOutcome> => ({ stopReason: "error", error });
export const overloaded = new ProviderError("overloaded", "try later", { status: 529 });
export const tick = () => new Promise((resolve) => setImmediate(resolve));
