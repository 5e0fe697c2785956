import { type Static, Type } from "typebox";
import { AssistantContent, ImageContent, TextContent, UserContent } from "./content.ts";

/** Every kind of message that can stand in a conversation. Timestamps are Unix milliseconds. */

export const Cost = Type.Object({
  input: Type.Number(),
  output: Type.Number(),
  cacheRead: Type.Number(),
  cacheWrite: Type.Number(),
  total: Type.Number(),
});

export const Usage = Type.Object({
  input: Type.Number({ description: "tokens, without the cached ones" }),
  output: Type.Number(),
  cacheRead: Type.Number(),
  cacheWrite: Type.Number(),
  totalTokens: Type.Number(),
  cacheWrite1h: Type.Optional(Type.Number({ description: "the part of cacheWrite that is kept for an hour" })),
  reasoning: Type.Optional(Type.Number({ description: "the part of output that was thought" })),
  cost: Cost,
});
export type Usage = Static<typeof Usage>;

export const StopReason = Type.Union([
  Type.Literal("stop"),
  Type.Literal("length"),
  Type.Literal("toolUse"),
  Type.Literal("error"),
  Type.Literal("aborted"),
]);
export type StopReason = Static<typeof StopReason>;

export const UserMessage = Type.Object({
  role: Type.Literal("user"),
  content: Type.Union([Type.String(), Type.Array(UserContent)]),
  timestamp: Type.Number(),
});
export type UserMessage = Static<typeof UserMessage>;

export const AssistantMessage = Type.Object({
  role: Type.Literal("assistant"),
  content: Type.Array(AssistantContent),
  api: Type.String(),
  provider: Type.String(),
  model: Type.String(),
  usage: Usage,
  stopReason: StopReason,
  errorMessage: Type.Optional(Type.String()),
  responseId: Type.Optional(Type.String()),
  responseModel: Type.Optional(Type.String({ description: "the model that answered, when it is not the one asked" })),
  timestamp: Type.Number(),
});
export type AssistantMessage = Static<typeof AssistantMessage>;

export const ToolResultMessage = Type.Object({
  role: Type.Literal("toolResult"),
  toolCallId: Type.String(),
  toolName: Type.String(),
  content: Type.Array(Type.Union([TextContent, ImageContent])),
  details: Type.Optional(Type.Unknown()),
  isError: Type.Boolean(),
  timestamp: Type.Number(),
});
export type ToolResultMessage = Static<typeof ToolResultMessage>;

export const BashExecutionMessage = Type.Object({
  role: Type.Literal("bashExecution"),
  command: Type.String(),
  output: Type.String(),
  exitCode: Type.Optional(Type.Number()),
  cancelled: Type.Boolean(),
  truncated: Type.Boolean(),
  fullOutputPath: Type.Optional(Type.String()),
  excludeFromContext: Type.Optional(Type.Boolean()),
  timestamp: Type.Number(),
});
export type BashExecutionMessage = Static<typeof BashExecutionMessage>;

export const CustomMessage = Type.Object({
  role: Type.Literal("custom"),
  customType: Type.String(),
  content: Type.Union([Type.String(), Type.Array(UserContent)]),
  display: Type.Boolean(),
  details: Type.Optional(Type.Unknown()),
  timestamp: Type.Number(),
});
export type CustomMessage = Static<typeof CustomMessage>;

export const BranchSummaryMessage = Type.Object({
  role: Type.Literal("branchSummary"),
  summary: Type.String(),
  fromId: Type.String(),
  timestamp: Type.Number(),
});
export type BranchSummaryMessage = Static<typeof BranchSummaryMessage>;

export const CompactionSummaryMessage = Type.Object({
  role: Type.Literal("compactionSummary"),
  summary: Type.String(),
  tokensBefore: Type.Number(),
  timestamp: Type.Number(),
});
export type CompactionSummaryMessage = Static<typeof CompactionSummaryMessage>;

export const AgentMessage = Type.Union([
  UserMessage,
  AssistantMessage,
  ToolResultMessage,
  BashExecutionMessage,
  CustomMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
]);
export type AgentMessage = Static<typeof AgentMessage>;

/** What a model understands; everything else is projected onto these three before a request. */
export type LlmMessage = UserMessage | AssistantMessage | ToolResultMessage;
