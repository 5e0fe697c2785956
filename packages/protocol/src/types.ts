import type { TSchema } from "typebox";
import { BashResult } from "./commands/bash.ts";
import { AvailableCommand, SlashCommand } from "./commands/commands.ts";
import { Disposition } from "./commands/prompting.ts";
import { SessionStats, TreeNode } from "./commands/session.ts";
import { Capabilities, Limits } from "./commands/state.ts";
import { CompactionResult } from "./compaction.ts";
import { AssistantContent, ImageContent, TextContent, ThinkingContent, ToolCall, UserContent } from "./content.ts";
import { PendingDialog } from "./extension-ui.ts";
import { HostToolDefinition } from "./host-tools.ts";
import { HostUriScheme } from "./host-uris.ts";
import {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  Cost,
  CustomMessage,
  StopReason,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "./message.ts";
import { Model, ModelCost, ThinkingLevel } from "./model.ts";
import { SessionEntry, SessionHeader } from "./session-entry.ts";
import { ContextUsage, InterruptMode, QueueMode, SessionState, UpdateMode } from "./state.ts";
import { AssistantMessageEvent, PartialAssistant } from "./stream-event.ts";
import { AgentSource, Subagent, SubagentEvent, SubagentLevel, SubagentProgress, SubagentStatus } from "./sub-agent.ts";
import { TodoItem, TodoItemInput, TodoPhase, TodoPhaseInput, TodoStatus } from "./todo.ts";
import { JsonSchema, ToolResult } from "./tool.ts";

/** The types that the schema and the documentation call by name instead of spelling them out. */
export const NAMED_TYPES: Readonly<Record<string, TSchema>> = {
  TextContent,
  ThinkingContent,
  ImageContent,
  ToolCall,
  UserContent,
  AssistantContent,
  Cost,
  Usage,
  StopReason,
  UserMessage,
  AssistantMessage,
  ToolResultMessage,
  BashExecutionMessage,
  CustomMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  AgentMessage,
  PartialAssistant,
  AssistantMessageEvent,
  Model,
  ModelCost,
  ThinkingLevel,
  ToolResult,
  JsonSchema,
  QueueMode,
  InterruptMode,
  UpdateMode,
  ContextUsage,
  SessionState,
  PendingDialog,
  Disposition,
  Limits,
  Capabilities,
  CompactionResult,
  BashResult,
  SessionStats,
  SlashCommand,
  AvailableCommand,
  TodoStatus,
  TodoItem,
  TodoItemInput,
  TodoPhase,
  TodoPhaseInput,
  HostToolDefinition,
  Subagent,
  SubagentStatus,
  SubagentProgress,
  SubagentEvent,
  SubagentLevel,
  AgentSource,
  HostUriScheme,
  SessionHeader,
  SessionEntry,
  TreeNode,
};
