export { type AgentRun, runAgent } from "./agent-loop.ts";
export type { AgentEvent, AgentPorts, AgentTool, Emit, RunOutcome, ToolInvocation } from "./types.ts";
