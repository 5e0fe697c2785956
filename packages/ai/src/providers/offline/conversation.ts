import type { LlmMessage, ToolResultMessage } from "@tiller/protocol/message";
import { type Intent, isAddition, parseIntent } from "./intent.ts";
import { hasImage, textOf } from "./local-model.ts";
import type { PlannedCall } from "./toolbox.ts";

/** What scout knows about the work so far: nothing but what the conversation says. Pure. */

export interface Step {
  call: PlannedCall;
  /** What the tool answered; empty when it never did. */
  output: string;
  failed: boolean;
}

export interface Task {
  intent: Intent;
  /** The words the task was given in. */
  words: string;
  /** Wishes that came later and belong to it, such as "Also include risks". */
  additions: string[];
  withImage: boolean;
  /** Calls made for the task, in order. */
  steps: Step[];
  /** How many answers with tool calls there were. */
  rounds: number;
}

/** The newest user message decides; one that only adds something leads back to the task it adds to. */
export function currentTask(messages: readonly LlmMessage[]): Task {
  const additions: string[] = [];
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!;
    if (message.role !== "user") continue;
    const words = textOf(message);
    if (isAddition(words) && hasEarlierTask(messages, i)) {
      additions.unshift(words.trim());
      continue;
    }
    const { steps, rounds } = stepsIn(messages.slice(i + 1));
    return { intent: parseIntent(words), words, additions, withImage: hasImage(message), steps, rounds };
  }
  return { intent: { kind: "help" }, words: "", additions, withImage: false, steps: [], rounds: 0 };
}

function hasEarlierTask(messages: readonly LlmMessage[], before: number): boolean {
  for (let i = before - 1; i >= 0; i--) {
    const message = messages[i]!;
    if (message.role !== "user") continue;
    const words = textOf(message);
    if (!isAddition(words)) return parseIntent(words).kind !== "help";
  }
  return false;
}

function stepsIn(messages: readonly LlmMessage[]): { steps: Step[]; rounds: number } {
  const results = new Map<string, ToolResultMessage>();
  for (const message of messages) if (message.role === "toolResult") results.set(message.toolCallId, message);
  let steps: Step[] = [];
  let rounds = 0;
  for (const message of messages) {
    // Calls that failed before a new wish came (skipped for it, perhaps) may be tried once more.
    if (message.role === "user") steps = steps.filter((step) => !step.failed);
    if (message.role !== "assistant") continue;
    const before = steps.length;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const result = results.get(block.id);
      const output = result ? textOf(result).replaceAll("\r\n", "\n") : "";
      steps.push({ call: { name: block.name, arguments: block.arguments }, output, failed: result?.isError ?? true });
    }
    if (steps.length > before) rounds++;
  }
  return { steps, rounds };
}

/** The step that made exactly this call, if it was made. */
export function stepFor(steps: readonly Step[], call: PlannedCall): Step | undefined {
  const wanted = canonical(call.arguments);
  return steps.find((step) => step.call.name === call.name && canonical(step.call.arguments) === wanted);
}

function canonical(args: Record<string, unknown>): string {
  return JSON.stringify(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)));
}
