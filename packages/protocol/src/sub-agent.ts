import { type Static, Type } from "typebox";

/** Agents that the agent starts: each works on one task in a conversation of its own. */

export const SubagentStatus = Type.Union([
  Type.Literal("pending", { description: "waits until another one has ended" }),
  Type.Literal("running"),
  Type.Literal("completed"),
  Type.Literal("failed"),
  Type.Literal("aborted"),
]);
export type SubagentStatus = Static<typeof SubagentStatus>;

/** Where an agent is described. */
export const AgentSource = Type.Union([
  Type.Literal("bundled"),
  Type.Literal("user"),
  Type.Literal("project"),
  Type.Literal("inline", { description: "in the arguments of the tool call" }),
]);
export type AgentSource = Static<typeof AgentSource>;

/** What it has done so far; with those that it has started itself. */
export const SubagentProgress = Type.Object({
  turns: Type.Integer(),
  toolCalls: Type.Integer(),
  tokens: Type.Number(),
  cost: Type.Number({ description: "dollars" }),
  durationMs: Type.Number(),
  currentTool: Type.Optional(Type.String({ description: "the tool that is running" })),
});
export type SubagentProgress = Static<typeof SubagentProgress>;

const KNOWN_BY = {
  id: Type.String({ description: "unique in the session" }),
  index: Type.Integer({ description: "its place in the tool call, from 0" }),
  agent: Type.String(),
  agentSource: AgentSource,
  sessionFile: Type.Optional(Type.String({ description: "absent when sessions are kept in memory" })),
  parentToolCallId: Type.Optional(Type.String()),
  parentId: Type.Optional(
    Type.String({ description: "of the sub-agent that has started it; absent for the main agent" }),
  ),
};

export const Subagent = Type.Object({
  ...KNOWN_BY,
  description: Type.Optional(Type.String({ description: "of the task, in a few words" })),
  status: SubagentStatus,
  task: Type.Optional(Type.String({ description: "everything that it was told" })),
  assignment: Type.Optional(Type.String({ description: "the part of it that is about this task alone" })),
  lastUpdate: Type.Number({ description: "Unix milliseconds" }),
  progress: Type.Optional(SubagentProgress),
  error: Type.Optional(Type.String({ description: "why it failed or was aborted" })),
});
export type Subagent = Static<typeof Subagent>;

export const SubagentEvent = Type.Object({
  ...KNOWN_BY,
  event: Type.Unknown({
    description: "an event as the main agent has them, with its `type`; message_update as in the mode `delta`",
  }),
});
export type SubagentEvent = Static<typeof SubagentEvent>;

export const SubagentLevel = Type.Union([Type.Literal("off"), Type.Literal("progress"), Type.Literal("events")]);
export type SubagentLevel = Static<typeof SubagentLevel>;
