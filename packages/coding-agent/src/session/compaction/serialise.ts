import type { AgentMessage, AssistantMessage } from "@tiller/protocol/message";

/** A conversation as a text that can be read, not answered. Pure. */

const LONGEST_RESULT = 2000;
const LONGEST_THOUGHT = 2000;
const LONGEST_ARGUMENT = 1000;

/** One text for each message; those of which nothing is to be told are left out. */
export function serialise(messages: readonly AgentMessage[]): string[] {
  return messages.map(serialiseOne).filter((text) => text !== "");
}

function serialiseOne(message: AgentMessage): string {
  switch (message.role) {
    case "user":
      return told("User", textOf(message.content));
    case "custom":
      return told(`Note (${message.customType})`, textOf(message.content));
    case "assistant":
      return answer(message);
    case "toolResult":
      return told(
        message.isError ? `Tool error (${message.toolName})` : `Tool result (${message.toolName})`,
        shortened(textOf(message.content), LONGEST_RESULT),
      );
    case "bashExecution":
      if (message.excludeFromContext) return "";
      return told(
        message.exitCode ? `Shell command, exit code ${message.exitCode}` : "Shell command",
        `${message.command}\n${shortened(message.output, LONGEST_RESULT)}`,
      );
    case "branchSummary":
      return told("Summary of a branch that was left", message.summary);
    case "compactionSummary":
      return told("Earlier summary", message.summary);
    default:
      return "";
  }
}

function told(who: string, text: string): string {
  return text.trim() === "" ? "" : `[${who}]: ${text.trim()}`;
}

function answer({ content, errorMessage }: AssistantMessage): string {
  const texts: string[] = [];
  const calls: string[] = [];
  for (const block of content) {
    if (block.type === "text") texts.push(told("Assistant", block.text));
    else if (block.type === "thinking")
      texts.push(told("Assistant thinking", shortened(block.thinking, LONGEST_THOUGHT)));
    else calls.push(`${block.name}(${argumentsText(block.arguments)})`);
  }
  return [
    ...texts,
    told("Assistant tool calls", calls.join("; ")),
    errorMessage === undefined ? "" : told("Assistant failed", errorMessage),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

function argumentsText(args: Record<string, unknown>): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}=${shortened(JSON.stringify(value) ?? "", LONGEST_ARGUMENT)}`)
    .join(", ");
}

function textOf(content: string | readonly { type: string; text?: string }[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "image" ? "[image]" : (block.text ?? ""))).join("\n");
}

/** Cut at the end, never through a pair of surrogates, and the text says so. */
export function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const isPair = /[\uD800-\uDBFF]/.test(text.charAt(longest - 1));
  const shown = text.slice(0, isPair ? longest - 1 : longest);
  return `${shown}\n[... ${text.length - shown.length} more characters]`;
}
