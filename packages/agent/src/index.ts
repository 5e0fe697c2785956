export { type Agent, type AgentListener, type AgentOptions, createAgent } from "./agent.ts";
export { type AgentRun, runAgent } from "./agent-loop.ts";
export { createMessageQueue, type MessageQueue, type QueuedMessage, type QueueModes } from "./message-queue.ts";
export type {
  AgentEvent,
  AgentHooks,
  AgentPorts,
  AgentTool,
  AgentToolResult,
  Emit,
  HookedCall,
  RunOutcome,
  RunQueue,
  ToolInvocation,
} from "./types.ts";
