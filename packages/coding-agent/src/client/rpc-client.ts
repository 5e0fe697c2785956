import type {
  AgentMessage,
  AvailableCommandsUpdate,
  BashResult,
  CommandParams,
  CommandResults,
  CompactionResult,
  Disposition,
  ImageContent,
  Model,
  SessionState,
  SessionStats,
  SlashCommand,
  ThinkingLevel,
} from "@tiller/protocol/plain-types.generated";
import { ClientCore } from "./client-core.ts";
import type { AgentEvent, ClientEvent } from "./events.ts";
import type { HostTool } from "./host-side.ts";
import type { PromptOutcome } from "./prompts.ts";

type Results = CommandResults;
type What = Disposition["disposition"];

const IDLE_MS = 60_000;

/**
 * A client of one agent. New code uses `run`, `call` and `commands`; the methods here have the names, arguments and results
 * that the clients of pi, omp and xcsh have, so that code written for those runs on. A command that fails throws.
 */
export class RpcClient extends ClientCore {
  // Prompting

  async prompt(
    message: string,
    images?: ImageContent[],
    streamingBehavior?: CommandParams["prompt"]["streamingBehavior"],
  ): Promise<What> {
    return (await this.call("prompt", { message, images, streamingBehavior }))?.disposition;
  }

  async steer(message: string, images?: ImageContent[]): Promise<What> {
    return (await this.call("steer", { message, images }))?.disposition;
  }

  async followUp(message: string, images?: ImageContent[]): Promise<What> {
    return (await this.call("follow_up", { message, images }))?.disposition;
  }

  async abort(): Promise<void> {
    await this.call("abort", {});
  }

  async abortAndPrompt(message: string, images?: ImageContent[]): Promise<What> {
    return (await this.call("abort_and_prompt", { message, images }))?.disposition;
  }

  clearQueue(): Promise<Results["clear_queue"]> {
    return this.call("clear_queue", {});
  }

  /** Sends a prompt; resolves to its events when it is over. */
  async promptAndWait(message: string, images?: ImageContent[], timeoutMs: number = IDLE_MS): Promise<ClientEvent[]> {
    const events: ClientEvent[] = [];
    for await (const event of this.run(message, { timeoutMs, ...(images && { images }) })) events.push(event);
    return events;
  }

  /** Sends a prompt; resolves to how it ended, with the text of the answer. */
  ask(message: string, options: Parameters<ClientCore["run"]>[1] = {}): Promise<PromptOutcome> {
    return this.run(message, options).result;
  }

  /** It may be called right before the prompt that it shall wait for. */
  async waitForIdle(timeoutMs: number = IDLE_MS): Promise<void> {
    await undefined;
    return this.whenIdle({ timeoutMs });
  }

  /** Collects events until the agent is idle, or has been busy and is idle again. */
  async collectEvents(timeoutMs: number = IDLE_MS): Promise<ClientEvent[]> {
    const events: ClientEvent[] = [];
    const stop = this.onEvent((event) => void events.push(event));
    try {
      await this.whenIdle({ next: true, timeoutMs });
      return events;
    } finally {
      stop();
    }
  }

  /** Resolves when nothing runs and nothing is queued. */
  async waitForSettled(timeoutMs: number = IDLE_MS): Promise<void> {
    await this.whenIdle({ timeoutMs });
    // Asked for before looking, so that it cannot be missed in between.
    for (;;) {
      const settled = this.nextEvent("session_settled", { timeoutMs });
      settled.catch(() => undefined);
      if ((await this.getState()).isSettled !== false) return;
      await settled;
    }
  }

  // State and messages

  getState(): Promise<SessionState> {
    return this.call("get_state", {});
  }

  async getMessages(): Promise<AgentMessage[]> {
    return (await this.call("get_messages", {})).messages;
  }

  getMessagesPage(cursor?: string, limit?: number): Promise<Results["get_messages_page"]> {
    return this.call("get_messages_page", { cursor, limit });
  }

  async getLastAssistantText(): Promise<string | null> {
    return (await this.call("get_last_assistant_text", {}))?.text ?? null;
  }

  getEntries(since?: string): Promise<Results["get_entries"]> {
    return this.call("get_entries", { since });
  }

  getTree(): Promise<Results["get_tree"]> {
    return this.call("get_tree", {});
  }

  // Model and thinking

  setModel(provider: string, modelId: string): Promise<Model> {
    return this.call("set_model", { provider, modelId });
  }

  cycleModel(): Promise<Results["cycle_model"]> {
    return this.call("cycle_model", {});
  }

  async getAvailableModels(): Promise<Model[]> {
    return (await this.call("get_available_models", {})).models;
  }

  async setThinkingLevel(level: ThinkingLevel): Promise<void> {
    await this.call("set_thinking_level", { level });
  }

  cycleThinkingLevel(): Promise<Results["cycle_thinking_level"]> {
    return this.call("cycle_thinking_level", {});
  }

  async getAvailableThinkingLevels(): Promise<Results["get_available_thinking_levels"]["levels"]> {
    return (await this.call("get_available_thinking_levels", {})).levels;
  }

  // Modes, compaction, retry

  async setSteeringMode(mode: CommandParams["set_steering_mode"]["mode"]): Promise<void> {
    await this.call("set_steering_mode", { mode });
  }

  async setFollowUpMode(mode: CommandParams["set_follow_up_mode"]["mode"]): Promise<void> {
    await this.call("set_follow_up_mode", { mode });
  }

  async setInterruptMode(mode: CommandParams["set_interrupt_mode"]["mode"]): Promise<void> {
    await this.call("set_interrupt_mode", { mode });
  }

  compact(customInstructions?: string): Promise<CompactionResult> {
    return this.call("compact", { customInstructions });
  }

  async setAutoCompaction(enabled: boolean): Promise<void> {
    await this.call("set_auto_compaction", { enabled });
  }

  async setAutoRetry(enabled: boolean): Promise<void> {
    await this.call("set_auto_retry", { enabled });
  }

  async abortRetry(): Promise<void> {
    await this.call("abort_retry", {});
  }

  setFastMode(enabled: boolean): Promise<Results["set_fast_mode"]> {
    return this.call("set_fast_mode", { enabled });
  }

  async setEventFilter(events: string[] | null): Promise<void> {
    await this.call("set_event_filter", { events });
  }

  async getLoginProviders(): Promise<Results["get_login_providers"]["providers"]> {
    return (await this.call("get_login_providers", {})).providers;
  }

  login(providerId: string): Promise<Results["login"]> {
    return this.call("login", { providerId });
  }

  // Shell

  /** An abort ends the command too. */
  bash(command: string, { signal }: { signal?: AbortSignal } = {}): Promise<BashResult> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const abort = (): void => void this.abortBash().catch(() => undefined);
    signal?.addEventListener("abort", abort);
    return this.call("bash", { command }).finally(() => signal?.removeEventListener("abort", abort));
  }

  async abortBash(): Promise<void> {
    await this.call("abort_bash", {});
  }

  // Session

  newSession(parentSession?: string): Promise<Results["new_session"]> {
    return this.call("new_session", { parentSession });
  }

  switchSession(sessionPath: string): Promise<Results["switch_session"]> {
    return this.call("switch_session", { sessionPath });
  }

  openSession(sessionDir: string): Promise<Results["open_session"]> {
    return this.call("open_session", { sessionDir });
  }

  handoff(customInstructions?: string): Promise<Results["handoff"]> {
    return this.call("handoff", { customInstructions });
  }

  fork(entryId: string): Promise<Results["fork"]> {
    return this.call("fork", { entryId });
  }

  async getForkMessages(): Promise<Results["get_fork_messages"]["messages"]> {
    return (await this.call("get_fork_messages", {})).messages;
  }

  branch(entryId: string): Promise<Results["branch"]> {
    return this.call("branch", { entryId });
  }

  async getBranchMessages(): Promise<Results["get_branch_messages"]["messages"]> {
    return (await this.call("get_branch_messages", {})).messages;
  }

  clone(): Promise<Results["clone"]> {
    return this.call("clone", {});
  }

  async setSessionName(name: string): Promise<void> {
    await this.call("set_session_name", { name });
  }

  getSessionStats(): Promise<SessionStats> {
    return this.call("get_session_stats", {});
  }

  exportHtml(outputPath?: string): Promise<Results["export_html"]> {
    return this.call("export_html", { outputPath });
  }

  async getCommands(): Promise<SlashCommand[]> {
    return (await this.call("get_commands", {})).commands;
  }

  async getAvailableCommands(): Promise<Results["get_available_commands"]["commands"]> {
    return (await this.call("get_available_commands", {})).commands;
  }

  // What the host lends, and sub-agents

  setCustomTools(tools: readonly HostTool[]): Promise<string[]> {
    return this.setTools(tools);
  }

  async setTodos(phases: CommandParams["set_todos"]["phases"]): Promise<Results["set_todos"]["todoPhases"]> {
    return (await this.call("set_todos", { phases })).todoPhases;
  }

  async getSubagents(): Promise<Results["get_subagents"]["subagents"]> {
    return (await this.call("get_subagents", {})).subagents;
  }

  getSubagentMessages(params: CommandParams["get_subagent_messages"]): Promise<Results["get_subagent_messages"]> {
    return this.call("get_subagent_messages", params);
  }

  async setSubagentSubscription(level: CommandParams["set_subagent_subscription"]["level"]): Promise<void> {
    await this.call("set_subagent_subscription", { level });
  }

  // Listeners for one thing

  onSessionEvent(listener: (event: ClientEvent) => void): () => void {
    return this.onEvent(listener);
  }

  onPromptResult(listener: (event: AgentEvent<"prompt_result">) => void): () => void {
    return this.on("prompt_result", listener);
  }

  onSessionSettled(listener: (event: AgentEvent<"session_settled">) => void): () => void {
    return this.on("session_settled", listener);
  }

  onSubagentLifecycle(listener: (event: AgentEvent<"subagent_lifecycle">) => void): () => void {
    return this.on("subagent_lifecycle", listener);
  }

  onSubagentProgress(listener: (event: AgentEvent<"subagent_progress">) => void): () => void {
    return this.on("subagent_progress", listener);
  }

  onSubagentEvent(listener: (event: AgentEvent<"subagent_event">) => void): () => void {
    return this.on("subagent_event", listener);
  }

  onAvailableCommandsUpdate(listener: (event: AvailableCommandsUpdate) => void): () => void {
    return this.on("available_commands_update", listener);
  }
}
