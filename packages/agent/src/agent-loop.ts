import type { ProviderError } from "@tiller/ai/errors";
import type { ToolCall } from "@tiller/protocol/content";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "@tiller/protocol/message";
import { assistantTurn, type TurnAnswer } from "./assistant-turn.ts";
import { tell } from "./tell.ts";
import { runToolCalls, type ToolBatch } from "./tool-calls.ts";
import type { AgentPorts, Emit, RunOutcome } from "./types.ts";

export interface AgentRun {
  ports: AgentPorts;
  /** What the run begins with: the prompt's messages. Empty for a continuation. */
  prompts: readonly AgentMessage[];
  emit: Emit;
  signal: AbortSignal;
}

/**
 * Turns until the model asks for no more tools. It says everything from `agent_start` to the last `turn_end`; the
 * caller says `agent_end`, because only the caller knows whether the work goes on (a retry, a compaction).
 */
export async function runAgent({ ports, prompts, emit, signal }: AgentRun): Promise<RunOutcome> {
  const added: AgentMessage[] = [];
  await tell(emit, { type: "agent_start" }, signal);
  let incoming = prompts;
  for (;;) {
    await tell(emit, { type: "turn_start" }, signal);
    for (const message of incoming) {
      await tell(emit, { type: "message_start", message }, signal);
      await tell(emit, { type: "message_end", message }, signal);
      added.push(message);
    }
    incoming = [];

    const tools = await ports.tools();
    const answer = await assistantTurn(ports, tools, emit, signal);
    const toolResults = await answerToolCalls(answer, { tools, clock: ports.clock, emit, signal });
    added.push(answer.message, ...toolResults);
    await tell(emit, { type: "turn_end", message: answer.message, toolResults }, signal);

    const end = endOfRun(answer.message, toolResults, signal);
    if (end) return { stopReason: end, error: answer.error, messages: added };
  }
}

/** Why the run is over, or undefined when there are tool results for the model to look at. */
function endOfRun(
  message: AssistantMessage,
  toolResults: readonly ToolResultMessage[],
  signal: AbortSignal,
): AssistantMessage["stopReason"] | undefined {
  if (message.stopReason === "error" || message.stopReason === "aborted") return message.stopReason;
  if (signal.aborted) return "aborted";
  return toolResults.length > 0 ? undefined : message.stopReason;
}

async function answerToolCalls(
  { message, error, broken }: TurnAnswer,
  surroundings: Pick<ToolBatch, "tools" | "clock" | "emit" | "signal">,
): Promise<ToolResultMessage[]> {
  const calls = message.content.filter((block): block is ToolCall => block.type === "toolCall");
  if (calls.length === 0) return [];
  return runToolCalls(calls, { ...surroundings, broken, refusal: error && refusalText(error) });
}

function refusalText(error: ProviderError): string {
  return error.kind === "aborted"
    ? `Tool execution was aborted: ${error.message}`
    : `Tool was not executed: the answer that asked for it ended with an error (${error.message})`;
}
