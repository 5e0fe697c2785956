import { setMaxListeners } from "node:events";
import type { ToolCall } from "@tiller/protocol/content";
import type { ToolResultMessage } from "@tiller/protocol/message";
import type { ToolResult } from "@tiller/protocol/tool";
import { tell } from "./tell.ts";
import type { AgentPorts, AgentTool, Emit } from "./types.ts";

/** How long an aborted tool may still take to hand over what it has. */
const ABORT_GRACE_MS = 20;

export interface ToolBatch {
  tools: readonly AgentTool[];
  ports: Pick<AgentPorts, "clock" | "queue" | "countToolCall">;
  emit: Emit;
  signal: AbortSignal;
  /** Calls whose arguments were not JSON. */
  broken: ReadonlyMap<string, { raw: string; error: string }>;
  /** Why none of the calls may run (the answer that asked for them did not end well); each gets this as its result. */
  refusal?: string;
}

interface Outcome {
  result: ToolResult;
  isError: boolean;
}

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
export async function runToolCalls(calls: readonly ToolCall[], batch: ToolBatch): Promise<ToolResultMessage[]> {
  const results = new Map<ToolCall, ToolResultMessage>();
  const interrupt = new AbortController();
  const signal = AbortSignal.any([batch.signal, interrupt.signal]);
  // Every call listens, and there may be many: that is no leak.
  setMaxListeners(0, batch.signal, interrupt.signal, signal);
  for (const group of groupCalls(calls, batch.tools)) {
    await Promise.all(
      group.map(async (call) => {
        results.set(call, await runOne(call, batch, { signal, interrupted: interrupt.signal }));
        if (isInterrupted(batch)) interrupt.abort();
      }),
    );
  }
  return calls.map((call) => results.get(call)!);
}

/** In `immediate` mode a steering message that waits takes the place of the calls that have not finished. */
function isInterrupted({ ports: { queue } }: ToolBatch): boolean {
  return queue.interruptMode === "immediate" && queue.hasSteering;
}

interface CallSignals {
  /** Aborts with the run and with an interruption. */
  signal: AbortSignal;
  interrupted: AbortSignal;
}

async function runOne(call: ToolCall, batch: ToolBatch, signals: CallSignals): Promise<ToolResultMessage> {
  const { emit, signal, ports } = batch;
  const about = { toolCallId: call.id, toolName: call.name };
  await tell(emit, { type: "tool_execution_start", ...about, args: call.arguments }, signal);
  const { result, isError } = await outcomeOf(call, batch, signals);
  const message: ToolResultMessage = { role: "toolResult", ...about, ...result, isError, timestamp: ports.clock.now() };
  // In one go, so that the frames of calls that finish at the same time do not mix.
  emit({ type: "tool_execution_end", ...about, result, isError });
  emit({ type: "message_start", message });
  await tell(emit, { type: "message_end", message }, signal);
  return message;
}

async function outcomeOf(call: ToolCall, batch: ToolBatch, signals: CallSignals): Promise<Outcome> {
  const stopped = (): string | undefined =>
    batch.signal.aborted ? ABORTED : signals.interrupted.aborted ? SKIPPED : undefined;
  const refusal = batch.refusal ?? stopped();
  if (refusal !== undefined) return failed(refusal);
  const tool = batch.tools.find((candidate) => candidate.name === call.name);
  if (!tool) return failed(`Tool ${call.name} not found`);
  const broken = batch.broken.get(call.id);
  if (broken)
    return failed(`Arguments of tool "${call.name}" are not valid JSON: ${broken.error}\n\nReceived:\n${broken.raw}`);
  const { checkArguments } = await import("./check-arguments.ts");
  const checked = checkArguments(tool, call.arguments);
  if ("error" in checked) return failed(checked.error);
  // The check may have had to be loaded: meanwhile a neighbour may have ended, or the run.
  const late = stopped();
  if (late !== undefined) return failed(late);
  const limit = batch.ports.countToolCall();
  if (limit !== undefined) return failed(`Tool was not executed: ${limit}`);
  return execute(tool, { ...call, arguments: checked.args }, batch, signals);
}

async function execute(tool: AgentTool, call: ToolCall, batch: ToolBatch, signals: CallSignals): Promise<Outcome> {
  const updates = updateTeller(call, batch);
  const { signal } = signals;
  // Async, so that a tool that throws at once is a failed call like any other.
  const run = async () => tool.execute({ toolCallId: call.id, args: call.arguments, signal, onUpdate: updates.take });
  const finished = run().then(
    (result): Outcome => ({ result, isError: false }),
    (error: unknown): Outcome => failed(error instanceof Error ? error.message : String(error)),
  );
  const patience = endOfPatience(batch, signals);
  try {
    return await Promise.race([finished, patience.over]);
  } finally {
    patience.cancel();
    updates.close();
  }
}

/** Progress is cumulative, so while the reader is slow only the newest state waits; nothing comes after the end. */
function updateTeller(call: ToolCall, { emit }: ToolBatch): { take(partial: ToolResult): void; close(): void } {
  let open = true;
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
      if (next && open) send(next);
    });
  };
  return {
    take(partial) {
      if (!open) return;
      if (busy) newest = partial;
      else send(partial);
    },
    close() {
      open = false;
    },
  };
}

/** Settles at an interruption, and a little after an abort for tools that do not listen. Never settles otherwise. */
function endOfPatience(
  { signal, ports }: ToolBatch,
  { interrupted }: CallSignals,
): { over: Promise<Outcome>; cancel(): void } {
  let cancelTimer = (): void => undefined;
  let giveUp = (): void => undefined;
  let skip = (): void => undefined;
  const over = new Promise<Outcome>((resolve) => {
    giveUp = () => {
      cancelTimer = ports.clock.after(ABORT_GRACE_MS, () => resolve(failed(ABORTED)));
    };
    skip = () => resolve(failed(SKIPPED));
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
    interrupted.addEventListener("abort", skip, { once: true });
  });
  return {
    over,
    cancel() {
      cancelTimer();
      signal.removeEventListener("abort", giveUp);
      interrupted.removeEventListener("abort", skip);
    },
  };
}

const ABORTED = "Tool execution was aborted: Request was aborted";
const SKIPPED = "Skipped due to queued user message.";

function failed(text: string): Outcome {
  return { result: { content: [{ type: "text", text }] }, isError: true };
}
