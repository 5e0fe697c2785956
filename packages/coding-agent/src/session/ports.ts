import type { AgentHooks } from "@tiller/agent/types";
import type { CompactionResult } from "@tiller/protocol/compaction";
import type { ImageContent, UserContent } from "@tiller/protocol/content";
import type { AgentMessage, CustomMessage, ToolResultMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import type { StreamEvent } from "@tiller/protocol/stream-event";
import type { TodoItem } from "@tiller/protocol/todo";
import type { ToolResult } from "@tiller/protocol/tool";
import type { BashResult } from "./bash-runner.ts";
import type { Dialogs, DialogOptions as PlainOptions } from "./dialogs.ts";
import type { EventPlace, SessionEvent } from "./session-event.ts";
import type { EventJournal } from "./store/event-journal.ts";

/** What a session asks of the world around it. Extensions answer, and hosts through their dialogs. */

export interface DialogOptions extends PlainOptions {
  onTimeout?(): void;
  /** It is shown, under this id. */
  onShown?(id: string): void;
}

/** What extensions may show a person and ask of one. Defaults when nobody answers: undefined, and false for confirm. */
export interface ExtensionUi extends Dialogs<DialogOptions> {
  /** Somebody can answer. */
  readonly hasUI: boolean;
}

/** Where a mode keeps what it has told, and finds it again. */
export type SessionJournal = EventJournal;

type SessionReason = "startup" | "reload" | "new" | "resume" | "fork";
type Told<E = object> = { event: E; result: undefined };

/** What is there to be told or decided, with what is given and what comes back when all have been asked. */
export interface HookCalls {
  resources_discover: {
    event: { cwd: string; reason: "startup" | "reload" };
    result: { skillPaths: FromExtension[]; promptPaths: FromExtension[] };
  };
  session_start: Told<{ reason: SessionReason; previousSessionFile?: string }>;
  session_switch: Told<{ reason: SessionReason; previousSessionFile?: string }>;
  session_branch: Told<{ previousSessionFile?: string }>;
  session_before_switch: {
    event: { reason: "new" | "resume"; targetSessionFile?: string };
    result: { cancel: boolean };
  };
  session_before_fork: { event: { entryId: string; position: "before" | "at" }; result: { cancel: boolean } };
  session_before_branch: { event: { entryId: string }; result: { cancel: boolean } };
  session_before_compact: { event: BeforeCompact; result: { cancel: boolean; compaction?: GivenCompaction } };
  "session.compacting": {
    event: { sessionId: string; messages: readonly AgentMessage[] };
    result: { context: string[]; prompt?: string; preserveData?: unknown };
  };
  session_compact: Told<{ compactionEntry: SessionEntry; fromExtension: boolean } & CompactionCause>;
  session_compact_failed: Told<{ error: string; errorMessage: string; aborted: boolean } & CompactionCause>;
  session_before_tree: { event: { preparation: TreePreparation; signal: AbortSignal }; result: TreeDecision };
  session_tree: Told<{
    newLeafId: string | null;
    oldLeafId: string | null;
    summaryEntry?: SessionEntry;
    fromExtension?: boolean;
  }>;
  session_shutdown: Told<{ reason: "quit" | Exclude<SessionReason, "startup">; targetSessionFile?: string }>;
  session_info_changed: Told<{ name?: string }>;

  input: {
    event: {
      text: string;
      images?: readonly ImageContent[];
      source: InputSource;
      /** Absent when nothing is running: the prompt begins at once. */
      streamingBehavior?: "steer" | "followUp";
    };
    result: { handled: boolean; text: string; images?: readonly ImageContent[] };
  };
  before_agent_start: { event: BeforeAgentStart; result: { messages: UntimedMessage[]; systemPrompt: string } };
  agent_start: Told;
  agent_end: Told<{ messages: readonly AgentMessage[] }>;
  agent_before_settle: { event: { messages: AgentMessage[]; aborted: boolean } & Proposed; result: Boundary };
  agent_settled: Told<{ aborted: boolean }>;
  turn_start: Told<{ turnIndex: number; timestamp: number }>;
  turn_end: { event: TurnEnd & Proposed; result: Boundary };
  message_start: Told<{ message: AgentMessage }>;
  message_update: Told<{ message: AgentMessage; assistantMessageEvent: StreamEvent }>;
  message_end: { event: { message: AgentMessage }; result: { message: AgentMessage } };
  context: { event: { messages: AgentMessage[] }; result: { messages: AgentMessage[] } };
  context_with_system: { event: { messages: TranscriptMessage[] }; result: { messages: TranscriptMessage[] } };
  cache_warming_decision: { event: CacheWarmingDecision; result: { action: "warm" | "stop" } };
  before_provider_headers: { event: { headers: GivenHeaders }; result: { headers: GivenHeaders } };
  before_provider_request: { event: { payload: unknown }; result: { payload: unknown; isReplaced: boolean } };
  after_provider_response: Told<{ status: number; headers: Record<string, string> }>;
  provider_stream_event: Told<{ data: unknown }>;

  tool_call: {
    event: { toolName: string; toolCallId: string; input: Record<string, unknown> };
    result: { block?: string; terminate?: boolean };
  };
  tool_execution_start: Told<{ toolCallId: string; toolName: string; args: Record<string, unknown> }>;
  tool_execution_update: Told<{
    toolCallId: string;
    toolName: string;
    args: Record<string, unknown>;
    partialResult: ToolResult;
  }>;
  tool_execution_end: Told<{ toolCallId: string; toolName: string; result: ToolResult; isError: boolean }>;
  tool_result: {
    event: { toolName: string; toolCallId: string; input: Record<string, unknown>; isError: boolean } & ToolResult;
    result: ToolResult & { isError: boolean };
  };

  model_select: Told<{ model: Model; previousModel?: Model; source: "set" | "cycle" | "restore" }>;
  thinking_level_select: Told<{ level: ThinkingLevel; previousLevel: ThinkingLevel }>;
  user_bash: {
    event: { command: string; excludeFromContext: boolean; cwd: string };
    /** `refused`: who was to decide has failed. */
    result: { result?: BashResult; operations?: BashOperations; refused?: string };
  };

  auto_compaction_start: Told<{ reason: string; action: string }>;
  auto_compaction_end: Told<{ aborted: boolean; willRetry: boolean; result?: CompactionResult; errorMessage?: string }>;
  auto_retry_start: Told<{ attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }>;
  auto_retry_end: Told<{ success: boolean; attempt: number; finalError?: string }>;
  ttsr_triggered: Told<{ rules: readonly unknown[] }>;
  todo_reminder: Told<{ todos: readonly TodoItem[]; attempt: number; maxAttempts: number }>;
  /** `trusted` is absent when nobody has decided. */
  project_trust: { event: { cwd: string }; result: { trusted?: boolean; remember: boolean } };
  mcp_servers_change: Told<{ servers: readonly McpServerState[] }>;
  ui_prompt_start: Told<{ id: string; method: string }>;
  ui_prompt_end: Told<{ id: string; method: string }>;
}

export type HookName = keyof HookCalls;
export type HookEvent<K extends HookName> = HookCalls[K]["event"];
export type HookResult<K extends HookName> = HookCalls[K]["result"];

export type InputSource = "interactive" | "rpc" | "extension";

/** What a handler may see of a turn that is over. The ids are those of the entries that hold the messages. */
export interface TurnEnd {
  turnIndex: number;
  message: AgentMessage;
  toolResults: readonly ToolResultMessage[];
  messageEntryId?: string;
  toolResultEntryIds: readonly string[];
}

/** An entry that an extension wants to have in the session; null for a compaction that keeps nothing. */
export type EntryDraft =
  | { type: "custom"; customType: string; data?: unknown }
  | ({ type: "custom_message" } & Omit<UntimedMessage, "role">)
  | { type: "context_edit"; targetId: string; replacement: string | UserContent[] | null }
  | { type: "compaction"; summary: string; firstKeptEntryId: string | null; tokensBefore: number; details?: unknown };

/** What those who were asked before want to have added, and whether they want the model to be asked once more. */
export interface Proposed {
  entries: EntryDraft[];
  continue: boolean;
}

/** What becomes of a point at which a run may go on: these entries are added, and the model is asked once more. */
export type Boundary = Proposed;

/** What a boundary has led to: the messages that were added, and whether the model is to be asked once more. */
export interface Continuation {
  messages: AgentMessage[];
  continue: boolean;
}

/** The system prompt as the first message of the conversation, with the tools that go with it. */
export interface SystemMessage {
  role: "system";
  content: string;
  toolsAdded?: readonly { name: string; description: string; parameters: unknown }[];
  timestamp: number;
}
export type TranscriptMessage = AgentMessage | SystemMessage;

/** A provider is about to forget the conversation. */
export interface CacheWarmingDecision {
  model: Model;
  retention: "short" | "long";
  /** What the provider keeps of the conversation. */
  cachedTokens: number;
  /** In dollars: of asking once, and what the next prompt costs more when it is forgotten. */
  estimatedCost: number;
  missCost: number;
  /** Since the last run. */
  idleMs: number;
  expiresInMs: number;
  /** How often it was asked since the last run, and may be asked at most. */
  count: number;
  maxCount: number;
  /** What happens unless somebody says otherwise. */
  action: "warm" | "stop";
}

/** Null takes a header away. */
export type GivenHeaders = Record<string, string | null>;

/** Why the older part of a conversation is summarised, and whether the run that needs it goes on afterwards. */
export interface CompactionCause {
  reason: "manual" | "threshold" | "overflow";
  willRetry: boolean;
}

/** An MCP server, as others are told of it. */
export interface McpServerState {
  name: string;
  /** `waiting`: it is started when it is needed. `failed`: `error` says why; it is tried once more when it is needed. */
  status: "waiting" | "connecting" | "connected" | "failed" | "disabled";
  /** The names under which models know its tools. */
  tools: readonly string[];
  error?: string;
}

/** A message of an extension's before the session gives it its time. */
export type UntimedMessage = Omit<CustomMessage, "timestamp">;

/** A path that an extension has named. */
export interface FromExtension {
  path: string;
  extensionPath: string;
}

export interface BeforeAgentStart {
  prompt: string;
  images?: readonly ImageContent[];
  systemPrompt: string;
  /** What the system prompt is made of. */
  systemPromptOptions: Readonly<Record<string, unknown>>;
}

export interface BeforeCompact extends CompactionCause {
  preparation: CompactionPreparation;
  branchEntries: readonly SessionEntry[];
  customInstructions?: string;
  signal: AbortSignal;
}

/** What would be summarised, and what would be kept. */
export interface CompactionPreparation {
  firstKeptEntryId: string | undefined;
  messagesToSummarize: readonly AgentMessage[];
  turnPrefixMessages: readonly AgentMessage[];
  isSplitTurn: boolean;
  tokensBefore: number;
  previousSummary?: string;
  fileOps: unknown;
  settings: object;
}

/** A summary that was made elsewhere. */
export interface GivenCompaction {
  summary: string;
  firstKeptEntryId?: string;
  tokensBefore?: number;
  details?: unknown;
}

export interface TreePreparation {
  targetId: string;
  oldLeafId: string | null;
  commonAncestorId: string | null;
  entriesToSummarize: readonly SessionEntry[];
  userWantsSummary: boolean;
  customInstructions?: string;
  replaceInstructions?: boolean;
  label?: string;
}

export interface TreeDecision {
  cancel: boolean;
  summary?: { summary: string; details?: unknown };
  customInstructions?: string;
  replaceInstructions?: boolean;
  label?: string;
}

/** Runs shell commands somewhere else. */
export interface BashOperations {
  exec(
    command: string,
    cwd: string,
    how: { onData(data: Buffer): void; signal?: AbortSignal; timeout?: number; env?: NodeJS.ProcessEnv },
  ): Promise<{ exitCode: number | null }>;
}

/** Who takes part in what happens in a session. None of these ever rejects. */
export interface SessionHooks {
  /** Somebody listens. Asked before anything is prepared: what nobody listens to costs this look. */
  listens(hook: HookName): boolean;
  /** Asks all who listen, one after the other. `signal`: nobody waits for those who do not listen to it. */
  run<K extends HookName>(hook: K, event: HookEvent<K>, signal?: AbortSignal): Promise<HookResult<K>>;
  /** Passes an event on to those who listen to it. Undefined when nobody does. */
  observe(event: SessionEvent, place: EventPlace | undefined): undefined | Promise<void>;
  /** The run is about to be over: may it go on? Undefined when nobody has a say. */
  beforeSettle(run: { messages: AgentMessage[]; aborted: boolean }, signal: AbortSignal): Promise<Continuation>;
  /** All who listen have heard what was told until now. */
  settled(): Promise<void>;
  /** For the loop; undefined when nobody has a say there. */
  forAgent(): AgentHooks | undefined;
  /** The session is about to be left, or the process: extensions clean up. */
  leave(reason: HookEvent<"session_shutdown">["reason"], targetSessionFile?: string): Promise<void>;
  /** Another session is in the store: extensions begin anew in it. */
  entered(reason: "new" | "resume" | "fork", previousSessionFile: string | undefined): Promise<void>;
}

/** What a mode has to do with extensions. */
export interface SessionExtensions {
  /** From now on they can show something and ask: their session begins. */
  begin(host: ExtensionHost): void;
  /** The command that this text calls. Its `run` never rejects. */
  command(text: string): { name: string; run(): Promise<void> } | undefined;
  /** An error that nobody caught: true when it is an extension's, and told. */
  takeError(error: unknown, event: "unhandled_rejection" | "uncaught_exception"): boolean;
  /** With the providers that they have registered. */
  readonly logins: ExtensionLogins;
}

export interface ExtensionLogins {
  list(): { id: string; name: string; authenticated: boolean }[];
  /** `callbacks` are how a person is asked. Gives back why it has failed; an abort of the signal ends the wait. */
  login(provider: string, callbacks: unknown, signal: AbortSignal): Promise<{ refused: string } | undefined>;
}

export interface ExtensionHost {
  ui: ExtensionUi;
  mode: "rpc" | "print" | "json";
  /** An extension wants the process to end: as soon as nothing is going on, or with this code at once. */
  shutdown(code?: number): void;
}
