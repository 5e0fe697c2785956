// Written by `npm run generate` from the tables in packages/protocol/src. Do not edit.
import type { CommandType } from "./commands/index.ts";
import type { Lane } from "./define.ts";
import type { EventType } from "./events.ts";

export interface CommandTableRow {
  readonly lane: Lane;
  /** The capability that is still missing; absent when the command works. */
  readonly opens?: string;
  /** Fields in which `null` means absent: remove them before `check`. One inside another is `outer.inner`. */
  readonly optional: readonly string[];
  /** Do the fields fit? Fields that are not in the table are ignored. */
  readonly check: (v: Record<string, unknown>) => boolean;
}

export interface EventTableRow {
  readonly promptScoped: boolean;
  readonly persisted: boolean;
  readonly opens?: string;
}

/** The commands that this version can do: each must have a handler. */
export type WorkingCommand = "prompt" | "steer" | "follow_up" | "abort" | "abort_and_prompt" | "get_state" | "get_context" | "get_capabilities" | "set_update_mode" | "get_messages" | "get_messages_page" | "get_last_assistant_text" | "set_model" | "cycle_model" | "get_available_models" | "set_fast_mode" | "set_thinking_level" | "cycle_thinking_level" | "get_available_thinking_levels" | "set_steering_mode" | "set_follow_up_mode" | "set_interrupt_mode" | "clear_queue" | "compact" | "set_auto_compaction" | "handoff" | "set_auto_retry" | "abort_retry" | "bash" | "abort_bash" | "new_session" | "get_session_stats" | "export_html" | "switch_session" | "open_session" | "fork" | "get_fork_messages" | "branch" | "get_branch_messages" | "clone" | "set_session_name" | "get_entries" | "get_tree" | "navigate_tree" | "set_label" | "list_sessions" | "delete_session" | "get_commands" | "get_available_commands" | "set_todos" | "set_host_tools" | "get_subagents" | "get_subagent_messages" | "set_subagent_subscription" | "set_host_uri_schemes" | "get_login_providers" | "login" | "negotiate_protocol" | "subscribe" | "set_event_filter";

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);
const shape1 = (v: unknown): boolean => isObject(v) && v.type === "image" && typeof v.data === "string" && typeof v.mimeType === "string";
const shape2 = (v: unknown): boolean => isObject(v) && (v.turns === undefined || Number.isInteger(v.turns) && Number(v.turns) >= 1) && (v.toolCalls === undefined || Number.isInteger(v.toolCalls) && Number(v.toolCalls) >= 1) && (v.cost === undefined || Number.isFinite(v.cost) && Number(v.cost) >= 0) && (v.tokens === undefined || Number.isInteger(v.tokens) && Number(v.tokens) >= 1) && (v.wallTimeMs === undefined || Number.isInteger(v.wallTimeMs) && Number(v.wallTimeMs) >= 1);
const shape3 = (v: unknown): boolean => isObject(v) && (v.id === undefined || (typeof v.id === "string" || v.id === null)) && typeof v.content === "string" && (v.status === undefined || (v.status === "pending" || v.status === "in_progress" || v.status === "completed" || v.status === "abandoned" || v.status === null)) && (v.notes === undefined || (typeof v.notes === "string" || v.notes === null));
const shape4 = (v: unknown): boolean => isObject(v) && (v.id === undefined || (typeof v.id === "string" || v.id === null)) && typeof v.name === "string" && (Array.isArray(v.tasks) && v.tasks.every(shape3));
const shape5 = (v: unknown): boolean => typeof v === "string";

export const COMMAND_TABLE: Readonly<Record<CommandType, CommandTableRow>> = {
  prompt: { lane: "background", optional: ["images","streamingBehavior","limits","limits.turns","limits.toolCalls","limits.cost","limits.tokens","limits.wallTimeMs"], check: (v) => typeof v.message === "string" && (v.images === undefined || (Array.isArray(v.images) && v.images.every(shape1))) && (v.streamingBehavior === undefined || (v.streamingBehavior === "steer" || v.streamingBehavior === "followUp")) && (v.limits === undefined || shape2(v.limits)) },
  steer: { lane: "ordered", optional: ["images"], check: (v) => typeof v.message === "string" && (v.images === undefined || (Array.isArray(v.images) && v.images.every(shape1))) },
  follow_up: { lane: "ordered", optional: ["images"], check: (v) => typeof v.message === "string" && (v.images === undefined || (Array.isArray(v.images) && v.images.every(shape1))) },
  abort: { lane: "control", optional: [], check: () => true },
  abort_and_prompt: { lane: "background", optional: ["images"], check: (v) => typeof v.message === "string" && (v.images === undefined || (Array.isArray(v.images) && v.images.every(shape1))) },
  get_state: { lane: "ordered", optional: [], check: () => true },
  get_context: { lane: "ordered", optional: [], check: () => true },
  get_capabilities: { lane: "ordered", optional: [], check: () => true },
  set_update_mode: { lane: "ordered", optional: [], check: (v) => (v.mode === "snapshot" || v.mode === "delta") },
  get_messages: { lane: "ordered", optional: [], check: () => true },
  get_messages_page: { lane: "ordered", optional: ["cursor","limit"], check: (v) => (v.cursor === undefined || typeof v.cursor === "string") && (v.limit === undefined || Number.isFinite(v.limit)) },
  get_last_assistant_text: { lane: "ordered", optional: [], check: () => true },
  set_model: { lane: "ordered", optional: [], check: (v) => typeof v.provider === "string" && typeof v.modelId === "string" },
  cycle_model: { lane: "ordered", optional: [], check: () => true },
  get_available_models: { lane: "ordered", optional: [], check: () => true },
  set_fast_mode: { lane: "ordered", optional: [], check: (v) => typeof v.enabled === "boolean" },
  set_thinking_level: { lane: "ordered", optional: [], check: (v) => (v.level === "off" || v.level === "minimal" || v.level === "low" || v.level === "medium" || v.level === "high" || v.level === "xhigh") },
  cycle_thinking_level: { lane: "ordered", optional: [], check: () => true },
  get_available_thinking_levels: { lane: "ordered", optional: [], check: () => true },
  set_steering_mode: { lane: "ordered", optional: [], check: (v) => (v.mode === "all" || v.mode === "one-at-a-time") },
  set_follow_up_mode: { lane: "ordered", optional: [], check: (v) => (v.mode === "all" || v.mode === "one-at-a-time") },
  set_interrupt_mode: { lane: "ordered", optional: [], check: (v) => (v.mode === "immediate" || v.mode === "wait") },
  clear_queue: { lane: "ordered", optional: [], check: () => true },
  compact: { lane: "background", optional: ["customInstructions"], check: (v) => (v.customInstructions === undefined || typeof v.customInstructions === "string") },
  set_auto_compaction: { lane: "ordered", optional: [], check: (v) => typeof v.enabled === "boolean" },
  handoff: { lane: "background", optional: ["customInstructions"], check: (v) => (v.customInstructions === undefined || typeof v.customInstructions === "string") },
  set_auto_retry: { lane: "ordered", optional: [], check: (v) => typeof v.enabled === "boolean" },
  abort_retry: { lane: "control", optional: [], check: () => true },
  bash: { lane: "background", optional: ["excludeFromContext"], check: (v) => typeof v.command === "string" && (v.excludeFromContext === undefined || typeof v.excludeFromContext === "boolean") },
  abort_bash: { lane: "control", optional: [], check: () => true },
  new_session: { lane: "ordered", optional: ["parentSession"], check: (v) => (v.parentSession === undefined || typeof v.parentSession === "string") },
  get_session_stats: { lane: "ordered", optional: [], check: () => true },
  export_html: { lane: "background", optional: ["outputPath"], check: (v) => (v.outputPath === undefined || typeof v.outputPath === "string") },
  switch_session: { lane: "ordered", optional: [], check: (v) => typeof v.sessionPath === "string" },
  open_session: { lane: "ordered", optional: [], check: (v) => typeof v.sessionDir === "string" },
  fork: { lane: "ordered", optional: [], check: (v) => typeof v.entryId === "string" },
  get_fork_messages: { lane: "ordered", optional: [], check: () => true },
  branch: { lane: "ordered", optional: [], check: (v) => typeof v.entryId === "string" },
  get_branch_messages: { lane: "ordered", optional: [], check: () => true },
  clone: { lane: "ordered", optional: [], check: () => true },
  set_session_name: { lane: "ordered", optional: [], check: (v) => typeof v.name === "string" },
  get_entries: { lane: "ordered", optional: ["since"], check: (v) => (v.since === undefined || typeof v.since === "string") },
  get_tree: { lane: "ordered", optional: [], check: () => true },
  navigate_tree: { lane: "ordered", optional: ["summarize","customInstructions"], check: (v) => typeof v.entryId === "string" && (v.summarize === undefined || typeof v.summarize === "boolean") && (v.customInstructions === undefined || typeof v.customInstructions === "string") },
  set_label: { lane: "ordered", optional: ["label"], check: (v) => typeof v.entryId === "string" && (v.label === undefined || typeof v.label === "string") },
  list_sessions: { lane: "background", optional: ["scope","text","name","cwd","limit","cursor"], check: (v) => (v.scope === undefined || (v.scope === "cwd" || v.scope === "all")) && (v.text === undefined || typeof v.text === "string") && (v.name === undefined || typeof v.name === "string") && (v.cwd === undefined || typeof v.cwd === "string") && (v.limit === undefined || Number.isInteger(v.limit) && Number(v.limit) >= 1) && (v.cursor === undefined || typeof v.cursor === "string") },
  delete_session: { lane: "ordered", optional: [], check: (v) => typeof v.sessionPath === "string" },
  get_commands: { lane: "ordered", optional: [], check: () => true },
  get_available_commands: { lane: "ordered", optional: [], check: () => true },
  set_todos: { lane: "ordered", optional: [], check: (v) => (Array.isArray(v.phases) && v.phases.every(shape4)) },
  set_host_tools: { lane: "ordered", optional: [], check: (v) => Array.isArray(v.tools) },
  get_subagents: { lane: "ordered", optional: [], check: () => true },
  get_subagent_messages: { lane: "ordered", optional: ["subagentId","sessionFile","fromByte"], check: (v) => (v.subagentId === undefined || typeof v.subagentId === "string") && (v.sessionFile === undefined || typeof v.sessionFile === "string") },
  set_subagent_subscription: { lane: "ordered", optional: [], check: (v) => v.level !== undefined },
  set_host_uri_schemes: { lane: "ordered", optional: [], check: (v) => Array.isArray(v.schemes) },
  get_login_providers: { lane: "ordered", optional: [], check: () => true },
  login: { lane: "background", optional: [], check: (v) => typeof v.providerId === "string" },
  negotiate_protocol: { lane: "ordered", optional: [], check: (v) => Number.isFinite(v.protocolVersion) },
  subscribe: { lane: "ordered", optional: ["after"], check: (v) => (v.after === undefined || Number.isInteger(v.after) && Number(v.after) >= 0) },
  set_event_filter: { lane: "ordered", optional: [], check: (v) => ((Array.isArray(v.events) && v.events.every(shape5)) || v.events === null) },
};

export const EVENT_TABLE: Readonly<Record<EventType, EventTableRow>> = {
  agent_start: { promptScoped: true, persisted: false },
  agent_end: { promptScoped: true, persisted: false },
  agent_settled: { promptScoped: true, persisted: false },
  turn_start: { promptScoped: true, persisted: false },
  turn_end: { promptScoped: true, persisted: false },
  prompt_result: { promptScoped: true, persisted: false },
  session_settled: { promptScoped: true, persisted: false },
  message_start: { promptScoped: true, persisted: false },
  message_update: { promptScoped: true, persisted: false },
  message_end: { promptScoped: true, persisted: true },
  tool_execution_start: { promptScoped: true, persisted: false },
  tool_execution_update: { promptScoped: true, persisted: false },
  tool_execution_end: { promptScoped: true, persisted: false },
  auto_compaction_start: { promptScoped: true, persisted: false },
  auto_compaction_end: { promptScoped: true, persisted: true },
  compaction_start: { promptScoped: false, persisted: false },
  compaction_end: { promptScoped: false, persisted: true },
  auto_retry_start: { promptScoped: true, persisted: false },
  auto_retry_end: { promptScoped: true, persisted: false },
  queue_update: { promptScoped: false, persisted: false },
  thinking_level_changed: { promptScoped: false, persisted: true },
  session_info_changed: { promptScoped: false, persisted: true },
  entry_appended: { promptScoped: false, persisted: true },
  bash_execution_update: { promptScoped: false, persisted: false },
  notice: { promptScoped: false, persisted: false },
  extension_error: { promptScoped: false, persisted: false },
  ttsr_triggered: { promptScoped: true, persisted: false },
  todo_reminder: { promptScoped: true, persisted: false },
  todo_auto_clear: { promptScoped: false, persisted: false },
  subagent_lifecycle: { promptScoped: true, persisted: false },
  subagent_progress: { promptScoped: true, persisted: false },
  subagent_event: { promptScoped: true, persisted: false },
};
