import type { UserContent } from "@tiller/protocol/content";
import type {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  LlmMessage,
  UserMessage,
} from "@tiller/protocol/message";

/**
 * The only projection of the conversation onto what a model understands. The same message always becomes the same object:
 * by that, what was sent before is known again.
 */
export function messagesToLlm(messages: readonly AgentMessage[]): LlmMessage[] {
  const result: LlmMessage[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]!;
    const { role } = message;
    if (role === "assistant") result.push(wasCorrected(messages, at) ? asAnswer(message) : message);
    else if (role === "user" || role === "toolResult") result.push(message);
    else if (role !== "bashExecution" || !message.excludeFromContext) result.push(projected(message));
  }
  return result;
}

/** A stream rule has ended this answer, and the model was told so: it shall see what it is about. */
function wasCorrected(messages: readonly AgentMessage[], at: number): boolean {
  const message = messages[at];
  if (message?.role !== "assistant" || message.stopReason !== "aborted") return false;
  let behind = at + 1;
  while (messages[behind]?.role === "toolResult") behind += 1;
  const next = messages[behind];
  return next?.role === "custom" && next.customType === "ttsr-injection";
}

const answers = new WeakMap<AssistantMessage, AssistantMessage>();

/** Aborted answers are not sent to models, this one is: as if it had ended where it was interrupted. */
function asAnswer(message: AssistantMessage): AssistantMessage {
  const known = answers.get(message);
  if (known) return known;
  const { errorMessage: _, ...rest } = message;
  const hasCalls = message.content.some(({ type }) => type === "toolCall");
  const made: AssistantMessage = { ...rest, stopReason: hasCalls ? "toolUse" : "stop" };
  answers.set(message, made);
  return made;
}

type OwnMessage = Exclude<AgentMessage, LlmMessage>;

const projections = new WeakMap<OwnMessage, UserMessage>();

function projected(message: OwnMessage): UserMessage {
  const known = projections.get(message);
  if (known) return known;
  const made = asUser(contentOf(message), message.timestamp);
  projections.set(message, made);
  return made;
}

function contentOf(message: OwnMessage): string | UserContent[] {
  switch (message.role) {
    case "bashExecution":
      return bashText(message);
    case "custom":
      return message.content;
    case "branchSummary":
      return summaryText("A branch of this conversation was left; this is what happened on it:", message.summary);
    case "compactionSummary":
      return summaryText("The earlier part of this conversation was replaced by this summary:", message.summary);
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
