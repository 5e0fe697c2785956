import { setMaxListeners } from "node:events";
import type { ToolCall } from "@tiller/protocol/content";
import type { ToolResultMessage } from "@tiller/protocol/message";
import type { ToolResult } from "@tiller/protocol/tool";
import { hooked, settled } from "./hooked.ts";
import { tell } from "./tell.ts";
import type { AgentEvent, AgentHooks, AgentPorts, AgentTool, AgentToolResult, Emit } from "./types.ts";

/** How long an aborted tool may still take to hand over what it has. Who takes longer has told it by its updates. */
const ABORT_GRACE_MS = 1;

export interface ToolBatch {
  tools: readonly AgentTool[];
  ports: Pick<AgentPorts, "clock" | "queue" | "countToolCall" | "hooks">;
  emit: Emit;
  signal: AbortSignal;
  /** Calls whose arguments were not JSON. */
  broken: ReadonlyMap<string, { raw: string; error: string; isJson?: true }>;
  /** Why none of the calls may run (the answer that asked for them did not end well); each gets this as its result. */
  refusal?: string;
}

export interface AnsweredCalls {
  /** In the order of the calls. */
  results: ToolResultMessage[];
  /** Every one of them wants the run to end. */
  terminate: boolean;
}

interface Outcome {
  result: AgentToolResult;
  isError: boolean;
}

/** A call that may run, or how it ended without running. */
type Prepared = { tool: AgentTool; call: ToolCall; terminate?: boolean } | Outcome;

/** Neighbouring shared calls run side by side, an exclusive one alone; a call of an unknown tool fails at once. */
export function groupCalls(calls: readonly ToolCall[], tools: readonly AgentTool[]): ToolCall[][] {
  const exclusive = new Set(tools.filter((tool) => tool.concurrency === "exclusive").map((tool) => tool.name));
  const groups: ToolCall[][] = [];
  let open: ToolCall[] | undefined;
  for (const call of calls) {
    if (exclusive.has(call.name)) {
      groups.push([call]);
      open = undefined;
    } else if (open) {
      open.push(call);
    } else {
      open = [call];
      groups.push(open);
    }
  }
  return groups;
}

/** Runs every call of one message. Each gets exactly one result, whatever happens; results come back in its order. */
export async function runToolCalls(calls: readonly ToolCall[], batch: ToolBatch): Promise<AnsweredCalls> {
  const results = new Map<ToolCall, ToolResultMessage>();
  let staying = calls.length;
  const signals = callSignals(batch.signal);
  for (const group of groupCalls(calls, batch.tools)) {
    const asking = askBefore(group, batch, signals);
    const asked = asking && (await asking);
    await Promise.all(
      group.map(async (call, place) => {
        const prepared = asked?.[place] ?? (await prepare(call, batch, signals));
        const { message, terminate } = await conclude(call, prepared, batch, signals);
        results.set(call, message);
        if (terminate) staying--;
        if (isInterrupted(batch)) signals.interrupt();
      }),
    );
  }
  return { results: calls.map((call) => results.get(call)!), terminate: staying === 0 };
}

/** Where somebody wants to see the calls before they run, they are shown one after the other, and only then all run. */
function askBefore(
  group: readonly ToolCall[],
  batch: ToolBatch,
  signals: CallSignals,
): undefined | Promise<Prepared[]> {
  const hooks = batch.ports.hooks?.();
  if (!hooks?.beforeTool && !hooks?.permit) return undefined;
  return (async () => {
    const prepared: Prepared[] = [];
    for (const call of group) prepared.push(await prepare(call, batch, signals, hooks));
    return prepared;
  })();
}

/** In `immediate` mode a steering message that waits takes the place of the calls that have not finished. */
function isInterrupted({ ports: { queue } }: ToolBatch): boolean {
  return queue.interruptMode === "immediate" && queue.hasSteering;
}

interface CallSignals {
  /** Aborts with the run and with an interruption. */
  readonly signal: AbortSignal;
  /** It was an interruption that came first. */
  readonly isInterrupted: boolean;
  interrupt(): void;
}

function callSignals(run: AbortSignal): CallSignals {
  const controller = new AbortController();
  const { signal } = controller;
  // Every call listens, to the run while its reader is slow, and there may be many: that is no leak.
  setMaxListeners(0, run, signal);
  let isInterrupted = false;
  abortWith(run, controller);
  return {
    signal,
    get isInterrupted() {
      return isInterrupted;
    },
    interrupt() {
      isInterrupted ||= !signal.aborted;
      controller.abort();
    },
  };
}

const runs = new WeakMap<AbortSignal, Set<AbortController>>();

/** As long as the run goes on, also when the calls are over: what a tool has begun may still listen. One listener for all. */
function abortWith(run: AbortSignal, controller: AbortController): void {
  if (run.aborted) {
    controller.abort(run.reason);
    return;
  }
  const known = runs.get(run);
  if (known) {
    known.add(controller);
    return;
  }
  const all = new Set([controller]);
  runs.set(run, all);
  const abortAll = (): void => {
    for (const each of all) each.abort(run.reason);
  };
  run.addEventListener("abort", abortAll, { once: true });
}

/** Says that a call begins, and whether it may run. */
async function prepare(call: ToolCall, batch: ToolBatch, signals: CallSignals, hooks?: AgentHooks): Promise<Prepared> {
  const { emit, signal } = batch;
  const begun: AgentEvent = {
    type: "tool_execution_start",
    toolCallId: call.id,
    toolName: call.name,
    args: call.arguments,
  };
  await tell(emit, begun, signal);
  const stopped = (): string | undefined => (signal.aborted ? ABORTED : signals.isInterrupted ? SKIPPED : undefined);
  const refusal = batch.refusal ?? stopped();
  if (refusal !== undefined) return failed(refusal);
  const checked = await check(call, batch);
  if (!("tool" in checked)) return checked;
  // The check may have had to be loaded: meanwhile a neighbour may have ended, or the run.
  let late = stopped();
  if (late === undefined && hooks) {
    const verdict = hooks.beforeTool && (await verdictOf(hooks, checked.call, batch, signals));
    if (verdict?.block !== undefined) return blocked(verdict.block, verdict.terminate);
    if (verdict?.terminate) checked.terminate = true;
    late = stopped();
    if (late === undefined && hooks.permit) {
      const refused = await refusedBy(hooks, checked, batch, signals);
      late = stopped() ?? refused;
    }
  }
  if (late !== undefined) return failed(late);
  const limit = batch.ports.countToolCall();
  return limit === undefined ? checked : failed(`Tool was not executed: ${limit}`);
}

/** Is there such a tool, and are the arguments what it wants? */
async function check(call: ToolCall, batch: ToolBatch): Promise<Prepared> {
  const tool = batch.tools.find((candidate) => candidate.name === call.name);
  if (!tool) return failed(`Tool ${call.name} not found`);
  const broken = batch.broken.get(call.id);
  if (broken) {
    const why = `${broken.isJson ? "cannot be used" : "are not valid JSON"}: ${broken.error}`;
    return failed(`Arguments of tool "${call.name}" ${why}\n\nReceived:\n${broken.raw}`);
  }
  let given: unknown = call.arguments;
  if (tool.prepareArguments) {
    try {
      given = tool.prepareArguments(structuredClone(call.arguments));
    } catch (error) {
      return failed(textOf(error));
    }
  }
  const { checkArguments } = await import("./check-arguments.ts");
  const checked = checkArguments(tool, given);
  return "error" in checked ? failed(checked.error) : { tool, call: { ...call, arguments: checked.args } };
}

/** May change the arguments of the call, but not those that stand in the message. */
async function verdictOf(
  hooks: AgentHooks,
  call: ToolCall,
  { ports, signal }: ToolBatch,
  signals: CallSignals,
): ReturnType<NonNullable<AgentHooks["beforeTool"]>> {
  call.arguments = structuredClone(call.arguments);
  const about = { toolCallId: call.id, toolName: call.name, args: call.arguments, signal: signals.signal };
  // Who wanted to have a look and failed has not allowed it.
  const ask = async () => hooks.beforeTool?.(about);
  const refused = (error: unknown) => ({ block: textOf(error), terminate: false });
  return hooked(() => ask().catch(refused), undefined, ports.clock, signal);
}

function blocked(reason: string, terminate: boolean | undefined): Outcome {
  const { result, isError } = failed(reason);
  return { result: terminate ? { ...result, terminate } : result, isError };
}

/** Who looked at the arguments before may have kept them: what is permitted, and then runs, is a copy. */
async function refusedBy(
  hooks: AgentHooks,
  checked: { tool: AgentTool; call: ToolCall },
  batch: ToolBatch,
  signals: CallSignals,
): Promise<string | undefined> {
  const { tool, call } = checked;
  const { clock, queue } = batch.ports;
  const ask = async (): Promise<string | undefined> => {
    call.arguments = structuredClone(call.arguments);
    const args = structuredClone(call.arguments);
    return hooks.permit?.({ toolCallId: call.id, toolName: call.name, args, signal: signals.signal, tool });
  };
  const refused = (error: unknown): string => `Tool was not executed: nobody could permit it (${textOf(error)})`;
  // Somebody may be thinking about it for long: a message that interrupts does not wait for that.
  const stop = queue.onSteering?.(() => {
    if (isInterrupted(batch)) signals.interrupt();
  });
  try {
    return await hooked(() => ask().catch(refused), ABORTED, clock, batch.signal);
  } finally {
    stop?.();
  }
}

/** Runs what may run and tells the end. */
async function conclude(
  call: ToolCall,
  prepared: Prepared,
  batch: ToolBatch,
  signals: CallSignals,
): Promise<{ message: ToolResultMessage; terminate: boolean }> {
  const { emit, signal, ports } = batch;
  const about = { toolCallId: call.id, toolName: call.name };
  // Others of the group may have been looked at meanwhile, and the run may have ended.
  const late = signal.aborted ? ABORTED : signals.isInterrupted ? SKIPPED : undefined;
  const ready = "tool" in prepared && late !== undefined ? failed(late) : prepared;
  const outcome = "tool" in ready ? await execute(ready.tool, ready.call, batch, signals) : ready;
  const hooks = ports.hooks?.();
  const { result: given, isError } =
    hooks?.afterTool && "tool" in ready ? await changed(hooks, outcome, ready.call, batch, signals) : outcome;
  const result = told(given);
  const message: ToolResultMessage = { role: "toolResult", ...about, ...result, isError, timestamp: ports.clock.now() };
  // In one go, so that the frames of calls that finish at the same time do not mix.
  emit({ type: "tool_execution_end", ...about, result, isError });
  const used = hooks?.settle ? await settled(hooks, message, ports.clock, signal) : message;
  emit({ type: "message_start", message: used });
  await tell(emit, { type: "message_end", message: used }, signal);
  return { message: used, terminate: given.terminate === true || ("tool" in ready && ready.terminate === true) };
}

async function changed(
  hooks: AgentHooks,
  outcome: Outcome,
  { id, name, arguments: args }: ToolCall,
  { ports, signal }: ToolBatch,
  signals: CallSignals,
): Promise<Outcome> {
  const done = { toolCallId: id, toolName: name, args, signal: signals.signal, ...outcome };
  return hooked(async () => (await hooks.afterTool?.(done)) ?? outcome, outcome, ports.clock, signal);
}

/** The result as others see it. */
function told(result: AgentToolResult): ToolResult {
  if (!("terminate" in result)) return result;
  const { terminate: _, ...rest } = result;
  return rest;
}

async function execute(tool: AgentTool, call: ToolCall, batch: ToolBatch, signals: CallSignals): Promise<Outcome> {
  const updates = updateTeller(call, batch);
  const { signal } = signals;
  // Async, so that a tool that throws at once is a failed call like any other.
  const run = async () => tool.execute({ toolCallId: call.id, args: call.arguments, signal, onUpdate: updates.take });
  const finished = run().then(outcomeOf, (error: unknown): Outcome => failed(textOf(error)));
  const patience = endOfPatience(batch, signals, updates.last);
  try {
    return await Promise.race([finished, patience.over]);
  } finally {
    patience.cancel();
    updates.close();
  }
}

function outcomeOf(given: AgentToolResult): Outcome {
  if (!("isError" in given)) return { result: given, isError: false };
  const { isError, ...result } = given;
  return { result, isError: isError === true };
}

/** Progress is cumulative, so while the reader is slow only the newest state waits; nothing comes after the end. */
function updateTeller(call: ToolCall, { emit }: ToolBatch) {
  let open = true;
  let last: ToolResult | undefined;
  let busy = false;
  let newest: ToolResult | undefined;
  const send = (partialResult: ToolResult): void => {
    const taken = emit({
      type: "tool_execution_update",
      toolCallId: call.id,
      toolName: call.name,
      args: call.arguments,
      partialResult,
    });
    if (!taken) return;
    busy = true;
    void taken.then(() => {
      busy = false;
      const next = newest;
      newest = undefined;
      if (next && open) send(told(next));
    });
  };
  return {
    last: () => last,
    take(partial: ToolResult) {
      if (!open) return;
      last = partial;
      if (busy) newest = partial;
      else send(told(partial));
    },
    close() {
      open = false;
    },
  };
}

/** Settles at an interruption, and a little after an abort for tools that do not listen. Never settles otherwise. */
function endOfPatience(
  { ports }: ToolBatch,
  signals: CallSignals,
  progress: () => ToolResult | undefined,
): { over: Promise<Outcome>; cancel(): void } {
  let cancelTimer = (): void => undefined;
  let isCancelled = false;
  let giveUp = (): void => undefined;
  const { signal } = signals;
  const over = new Promise<Outcome>((resolve) => {
    // After everybody has heard of the abort: a tool that gives itself the same time is in time.
    giveUp = () => {
      if (signals.isInterrupted) return resolve(failed(SKIPPED));
      queueMicrotask(() => {
        if (isCancelled) return;
        cancelTimer = ports.clock.after(ABORT_GRACE_MS, () => resolve(aborted(progress())));
      });
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
  });
  return {
    over,
    cancel() {
      isCancelled = true;
      cancelTimer();
      signal.removeEventListener("abort", giveUp);
    },
  };
}

const ABORTED = "Tool execution was aborted: Request was aborted";
const SKIPPED = "Skipped due to queued user message.";

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What the tool had told of its work by then is not lost. */
function aborted(progress: ToolResult | undefined): Outcome {
  const content = progress?.content.filter((block) => block.type !== "text" || block.text !== "") ?? [];
  return { result: { ...progress, content: [...content, { type: "text", text: ABORTED }] }, isError: true };
}

function failed(text: string): Outcome {
  return { result: { content: [{ type: "text", text }] }, isError: true };
}
