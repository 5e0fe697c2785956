import type { AgentMessage, AssistantMessage, Usage } from "../message.ts";
import type { Model } from "../model.ts";

/** Values that several examples share, so that each example stays short. */

export const exampleModel: Model = {
  id: "claude-sonnet-4-5",
  name: "Claude Sonnet 4.5",
  api: "anthropic-messages",
  provider: "anthropic",
  baseUrl: "https://api.anthropic.com",
  reasoning: true,
  input: ["text", "image"],
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  contextWindow: 200000,
  maxTokens: 64000,
};

export const exampleUsage: Usage = {
  input: 12,
  output: 4,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 16,
  cost: { input: 0.000036, output: 0.00006, cacheRead: 0, cacheWrite: 0, total: 0.000096 },
};

export const exampleUser: AgentMessage = {
  role: "user",
  content: [{ type: "text", text: "Hello" }],
  timestamp: 1767225600000,
};

export const exampleAssistant: AssistantMessage = {
  role: "assistant",
  content: [{ type: "text", text: "Hi." }],
  api: "anthropic-messages",
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  usage: exampleUsage,
  stopReason: "stop",
  timestamp: 1767225601000,
};
