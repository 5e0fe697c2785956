import type { AgentMessage } from "@tiller/protocol/message";

/** The text of the last assistant message; one that was aborted before it said anything does not count. */
export function lastAssistantText(messages: readonly AgentMessage[]): string | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!;
    if (message.role !== "assistant") continue;
    if (message.stopReason === "aborted" && message.content.length === 0) continue;
    const text = message.content
      .map((block) => (block.type === "text" ? block.text : ""))
      .join("")
      .trim();
    return text === "" ? undefined : text;
  }
  return undefined;
}
