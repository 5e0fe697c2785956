import type { WireMessage } from "./messages.ts";

/**
 * OpenRouter hands Anthropic's marks for the prompt cache through to its models: everything up to a marked part is kept.
 * The system prompt (with the tools before it) is marked, and the last words from our side.
 */
export function markForCache(messages: readonly WireMessage[], retention: "short" | "long"): void {
  const mark: Record<string, string> = retention === "long" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
  const system = messages.find(({ role }) => role === "system" || role === "developer");
  const last = messages.findLast(({ role }) => role === "user" || role === "tool");
  for (const message of [system, last]) if (message) markLastText(message, mark);
}

/** Only a part can be marked, so a message that is one text becomes a list of one. */
function markLastText(message: WireMessage, cache_control: Record<string, string>): void {
  if (typeof message.content === "string") message.content = [{ type: "text", text: message.content }];
  const part = message.content?.findLast(({ type }) => type === "text");
  if (part) part.cache_control = cache_control;
}
