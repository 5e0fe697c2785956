// Written by `npm run generate` from the tables in packages/protocol/src. Do not edit.
import type { CommandParams, CommandResults, EventType } from "@tiller/protocol/plain-types.generated";
import type { Call, CallOptions } from "./call.ts";

/** Every command as a method: its fields go in, `data` of its answer comes out. */
export interface CommandMethods {
  /** Sends a user message and starts a run. Answered at once; the run is told by events. */
  prompt(params: CommandParams["prompt"], options?: CallOptions): Promise<CommandResults["prompt"]>;
  /** Queues a message that changes the course of the active run; idle, it waits for the next prompt. */
  steer(params: CommandParams["steer"], options?: CallOptions): Promise<CommandResults["steer"]>;
  /** Queues a message for when the active run would stop; idle, it waits for the next prompt. */
  followUp(params: CommandParams["follow_up"], options?: CallOptions): Promise<CommandResults["follow_up"]>;
  /** Ends the active run. Answered after the last event of that run; a success also when nothing runs. */
  abort(params?: CommandParams["abort"], options?: CallOptions): Promise<CommandResults["abort"]>;
  /** Ends the active run, then sends a new message. Answered after the old run's last event. */
  abortAndPrompt(params: CommandParams["abort_and_prompt"], options?: CallOptions): Promise<CommandResults["abort_and_prompt"]>;
  /** Tells the model, the modes and what is going on. */
  getState(params?: CommandParams["get_state"], options?: CallOptions): Promise<CommandResults["get_state"]>;
  /** Tells what the model will see with the next prompt: each part, how large it is and why it is there. */
  getContext(params?: CommandParams["get_context"], options?: CallOptions): Promise<CommandResults["get_context"]>;
  /** Tells which commands and events this process has, its dialect and its limits. */
  getCapabilities(params?: CommandParams["get_capabilities"], options?: CallOptions): Promise<CommandResults["get_capabilities"]>;
  /** Chooses whether `message_update` repeats the message so far (`snapshot`) or only the new piece (`delta`). */
  setUpdateMode(params: CommandParams["set_update_mode"], options?: CallOptions): Promise<CommandResults["set_update_mode"]>;
  /** Lists the messages of the conversation as it stands. */
  getMessages(params?: CommandParams["get_messages"], options?: CallOptions): Promise<CommandResults["get_messages"]>;
  /** Lists some of the messages of the conversation, oldest first. */
  getMessagesPage(params?: CommandParams["get_messages_page"], options?: CallOptions): Promise<CommandResults["get_messages_page"]>;
  /** Tells the text of the last assistant message. */
  getLastAssistantText(params?: CommandParams["get_last_assistant_text"], options?: CallOptions): Promise<CommandResults["get_last_assistant_text"]>;
  /** Switches to a model that has credentials; the next model call uses it. */
  setModel(params: CommandParams["set_model"], options?: CallOptions): Promise<CommandResults["set_model"]>;
  /** Switches to the next model of the list, or answers `null` when there is no other. */
  cycleModel(params?: CommandParams["cycle_model"], options?: CallOptions): Promise<CommandResults["cycle_model"]>;
  /** Lists the models that could be used now. */
  getAvailableModels(params?: CommandParams["get_available_models"], options?: CallOptions): Promise<CommandResults["get_available_models"]>;
  /** Turns the faster service of a model on or off. No model has one here: it can only be turned off. */
  setFastMode(params: CommandParams["set_fast_mode"], options?: CallOptions): Promise<CommandResults["set_fast_mode"]>;
  /** Sets how much the model may think, clamped to what it supports. */
  setThinkingLevel(params: CommandParams["set_thinking_level"], options?: CallOptions): Promise<CommandResults["set_thinking_level"]>;
  /** Goes to the next level the model supports, or answers `null` when it cannot think. */
  cycleThinkingLevel(params?: CommandParams["cycle_thinking_level"], options?: CallOptions): Promise<CommandResults["cycle_thinking_level"]>;
  /** Lists the levels the current model supports. */
  getAvailableThinkingLevels(params?: CommandParams["get_available_thinking_levels"], options?: CallOptions): Promise<CommandResults["get_available_thinking_levels"]>;
  /** Chooses whether queued `steer` messages are delivered one per turn or all together. */
  setSteeringMode(params: CommandParams["set_steering_mode"], options?: CallOptions): Promise<CommandResults["set_steering_mode"]>;
  /** Chooses whether queued `follow_up` messages are delivered one per stop or all together. */
  setFollowUpMode(params: CommandParams["set_follow_up_mode"], options?: CallOptions): Promise<CommandResults["set_follow_up_mode"]>;
  /** Chooses whether steering skips the remaining tool calls of a turn (`immediate`) or waits for its end. */
  setInterruptMode(params: CommandParams["set_interrupt_mode"], options?: CallOptions): Promise<CommandResults["set_interrupt_mode"]>;
  /** Removes all queued messages and gives their texts back. */
  clearQueue(params?: CommandParams["clear_queue"], options?: CallOptions): Promise<CommandResults["clear_queue"]>;
  /** Replaces the older part of the conversation by a summary. */
  compact(params?: CommandParams["compact"], options?: CallOptions): Promise<CommandResults["compact"]>;
  /** Turns compaction by itself, when the context is nearly full, on or off. */
  setAutoCompaction(params: CommandParams["set_auto_compaction"], options?: CallOptions): Promise<CommandResults["set_auto_compaction"]>;
  /** Writes down what somebody needs who goes on with the work, and goes on in a new session that begins with it. The old session stays as it is. */
  handoff(params?: CommandParams["handoff"], options?: CallOptions): Promise<CommandResults["handoff"]>;
  /** Turns retrying after passing provider errors (overload, rate limit, 5xx) on or off. */
  setAutoRetry(params: CommandParams["set_auto_retry"], options?: CallOptions): Promise<CommandResults["set_auto_retry"]>;
  /** Gives up a retry that is being waited for; a success also when there is none. */
  abortRetry(params?: CommandParams["abort_retry"], options?: CallOptions): Promise<CommandResults["abort_retry"]>;
  /** Runs a shell command in the session's folder; the model sees the output with the next prompt. */
  bash(params: CommandParams["bash"], options?: CallOptions): Promise<CommandResults["bash"]>;
  /** Ends every shell command started by `bash`; a success also when there is none. */
  abortBash(params?: CommandParams["abort_bash"], options?: CallOptions): Promise<CommandResults["abort_bash"]>;
  /** Starts an empty session; a run that is active is aborted first. */
  newSession(params?: CommandParams["new_session"], options?: CallOptions): Promise<CommandResults["new_session"]>;
  /** Counts messages, tokens and dollars of the whole session file, on all branches. */
  getSessionStats(params?: CommandParams["get_session_stats"], options?: CallOptions): Promise<CommandResults["get_session_stats"]>;
  /** Writes the session as an HTML page and tells where. */
  exportHtml(params?: CommandParams["export_html"], options?: CallOptions): Promise<CommandResults["export_html"]>;
  /** Opens another session file; a path that does not exist starts a session there. */
  switchSession(params: CommandParams["switch_session"], options?: CallOptions): Promise<CommandResults["switch_session"]>;
  /** Goes on with the latest session of a folder, or begins one there; later sessions of this process lie there too. */
  openSession(params: CommandParams["open_session"], options?: CallOptions): Promise<CommandResults["open_session"]>;
  /** Starts a new session that ends just before an earlier user message. */
  fork(params: CommandParams["fork"], options?: CallOptions): Promise<CommandResults["fork"]>;
  /** Lists the user messages that `fork` accepts. */
  getForkMessages(params?: CommandParams["get_fork_messages"], options?: CallOptions): Promise<CommandResults["get_fork_messages"]>;
  /** The same as `fork`, under the name that omp and xcsh use. */
  branch(params: CommandParams["branch"], options?: CallOptions): Promise<CommandResults["branch"]>;
  /** Lists the user messages that `branch` accepts. */
  getBranchMessages(params?: CommandParams["get_branch_messages"], options?: CallOptions): Promise<CommandResults["get_branch_messages"]>;
  /** Copies the current conversation into a new session and goes on there. */
  clone(params?: CommandParams["clone"], options?: CallOptions): Promise<CommandResults["clone"]>;
  /** Gives the session a name that people can read. */
  setSessionName(params: CommandParams["set_session_name"], options?: CallOptions): Promise<CommandResults["set_session_name"]>;
  /** Lists the entries of the session file, all or those after one that is known already. */
  getEntries(params?: CommandParams["get_entries"], options?: CallOptions): Promise<CommandResults["get_entries"]>;
  /** Tells the session as a tree of entries. */
  getTree(params?: CommandParams["get_tree"], options?: CallOptions): Promise<CommandResults["get_tree"]>;
  /** Goes on from another entry of the same session; from a user message: from just before it, to ask differently. */
  navigateTree(params: CommandParams["navigate_tree"], options?: CallOptions): Promise<CommandResults["navigate_tree"]>;
  /** Gives an entry a label that people can find it by; without a label takes it away. */
  setLabel(params: CommandParams["set_label"], options?: CallOptions): Promise<CommandResults["set_label"]>;
  /** Lists session files, the latest first. */
  listSessions(params?: CommandParams["list_sessions"], options?: CallOptions): Promise<CommandResults["list_sessions"]>;
  /** Moves a session file, with those of its sub-agents, to the trash of the agent folder. Not the one that is open. */
  deleteSession(params: CommandParams["delete_session"], options?: CallOptions): Promise<CommandResults["delete_session"]>;
  /** Lists what a prompt can call with a slash: extension commands, prompt templates, skills. */
  getCommands(params?: CommandParams["get_commands"], options?: CallOptions): Promise<CommandResults["get_commands"]>;
  /** The same list in the form that omp has for it. */
  getAvailableCommands(params?: CommandParams["get_available_commands"], options?: CallOptions): Promise<CommandResults["get_available_commands"]>;
  /** Replaces the plan and answers with it in its normal form. */
  setTodos(params: CommandParams["set_todos"], options?: CallOptions): Promise<CommandResults["set_todos"]>;
  /** Replaces the tools that the host runs; they are offered to the model from its next call on. */
  setHostTools(params: CommandParams["set_host_tools"], options?: CallOptions): Promise<CommandResults["set_host_tools"]>;
  /** Tells the sub-agents of this session that this process has started, also those that have ended. */
  getSubagents(params?: CommandParams["get_subagents"], options?: CallOptions): Promise<CommandResults["get_subagents"]>;
  /** Reads the conversation of a sub-agent from a place on. Ask again with `nextByte` for what has come since; a long one is told in several answers. */
  getSubagentMessages(params?: CommandParams["get_subagent_messages"], options?: CallOptions): Promise<CommandResults["get_subagent_messages"]>;
  /** Chooses what is told of sub-agents beside the updates of the tool call: nothing (`off`, as at the start), how they are getting on (`progress`), or all their events too (`events`). */
  setSubagentSubscription(params: CommandParams["set_subagent_subscription"], options?: CallOptions): Promise<CommandResults["set_subagent_subscription"]>;
  /** Replaces the URL schemes behind which the host has something to read, and to write if it says so. */
  setHostUriSchemes(params: CommandParams["set_host_uri_schemes"], options?: CallOptions): Promise<CommandResults["set_host_uri_schemes"]>;
  /** Lists the providers that one can log in with. They come with extensions; providers with an API key need no login. */
  getLoginProviders(params?: CommandParams["get_login_providers"], options?: CallOptions): Promise<CommandResults["get_login_providers"]>;
  /** Logs in with a provider. The person is led by `extension_ui_request` frames (`notify` with the address, `input` for what the provider wants to know, open for ten minutes); the answer comes when it is done. `abort` gives it up. */
  login(params: CommandParams["login"], options?: CallOptions): Promise<CommandResults["login"]>;
  /** Chooses protocol version 2. Frames longer than `maxFrameBytes` then come as `rpc_chunk` frames, and `available_commands_update`, `session_info_update` and `config_update` are sent. */
  negotiateProtocol(params: CommandParams["negotiate_protocol"], options?: CallOptions): Promise<CommandResults["negotiate_protocol"]>;
  /** Tells once more the events behind a number, directly behind the answer and under the numbers they had; after a restart of the process, too. Without `after` it only tells where the events stand. */
  subscribe(params?: CommandParams["subscribe"], options?: CallOptions): Promise<CommandResults["subscribe"]>;
  /** From now on only these events are sent; `null` is all of them. Responses and other frames come anyway, and so do `prompt_result`, `session_settled`, `extension_error` and the events of sub-agents that were asked for. */
  setEventFilter(params: CommandParams["set_event_filter"], options?: CallOptions): Promise<CommandResults["set_event_filter"]>;
}

export function createCommandMethods(call: Call): CommandMethods {
  return {
    prompt: (params, options) => call("prompt", params, options),
    steer: (params, options) => call("steer", params, options),
    followUp: (params, options) => call("follow_up", params, options),
    abort: (params = {}, options) => call("abort", params, options),
    abortAndPrompt: (params, options) => call("abort_and_prompt", params, options),
    getState: (params = {}, options) => call("get_state", params, options),
    getContext: (params = {}, options) => call("get_context", params, options),
    getCapabilities: (params = {}, options) => call("get_capabilities", params, options),
    setUpdateMode: (params, options) => call("set_update_mode", params, options),
    getMessages: (params = {}, options) => call("get_messages", params, options),
    getMessagesPage: (params = {}, options) => call("get_messages_page", params, options),
    getLastAssistantText: (params = {}, options) => call("get_last_assistant_text", params, options),
    setModel: (params, options) => call("set_model", params, options),
    cycleModel: (params = {}, options) => call("cycle_model", params, options),
    getAvailableModels: (params = {}, options) => call("get_available_models", params, options),
    setFastMode: (params, options) => call("set_fast_mode", params, options),
    setThinkingLevel: (params, options) => call("set_thinking_level", params, options),
    cycleThinkingLevel: (params = {}, options) => call("cycle_thinking_level", params, options),
    getAvailableThinkingLevels: (params = {}, options) => call("get_available_thinking_levels", params, options),
    setSteeringMode: (params, options) => call("set_steering_mode", params, options),
    setFollowUpMode: (params, options) => call("set_follow_up_mode", params, options),
    setInterruptMode: (params, options) => call("set_interrupt_mode", params, options),
    clearQueue: (params = {}, options) => call("clear_queue", params, options),
    compact: (params = {}, options) => call("compact", params, options),
    setAutoCompaction: (params, options) => call("set_auto_compaction", params, options),
    handoff: (params = {}, options) => call("handoff", params, options),
    setAutoRetry: (params, options) => call("set_auto_retry", params, options),
    abortRetry: (params = {}, options) => call("abort_retry", params, options),
    bash: (params, options) => call("bash", params, options),
    abortBash: (params = {}, options) => call("abort_bash", params, options),
    newSession: (params = {}, options) => call("new_session", params, options),
    getSessionStats: (params = {}, options) => call("get_session_stats", params, options),
    exportHtml: (params = {}, options) => call("export_html", params, options),
    switchSession: (params, options) => call("switch_session", params, options),
    openSession: (params, options) => call("open_session", params, options),
    fork: (params, options) => call("fork", params, options),
    getForkMessages: (params = {}, options) => call("get_fork_messages", params, options),
    branch: (params, options) => call("branch", params, options),
    getBranchMessages: (params = {}, options) => call("get_branch_messages", params, options),
    clone: (params = {}, options) => call("clone", params, options),
    setSessionName: (params, options) => call("set_session_name", params, options),
    getEntries: (params = {}, options) => call("get_entries", params, options),
    getTree: (params = {}, options) => call("get_tree", params, options),
    navigateTree: (params, options) => call("navigate_tree", params, options),
    setLabel: (params, options) => call("set_label", params, options),
    listSessions: (params = {}, options) => call("list_sessions", params, options),
    deleteSession: (params, options) => call("delete_session", params, options),
    getCommands: (params = {}, options) => call("get_commands", params, options),
    getAvailableCommands: (params = {}, options) => call("get_available_commands", params, options),
    setTodos: (params, options) => call("set_todos", params, options),
    setHostTools: (params, options) => call("set_host_tools", params, options),
    getSubagents: (params = {}, options) => call("get_subagents", params, options),
    getSubagentMessages: (params = {}, options) => call("get_subagent_messages", params, options),
    setSubagentSubscription: (params, options) => call("set_subagent_subscription", params, options),
    setHostUriSchemes: (params, options) => call("set_host_uri_schemes", params, options),
    getLoginProviders: (params = {}, options) => call("get_login_providers", params, options),
    login: (params, options) => call("login", params, options),
    negotiateProtocol: (params, options) => call("negotiate_protocol", params, options),
    subscribe: (params = {}, options) => call("subscribe", params, options),
    setEventFilter: (params, options) => call("set_event_filter", params, options),
  };
}

/** Every event, by its type. */
export const EVENT_TYPES: readonly EventType[] = ["agent_start","agent_end","agent_settled","turn_start","turn_end","prompt_result","session_settled","message_start","message_update","message_end","tool_execution_start","tool_execution_update","tool_execution_end","auto_compaction_start","auto_compaction_end","compaction_start","compaction_end","auto_retry_start","auto_retry_end","queue_update","thinking_level_changed","session_info_changed","entry_appended","bash_execution_update","notice","extension_error","ttsr_triggered","todo_reminder","todo_auto_clear","subagent_lifecycle","subagent_progress","subagent_event"];
