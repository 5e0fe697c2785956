import type { UserContent } from "@tiller/protocol/content";
import type { AgentMessage, BashExecutionMessage, LlmMessage, UserMessage } from "@tiller/protocol/message";

/** The only projection of the conversation onto what a model understands. */
export function messagesToLlm(messages: readonly AgentMessage[]): LlmMessage[] {
  const result: LlmMessage[] = [];
  for (const message of messages) {
    const projected = project(message);
    if (projected) result.push(projected);
  }
  return result;
}

function project(message: AgentMessage): LlmMessage | undefined {
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
      return message;
    case "bashExecution":
      return message.excludeFromContext ? undefined : asUser(bashText(message), message.timestamp);
    case "custom":
      return asUser(message.content, message.timestamp);
    case "branchSummary":
      return asUser(
        summaryText("A branch of this conversation was left; this is what happened on it:", message.summary),
        message.timestamp,
      );
    case "compactionSummary":
      return asUser(
        summaryText("The earlier part of this conversation was replaced by this summary:", message.summary),
        message.timestamp,
      );
  }
}

function asUser(content: string | UserContent[], timestamp: number): UserMessage {
  return {
    role: "user",
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
    timestamp,
  };
}

function summaryText(introduction: string, summary: string): string {
  return `${introduction}\n\n<summary>\n${summary}\n</summary>`;
}

function bashText(message: BashExecutionMessage): string {
  const output = message.output === "" ? "(no output)" : `\`\`\`\n${message.output}\n\`\`\``;
  let text = `Ran \`${message.command}\`\n${output}`;
  if (message.cancelled) text += "\n\n(command cancelled)";
  else if (message.exitCode) text += `\n\nCommand exited with code ${message.exitCode}`;
  if (message.truncated) {
    text += message.fullOutputPath
      ? `\n\n[Output truncated. Full output: ${message.fullOutputPath}]`
      : "\n\n[Output truncated]";
  }
  return text;
}
