import { createMessageQueue } from "@tiller/agent/message-queue";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { Usage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { AgentDefinition } from "./agents/agent.ts";
import type { Machinery } from "./run-machinery.ts";
import { createEventPipeline } from "./session/event-pipeline.ts";
import { lastAssistantText } from "./session/last-text.ts";
import type { RunBudget } from "./session/progress.ts";
import type { RetrySettings } from "./session/retry-policy.ts";
import type { PromptResult, SessionEvent } from "./session/session-event.ts";
import { createSessionQueue, type WaitingMessage } from "./session/session-queue.ts";
import { createSessionRun, type SessionRun } from "./session/session-run.ts";
import { beginSession } from "./session/store/begin-session.ts";
import { createSessionStore, type SessionStore } from "./session/store/session-store.ts";
import { paidEntry, type SubAgentRecord } from "./session/sub-agents.ts";
import { noSpending } from "./session/usage-tally.ts";
import type { SessionCompaction } from "./session-compaction.ts";
import type { Delegate } from "./tools/tool.ts";

/** Whoever starts sub-agents: the main agent, or one of them. */
export interface Caller {
  /** 0 for the main agent. */
  depth: number;
  /** Of a sub-agent. */
  id?: string;
  /** Of the run that is going on. */
  budget(): RunBudget | undefined;
  /** That it is offered now. */
  toolNames(): readonly string[];
  /** It has this tool, or could have it. */
  mayHave(name: string): boolean;
  model(): Model | null;
  thinkingLevel(): ThinkingLevel;
  sessionFile(): string | undefined;
  /** Writes into its conversation what another one has spent for it. */
  paid(usage: Usage, model: Model): void;
}

/** The same for those who need more of it than the tool. */
export interface CallerDelegate extends Delegate {
  /** Undefined when none of those that it has started is at work. */
  settled(): undefined | Promise<unknown>;
}

/** One sub-agent at work. */
export interface ChildRun {
  record: SubAgentRecord;
  /** Everything that it is told. */
  task: string;
  agent: AgentDefinition;
  model: Model;
  thinkingLevel: ThinkingLevel;
  toolNames: readonly string[];
  /** What those that it starts itself may have. */
  mayHave(name: string): boolean;
  /** Of the run that has started it. */
  budget: RunBudget | undefined;
  signal: AbortSignal;
  parentSession: string | undefined;
  /** Makes what it starts its own sub-agents with. */
  delegate(part: Omit<Caller, "depth" | "id">): CallerDelegate;
}

/** What all of them are made with. */
export interface ChildPorts {
  clock: Clock;
  ids: IdSource;
  cwd(): string;
  retrySettings(): RetrySettings | undefined;
  /** Gives a session that has a path its disk. */
  attachDisk(store: SessionStore): Promise<void>;
  /** The loop, the tools and the system prompt. */
  machinery(child: ChildMachinery): Promise<Machinery>;
  compaction(child: ChildCompaction): Promise<SessionCompaction["compactor"]>;
}

export interface ChildMachinery extends Pick<ChildRun, "record" | "agent" | "model" | "thinkingLevel" | "toolNames"> {
  store: SessionStore;
  delegate: CallerDelegate;
  /** Tells what happens in its run. */
  emit(event: SessionEvent): unknown;
}

export interface ChildCompaction {
  store: SessionStore;
  pipeline: ReturnType<typeof createEventPipeline>;
  model: Model;
  machinery: Machinery;
  run: Pick<SessionRun, "spend">;
}

export interface ChildOutcome {
  status: "completed" | "failed" | "aborted";
  error?: string;
  text?: string;
  /** With that of those it has started itself. */
  usage?: Usage;
}

const ABORTED = "Request was aborted";

/**
 * A run like any other, in a session of its own: the same procedure with its retries and compactions, the same loop. What
 * it says goes to its record; what it spends counts for whoever has started it. Never rejects.
 */
export async function runChild(child: ChildRun, ports: ChildPorts): Promise<ChildOutcome> {
  const { record, signal } = child;
  if (signal.aborted) return { status: "aborted", error: ABORTED };
  let store: SessionStore | undefined;
  let result: PromptResult | undefined;
  try {
    store = createStore(child, ports);
    await ports.attachDisk(store);
    const { run, begin } = await assemble(child, ports, store, (ended) => {
      result = ended;
    });
    record.begin(store.log);
    const abort = (): void => void run.abort(ABORTED);
    const job = begin();
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    await job().finally(() => signal.removeEventListener("abort", abort));
    return outcomeOf(result, store);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...outcomeOf(result, store), status: "failed", error: result?.error?.message ?? why };
  } finally {
    await store?.close();
  }
}

function createStore({ record, parentSession }: ChildRun, { clock, ids, cwd }: ChildPorts): SessionStore {
  const path = record.about.sessionFile;
  return createSessionStore({ clock, ids, first: beginSession({ clock, ids, cwd: cwd() }, { path, parentSession }) });
}

/** Joins the parts of a run around the store, and writes down what it begins with. */
async function assemble(
  child: ChildRun,
  ports: ChildPorts,
  store: SessionStore,
  onResult: (result: PromptResult) => void,
): Promise<{ run: SessionRun; begin(): () => Promise<void> }> {
  const { record, task, model, thinkingLevel, toolNames } = child;
  const { clock } = ports;
  // Counted for itself: what hosts see of the main agent's ids has no gaps.
  const ids: IdSource = { ...ports.ids, count: (prefix) => ports.ids.count(`${record.id}/${prefix}`) };
  const pipeline = createEventPipeline({ keep: store.appendMessage, endTurn: store.endTurn });
  pipeline.subscribe((event) => {
    if (event.type === "prompt_result") onResult(event);
    return record.take(event);
  });
  const delegate = child.delegate({
    budget: () => run.budget,
    toolNames: () => toolNames,
    mayHave: child.mayHave,
    model: () => model,
    thinkingLevel: () => thinkingLevel,
    sessionFile: () => store.sessionFile,
    paid: (usage, { provider, id }) => void store.append(paidEntry(usage, provider, id)),
  });
  const emit = (event: SessionEvent): unknown => pipeline.emit(event, run.place);
  const machinery = await ports.machinery({ ...child, store, delegate, emit });
  const compaction = await ports.compaction({
    store,
    pipeline,
    model,
    machinery,
    run: { spend: (usage) => run.spend(usage) },
  });
  const waiting = createMessageQueue<WaitingMessage>(MODES);
  const run: SessionRun = createSessionRun({
    pipeline,
    queue: createSessionQueue(waiting, ids, () => undefined),
    clock,
    ids,
    machinery: async () => machinery,
    model: () => model,
    retrySettings: ports.retrySettings,
    atRest: () => undefined,
    toolsOver: delegate.settled,
    leaveOut: store.leaveOut,
    compaction,
    markEnd: (status) => void store.append({ type: "custom", customType: "tiller.run_end", data: { status } }),
    budget: watched(child.budget, record),
    sessionLimits: {},
    sessionSpending: noSpending(),
    sessionStartedAt: clock.now(),
  });
  store.append({ type: "session_init", systemPrompt: machinery.systemPrompt(), task, tools: [...toolNames] });
  store.appendModelChange(model);
  store.appendThinkingLevel(thinkingLevel);
  return {
    run,
    begin() {
      const content = [{ type: "text" as const, text: task }];
      const prompt = { promptId: ids.count("prompt"), commandId: undefined };
      return run.accept({ role: "user", content, timestamp: clock.now() }, prompt, {});
    },
  };
}

const MODES = { steeringMode: "all", followUpMode: "all", interruptMode: "wait" } as const;

/** The budget of whoever started it, with an eye on what goes through it: that is what the sub-agent has done. */
function watched(budget: RunBudget | undefined, record: SubAgentRecord): RunBudget {
  return {
    limit: () => budget?.limit(),
    countToolCall() {
      const reached = budget?.countToolCall();
      if (reached === undefined) record.toolCalled();
      return reached;
    },
    get limitUse() {
      return budget?.limitUse;
    },
    get isSpent() {
      return budget?.isSpent === true;
    },
    answered(message) {
      budget?.answered(message);
      record.spent(message.usage, true);
    },
    spend(usage) {
      budget?.spend(usage);
      record.spent(usage, false);
    },
  };
}

function outcomeOf(result: PromptResult | undefined, store: SessionStore | undefined): ChildOutcome {
  const text = store && lastAssistantText(store.messages.toReversed());
  const usage = result?.usage && result.usage.totalTokens + result.usage.cost.total > 0 ? result.usage : undefined;
  const { status = "error", error } = result ?? {};
  const said = { ...(text !== undefined && { text }), ...(usage && { usage }) };
  if (status === "completed") return { status, ...said };
  const why = error?.message ?? "it ended without a result";
  return { status: status === "error" || result?.limit ? "failed" : "aborted", error: why, ...said };
}
