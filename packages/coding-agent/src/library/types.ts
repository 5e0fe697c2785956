import type { CommandType, Params, Result } from "@tiller/protocol/commands/index";
import type { CompactionResult } from "@tiller/protocol/compaction";
import type { ImageContent } from "@tiller/protocol/content";
import type { RpcEvent } from "@tiller/protocol/events";
import type { PromptLimits } from "@tiller/protocol/limits";
import type { AgentMessage, AssistantMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { SessionState } from "@tiller/protocol/state";
import type { JsonSchema, ToolResult } from "@tiller/protocol/tool";
import type { DialogOptions, Dialogs } from "../session/dialogs.ts";

/** What a program sees that keeps a session in its own process. Everything here is public: docs/library.md. */

export type { DialogOptions, Dialogs };

/** How a session is to be. All of it is optional; what is left out comes from the settings of the user and the project. */
export interface AgentSessionOptions {
  /** The folder that the agent works in; that of the process if left out. */
  cwd?: string;
  /** Where settings, keys and session files lie; as with the command line if left out (`~/.tiller/agent`). */
  agentDir?: string;
  /** Instead of `process.env`: for keys, proxies and the commands that tools run. */
  env?: Readonly<Record<string, string | undefined>>;
  /** An id, `provider/id` or a part of the name, with `:LEVEL` for thinking. */
  model?: string;
  provider?: string;
  /** For the provider of the model that is named. */
  apiKey?: string;
  thinkingLevel?: ThinkingLevel;
  /** A file of turns that the script model plays, for tests. */
  script?: string;
  /** Replaces the system prompt. */
  systemPrompt?: string;
  /** Added to the system prompt. */
  appendSystemPrompt?: string;
  /** The names of the tools that are active. */
  tools?: readonly string[];
  /** Tools of your own. */
  customTools?: readonly CustomTool[];
  /** `false`: nothing is written. A path: that file, which need not exist yet. `"continue"`: the newest of this folder. */
  session?: false | "continue" | (string & {});
  sessionDir?: string;
  /** `true`: all that are found, as with the command line. Paths: these. None if left out. They run unguarded. */
  extensions?: boolean | readonly string[];
  /** Code of the project (extensions, commands in settings) may be used. */
  trustProject?: boolean;
  /** By their names, see docs/settings.md; they beat files and environment. */
  settings?: Readonly<Record<string, unknown>>;
  /** Anything else that the command line knows, e.g. `["--no-skills"]`. */
  args?: readonly string[];
  /** Asks a person, for approvals and extensions. Without it every question gets its default. */
  dialogs?: Partial<Dialogs>;
}

export interface CreatedAgentSession {
  session: AgentSession;
  /** What could not be used of the configuration, one sentence each. */
  problems: readonly string[];
  /** What a person should know, e.g. that the offline model answers. */
  notices: readonly string[];
}

/** A tool as a plain object. */
export interface CustomTool {
  name: string;
  label?: string;
  /** For the model. */
  description: string;
  /** JSON Schema of the arguments; they are checked before `execute` is called. */
  parameters: JsonSchema;
  /** Not offered until it is asked for by name. */
  hidden?: boolean;
  /** What it throws, the model reads as an error. */
  execute(
    toolCallId: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
    onUpdate: (partial: ToolResult) => void,
  ): CustomToolResult | Promise<CustomToolResult>;
}

/** A text is as good as one text block. */
export type CustomToolResult = string | ToolResult;

/** The events of the protocol. In-process a message that streams is always there whole; it is made when it is looked at. */
export type AgentSessionEvent =
  | Exclude<RpcEvent, { type: "message_update" }>
  | (Omit<RpcEvent<"message_update">, "message"> & { message: AssistantMessage });

/** A promise means "not yet, wait for me": the model then waits, too. */
export type AgentSessionListener = (event: AgentSessionEvent) => unknown;

export type PromptResult = RpcEvent<"prompt_result">;

export interface PromptOptions {
  images?: readonly ImageContent[];
  /** While a run goes on: where the message is queued. Without it the prompt is refused then. */
  streamingBehavior?: "steer" | "followUp";
  limits?: PromptLimits;
  /** Ends the run when it aborts. */
  signal?: AbortSignal;
}

/** One conversation. What is refused rejects with an error that says why. */
export interface AgentSession {
  readonly sessionId: string;
  readonly sessionFile: string | undefined;
  readonly model: Model | null;
  readonly thinkingLevel: ThinkingLevel;
  readonly isStreaming: boolean;
  /** As `get_state` tells it. */
  readonly state: SessionState;
  readonly messages: readonly AgentMessage[];
  readonly lastAssistantText: string | undefined;

  /** Resolves when the prompt has ended, also in an error of the model: look at `status`. */
  prompt(text: string, options?: PromptOptions): Promise<PromptResult>;
  /** For the run that goes on: the model reads it before it goes on. */
  steer(text: string, images?: readonly ImageContent[]): Promise<void>;
  /** For when the run would end. */
  followUp(text: string, images?: readonly ImageContent[]): Promise<void>;
  /** Resolves after the last event of the run. */
  abort(): Promise<void>;
  waitForIdle(): Promise<void>;
  /** Gives back the way out. */
  subscribe(listener: AgentSessionListener): () => void;

  /** Those that can be used. */
  availableModels(): Promise<readonly Model[]>;
  setModel(model: { provider: string; id: string }): Promise<Model>;
  setThinkingLevel(level: ThinkingLevel): void;
  compact(customInstructions?: string): Promise<CompactionResult>;
  /** Takes the place of those there were. */
  setCustomTools(tools: readonly CustomTool[]): Promise<void>;

  newSession(parentSession?: string): Promise<Result<"new_session">>;
  switchSession(sessionPath: string): Promise<Result<"switch_session">>;
  /** A new session with everything before this user message. */
  fork(entryId: string): Promise<Result<"fork">>;
  navigateTree(entryId: string, options?: Omit<Params<"navigate_tree">, "entryId">): Promise<Result<"navigate_tree">>;

  /** Any command of the protocol, see docs/protocol.md. */
  call<K extends CommandType>(
    command: K,
    ...params: Record<string, never> extends Params<K> ? [params?: Params<K>] : [params: Params<K>]
  ): Promise<Result<K>>;

  /** Ends the run and what it started, closes the session file. Nothing is taken on any more. */
  dispose(): Promise<void>;
}
