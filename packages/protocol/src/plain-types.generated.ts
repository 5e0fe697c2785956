// Written by `npm run generate` from the tables in packages/protocol/src. Do not edit.

export interface TextContent {
  type: "text";
  text: string;
  textSignature?: string;
}

export interface ThinkingContent {
  type: "thinking";
  thinking: string;
  thinkingSignature?: string;
  redacted?: boolean;
}

export interface ImageContent {
  type: "image";
  /** base64 */
  data: string;
  mimeType: string;
}

export interface ToolCall {
  type: "toolCall";
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  thoughtSignature?: string;
}

export type UserContent = TextContent | ImageContent;

export type AssistantContent = TextContent | ThinkingContent | ToolCall;

export interface Cost {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  total: number;
}

export interface Usage {
  /** tokens, without the cached ones */
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
  /** the part of cacheWrite that is kept for an hour */
  cacheWrite1h?: number;
  /** the part of output that was thought */
  reasoning?: number;
  cost: Cost;
}

export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

export interface UserMessage {
  role: "user";
  content: string | UserContent[];
  timestamp: number;
}

export interface AssistantMessage {
  role: "assistant";
  content: AssistantContent[];
  api: string;
  provider: string;
  model: string;
  usage: Usage;
  stopReason: StopReason;
  errorMessage?: string;
  responseId?: string;
  /** the model that answered, when it is not the one asked */
  responseModel?: string;
  timestamp: number;
}

export interface ToolResultMessage {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: UserContent[];
  details?: unknown;
  isError: boolean;
  timestamp: number;
}

export interface BashExecutionMessage {
  role: "bashExecution";
  command: string;
  output: string;
  exitCode?: number;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
  excludeFromContext?: boolean;
  timestamp: number;
}

export interface CustomMessage {
  role: "custom";
  customType: string;
  content: string | UserContent[];
  display: boolean;
  details?: unknown;
  timestamp: number;
}

export interface BranchSummaryMessage {
  role: "branchSummary";
  summary: string;
  fromId: string;
  timestamp: number;
}

export interface CompactionSummaryMessage {
  role: "compactionSummary";
  summary: string;
  tokensBefore: number;
  timestamp: number;
}

export type AgentMessage = UserMessage | AssistantMessage | ToolResultMessage | BashExecutionMessage | CustomMessage | BranchSummaryMessage | CompactionSummaryMessage;

export interface PartialAssistant {
  role: "assistant";
  content: unknown[];
}

export type AssistantMessageEvent = {
  type: "start";
  partial: PartialAssistant;
} | {
  type: "text_start";
  contentIndex: number;
  partial: PartialAssistant;
} | {
  type: "text_delta";
  contentIndex: number;
  delta: string;
  partial: PartialAssistant;
} | {
  type: "text_end";
  contentIndex: number;
  content: string;
  partial: PartialAssistant;
} | {
  type: "thinking_start";
  contentIndex: number;
  partial: PartialAssistant;
} | {
  type: "thinking_delta";
  contentIndex: number;
  delta: string;
  partial: PartialAssistant;
} | {
  type: "thinking_end";
  contentIndex: number;
  content: string;
  partial: PartialAssistant;
} | {
  type: "toolcall_start";
  contentIndex: number;
  id: string;
  toolName: string;
  partial: PartialAssistant;
} | {
  type: "toolcall_delta";
  contentIndex: number;
  delta: string;
  partial: PartialAssistant;
} | {
  type: "toolcall_end";
  contentIndex: number;
  toolCall: ToolCall;
  partial: PartialAssistant;
} | {
  type: "done";
  reason: "stop" | "length" | "toolUse";
  message: AssistantMessage;
} | {
  type: "error";
  reason: "aborted" | "error";
  error: AssistantMessage;
};

export interface Model {
  id: string;
  name: string;
  api: string;
  provider: string;
  baseUrl: string;
  reasoning: boolean;
  input: ("text" | "image")[];
  cost: ModelCost;
  costTiers?: ({
    above: number;
  } & ModelCost)[];
  contextWindow: number;
  maxTokens: number;
  promptCache?: {
    short?: number;
    long?: number;
  };
  thinkingLevelMap?: Record<string, string | null>;
  compat?: Record<string, unknown>;
}

export interface ModelCost {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh";

export interface ToolResult {
  content: UserContent[];
  details?: unknown;
}

/** a JSON Schema object */
export type JsonSchema = Record<string, unknown>;

export type QueueMode = "all" | "one-at-a-time";

export type InterruptMode = "immediate" | "wait";

export type UpdateMode = "snapshot" | "delta";

export interface ContextUsage {
  /** null right after a compaction: not known yet */
  tokens: number | null;
  contextWindow: number;
  percent: number | null;
}

export interface SessionState {
  /** null when no model is usable */
  model: Model | null;
  thinkingLevel: ThinkingLevel;
  /** true from the acceptance of a prompt until its agent_end without a retry */
  isStreaming: boolean;
  isCompacting: boolean;
  /** nothing runs, nothing will start by itself, and no message is queued */
  isSettled: boolean;
  /** background jobs are running, or their results are not in the conversation yet */
  hasPendingAsyncWork: boolean;
  steeringMode: QueueMode;
  followUpMode: QueueMode;
  interruptMode: InterruptMode;
  /** absent with --no-session */
  sessionFile?: string;
  sessionId: string;
  /** absent when no name was set */
  sessionName?: string;
  autoCompactionEnabled: boolean;
  autoRetryEnabled?: boolean;
  messageCount: number;
  /** queued messages that were not delivered yet */
  pendingMessageCount: number;
  /** the same number, under the name that omp and xcsh use */
  queuedMessageCount: number;
  todoPhases: TodoPhase[];
  contextUsage?: ContextUsage;
  /** the process that ran the last prompt of this session was cut off; the next prompt goes on from there */
  lastRunInterrupted?: true;
  /** present while waiting for a retry */
  retry?: {
    attempt: number;
    /** Unix milliseconds of the next attempt */
    until: number;
  };
  /** dialogs of extensions that wait for an answer, oldest first; absent when there are none */
  pendingDialogs?: PendingDialog[];
}

export interface PendingDialog {
  /** of the request; the answer repeats it */
  id: string;
  method: "select" | "confirm" | "input" | "editor";
  title: string;
  message?: string;
  options?: string[];
  placeholder?: string;
  prefill?: string;
  /** Unix milliseconds */
  openedAt: number;
  /** milliseconds until the default answer is taken */
  timeout?: number;
}

export interface Disposition {
  disposition: "started" | "queued" | "handled";
  /** present when no model will be asked */
  agentInvoked?: false;
}

export interface Limits {
  /** longest line read from stdin */
  maxLineBytes: number;
  /** a longer frame comes in chunks, once that is negotiated */
  maxFrameBytes: number;
  /** longest frame that comes in chunks */
  maxReassembledFrameBytes: number;
}

export interface Capabilities {
  /** of the program */
  version: string;
  dialect: string;
  /** 2 once that is negotiated */
  protocolVersion: number;
  supportedProtocolVersions: number[];
  /** that work in this release */
  commands: string[];
  /** that this process may send: those of its dialect */
  events: string[];
  limits: Limits;
}

export interface CompactionResult {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  /** by default the files read and modified */
  details?: unknown;
  /** of the summary and the messages that are kept */
  estimatedTokensAfter?: number;
  usage?: Usage;
}

export interface BashResult {
  /** stdout and stderr as they came, readable; the end of it when truncated */
  output: string;
  /** absent when the command was killed */
  exitCode?: number;
  /** ended by `abort_bash`, or because the process ends */
  cancelled: boolean;
  /** `output` is not all of it */
  truncated: boolean;
  /** of a file with all of it; absent when there was no room for it */
  fullOutputPath?: string;
  totalLines?: number;
  totalBytes?: number;
  outputLines?: number;
  outputBytes?: number;
  /** of the full output, where a system keeps artifacts */
  artifactId?: string;
  /** in which the next command starts */
  workingDir?: string;
  /** the same, where a `cd` survives */
  newCwd?: string;
}

export interface SessionStats {
  sessionFile?: string;
  sessionId: string;
  userMessages: number;
  assistantMessages: number;
  toolCalls: number;
  toolResults: number;
  totalMessages: number;
  tokens: Cost;
  /** dollars */
  cost: number;
  /** none are counted here; xcsh has the field */
  premiumRequests: number;
  contextUsage?: ContextUsage;
}

export interface SlashCommand {
  name: string;
  description?: string;
  source: "extension" | "prompt" | "skill";
  location?: "user" | "project" | "path";
  path?: string;
  sourceInfo?: {
    path: string;
    source: string;
    scope: "user" | "project" | "temporary";
    origin: "package" | "top-level";
    /** the folder that was searched */
    baseDir?: string;
  };
}

export interface AvailableCommand {
  name: string;
  description?: string;
  input?: {
    hint?: string;
  };
  source: "extension" | "prompt" | "skill";
}

export type TodoStatus = "pending" | "in_progress" | "completed" | "abandoned";

export interface TodoItem {
  id: string;
  content: string;
  status: TodoStatus;
  notes?: string;
}

export interface TodoItemInput {
  id?: string | null;
  content: string;
  status?: "pending" | "in_progress" | "completed" | "abandoned" | null;
  notes?: string | null;
}

export interface TodoPhase {
  id: string;
  name: string;
  tasks: TodoItem[];
}

export interface TodoPhaseInput {
  id?: string | null;
  name: string;
  tasks: TodoItemInput[];
}

export interface HostToolDefinition {
  /** unique, not empty, not the name of another tool */
  name: string;
  label?: string | null;
  /** what the model is told, not empty */
  description: string;
  /** a JSON Schema object */
  parameters: JsonSchema;
  /** registered but not active */
  hidden?: boolean | null;
  /** how long the host may take; without it as long as it likes */
  timeoutMs?: number | null;
}

export interface Subagent {
  /** unique in the session */
  id: string;
  /** its place in the tool call, from 0 */
  index: number;
  agent: string;
  agentSource: AgentSource;
  /** absent when sessions are kept in memory */
  sessionFile?: string;
  parentToolCallId?: string;
  /** of the sub-agent that has started it; absent for the main agent */
  parentId?: string;
  /** of the task, in a few words */
  description?: string;
  status: SubagentStatus;
  /** everything that it was told */
  task?: string;
  /** the part of it that is about this task alone */
  assignment?: string;
  /** Unix milliseconds */
  lastUpdate: number;
  progress?: SubagentProgress;
  /** why it failed or was aborted */
  error?: string;
}

export type SubagentStatus = "pending" | "running" | "completed" | "failed" | "aborted";

export interface SubagentProgress {
  turns: number;
  toolCalls: number;
  tokens: number;
  /** dollars */
  cost: number;
  durationMs: number;
  /** the tool that is running */
  currentTool?: string;
}

export interface SubagentEvent {
  /** unique in the session */
  id: string;
  /** its place in the tool call, from 0 */
  index: number;
  agent: string;
  agentSource: AgentSource;
  /** absent when sessions are kept in memory */
  sessionFile?: string;
  parentToolCallId?: string;
  /** of the sub-agent that has started it; absent for the main agent */
  parentId?: string;
  /** an event as the main agent has them, with its `type`; message_update as in the mode `delta` */
  event: unknown;
}

export type SubagentLevel = "off" | "progress" | "events";

export type AgentSource = "bundled" | "user" | "project" | "inline";

export interface HostUriScheme {
  /** the part before `://`: a letter, then letters, digits, `+`, `.` and `-` */
  scheme: string;
  /** what the model is told of it */
  description?: string | null;
  /** the tool write may be used on it */
  writable?: boolean | null;
  /** what is there never changes */
  immutable?: boolean | null;
  /** how long the host may take; without it as long as it likes */
  timeoutMs?: number | null;
}

export interface SessionHeader {
  type: "session";
  /** 3 in what we write */
  version: number;
  /** UUID */
  id: string;
  /** ISO 8601 */
  timestamp: string;
  /** the folder the session works in */
  cwd: string;
  /** path of the file this one was forked from, or of the session that has started this sub-agent */
  parentSession?: string;
  /** the name, where omp and xcsh keep it */
  title?: string;
  /** omp, xcsh: `auto` or `user` */
  titleSource?: string;
}

/** An entry of a session file. */
export type SessionEntry = {
  type: "message";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  message: AgentMessage;
} | {
  type: "thinking_level_change";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  /** absent: the default of whoever reads it */
  thinkingLevel?: string;
} | {
  type: "model_change";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  provider: string;
  modelId: string;
  /** `provider/modelId`, which is where omp and xcsh look */
  model?: string;
  /** omp, xcsh: what it is used for; `default` when absent */
  role?: string;
} | {
  type: "compaction";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  summary: string;
  /** the model sees what follows from this entry on */
  firstKeptEntryId: string;
  tokensBefore: number;
  /** whatever the maker of the summary wants to keep */
  details?: unknown;
  /** an extension made it */
  fromHook?: boolean;
  /** the name omp and xcsh have for `fromHook` */
  fromExtension?: boolean;
  usage?: Usage;
  /** omp, xcsh */
  shortSummary?: string;
  /** omp, xcsh */
  preserveData?: unknown;
} | {
  type: "branch_summary";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  /** where that branch begins: the entry gone back to, or `root` */
  fromId: string;
  summary: string;
  /** whatever the maker of the summary wants to keep */
  details?: unknown;
  usage?: Usage;
  /** an extension made it */
  fromHook?: boolean;
  /** the name omp and xcsh have for `fromHook` */
  fromExtension?: boolean;
} | {
  type: "custom";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  customType: string;
  data?: unknown;
} | {
  type: "custom_message";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  customType: string;
  content: string | UserContent[];
  /** whether people are shown it */
  display: boolean;
  details?: unknown;
} | {
  type: "label";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  targetId: string;
  /** absent or empty takes the name away */
  label?: string;
} | {
  type: "session_info";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  name?: string;
} | {
  type: "usage";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  kind: string;
  provider: string;
  model: string;
  usage: Usage;
} | {
  type: "session_init";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  systemPrompt: string;
  task: string;
  tools: string[];
  outputSchema?: unknown;
} | {
  type: "context_edit";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  targetId: string;
  /** null leaves the entry out; a text, or blocks, are said instead */
  replacement: unknown;
} | {
  type: "service_tier_change";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  serviceTier: string | null;
} | {
  type: "ttsr_injection";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  injectedRules: string[];
} | {
  type: "mcp_tool_selection";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  selectedToolNames: string[];
} | {
  type: "mode_change";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  mode: string;
  data?: unknown;
} | {
  type: "title_change";
  /** unique in the file; 8 hex digits in what we write */
  id: string;
  /** the entry this one follows; null for a root */
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
  title?: string;
  /** `auto` or `user` */
  source?: string;
};

export interface TreeNode {
  entry: SessionEntry;
  /** nodes of this same form, oldest first */
  children: unknown[];
  label?: string;
  /** when the label was given */
  labelTimestamp?: string;
}

export interface PromptLimits {
  /** model calls */
  turns?: number;
  /** tool calls */
  toolCalls?: number;
  /** dollars */
  cost?: number;
  /** input and output together */
  tokens?: number;
  /** milliseconds from acceptance */
  wallTimeMs?: number;
}

export type RuleInterruptMode = "always" | "prose-only" | "tool-only" | "never";

export interface StreamRule {
  /** of its file, without the ending */
  name: string;
  path: string;
  /** what the model is told */
  content: string;
  description?: string;
  globs?: string[];
  alwaysApply?: boolean;
  condition?: string[];
  scope?: string[];
  interruptMode?: "always" | "prose-only" | "tool-only" | "never";
  _source?: {
    provider: string;
    providerName: string;
    path: string;
    level: "project" | "user";
  };
}

/** The first frame: the process takes commands. */
export interface ReadyFrame {
  type: "ready";
  /** of the program */
  version: string;
  dialect: string;
  protocolVersion: number;
  supportedProtocolVersions: number[];
  /** as in `limits`; where omp has it */
  maxFrameBytes: number;
  /** as in `limits`; where omp has it */
  maxReassembledFrameBytes: number;
  limits: Limits;
}

/** The answer to a command. */
export type ResponseFrame = {
  /** of the command, if it had one; echoed as it came */
  id?: string | number;
  type: "response";
  command: string;
  success: true;
  /** see the command */
  data?: unknown;
} | {
  /** of the command, if it had one; echoed as it came */
  id?: string | number;
  type: "response";
  /** `parse` when the line was not understood as a command */
  command: string;
  success: false;
  error: string;
};

/** A piece of a frame that is longer than `maxFrameBytes`. The pieces follow each other with nothing in between; their bytes, joined, are the frame. */
export interface RpcChunk {
  type: "rpc_chunk";
  /** the same for all chunks of one frame */
  chunkId: string;
  index: number;
  /** of the chunks of this frame */
  count: number;
  /** of the whole frame, without its LF */
  byteLength: number;
  /** base64 */
  data: string;
}

/** Stands for a frame that is longer than `maxReassembledFrameBytes`. A response of that size becomes a failure as well, and an `agent_end` comes without its messages, so that nobody waits for them in vain. */
export interface RpcFrameError {
  type: "rpc_frame_error";
  /** of the frame that is missing */
  originalType?: string;
  error: string;
}

/** What a prompt can call with a slash: after the negotiation, and when another session is entered. */
export interface AvailableCommandsUpdate {
  type: "available_commands_update";
  commands: AvailableCommand[];
}

/** Another session was entered, or the session has another name. */
export interface SessionInfoUpdate {
  type: "session_info_update";
  /** absent when it has no name */
  title?: string;
  sessionId: string;
}

/** The model or the thinking level is another one. */
export interface ConfigUpdate {
  type: "config_update";
  model: Model | null;
  thinkingLevel: ThinkingLevel;
}

/** An extension shows or asks something, or a tool call waits for its [approval](#approvals). `select`, `confirm`, `input` and `editor` wait for an answer with the same `id`. A dialog that is withdrawn, because its `timeout` is over or the extension no longer asks, is told by `cancel` (in the pi dialect by nothing); what is answered to it afterwards is ignored. */
export type ExtensionUIRequest = {
  type: "extension_ui_request";
  id: string;
  method: "select";
  title: string;
  options: string[];
  /** one for each option; absent when no option has any */
  optionDetails?: {
    description?: string;
  }[];
  /** milliseconds until the default answer is taken */
  timeout?: number;
} | {
  type: "extension_ui_request";
  id: string;
  method: "confirm";
  title: string;
  message: string;
  /** milliseconds until the default answer is taken */
  timeout?: number;
} | {
  type: "extension_ui_request";
  id: string;
  method: "input";
  title: string;
  placeholder?: string;
  /** milliseconds until the default answer is taken */
  timeout?: number;
} | {
  type: "extension_ui_request";
  id: string;
  method: "editor";
  title: string;
  prefill?: string;
  /** the extension wants it to look like the prompt's editor */
  promptStyle?: boolean;
  /** milliseconds until the default answer is taken */
  timeout?: number;
} | {
  type: "extension_ui_request";
  id: string;
  method: "cancel";
  /** id of the dialog that is withdrawn */
  targetId: string;
} | {
  type: "extension_ui_request";
  id: string;
  method: "notify";
  message: string;
  notifyType?: "info" | "warning" | "error";
} | {
  type: "extension_ui_request";
  id: string;
  method: "setStatus";
  statusKey: string;
  /** absent: the entry is removed */
  statusText?: string;
} | {
  type: "extension_ui_request";
  id: string;
  method: "setWidget";
  widgetKey: string;
  /** absent: the widget is removed */
  widgetLines?: string[];
  widgetPlacement?: "aboveEditor" | "belowEditor";
} | {
  type: "extension_ui_request";
  id: string;
  method: "setTitle";
  title: string;
} | {
  type: "extension_ui_request";
  id: string;
  method: "set_editor_text";
  text: string;
};

/** The answer to a dialog; it never gets a response itself. The first one with the `id` of an open dialog counts, all others are ignored. `cancelled: true` beats everything else in it; an answer of the wrong kind counts as cancelled, and a `notice` says so. */
export type ExtensionUIResponse = {
  type: "extension_ui_response";
  id: string;
  value: string;
} | {
  type: "extension_ui_response";
  id: string;
  confirmed: boolean;
} | {
  type: "extension_ui_response";
  id: string;
  cancelled: true;
  timedOut?: boolean;
};

/** Asks the host to run one of its tools; the host answers with `host_tool_result`. */
export interface HostToolCall {
  type: "host_tool_call";
  /** of this call; updates and the result repeat it */
  id: string;
  toolCallId: string;
  toolName: string;
  arguments: Record<string, unknown>;
}

/** Tells the host that the result of a call is no longer wanted. */
export interface HostToolCancel {
  type: "host_tool_cancel";
  id: string;
  /** id of the host_tool_call that is given up */
  targetId: string;
}

/** Progress of a call: the result so far. It becomes a `tool_execution_update` event. */
export interface HostToolUpdate {
  type: "host_tool_update";
  id: string;
  partialResult: ToolResult;
}

/** The final result of a call. With `isError` the model sees the text as a failure. */
export interface HostToolResult {
  type: "host_tool_result";
  id: string;
  result: ToolResult;
  isError?: boolean;
}

/** Asks the host for what stands behind one of its URLs, or to write there; it answers with `host_uri_result`. */
export interface HostUriRequest {
  type: "host_uri_request";
  /** of this request; the result repeats it */
  id: string;
  operation: "read" | "write";
  /** as the model wrote it */
  url: string;
  /** what is to be written, whole */
  content?: string;
}

/** Tells the host that the result of a request is no longer wanted. */
export interface HostUriCancel {
  type: "host_uri_cancel";
  id: string;
  /** id of the host_uri_request that is given up */
  targetId: string;
}

/** What stands behind the URL, or that it was written. With `isError` the model sees `error` as a failure. */
export interface HostUriResult {
  type: "host_uri_result";
  id: string;
  /** the text, or an image in base64; of a write what the model reads, if anything */
  content?: string;
  /** `text/plain` without it; `image/png`, `-jpeg`, `-gif` or `-webp` make it an image */
  contentType?: string;
  /** shown under the content */
  notes?: string | string[];
  immutable?: boolean;
  isError?: boolean;
  /** what went wrong, when `isError` is true */
  error?: string;
}

/** What a model is shown. */
export type LlmMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** The increments inside the process: without the message so far. */
export type StreamEvent = AssistantMessageEvent extends infer E
  ? E extends { partial: unknown }
    ? Omit<E, "partial">
    : E
  : never;

/** The fields of each command, without `id` and `type`. */
export interface CommandParams {
  /** Sends a user message and starts a run. Answered at once; the run is told by events. */
  prompt: {
    message: string;
    images?: ImageContent[];
    /** needed while a run is active: into which queue the message goes */
    streamingBehavior?: "steer" | "followUp";
    limits?: {
      /** model calls */
      turns?: number;
      /** tool calls */
      toolCalls?: number;
      /** dollars */
      cost?: number;
      /** input and output together */
      tokens?: number;
      /** milliseconds from acceptance */
      wallTimeMs?: number;
    };
  };
  /** Queues a message that changes the course of the active run; idle, it waits for the next prompt. */
  steer: {
    message: string;
    images?: ImageContent[];
  };
  /** Queues a message for when the active run would stop; idle, it waits for the next prompt. */
  follow_up: {
    message: string;
    images?: ImageContent[];
  };
  /** Ends the active run. Answered after the last event of that run; a success also when nothing runs. */
  abort: Record<never, never>;
  /** Ends the active run, then sends a new message. Answered after the old run's last event. */
  abort_and_prompt: {
    message: string;
    images?: ImageContent[];
  };
  /** Tells the model, the modes and what is going on. */
  get_state: Record<never, never>;
  /** Tells what the model will see with the next prompt: each part, how large it is and why it is there. */
  get_context: Record<never, never>;
  /** Tells which commands and events this process has, its dialect and its limits. */
  get_capabilities: Record<never, never>;
  /** Chooses whether `message_update` repeats the message so far (`snapshot`) or only the new piece (`delta`). */
  set_update_mode: {
    mode: UpdateMode;
  };
  /** Lists the messages of the conversation as it stands. */
  get_messages: Record<never, never>;
  /** Lists some of the messages of the conversation, oldest first. */
  get_messages_page: {
    /** `nextCursor` of the page before */
    cursor?: string;
    /** 1 to 256, 100 when absent; a page has at most 768 KiB */
    limit?: number;
  };
  /** Tells the text of the last assistant message. */
  get_last_assistant_text: Record<never, never>;
  /** Switches to a model that has credentials; the next model call uses it. */
  set_model: {
    provider: string;
    modelId: string;
  };
  /** Switches to the next model of the list, or answers `null` when there is no other. */
  cycle_model: Record<never, never>;
  /** Lists the models that could be used now. */
  get_available_models: Record<never, never>;
  /** Turns the faster service of a model on or off. No model has one here: it can only be turned off. */
  set_fast_mode: {
    enabled: boolean;
  };
  /** Sets how much the model may think, clamped to what it supports. */
  set_thinking_level: {
    level: ThinkingLevel;
  };
  /** Goes to the next level the model supports, or answers `null` when it cannot think. */
  cycle_thinking_level: Record<never, never>;
  /** Lists the levels the current model supports. */
  get_available_thinking_levels: Record<never, never>;
  /** Chooses whether queued `steer` messages are delivered one per turn or all together. */
  set_steering_mode: {
    mode: QueueMode;
  };
  /** Chooses whether queued `follow_up` messages are delivered one per stop or all together. */
  set_follow_up_mode: {
    mode: QueueMode;
  };
  /** Chooses whether steering skips the remaining tool calls of a turn (`immediate`) or waits for its end. */
  set_interrupt_mode: {
    mode: InterruptMode;
  };
  /** Removes all queued messages and gives their texts back. */
  clear_queue: Record<never, never>;
  /** Replaces the older part of the conversation by a summary. */
  compact: {
    /** what the summary shall pay attention to */
    customInstructions?: string;
  };
  /** Turns compaction by itself, when the context is nearly full, on or off. */
  set_auto_compaction: {
    enabled: boolean;
  };
  /** Writes down what somebody needs who goes on with the work, and goes on in a new session that begins with it. The old session stays as it is. */
  handoff: {
    /** what the notes shall pay attention to */
    customInstructions?: string;
  };
  /** Turns retrying after passing provider errors (overload, rate limit, 5xx) on or off. */
  set_auto_retry: {
    enabled: boolean;
  };
  /** Gives up a retry that is being waited for; a success also when there is none. */
  abort_retry: Record<never, never>;
  /** Runs a shell command in the session's folder; the model sees the output with the next prompt. */
  bash: {
    command: string;
    /** the model never sees it */
    excludeFromContext?: boolean;
  };
  /** Ends every shell command started by `bash`; a success also when there is none. */
  abort_bash: Record<never, never>;
  /** Starts an empty session; a run that is active is aborted first. */
  new_session: {
    /** path that is noted as the origin */
    parentSession?: string;
  };
  /** Counts messages, tokens and dollars of the whole session file, on all branches. */
  get_session_stats: Record<never, never>;
  /** Writes the session as an HTML page and tells where. */
  export_html: {
    outputPath?: string;
  };
  /** Opens another session file; a path that does not exist starts a session there. */
  switch_session: {
    sessionPath: string;
  };
  /** Goes on with the latest session of a folder, or begins one there; later sessions of this process lie there too. */
  open_session: {
    sessionDir: string;
  };
  /** Starts a new session that ends just before an earlier user message. */
  fork: {
    /** of a user message */
    entryId: string;
  };
  /** Lists the user messages that `fork` accepts. */
  get_fork_messages: Record<never, never>;
  /** The same as `fork`, under the name that omp and xcsh use. */
  branch: {
    /** of a user message */
    entryId: string;
  };
  /** Lists the user messages that `branch` accepts. */
  get_branch_messages: Record<never, never>;
  /** Copies the current conversation into a new session and goes on there. */
  clone: Record<never, never>;
  /** Gives the session a name that people can read. */
  set_session_name: {
    /** not empty */
    name: string;
  };
  /** Lists the entries of the session file, all or those after one that is known already. */
  get_entries: {
    /** entry id */
    since?: string;
  };
  /** Tells the session as a tree of entries. */
  get_tree: Record<never, never>;
  /** Goes on from another entry of the same session; from a user message: from just before it, to ask differently. */
  navigate_tree: {
    entryId: string;
    /** tell the model what happened on the branch that is left */
    summarize?: boolean;
    /** what the summary shall pay attention to */
    customInstructions?: string;
  };
  /** Gives an entry a label that people can find it by; without a label takes it away. */
  set_label: {
    entryId: string;
    label?: string;
  };
  /** Lists session files, the latest first. */
  list_sessions: {
    /** those of this working folder (the default), or of all */
    scope?: "cwd" | "all";
    /** only those in which somebody said this */
    text?: string;
    /** only those with this in their name */
    name?: string;
    /** only those of this folder */
    cwd?: string;
    /** at most 200; 50 when absent */
    limit?: number;
    /** `nextCursor` of the page before */
    cursor?: string;
  };
  /** Moves a session file, with those of its sub-agents, to the trash of the agent folder. Not the one that is open. */
  delete_session: {
    sessionPath: string;
  };
  /** Lists what a prompt can call with a slash: extension commands, prompt templates, skills. */
  get_commands: Record<never, never>;
  /** The same list in the form that omp has for it. */
  get_available_commands: Record<never, never>;
  /** Replaces the plan and answers with it in its normal form. */
  set_todos: {
    phases: TodoPhaseInput[];
  };
  /** Replaces the tools that the host runs; they are offered to the model from its next call on. */
  set_host_tools: {
    tools: HostToolDefinition[];
  };
  /** Tells the sub-agents of this session that this process has started, also those that have ended. */
  get_subagents: Record<never, never>;
  /** Reads the conversation of a sub-agent from a place on. Ask again with `nextByte` for what has come since; a long one is told in several answers. */
  get_subagent_messages: {
    subagentId?: string;
    /** instead of `subagentId` */
    sessionFile?: string;
    /** a number; 0 if left out */
    fromByte?: number;
  };
  /** Chooses what is told of sub-agents beside the updates of the tool call: nothing (`off`, as at the start), how they are getting on (`progress`), or all their events too (`events`). */
  set_subagent_subscription: {
    /** `off`, `progress` or `events` */
    level: SubagentLevel;
  };
  /** Replaces the URL schemes behind which the host has something to read, and to write if it says so. */
  set_host_uri_schemes: {
    schemes: HostUriScheme[];
  };
  /** Lists the providers that one can log in with. They come with extensions; providers with an API key need no login. */
  get_login_providers: Record<never, never>;
  /** Logs in with a provider. The person is led by `extension_ui_request` frames (`notify` with the address, `input` for what the provider wants to know, open for ten minutes); the answer comes when it is done. `abort` gives it up. */
  login: {
    providerId: string;
  };
  /** Chooses protocol version 2. Frames longer than `maxFrameBytes` then come as `rpc_chunk` frames, and `available_commands_update`, `session_info_update` and `config_update` are sent. */
  negotiate_protocol: {
    /** 2; version 1 needs no negotiation */
    protocolVersion: number;
  };
  /** Tells once more the events behind a number, directly behind the answer and under the numbers they had; after a restart of the process, too. Without `after` it only tells where the events stand. */
  subscribe: {
    /** `seq` of the last event that the host has */
    after?: number;
  };
  /** From now on only these events are sent; `null` is all of them. Responses and other frames come anyway, and so do `prompt_result`, `session_settled`, `extension_error` and the events of sub-agents that were asked for. */
  set_event_filter: {
    /** types of events; one that does not exist is not missed */
    events: string[] | null;
  };
}

/** What each command gives back: `data` of its answer. */
export interface CommandResults {
  /** Sends a user message and starts a run. Answered at once; the run is told by events. */
  prompt: Disposition;
  /** Queues a message that changes the course of the active run; idle, it waits for the next prompt. */
  steer: Disposition;
  /** Queues a message for when the active run would stop; idle, it waits for the next prompt. */
  follow_up: Disposition;
  /** Ends the active run. Answered after the last event of that run; a success also when nothing runs. */
  abort: undefined;
  /** Ends the active run, then sends a new message. Answered after the old run's last event. */
  abort_and_prompt: Disposition;
  /** Tells the model, the modes and what is going on. */
  get_state: SessionState;
  /** Tells what the model will see with the next prompt: each part, how large it is and why it is there. */
  get_context: {
    systemPrompt: string;
    /** an estimate */
    tokens: number;
    contextWindow?: number;
    /** of the context window */
    percent?: number;
    parts: {
      kind: string;
      name: string;
      path?: string;
      characters: number;
      /** an estimate */
      tokens: number;
      /** of all tokens, in percent */
      share: number;
      /** why it is there */
      why: string;
      /** each tool, each skill */
      items?: {
        name: string;
        path?: string;
        characters: number;
        /** an estimate */
        tokens: number;
        /** of all tokens, in percent */
        share: number;
        /** why it is there */
        why: string;
      }[];
    }[];
    /** what is there and yet not shown to the model */
    leftOut: {
      name: string;
      path?: string;
      why: string;
    }[];
  };
  /** Tells which commands and events this process has, its dialect and its limits. */
  get_capabilities: Capabilities;
  /** Chooses whether `message_update` repeats the message so far (`snapshot`) or only the new piece (`delta`). */
  set_update_mode: undefined;
  /** Lists the messages of the conversation as it stands. */
  get_messages: {
    messages: AgentMessage[];
  };
  /** Lists some of the messages of the conversation, oldest first. */
  get_messages_page: {
    messages: AgentMessage[];
    /** absent on the last page */
    nextCursor?: string;
    totalMessages: number;
  };
  /** Tells the text of the last assistant message. */
  get_last_assistant_text: {
    /** absent when there is none */
    text?: string;
  };
  /** Switches to a model that has credentials; the next model call uses it. */
  set_model: Model;
  /** Switches to the next model of the list, or answers `null` when there is no other. */
  cycle_model: {
    model: Model;
    thinkingLevel: ThinkingLevel;
    /** the list was narrowed by --models or a setting */
    isScoped: boolean;
  } | null;
  /** Lists the models that could be used now. */
  get_available_models: {
    models: Model[];
  };
  /** Turns the faster service of a model on or off. No model has one here: it can only be turned off. */
  set_fast_mode: {
    enabled: boolean;
    active: boolean;
  };
  /** Sets how much the model may think, clamped to what it supports. */
  set_thinking_level: undefined;
  /** Goes to the next level the model supports, or answers `null` when it cannot think. */
  cycle_thinking_level: {
    level: ThinkingLevel;
  } | null;
  /** Lists the levels the current model supports. */
  get_available_thinking_levels: {
    levels: ThinkingLevel[];
  };
  /** Chooses whether queued `steer` messages are delivered one per turn or all together. */
  set_steering_mode: undefined;
  /** Chooses whether queued `follow_up` messages are delivered one per stop or all together. */
  set_follow_up_mode: undefined;
  /** Chooses whether steering skips the remaining tool calls of a turn (`immediate`) or waits for its end. */
  set_interrupt_mode: undefined;
  /** Removes all queued messages and gives their texts back. */
  clear_queue: {
    steering: string[];
    followUp: string[];
  };
  /** Replaces the older part of the conversation by a summary. */
  compact: CompactionResult;
  /** Turns compaction by itself, when the context is nearly full, on or off. */
  set_auto_compaction: undefined;
  /** Writes down what somebody needs who goes on with the work, and goes on in a new session that begins with it. The old session stays as it is. */
  handoff: {
    /** of the notes; absent with --no-session */
    savedPath?: string;
  } | null;
  /** Turns retrying after passing provider errors (overload, rate limit, 5xx) on or off. */
  set_auto_retry: undefined;
  /** Gives up a retry that is being waited for; a success also when there is none. */
  abort_retry: undefined;
  /** Runs a shell command in the session's folder; the model sees the output with the next prompt. */
  bash: BashResult;
  /** Ends every shell command started by `bash`; a success also when there is none. */
  abort_bash: undefined;
  /** Starts an empty session; a run that is active is aborted first. */
  new_session: {
    /** an extension said no */
    cancelled: boolean;
  };
  /** Counts messages, tokens and dollars of the whole session file, on all branches. */
  get_session_stats: SessionStats;
  /** Writes the session as an HTML page and tells where. */
  export_html: {
    path: string;
  };
  /** Opens another session file; a path that does not exist starts a session there. */
  switch_session: {
    /** an extension said no */
    cancelled: boolean;
  };
  /** Goes on with the latest session of a folder, or begins one there; later sessions of this process lie there too. */
  open_session: {
    /** an extension said no */
    cancelled: boolean;
    /** there was a session to go on with */
    resumed: boolean;
    sessionId: string;
    sessionFile?: string;
  };
  /** Starts a new session that ends just before an earlier user message. */
  fork: {
    /** the message the new session starts before; absent when cancelled */
    text?: string;
    cancelled: boolean;
  };
  /** Lists the user messages that `fork` accepts. */
  get_fork_messages: {
    messages: {
      entryId: string;
      text: string;
    }[];
  };
  /** The same as `fork`, under the name that omp and xcsh use. */
  branch: {
    /** the message the new session starts before; absent when cancelled */
    text?: string;
    cancelled: boolean;
  };
  /** Lists the user messages that `branch` accepts. */
  get_branch_messages: {
    messages: {
      entryId: string;
      text: string;
    }[];
  };
  /** Copies the current conversation into a new session and goes on there. */
  clone: {
    /** an extension said no */
    cancelled: boolean;
  };
  /** Gives the session a name that people can read. */
  set_session_name: undefined;
  /** Lists the entries of the session file, all or those after one that is known already. */
  get_entries: {
    entries: SessionEntry[];
    leafId: string | null;
  };
  /** Tells the session as a tree of entries. */
  get_tree: {
    tree: TreeNode[];
    leafId: string | null;
  };
  /** Goes on from another entry of the same session; from a user message: from just before it, to ask differently. */
  navigate_tree: {
    cancelled: boolean;
    leafId: string | null;
    /** of the user message */
    text?: string;
    summary?: string;
  };
  /** Gives an entry a label that people can find it by; without a label takes it away. */
  set_label: undefined;
  /** Lists session files, the latest first. */
  list_sessions: {
    sessions: {
      sessionPath: string;
      sessionId: string;
      sessionName?: string;
      cwd: string;
      parentSession?: string;
      /** ISO 8601 */
      created: string;
      /** ISO 8601 */
      modified: string;
      messageCount: number;
      /** the beginning of the first user message */
      firstMessage?: string;
      /** some of it cannot be read; opening it repairs it */
      damaged?: true;
    }[];
    nextCursor?: string;
  };
  /** Moves a session file, with those of its sub-agents, to the trash of the agent folder. Not the one that is open. */
  delete_session: {
    /** where it is now */
    trashPath: string;
  };
  /** Lists what a prompt can call with a slash: extension commands, prompt templates, skills. */
  get_commands: {
    commands: SlashCommand[];
  };
  /** The same list in the form that omp has for it. */
  get_available_commands: {
    commands: AvailableCommand[];
  };
  /** Replaces the plan and answers with it in its normal form. */
  set_todos: {
    todoPhases: TodoPhase[];
  };
  /** Replaces the tools that the host runs; they are offered to the model from its next call on. */
  set_host_tools: {
    toolNames: string[];
  };
  /** Tells the sub-agents of this session that this process has started, also those that have ended. */
  get_subagents: {
    subagents: Subagent[];
  };
  /** Reads the conversation of a sub-agent from a place on. Ask again with `nextByte` for what has come since; a long one is told in several answers. */
  get_subagent_messages: {
    /** absent when sessions are kept in memory */
    sessionFile?: string;
    /** where this answer begins */
    fromByte: number;
    /** where the next one goes on */
    nextByte: number;
    /** `fromByte` was behind the end: this answer begins at 0 */
    reset: boolean;
    entries: SessionEntry[];
    /** those of the entries */
    messages: AgentMessage[];
  };
  /** Chooses what is told of sub-agents beside the updates of the tool call: nothing (`off`, as at the start), how they are getting on (`progress`), or all their events too (`events`). */
  set_subagent_subscription: {
    level: SubagentLevel;
  };
  /** Replaces the URL schemes behind which the host has something to read, and to write if it says so. */
  set_host_uri_schemes: {
    schemes: string[];
  };
  /** Lists the providers that one can log in with. They come with extensions; providers with an API key need no login. */
  get_login_providers: {
    providers: {
      id: string;
      name: string;
      /** `login` works with it */
      available: boolean;
      /** somebody has logged in */
      authenticated: boolean;
    }[];
  };
  /** Logs in with a provider. The person is led by `extension_ui_request` frames (`notify` with the address, `input` for what the provider wants to know, open for ten minutes); the answer comes when it is done. `abort` gives it up. */
  login: {
    providerId: string;
  };
  /** Chooses protocol version 2. Frames longer than `maxFrameBytes` then come as `rpc_chunk` frames, and `available_commands_update`, `session_info_update` and `config_update` are sent. */
  negotiate_protocol: {
    /** of all frames behind this answer */
    protocolVersion: number;
  };
  /** Tells once more the events behind a number, directly behind the answer and under the numbers they had; after a restart of the process, too. Without `after` it only tells where the events stand. */
  subscribe: {
    /** from this number on events are kept */
    oldest: number;
    /** no event above it was told; what comes next has a higher number */
    latest: number;
    /** events behind `after` are not kept any more: read the session anew (`get_messages`) */
    missed: boolean;
    /** events that follow this answer with nothing in between */
    count: number;
  };
  /** From now on only these events are sent; `null` is all of them. Responses and other frames come anyway, and so do `prompt_result`, `session_settled`, `extension_error` and the events of sub-agents that were asked for. */
  set_event_filter: {
    events: string[] | null;
  };
}

/** What each event says, without the fields that all of them have. */
export interface EventsByType {
  /** A run begins. */
  agent_start: Record<never, never>;
  /** A run ends. Unless `willRetry` is true a new prompt is accepted from here on. */
  agent_end: {
    /** those that this run added */
    messages: AgentMessage[];
    /** another run follows for the same prompt */
    willRetry: boolean;
    /** background jobs are running: a run may begin by itself when one ends, and `session_settled` waits */
    awaitingAsyncWork?: true;
  };
  /** Nothing more follows by itself: no retry, no compaction, no queued message. */
  agent_settled: {
    aborted: boolean;
  };
  /** A turn begins: one model call and the tools it asks for. */
  turn_start: Record<never, never>;
  /** A turn ends. */
  turn_end: {
    message: AssistantMessage;
    toolResults: ToolResultMessage[];
  };
  /** The end of one accepted prompt, sent exactly once for each, whatever happened. */
  prompt_result: {
    /** of the prompt command */
    id?: string | number;
    promptId: string;
    status: "completed" | "aborted" | "error";
    /** a model was asked */
    agentInvoked: boolean;
    error?: {
      message: string;
      provider?: string;
      model?: string;
      /** why the model call failed; absent when something else did */
      kind?: "auth" | "rate_limit" | "overloaded" | "server" | "overflow" | "bad_request" | "network" | "stalled" | "content_filter" | "malformed";
      httpStatus?: number;
      retryable: boolean;
    };
    /** nothing else is running or queued */
    sessionSettled: boolean;
    /** the built-in offline model answered */
    offline?: true;
    /** the limit that ended it */
    limit?: {
      scope: "prompt" | "session";
      limit: string;
      used: number;
      max: number;
    };
    usage?: Usage;
    /** model calls; like `usage`, with those of sub-agents */
    turns?: number;
    /** with those of sub-agents */
    toolCalls?: number;
    /** from acceptance, or from delivery if it was queued */
    durationMs?: number;
  };
  /** The run and all its endings have been told; `prompt_result.sessionSettled` says whether messages still wait. */
  session_settled: Record<never, never>;
  /** A message begins; for an assistant message it is still empty. */
  message_start: {
    message: AgentMessage;
  };
  /** The assistant message grew. */
  message_update: {
    message: PartialAssistant;
    assistantMessageEvent: AssistantMessageEvent;
    usage?: Usage;
  };
  /** A message is complete. */
  message_end: {
    message: AgentMessage;
  };
  /** A tool call begins. */
  tool_execution_start: {
    toolCallId: string;
    toolName: string;
    args: Record<string, unknown>;
  };
  /** Progress of a tool call: the whole result so far, not only what is new. */
  tool_execution_update: {
    toolCallId: string;
    toolName: string;
    args: Record<string, unknown>;
    partialResult: ToolResult;
  };
  /** A tool call is done. */
  tool_execution_end: {
    toolCallId: string;
    toolName: string;
    result: ToolResult;
    isError: boolean;
  };
  /** A compaction that was not asked for begins. */
  auto_compaction_start: {
    reason: "threshold" | "overflow" | "idle";
    action: "context-full" | "handoff";
  };
  /** A compaction that was not asked for ends. */
  auto_compaction_end: {
    action: "context-full" | "handoff";
    result?: CompactionResult;
    aborted: boolean;
    /** the run that could not go on without it goes on */
    willRetry: boolean;
    errorMessage?: string;
    /** there was nothing to compact */
    skipped?: true;
  };
  /** Any compaction begins. Has `promptId` unless its reason is `manual`. */
  compaction_start: {
    reason: "manual" | "threshold" | "overflow";
  };
  /** Any compaction ends. Has `promptId` unless its reason is `manual`. */
  compaction_end: {
    reason: "manual" | "threshold" | "overflow";
    result?: CompactionResult;
    aborted: boolean;
    /** the run that could not go on without it goes on */
    willRetry: boolean;
    errorMessage?: string;
    /** there was nothing to compact */
    skipped?: true;
  };
  /** A model call failed in a passing way and is tried again after a wait. */
  auto_retry_start: {
    /** counted from 1 */
    attempt: number;
    maxAttempts: number;
    delayMs: number;
    errorMessage: string;
  };
  /** Retrying is over, well or not. */
  auto_retry_end: {
    success: boolean;
    attempt: number;
    finalError?: string;
  };
  /** The queues changed; both are told whole. */
  queue_update: {
    steering: string[];
    followUp: string[];
  };
  /** The thinking level is another one now. */
  thinking_level_changed: {
    level: ThinkingLevel;
  };
  /** The session has another name now. */
  session_info_changed: {
    name?: string;
  };
  /** An entry that is not a message was written to the session file. */
  entry_appended: {
    entry: SessionEntry;
  };
  /** Output of a running `bash` command, only what is new. Joined they are the output; of one that is cut in the answer, parts may be skipped, and the text says so. */
  bash_execution_update: {
    /** of the bash command */
    id?: string | number;
    delta: string;
  };
  /** Something a person should know, outside of any answer. */
  notice: {
    level: "info" | "warning" | "error";
    message: string;
    source?: string;
  };
  /** An extension threw, took too long or gave back nonsense; the session goes on. */
  extension_error: {
    /** or `command:NAME`, for one of its commands */
    extensionPath: string;
    /** the hook, or what else it was doing: `load`, `command`, `send_message` ... */
    event: string;
    error: string;
  };
  /** A stream rule matched what the model was writing, and the run is corrected. */
  ttsr_triggered: {
    rules: ({
      /** of its file, without the ending */
      name: string;
      path: string;
      /** what the model is told */
      content: string;
      description?: string;
      globs?: string[];
      alwaysApply?: boolean;
      condition?: string[];
      scope?: string[];
      interruptMode?: "always" | "prose-only" | "tool-only" | "never";
      _source?: {
        provider: string;
        providerName: string;
        path: string;
        level: "project" | "user";
      };
    })[];
  };
  /** The run stopped with open tasks; the model is reminded of them. */
  todo_reminder: {
    todos: TodoItem[];
    attempt: number;
    maxAttempts: number;
  };
  /** Finished tasks were removed from the plan; `get_state` tells what is left. */
  todo_auto_clear: Record<never, never>;
  /** A sub-agent begins to work, or has ended. From the level `progress` on. */
  subagent_lifecycle: {
    payload: Subagent;
  };
  /** A sub-agent has answered, or begins or ends a tool call. From the level `progress` on. */
  subagent_progress: {
    payload: Subagent;
  };
  /** What happens in the run of a sub-agent. On the level `events`. */
  subagent_event: {
    payload: SubagentEvent;
  };
}

/** Fields of every event. */
export interface EventEnvelope {
  /** counts the events of the session; higher with each event, also over restarts */
  seq: number;
  /** of the prompt the event belongs to */
  promptId?: string;
  /** of the turn within its prompt, from 0, over retries */
  turnIndex?: number;
  /** on message events: the same for all events of one message */
  messageId?: string;
}

export type FrameType = "ready" | "response" | "rpc_chunk" | "rpc_frame_error" | "available_commands_update" | "session_info_update" | "config_update" | "extension_ui_request" | "extension_ui_response" | "host_tool_call" | "host_tool_cancel" | "host_tool_update" | "host_tool_result" | "host_uri_request" | "host_uri_cancel" | "host_uri_result";

/** How a command is scheduled. */
export type Lane = "control" | "ordered" | "background";
/** Who has it. */
export type System = "pi" | "omp" | "xcsh" | "later" | "tiller";
/** A tool as the model is told about it. */
export interface ToolSpec {
  name: string;
  description: string;
  parameters: JsonSchema;
}

export type CommandType = keyof CommandParams;
export type EventType = keyof EventsByType;
/** Echoed as it came. */
export type RpcId = string | number;
export type Params<K extends CommandType> = CommandParams[K];
export type Result<K extends CommandType> = CommandResults[K];
export type EventFields<K extends EventType> = EventsByType[K];

/** A command as it stands on the wire; `RpcCommand<"prompt">` for one, `RpcCommand` for all. */
export type RpcCommand<K extends CommandType = CommandType> = {
  [T in K]: { id?: RpcId; type: T } & CommandParams[T];
}[K];

/** An event as it stands on the wire. */
export type RpcEvent<K extends EventType = EventType> = {
  [T in K]: { type: T } & EventEnvelope & EventsByType[T];
}[K];

export interface RpcFailure {
  id?: RpcId;
  type: "response";
  /** `parse` when the line could not be understood as a command. */
  command: string;
  success: false;
  error: string;
}

export type RpcSuccess<K extends CommandType = CommandType> = {
  [T in K]: { id?: RpcId; type: "response"; command: T; success: true } & (Result<T> extends undefined
    ? { data?: undefined }
    : { data: Result<T> });
}[K];

export type RpcResponse<K extends CommandType = CommandType> = RpcSuccess<K> | RpcFailure;
