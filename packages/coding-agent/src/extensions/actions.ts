import type { Result } from "@tiller/protocol/commands/index";
import type { CompactionResult } from "@tiller/protocol/compaction";
import type { UserContent } from "@tiller/protocol/content";
import type { AgentMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { SessionState } from "@tiller/protocol/state";
import type { EntryDraft, ExtensionUi, HookName, McpServerState, UntimedMessage } from "../session/ports.ts";
import type { Exec } from "./exec.ts";
import type { SessionView } from "./session-view.ts";
import type { VirtualModel } from "./virtual-model.ts";

export type DeliverAs = "steer" | "followUp" | "nextTurn";

/** A tool as extensions see it listed. */
export interface ListedTool {
  name: string;
  description: string;
  parameters: unknown;
  sourceInfo: object;
}

/** An MCP server as an extension describes it: the fields of `mcp.json`. */
export interface RegisteredServer {
  extensionPath: string;
  name: string;
  config: unknown;
}

export interface UserMessageOptions {
  deliverAs?: "steer" | "followUp";
  /** Commands, skills and templates that the text calls by their names count as in a prompt of the host. */
  expandPromptTemplates?: boolean;
}

export interface Cancelled {
  cancelled: boolean;
}

/** What extensions can do to a session and see of it. The session's side of the bargain. */
export interface ExtensionActions {
  sendMessage(message: UntimedMessage, how: { triggerTurn?: boolean; deliverAs?: DeliverAs }): Promise<void>;
  sendUserMessage(content: string | UserContent[], how: UserMessageOptions): Promise<void>;
  appendEntry(customType: string, data: unknown): string;
  sessionName(): string | undefined;
  setSessionName(name: string): void;
  setLabel(entryId: string, label: string | undefined): void;
  /** The session as those see it who may add to it at the end of a turn or of a run. */
  entries: {
    /** The id of the entry that holds a message of this run. */
    idOf(message: AgentMessage): string | undefined;
    /** Adds them, and gives back the messages among them: the run tells those, and keeps them then. `by`: who wants it. */
    keep(drafts: readonly EntryDraft[], by: HookName): AgentMessage[];
  };
  exec: Exec;

  activeTools(): string[];
  allTools(): ListedTool[];
  setActiveTools(names: readonly string[]): void;
  /** A tool has come after the start. */
  toolsChanged(name: string): void;
  commands(): Result<"get_commands">["commands"];

  model(): Model | undefined;
  setModel(model: { provider: string; id: string }): Promise<boolean>;
  thinkingLevel(): ThinkingLevel;
  setThinkingLevel(level: ThinkingLevel): void;
  scopedModels(): readonly unknown[];
  registerProvider(name: string, config: unknown): void;
  unregisterProvider(name: string): void;
  registerVirtualModel(model: VirtualModel): void;
  modelRegistry(): object;
  /** These are all that extensions have registered: what was registered before is gone. */
  renewMcpServers(servers: readonly RegisteredServer[]): void;
  registerMcpServer(server: RegisteredServer): void;
  unregisterMcpServer(name: string): void;
  mcpServers(): McpServerState[];

  readonly ui: ExtensionUi;
  readonly mode: "rpc" | "print" | "json";
  cwd(): string;
  view: SessionView;
  isIdle(): boolean;
  signal(): AbortSignal | undefined;
  /** Abort when nobody waits any more for what is asked now. */
  questionSignals(): readonly AbortSignal[];
  abort(): void;
  hasPendingMessages(): boolean;
  shutdown(): void;
  contextUsage(): SessionState["contextUsage"];
  compact(customInstructions: string | undefined): Promise<{ result: CompactionResult } | { refused: string }>;
  systemPrompt(): string;
  /** What it is made of. */
  systemPromptOptions(): object;
  isProjectTrusted(): boolean;
  setting(key: string): unknown;

  waitForIdle(): Promise<void>;
  newSession(options: { parentSession?: string; setup?(view: SessionView): unknown }): Promise<Cancelled>;
  fork(entryId: string, position: "before" | "at"): Promise<Cancelled>;
  navigateTree(
    targetId: string,
    options: { summarize?: boolean; customInstructions?: string; replaceInstructions?: boolean; label?: string },
  ): Promise<Cancelled>;
  switchSession(path: string): Promise<Cancelled>;
  reload(): Promise<void>;
}
