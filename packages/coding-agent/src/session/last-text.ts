import type { AgentMessage } from "@tiller/protocol/message";

/** The text of the last assistant message; one that was aborted before it said anything does not count. */
export function lastAssistantText(newestFirst: Iterable<AgentMessage>): string | undefined {
  for (const message of newestFirst) {
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
