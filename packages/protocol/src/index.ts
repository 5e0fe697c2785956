/** The protocol as a library: types, and the tables that need no schema library. The rest is under its sub-path. */

export type { Clock, IdSource } from "./clock.ts";
export { COMMAND_TABLE, EVENT_TABLE } from "./command-table.generated.ts";
export type { CommandType, Params, Result, RpcCommand, RpcId, RpcResponse } from "./commands/index.ts";
export type { Lane, System } from "./define.ts";
export type { Dialect, DialectName } from "./dialects/dialect.ts";
export { DIALECTS, dialectForProgram, dialectNamed } from "./dialects/index.ts";
export type { EventFields, EventType, RpcEvent } from "./events.ts";
export type { ExtensionUIRequest, ExtensionUIResponse } from "./extension-ui.ts";
export type { FrameType } from "./frames.ts";
export type { HostToolCall, HostToolCancel, HostToolDefinition, HostToolResult, HostToolUpdate } from "./host-tools.ts";
export type { HostUriCancel, HostUriRequest, HostUriResult, HostUriScheme } from "./host-uris.ts";
export type { AgentMessage, AssistantMessage, ToolResultMessage, Usage, UserMessage } from "./message.ts";
export type { Model, ThinkingLevel } from "./model.ts";
export type { SessionEntry, SessionHeader } from "./session-entry.ts";
export type { InterruptMode, QueueMode, SessionState, UpdateMode } from "./state.ts";
export type { AssistantMessageEvent } from "./stream-event.ts";
export type { TodoItem, TodoPhase } from "./todo.ts";
