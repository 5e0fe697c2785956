import type { ProviderError } from "@tiller/ai/errors";
import type { ToolCall } from "@tiller/protocol/content";
import type { AgentMessage } from "@tiller/protocol/message";
import { assistantTurn, type TurnAnswer } from "./assistant-turn.ts";
import { hooked, settled } from "./hooked.ts";
import { orAborted, tell } from "./tell.ts";
import { type AnsweredCalls, runToolCalls, type ToolBatch } from "./tool-calls.ts";
import type { AgentHooks, AgentPorts, Emit, EndedTurn, RunOutcome, RunQueue } from "./types.ts";

export interface AgentRun {
  ports: AgentPorts;
  /** What the run begins with: the prompt's messages. Empty for a continuation. */
  prompts: readonly AgentMessage[];
  emit: Emit;
  signal: AbortSignal;
}

/**
 * Turns until the model asks for no more tools and nobody has anything to add. It says everything from `agent_start` to
 * the last `turn_end`; the caller says `agent_end`, because only the caller knows whether the work goes on (a retry, a
 * compaction).
 */
export async function runAgent({ ports, prompts, emit, signal }: AgentRun): Promise<RunOutcome> {
  const added: AgentMessage[] = [];
  await tell(emit, { type: "agent_start" }, signal);
  let incoming: Incoming = withWaiting(prompts, ports, signal);
  for (;;) {
    const hooks = incoming.messages.length > 0 ? ports.hooks?.() : undefined;
    if (hooks?.settle) {
      added.push(...(await beginSettledTurn(incoming, hooks, ports, emit, signal)));
    } else {
      const taken = beginTurn(incoming, ports.queue, emit);
      if (taken) await orAborted(taken, signal);
      added.push(...incoming.messages);
    }

    const tools = await ports.tools();
    const answer = await assistantTurn(ports, tools, emit, signal);
    const { results: toolResults, terminate } = await answerToolCalls(answer, { tools, ports, emit, signal });
    added.push(answer.message, ...toolResults);
    await tell(emit, { type: "turn_end", message: answer.message, toolResults }, signal);
    const ended = await endTurn(ports, { message: answer.message, toolResults, signal });
    const over = { messages: added, ...(ended.messages.length > 0 && { lastWords: ended.messages }) };

    const { stopReason } = answer.message;
    if (answer.interrupted) return { stopReason, error: answer.error, interrupted: true, ...over };
    if (stopReason === "error" || stopReason === "aborted") return { stopReason, error: answer.error, ...over };
    if (signal.aborted) return { stopReason: "aborted", ...over };
    // A limit stops what would go on; who is done on the last turn that is allowed is done.
    const goesOn = (toolResults.length > 0 && !terminate) || ended.continue;
    const hasMore = goesOn || !isEmpty(ports.queue) || ports.results?.isEmpty === false;
    const limit = hasMore ? ports.limit() : undefined;
    if (limit !== undefined) {
      return goesOn ? { stopReason, limit, ...over } : { stopReason, ...over };
    }
    const next = nextIncoming(ports, goesOn);
    if (!next) return { stopReason, ...over };
    const messages = [...ended.messages, ...next.messages, ...(ports.news?.() ?? [])];
    incoming = { ...next, messages };
  }
}

const NOTHING_MORE = { messages: [], continue: false } as const;

/** Others may add something to what was said, and want the model to be asked once more. */
async function endTurn({ hooks, clock }: AgentPorts, turn: EndedTurn): ReturnType<NonNullable<AgentHooks["endTurn"]>> {
  const ask = hooks?.()?.endTurn;
  return ask ? hooked(() => ask(turn), NOTHING_MORE, clock, turn.signal) : NOTHING_MORE;
}

type Waiting = Pick<AgentPorts, "queue" | "results">;

const NO_CALLS: AnsweredCalls = { results: [], terminate: false };

/** What a turn begins with. */
interface Incoming {
  messages: readonly AgentMessage[];
  /** Some of it stood in a queue, which is now shorter. */
  fromQueue: boolean;
}

function isEmpty(queue: RunQueue): boolean {
  const { steering, followUp } = queue.texts();
  return steering.length + followUp.length === 0;
}

/** Results and steering go first; follow-ups only when the agent would stop. Undefined when there is nothing left to do. */
function nextIncoming({ queue, results }: Waiting, goesOn: boolean): Incoming | undefined {
  const steering = queue.take("steering");
  const messages = [...(results?.take() ?? []), ...steering];
  if (messages.length > 0 || goesOn) return { messages, fromQueue: steering.length > 0 };
  const followUps = queue.take("followUp");
  return followUps.length > 0 ? { messages: followUps, fromQueue: true } : undefined;
}

/** What waits when a run begins stands right behind the prompt. After an abort it goes on waiting. */
function withWaiting(prompts: readonly AgentMessage[], { queue, results }: Waiting, signal: AbortSignal): Incoming {
  if (signal.aborted) return { messages: prompts, fromQueue: false };
  const steering = queue.take("steering");
  return { messages: [...prompts, ...(results?.take() ?? []), ...steering], fromQueue: steering.length > 0 };
}

/**
 * Says that a turn begins and what it begins with, in one go: between taking a message from its queue and telling it
 * there is no moment at which an abort could lose it.
 */
function beginTurn({ messages, fromQueue }: Incoming, queue: RunQueue, emit: Emit): undefined | Promise<void> {
  let taken = emit({ type: "turn_start" });
  if (fromQueue) taken = emit({ type: "queue_update", ...queue.texts() });
  for (const message of messages) {
    emit({ type: "message_start", message });
    taken = emit({ type: "message_end", message });
  }
  return taken;
}

/**
 * The same where somebody may still change the messages. Each is told as soon as it is settled; after an abort what was
 * taken is told as it is, so that nothing is lost here either. Gives back what was told.
 */
async function beginSettledTurn(
  { messages, fromQueue }: Incoming,
  hooks: AgentHooks,
  { queue, clock }: AgentPorts,
  emit: Emit,
  signal: AbortSignal,
): Promise<AgentMessage[]> {
  let taken = emit({ type: "turn_start" });
  if (fromQueue) taken = emit({ type: "queue_update", ...queue.texts() });
  const told: AgentMessage[] = [];
  for (const given of messages) {
    const message = await settled(hooks, given, clock, signal);
    emit({ type: "message_start", message });
    taken = emit({ type: "message_end", message });
    told.push(message);
  }
  if (taken) await orAborted(taken, signal);
  return told;
}

async function answerToolCalls(
  { message, error, broken }: TurnAnswer,
  surroundings: Pick<ToolBatch, "tools" | "ports" | "emit" | "signal">,
): Promise<AnsweredCalls> {
  const calls = message.content.filter((block): block is ToolCall => block.type === "toolCall");
  if (calls.length === 0) return NO_CALLS;
  return runToolCalls(calls, { ...surroundings, broken, refusal: error && refusalText(error) });
}

function refusalText(error: ProviderError): string {
  return error.kind === "aborted"
    ? `Tool execution was aborted: ${error.message}`
    : `Tool was not executed: the answer that asked for it ended with an error (${error.message})`;
}
