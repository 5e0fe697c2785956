import type { AgentMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";

/** The answer was made from more than fits the model, although its provider did not say so: it has left something out. */
export function isSilentOverflow(messages: readonly AgentMessage[], model: Model | null): boolean {
  const last = messages.findLast((message) => message.role === "assistant");
  if (!last || !model || !(model.contextWindow > 0)) return false;
  if (last.stopReason === "error" || last.stopReason === "aborted") return false;
  // The host may have chosen another model meanwhile; its window says nothing about this answer.
  if (last.provider !== model.provider || last.model !== model.id) return false;
  const { input, cacheRead, cacheWrite } = last.usage;
  return input + cacheRead + cacheWrite > model.contextWindow;
}
