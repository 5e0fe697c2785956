# Written by `npm run generate` from the tables in packages/protocol/src. Do not edit.
"""A method for every command. The clients bring `_command`, which sends it and waits for the answer."""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, Literal, Optional, Tuple, Union

from .framing import given
from .types import (
    BashResult,
    BranchResult,
    Capabilities,
    ClearQueueResult,
    CloneResult,
    CompactionResult,
    CycleModelResult,
    CycleThinkingLevelResult,
    DeleteSessionResult,
    Disposition,
    ExportHtmlResult,
    ForkResult,
    GetAvailableCommandsResult,
    GetAvailableModelsResult,
    GetAvailableThinkingLevelsResult,
    GetBranchMessagesResult,
    GetCommandsResult,
    GetContextResult,
    GetEntriesResult,
    GetForkMessagesResult,
    GetLastAssistantTextResult,
    GetLoginProvidersResult,
    GetMessagesPageResult,
    GetMessagesResult,
    GetSubagentMessagesResult,
    GetSubagentsResult,
    GetTreeResult,
    HandoffResult,
    ImageContent,
    InterruptMode,
    ListSessionsResult,
    LoginResult,
    Model,
    NavigateTreeResult,
    NegotiateProtocolResult,
    NewSessionResult,
    OpenSessionResult,
    PromptLimits,
    QueueMode,
    SessionState,
    SessionStats,
    SetEventFilterResult,
    SetFastModeResult,
    SetHostToolsResult,
    SetHostUriSchemesResult,
    SetSubagentSubscriptionResult,
    SetTodosResult,
    SubscribeResult,
    SwitchSessionResult,
    ThinkingLevel,
    TodoPhaseInput,
    UpdateMode,
)

#: Every command of this version.
COMMANDS: Tuple[str, ...] = (
    "prompt",
    "steer",
    "follow_up",
    "abort",
    "abort_and_prompt",
    "get_state",
    "get_context",
    "get_capabilities",
    "set_update_mode",
    "get_messages",
    "get_messages_page",
    "get_last_assistant_text",
    "set_model",
    "cycle_model",
    "get_available_models",
    "set_fast_mode",
    "set_thinking_level",
    "cycle_thinking_level",
    "get_available_thinking_levels",
    "set_steering_mode",
    "set_follow_up_mode",
    "set_interrupt_mode",
    "clear_queue",
    "compact",
    "set_auto_compaction",
    "handoff",
    "set_auto_retry",
    "abort_retry",
    "bash",
    "abort_bash",
    "new_session",
    "get_session_stats",
    "export_html",
    "switch_session",
    "open_session",
    "fork",
    "get_fork_messages",
    "branch",
    "get_branch_messages",
    "clone",
    "set_session_name",
    "get_entries",
    "get_tree",
    "navigate_tree",
    "set_label",
    "list_sessions",
    "delete_session",
    "get_commands",
    "get_available_commands",
    "set_todos",
    "set_host_tools",
    "get_subagents",
    "get_subagent_messages",
    "set_subagent_subscription",
    "set_host_uri_schemes",
    "get_login_providers",
    "login",
    "negotiate_protocol",
    "subscribe",
    "set_event_filter",
)

#: They take as long as they take: without a time-out of their own the client waits for their answer for ever.
ANSWERED_LATE: FrozenSet[str] = frozenset({"compact", "handoff", "bash", "export_html", "list_sessions", "login"})


class Commands:
    """The commands for a program that waits."""

    def _command(self, type_: str, fields: Dict[str, Any], timeout: Optional[float]) -> Any:
        raise NotImplementedError

    def prompt(
        self,
        message: str,
        *,
        images: Optional[List[ImageContent]] = None,
        streaming_behavior: Optional[Literal["steer", "followUp"]] = None,
        limits: Optional[PromptLimits] = None,
        request_timeout: Optional[float] = None,
    ) -> Disposition:
        """Sends a user message and starts a run. Answered at once; the run is told by events.

        :param streaming_behavior: needed while a run is active: into which queue the message goes
        """
        result: Disposition = self._command("prompt", {"message": message, **given({"images": images, "streamingBehavior": streaming_behavior, "limits": limits})}, request_timeout)
        return result

    def steer(
        self,
        message: str,
        *,
        images: Optional[List[ImageContent]] = None,
        request_timeout: Optional[float] = None,
    ) -> Disposition:
        """Queues a message that changes the course of the active run; idle, it waits for the next prompt."""
        result: Disposition = self._command("steer", {"message": message, **given({"images": images})}, request_timeout)
        return result

    def follow_up(
        self,
        message: str,
        *,
        images: Optional[List[ImageContent]] = None,
        request_timeout: Optional[float] = None,
    ) -> Disposition:
        """Queues a message for when the active run would stop; idle, it waits for the next prompt."""
        result: Disposition = self._command("follow_up", {"message": message, **given({"images": images})}, request_timeout)
        return result

    def abort(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Ends the active run. Answered after the last event of that run; a success also when nothing runs."""
        self._command("abort", {}, request_timeout)

    def abort_and_prompt(
        self,
        message: str,
        *,
        images: Optional[List[ImageContent]] = None,
        request_timeout: Optional[float] = None,
    ) -> Disposition:
        """Ends the active run, then sends a new message. Answered after the old run's last event."""
        result: Disposition = self._command("abort_and_prompt", {"message": message, **given({"images": images})}, request_timeout)
        return result

    def get_state(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> SessionState:
        """Tells the model, the modes and what is going on."""
        result: SessionState = self._command("get_state", {}, request_timeout)
        return result

    def get_context(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetContextResult:
        """Tells what the model will see with the next prompt: each part, how large it is and why it is there."""
        result: GetContextResult = self._command("get_context", {}, request_timeout)
        return result

    def get_capabilities(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> Capabilities:
        """Tells which commands and events this process has, its dialect and its limits."""
        result: Capabilities = self._command("get_capabilities", {}, request_timeout)
        return result

    def set_update_mode(
        self,
        mode: UpdateMode,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Chooses whether `message_update` repeats the message so far (`snapshot`) or only the new piece (`delta`)."""
        self._command("set_update_mode", {"mode": mode}, request_timeout)

    def get_messages(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetMessagesResult:
        """Lists the messages of the conversation as it stands."""
        result: GetMessagesResult = self._command("get_messages", {}, request_timeout)
        return result

    def get_messages_page(
        self,
        *,
        cursor: Optional[str] = None,
        limit: Optional[float] = None,
        request_timeout: Optional[float] = None,
    ) -> GetMessagesPageResult:
        """Lists some of the messages of the conversation, oldest first.

        :param cursor: `nextCursor` of the page before
        :param limit: 1 to 256, 100 when absent; a page has at most 768 KiB
        """
        result: GetMessagesPageResult = self._command("get_messages_page", {**given({"cursor": cursor, "limit": limit})}, request_timeout)
        return result

    def get_last_assistant_text(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetLastAssistantTextResult:
        """Tells the text of the last assistant message."""
        result: GetLastAssistantTextResult = self._command("get_last_assistant_text", {}, request_timeout)
        return result

    def set_model(
        self,
        provider: str,
        model_id: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> Model:
        """Switches to a model that has credentials; the next model call uses it."""
        result: Model = self._command("set_model", {"provider": provider, "modelId": model_id}, request_timeout)
        return result

    def cycle_model(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> Union[CycleModelResult, None]:
        """Switches to the next model of the list, or answers `null` when there is no other."""
        result: Union[CycleModelResult, None] = self._command("cycle_model", {}, request_timeout)
        return result

    def get_available_models(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetAvailableModelsResult:
        """Lists the models that could be used now."""
        result: GetAvailableModelsResult = self._command("get_available_models", {}, request_timeout)
        return result

    def set_fast_mode(
        self,
        enabled: bool,
        *,
        request_timeout: Optional[float] = None,
    ) -> SetFastModeResult:
        """Turns the faster service of a model on or off. No model has one here: it can only be turned off."""
        result: SetFastModeResult = self._command("set_fast_mode", {"enabled": enabled}, request_timeout)
        return result

    def set_thinking_level(
        self,
        level: ThinkingLevel,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Sets how much the model may think, clamped to what it supports."""
        self._command("set_thinking_level", {"level": level}, request_timeout)

    def cycle_thinking_level(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> Union[CycleThinkingLevelResult, None]:
        """Goes to the next level the model supports, or answers `null` when it cannot think."""
        result: Union[CycleThinkingLevelResult, None] = self._command("cycle_thinking_level", {}, request_timeout)
        return result

    def get_available_thinking_levels(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetAvailableThinkingLevelsResult:
        """Lists the levels the current model supports."""
        result: GetAvailableThinkingLevelsResult = self._command("get_available_thinking_levels", {}, request_timeout)
        return result

    def set_steering_mode(
        self,
        mode: QueueMode,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Chooses whether queued `steer` messages are delivered one per turn or all together."""
        self._command("set_steering_mode", {"mode": mode}, request_timeout)

    def set_follow_up_mode(
        self,
        mode: QueueMode,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Chooses whether queued `follow_up` messages are delivered one per stop or all together."""
        self._command("set_follow_up_mode", {"mode": mode}, request_timeout)

    def set_interrupt_mode(
        self,
        mode: InterruptMode,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Chooses whether steering skips the remaining tool calls of a turn (`immediate`) or waits for its end."""
        self._command("set_interrupt_mode", {"mode": mode}, request_timeout)

    def clear_queue(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> ClearQueueResult:
        """Removes all queued messages and gives their texts back."""
        result: ClearQueueResult = self._command("clear_queue", {}, request_timeout)
        return result

    def compact(
        self,
        *,
        custom_instructions: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> CompactionResult:
        """Replaces the older part of the conversation by a summary.

        :param custom_instructions: what the summary shall pay attention to
        """
        result: CompactionResult = self._command("compact", {**given({"customInstructions": custom_instructions})}, request_timeout)
        return result

    def set_auto_compaction(
        self,
        enabled: bool,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Turns compaction by itself, when the context is nearly full, on or off."""
        self._command("set_auto_compaction", {"enabled": enabled}, request_timeout)

    def handoff(
        self,
        *,
        custom_instructions: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> Union[HandoffResult, None]:
        """Writes down what somebody needs who goes on with the work, and goes on in a new session that begins with it. The old session stays as it is.

        :param custom_instructions: what the notes shall pay attention to
        """
        result: Union[HandoffResult, None] = self._command("handoff", {**given({"customInstructions": custom_instructions})}, request_timeout)
        return result

    def set_auto_retry(
        self,
        enabled: bool,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Turns retrying after passing provider errors (overload, rate limit, 5xx) on or off."""
        self._command("set_auto_retry", {"enabled": enabled}, request_timeout)

    def abort_retry(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Gives up a retry that is being waited for; a success also when there is none."""
        self._command("abort_retry", {}, request_timeout)

    def bash(
        self,
        command: str,
        *,
        exclude_from_context: Optional[bool] = None,
        request_timeout: Optional[float] = None,
    ) -> BashResult:
        """Runs a shell command in the session's folder; the model sees the output with the next prompt.

        :param exclude_from_context: the model never sees it
        """
        result: BashResult = self._command("bash", {"command": command, **given({"excludeFromContext": exclude_from_context})}, request_timeout)
        return result

    def abort_bash(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Ends every shell command started by `bash`; a success also when there is none."""
        self._command("abort_bash", {}, request_timeout)

    def new_session(
        self,
        *,
        parent_session: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> NewSessionResult:
        """Starts an empty session; a run that is active is aborted first.

        :param parent_session: path that is noted as the origin
        """
        result: NewSessionResult = self._command("new_session", {**given({"parentSession": parent_session})}, request_timeout)
        return result

    def get_session_stats(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> SessionStats:
        """Counts messages, tokens and dollars of the whole session file, on all branches."""
        result: SessionStats = self._command("get_session_stats", {}, request_timeout)
        return result

    def export_html(
        self,
        *,
        output_path: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> ExportHtmlResult:
        """Writes the session as an HTML page and tells where."""
        result: ExportHtmlResult = self._command("export_html", {**given({"outputPath": output_path})}, request_timeout)
        return result

    def switch_session(
        self,
        session_path: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> SwitchSessionResult:
        """Opens another session file; a path that does not exist starts a session there."""
        result: SwitchSessionResult = self._command("switch_session", {"sessionPath": session_path}, request_timeout)
        return result

    def open_session(
        self,
        session_dir: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> OpenSessionResult:
        """Goes on with the latest session of a folder, or begins one there; later sessions of this process lie there too."""
        result: OpenSessionResult = self._command("open_session", {"sessionDir": session_dir}, request_timeout)
        return result

    def fork(
        self,
        entry_id: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> ForkResult:
        """Starts a new session that ends just before an earlier user message.

        :param entry_id: of a user message
        """
        result: ForkResult = self._command("fork", {"entryId": entry_id}, request_timeout)
        return result

    def get_fork_messages(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetForkMessagesResult:
        """Lists the user messages that `fork` accepts."""
        result: GetForkMessagesResult = self._command("get_fork_messages", {}, request_timeout)
        return result

    def branch(
        self,
        entry_id: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> BranchResult:
        """The same as `fork`, under the name that omp and xcsh use.

        :param entry_id: of a user message
        """
        result: BranchResult = self._command("branch", {"entryId": entry_id}, request_timeout)
        return result

    def get_branch_messages(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetBranchMessagesResult:
        """Lists the user messages that `branch` accepts."""
        result: GetBranchMessagesResult = self._command("get_branch_messages", {}, request_timeout)
        return result

    def clone(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> CloneResult:
        """Copies the current conversation into a new session and goes on there."""
        result: CloneResult = self._command("clone", {}, request_timeout)
        return result

    def set_session_name(
        self,
        name: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Gives the session a name that people can read.

        :param name: not empty
        """
        self._command("set_session_name", {"name": name}, request_timeout)

    def get_entries(
        self,
        *,
        since: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> GetEntriesResult:
        """Lists the entries of the session file, all or those after one that is known already.

        :param since: entry id
        """
        result: GetEntriesResult = self._command("get_entries", {**given({"since": since})}, request_timeout)
        return result

    def get_tree(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetTreeResult:
        """Tells the session as a tree of entries."""
        result: GetTreeResult = self._command("get_tree", {}, request_timeout)
        return result

    def navigate_tree(
        self,
        entry_id: str,
        *,
        summarize: Optional[bool] = None,
        custom_instructions: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> NavigateTreeResult:
        """Goes on from another entry of the same session; from a user message: from just before it, to ask differently.

        :param summarize: tell the model what happened on the branch that is left
        :param custom_instructions: what the summary shall pay attention to
        """
        result: NavigateTreeResult = self._command("navigate_tree", {"entryId": entry_id, **given({"summarize": summarize, "customInstructions": custom_instructions})}, request_timeout)
        return result

    def set_label(
        self,
        entry_id: str,
        *,
        label: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Gives an entry a label that people can find it by; without a label takes it away."""
        self._command("set_label", {"entryId": entry_id, **given({"label": label})}, request_timeout)

    def list_sessions(
        self,
        *,
        scope: Optional[Literal["cwd", "all"]] = None,
        text: Optional[str] = None,
        name: Optional[str] = None,
        cwd: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> ListSessionsResult:
        """Lists session files, the latest first.

        :param scope: those of this working folder (the default), or of all
        :param text: only those in which somebody said this
        :param name: only those with this in their name
        :param cwd: only those of this folder
        :param limit: at most 200; 50 when absent
        :param cursor: `nextCursor` of the page before
        """
        result: ListSessionsResult = self._command("list_sessions", {**given({"scope": scope, "text": text, "name": name, "cwd": cwd, "limit": limit, "cursor": cursor})}, request_timeout)
        return result

    def delete_session(
        self,
        session_path: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> DeleteSessionResult:
        """Moves a session file, with those of its sub-agents, to the trash of the agent folder. Not the one that is open."""
        result: DeleteSessionResult = self._command("delete_session", {"sessionPath": session_path}, request_timeout)
        return result

    def get_commands(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetCommandsResult:
        """Lists what a prompt can call with a slash: extension commands, prompt templates, skills."""
        result: GetCommandsResult = self._command("get_commands", {}, request_timeout)
        return result

    def get_available_commands(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetAvailableCommandsResult:
        """The same list in the form that omp has for it."""
        result: GetAvailableCommandsResult = self._command("get_available_commands", {}, request_timeout)
        return result

    def set_todos(
        self,
        phases: List[TodoPhaseInput],
        *,
        request_timeout: Optional[float] = None,
    ) -> SetTodosResult:
        """Replaces the plan and answers with it in its normal form."""
        result: SetTodosResult = self._command("set_todos", {"phases": phases}, request_timeout)
        return result

    def set_host_tools(
        self,
        tools: List[Any],
        *,
        request_timeout: Optional[float] = None,
    ) -> SetHostToolsResult:
        """Replaces the tools that the host runs; they are offered to the model from its next call on."""
        result: SetHostToolsResult = self._command("set_host_tools", {"tools": tools}, request_timeout)
        return result

    def get_subagents(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetSubagentsResult:
        """Tells the sub-agents of this session that this process has started, also those that have ended."""
        result: GetSubagentsResult = self._command("get_subagents", {}, request_timeout)
        return result

    def get_subagent_messages(
        self,
        *,
        subagent_id: Optional[str] = None,
        session_file: Optional[str] = None,
        from_byte: Optional[Any] = None,
        request_timeout: Optional[float] = None,
    ) -> GetSubagentMessagesResult:
        """Reads the conversation of a sub-agent from a place on. Ask again with `nextByte` for what has come since; a long one is told in several answers.

        :param session_file: instead of `subagentId`
        :param from_byte: a number; 0 if left out
        """
        result: GetSubagentMessagesResult = self._command("get_subagent_messages", {**given({"subagentId": subagent_id, "sessionFile": session_file, "fromByte": from_byte})}, request_timeout)
        return result

    def set_subagent_subscription(
        self,
        level: Any,
        *,
        request_timeout: Optional[float] = None,
    ) -> SetSubagentSubscriptionResult:
        """Chooses what is told of sub-agents beside the updates of the tool call: nothing (`off`, as at the start), how they are getting on (`progress`), or all their events too (`events`).

        :param level: `off`, `progress` or `events`
        """
        result: SetSubagentSubscriptionResult = self._command("set_subagent_subscription", {"level": level}, request_timeout)
        return result

    def set_host_uri_schemes(
        self,
        schemes: List[Any],
        *,
        request_timeout: Optional[float] = None,
    ) -> SetHostUriSchemesResult:
        """Replaces the URL schemes behind which the host has something to read, and to write if it says so."""
        result: SetHostUriSchemesResult = self._command("set_host_uri_schemes", {"schemes": schemes}, request_timeout)
        return result

    def get_login_providers(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetLoginProvidersResult:
        """Lists the providers that one can log in with. They come with extensions; providers with an API key need no login."""
        result: GetLoginProvidersResult = self._command("get_login_providers", {}, request_timeout)
        return result

    def login(
        self,
        provider_id: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> LoginResult:
        """Logs in with a provider. The person is led by `extension_ui_request` frames (`notify` with the address, `input` for what the provider wants to know, open for ten minutes); the answer comes when it is done. `abort` gives it up."""
        result: LoginResult = self._command("login", {"providerId": provider_id}, request_timeout)
        return result

    def negotiate_protocol(
        self,
        protocol_version: float,
        *,
        request_timeout: Optional[float] = None,
    ) -> NegotiateProtocolResult:
        """Chooses protocol version 2. Frames longer than `maxFrameBytes` then come as `rpc_chunk` frames, and `available_commands_update`, `session_info_update` and `config_update` are sent.

        :param protocol_version: 2; version 1 needs no negotiation
        """
        result: NegotiateProtocolResult = self._command("negotiate_protocol", {"protocolVersion": protocol_version}, request_timeout)
        return result

    def subscribe(
        self,
        *,
        after: Optional[int] = None,
        request_timeout: Optional[float] = None,
    ) -> SubscribeResult:
        """Tells once more the events behind a number, directly behind the answer and under the numbers they had; after a restart of the process, too. Without `after` it only tells where the events stand.

        :param after: `seq` of the last event that the host has
        """
        result: SubscribeResult = self._command("subscribe", {**given({"after": after})}, request_timeout)
        return result

    def set_event_filter(
        self,
        events: Union[List[str], None],
        *,
        request_timeout: Optional[float] = None,
    ) -> SetEventFilterResult:
        """From now on only these events are sent; `null` is all of them. Responses and other frames come anyway, and so do `prompt_result`, `session_settled`, `extension_error` and the events of sub-agents that were asked for.

        :param events: types of events; one that does not exist is not missed
        """
        result: SetEventFilterResult = self._command("set_event_filter", {"events": events}, request_timeout)
        return result


class AsyncCommands:
    """The commands for asyncio."""

    async def _command(self, type_: str, fields: Dict[str, Any], timeout: Optional[float]) -> Any:
        raise NotImplementedError

    async def prompt(
        self,
        message: str,
        *,
        images: Optional[List[ImageContent]] = None,
        streaming_behavior: Optional[Literal["steer", "followUp"]] = None,
        limits: Optional[PromptLimits] = None,
        request_timeout: Optional[float] = None,
    ) -> Disposition:
        """Sends a user message and starts a run. Answered at once; the run is told by events.

        :param streaming_behavior: needed while a run is active: into which queue the message goes
        """
        result: Disposition = await self._command("prompt", {"message": message, **given({"images": images, "streamingBehavior": streaming_behavior, "limits": limits})}, request_timeout)
        return result

    async def steer(
        self,
        message: str,
        *,
        images: Optional[List[ImageContent]] = None,
        request_timeout: Optional[float] = None,
    ) -> Disposition:
        """Queues a message that changes the course of the active run; idle, it waits for the next prompt."""
        result: Disposition = await self._command("steer", {"message": message, **given({"images": images})}, request_timeout)
        return result

    async def follow_up(
        self,
        message: str,
        *,
        images: Optional[List[ImageContent]] = None,
        request_timeout: Optional[float] = None,
    ) -> Disposition:
        """Queues a message for when the active run would stop; idle, it waits for the next prompt."""
        result: Disposition = await self._command("follow_up", {"message": message, **given({"images": images})}, request_timeout)
        return result

    async def abort(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Ends the active run. Answered after the last event of that run; a success also when nothing runs."""
        await self._command("abort", {}, request_timeout)

    async def abort_and_prompt(
        self,
        message: str,
        *,
        images: Optional[List[ImageContent]] = None,
        request_timeout: Optional[float] = None,
    ) -> Disposition:
        """Ends the active run, then sends a new message. Answered after the old run's last event."""
        result: Disposition = await self._command("abort_and_prompt", {"message": message, **given({"images": images})}, request_timeout)
        return result

    async def get_state(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> SessionState:
        """Tells the model, the modes and what is going on."""
        result: SessionState = await self._command("get_state", {}, request_timeout)
        return result

    async def get_context(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetContextResult:
        """Tells what the model will see with the next prompt: each part, how large it is and why it is there."""
        result: GetContextResult = await self._command("get_context", {}, request_timeout)
        return result

    async def get_capabilities(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> Capabilities:
        """Tells which commands and events this process has, its dialect and its limits."""
        result: Capabilities = await self._command("get_capabilities", {}, request_timeout)
        return result

    async def set_update_mode(
        self,
        mode: UpdateMode,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Chooses whether `message_update` repeats the message so far (`snapshot`) or only the new piece (`delta`)."""
        await self._command("set_update_mode", {"mode": mode}, request_timeout)

    async def get_messages(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetMessagesResult:
        """Lists the messages of the conversation as it stands."""
        result: GetMessagesResult = await self._command("get_messages", {}, request_timeout)
        return result

    async def get_messages_page(
        self,
        *,
        cursor: Optional[str] = None,
        limit: Optional[float] = None,
        request_timeout: Optional[float] = None,
    ) -> GetMessagesPageResult:
        """Lists some of the messages of the conversation, oldest first.

        :param cursor: `nextCursor` of the page before
        :param limit: 1 to 256, 100 when absent; a page has at most 768 KiB
        """
        result: GetMessagesPageResult = await self._command("get_messages_page", {**given({"cursor": cursor, "limit": limit})}, request_timeout)
        return result

    async def get_last_assistant_text(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetLastAssistantTextResult:
        """Tells the text of the last assistant message."""
        result: GetLastAssistantTextResult = await self._command("get_last_assistant_text", {}, request_timeout)
        return result

    async def set_model(
        self,
        provider: str,
        model_id: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> Model:
        """Switches to a model that has credentials; the next model call uses it."""
        result: Model = await self._command("set_model", {"provider": provider, "modelId": model_id}, request_timeout)
        return result

    async def cycle_model(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> Union[CycleModelResult, None]:
        """Switches to the next model of the list, or answers `null` when there is no other."""
        result: Union[CycleModelResult, None] = await self._command("cycle_model", {}, request_timeout)
        return result

    async def get_available_models(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetAvailableModelsResult:
        """Lists the models that could be used now."""
        result: GetAvailableModelsResult = await self._command("get_available_models", {}, request_timeout)
        return result

    async def set_fast_mode(
        self,
        enabled: bool,
        *,
        request_timeout: Optional[float] = None,
    ) -> SetFastModeResult:
        """Turns the faster service of a model on or off. No model has one here: it can only be turned off."""
        result: SetFastModeResult = await self._command("set_fast_mode", {"enabled": enabled}, request_timeout)
        return result

    async def set_thinking_level(
        self,
        level: ThinkingLevel,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Sets how much the model may think, clamped to what it supports."""
        await self._command("set_thinking_level", {"level": level}, request_timeout)

    async def cycle_thinking_level(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> Union[CycleThinkingLevelResult, None]:
        """Goes to the next level the model supports, or answers `null` when it cannot think."""
        result: Union[CycleThinkingLevelResult, None] = await self._command("cycle_thinking_level", {}, request_timeout)
        return result

    async def get_available_thinking_levels(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetAvailableThinkingLevelsResult:
        """Lists the levels the current model supports."""
        result: GetAvailableThinkingLevelsResult = await self._command("get_available_thinking_levels", {}, request_timeout)
        return result

    async def set_steering_mode(
        self,
        mode: QueueMode,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Chooses whether queued `steer` messages are delivered one per turn or all together."""
        await self._command("set_steering_mode", {"mode": mode}, request_timeout)

    async def set_follow_up_mode(
        self,
        mode: QueueMode,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Chooses whether queued `follow_up` messages are delivered one per stop or all together."""
        await self._command("set_follow_up_mode", {"mode": mode}, request_timeout)

    async def set_interrupt_mode(
        self,
        mode: InterruptMode,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Chooses whether steering skips the remaining tool calls of a turn (`immediate`) or waits for its end."""
        await self._command("set_interrupt_mode", {"mode": mode}, request_timeout)

    async def clear_queue(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> ClearQueueResult:
        """Removes all queued messages and gives their texts back."""
        result: ClearQueueResult = await self._command("clear_queue", {}, request_timeout)
        return result

    async def compact(
        self,
        *,
        custom_instructions: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> CompactionResult:
        """Replaces the older part of the conversation by a summary.

        :param custom_instructions: what the summary shall pay attention to
        """
        result: CompactionResult = await self._command("compact", {**given({"customInstructions": custom_instructions})}, request_timeout)
        return result

    async def set_auto_compaction(
        self,
        enabled: bool,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Turns compaction by itself, when the context is nearly full, on or off."""
        await self._command("set_auto_compaction", {"enabled": enabled}, request_timeout)

    async def handoff(
        self,
        *,
        custom_instructions: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> Union[HandoffResult, None]:
        """Writes down what somebody needs who goes on with the work, and goes on in a new session that begins with it. The old session stays as it is.

        :param custom_instructions: what the notes shall pay attention to
        """
        result: Union[HandoffResult, None] = await self._command("handoff", {**given({"customInstructions": custom_instructions})}, request_timeout)
        return result

    async def set_auto_retry(
        self,
        enabled: bool,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Turns retrying after passing provider errors (overload, rate limit, 5xx) on or off."""
        await self._command("set_auto_retry", {"enabled": enabled}, request_timeout)

    async def abort_retry(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Gives up a retry that is being waited for; a success also when there is none."""
        await self._command("abort_retry", {}, request_timeout)

    async def bash(
        self,
        command: str,
        *,
        exclude_from_context: Optional[bool] = None,
        request_timeout: Optional[float] = None,
    ) -> BashResult:
        """Runs a shell command in the session's folder; the model sees the output with the next prompt.

        :param exclude_from_context: the model never sees it
        """
        result: BashResult = await self._command("bash", {"command": command, **given({"excludeFromContext": exclude_from_context})}, request_timeout)
        return result

    async def abort_bash(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Ends every shell command started by `bash`; a success also when there is none."""
        await self._command("abort_bash", {}, request_timeout)

    async def new_session(
        self,
        *,
        parent_session: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> NewSessionResult:
        """Starts an empty session; a run that is active is aborted first.

        :param parent_session: path that is noted as the origin
        """
        result: NewSessionResult = await self._command("new_session", {**given({"parentSession": parent_session})}, request_timeout)
        return result

    async def get_session_stats(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> SessionStats:
        """Counts messages, tokens and dollars of the whole session file, on all branches."""
        result: SessionStats = await self._command("get_session_stats", {}, request_timeout)
        return result

    async def export_html(
        self,
        *,
        output_path: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> ExportHtmlResult:
        """Writes the session as an HTML page and tells where."""
        result: ExportHtmlResult = await self._command("export_html", {**given({"outputPath": output_path})}, request_timeout)
        return result

    async def switch_session(
        self,
        session_path: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> SwitchSessionResult:
        """Opens another session file; a path that does not exist starts a session there."""
        result: SwitchSessionResult = await self._command("switch_session", {"sessionPath": session_path}, request_timeout)
        return result

    async def open_session(
        self,
        session_dir: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> OpenSessionResult:
        """Goes on with the latest session of a folder, or begins one there; later sessions of this process lie there too."""
        result: OpenSessionResult = await self._command("open_session", {"sessionDir": session_dir}, request_timeout)
        return result

    async def fork(
        self,
        entry_id: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> ForkResult:
        """Starts a new session that ends just before an earlier user message.

        :param entry_id: of a user message
        """
        result: ForkResult = await self._command("fork", {"entryId": entry_id}, request_timeout)
        return result

    async def get_fork_messages(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetForkMessagesResult:
        """Lists the user messages that `fork` accepts."""
        result: GetForkMessagesResult = await self._command("get_fork_messages", {}, request_timeout)
        return result

    async def branch(
        self,
        entry_id: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> BranchResult:
        """The same as `fork`, under the name that omp and xcsh use.

        :param entry_id: of a user message
        """
        result: BranchResult = await self._command("branch", {"entryId": entry_id}, request_timeout)
        return result

    async def get_branch_messages(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetBranchMessagesResult:
        """Lists the user messages that `branch` accepts."""
        result: GetBranchMessagesResult = await self._command("get_branch_messages", {}, request_timeout)
        return result

    async def clone(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> CloneResult:
        """Copies the current conversation into a new session and goes on there."""
        result: CloneResult = await self._command("clone", {}, request_timeout)
        return result

    async def set_session_name(
        self,
        name: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Gives the session a name that people can read.

        :param name: not empty
        """
        await self._command("set_session_name", {"name": name}, request_timeout)

    async def get_entries(
        self,
        *,
        since: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> GetEntriesResult:
        """Lists the entries of the session file, all or those after one that is known already.

        :param since: entry id
        """
        result: GetEntriesResult = await self._command("get_entries", {**given({"since": since})}, request_timeout)
        return result

    async def get_tree(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetTreeResult:
        """Tells the session as a tree of entries."""
        result: GetTreeResult = await self._command("get_tree", {}, request_timeout)
        return result

    async def navigate_tree(
        self,
        entry_id: str,
        *,
        summarize: Optional[bool] = None,
        custom_instructions: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> NavigateTreeResult:
        """Goes on from another entry of the same session; from a user message: from just before it, to ask differently.

        :param summarize: tell the model what happened on the branch that is left
        :param custom_instructions: what the summary shall pay attention to
        """
        result: NavigateTreeResult = await self._command("navigate_tree", {"entryId": entry_id, **given({"summarize": summarize, "customInstructions": custom_instructions})}, request_timeout)
        return result

    async def set_label(
        self,
        entry_id: str,
        *,
        label: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> None:
        """Gives an entry a label that people can find it by; without a label takes it away."""
        await self._command("set_label", {"entryId": entry_id, **given({"label": label})}, request_timeout)

    async def list_sessions(
        self,
        *,
        scope: Optional[Literal["cwd", "all"]] = None,
        text: Optional[str] = None,
        name: Optional[str] = None,
        cwd: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        request_timeout: Optional[float] = None,
    ) -> ListSessionsResult:
        """Lists session files, the latest first.

        :param scope: those of this working folder (the default), or of all
        :param text: only those in which somebody said this
        :param name: only those with this in their name
        :param cwd: only those of this folder
        :param limit: at most 200; 50 when absent
        :param cursor: `nextCursor` of the page before
        """
        result: ListSessionsResult = await self._command("list_sessions", {**given({"scope": scope, "text": text, "name": name, "cwd": cwd, "limit": limit, "cursor": cursor})}, request_timeout)
        return result

    async def delete_session(
        self,
        session_path: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> DeleteSessionResult:
        """Moves a session file, with those of its sub-agents, to the trash of the agent folder. Not the one that is open."""
        result: DeleteSessionResult = await self._command("delete_session", {"sessionPath": session_path}, request_timeout)
        return result

    async def get_commands(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetCommandsResult:
        """Lists what a prompt can call with a slash: extension commands, prompt templates, skills."""
        result: GetCommandsResult = await self._command("get_commands", {}, request_timeout)
        return result

    async def get_available_commands(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetAvailableCommandsResult:
        """The same list in the form that omp has for it."""
        result: GetAvailableCommandsResult = await self._command("get_available_commands", {}, request_timeout)
        return result

    async def set_todos(
        self,
        phases: List[TodoPhaseInput],
        *,
        request_timeout: Optional[float] = None,
    ) -> SetTodosResult:
        """Replaces the plan and answers with it in its normal form."""
        result: SetTodosResult = await self._command("set_todos", {"phases": phases}, request_timeout)
        return result

    async def set_host_tools(
        self,
        tools: List[Any],
        *,
        request_timeout: Optional[float] = None,
    ) -> SetHostToolsResult:
        """Replaces the tools that the host runs; they are offered to the model from its next call on."""
        result: SetHostToolsResult = await self._command("set_host_tools", {"tools": tools}, request_timeout)
        return result

    async def get_subagents(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetSubagentsResult:
        """Tells the sub-agents of this session that this process has started, also those that have ended."""
        result: GetSubagentsResult = await self._command("get_subagents", {}, request_timeout)
        return result

    async def get_subagent_messages(
        self,
        *,
        subagent_id: Optional[str] = None,
        session_file: Optional[str] = None,
        from_byte: Optional[Any] = None,
        request_timeout: Optional[float] = None,
    ) -> GetSubagentMessagesResult:
        """Reads the conversation of a sub-agent from a place on. Ask again with `nextByte` for what has come since; a long one is told in several answers.

        :param session_file: instead of `subagentId`
        :param from_byte: a number; 0 if left out
        """
        result: GetSubagentMessagesResult = await self._command("get_subagent_messages", {**given({"subagentId": subagent_id, "sessionFile": session_file, "fromByte": from_byte})}, request_timeout)
        return result

    async def set_subagent_subscription(
        self,
        level: Any,
        *,
        request_timeout: Optional[float] = None,
    ) -> SetSubagentSubscriptionResult:
        """Chooses what is told of sub-agents beside the updates of the tool call: nothing (`off`, as at the start), how they are getting on (`progress`), or all their events too (`events`).

        :param level: `off`, `progress` or `events`
        """
        result: SetSubagentSubscriptionResult = await self._command("set_subagent_subscription", {"level": level}, request_timeout)
        return result

    async def set_host_uri_schemes(
        self,
        schemes: List[Any],
        *,
        request_timeout: Optional[float] = None,
    ) -> SetHostUriSchemesResult:
        """Replaces the URL schemes behind which the host has something to read, and to write if it says so."""
        result: SetHostUriSchemesResult = await self._command("set_host_uri_schemes", {"schemes": schemes}, request_timeout)
        return result

    async def get_login_providers(
        self,
        *,
        request_timeout: Optional[float] = None,
    ) -> GetLoginProvidersResult:
        """Lists the providers that one can log in with. They come with extensions; providers with an API key need no login."""
        result: GetLoginProvidersResult = await self._command("get_login_providers", {}, request_timeout)
        return result

    async def login(
        self,
        provider_id: str,
        *,
        request_timeout: Optional[float] = None,
    ) -> LoginResult:
        """Logs in with a provider. The person is led by `extension_ui_request` frames (`notify` with the address, `input` for what the provider wants to know, open for ten minutes); the answer comes when it is done. `abort` gives it up."""
        result: LoginResult = await self._command("login", {"providerId": provider_id}, request_timeout)
        return result

    async def negotiate_protocol(
        self,
        protocol_version: float,
        *,
        request_timeout: Optional[float] = None,
    ) -> NegotiateProtocolResult:
        """Chooses protocol version 2. Frames longer than `maxFrameBytes` then come as `rpc_chunk` frames, and `available_commands_update`, `session_info_update` and `config_update` are sent.

        :param protocol_version: 2; version 1 needs no negotiation
        """
        result: NegotiateProtocolResult = await self._command("negotiate_protocol", {"protocolVersion": protocol_version}, request_timeout)
        return result

    async def subscribe(
        self,
        *,
        after: Optional[int] = None,
        request_timeout: Optional[float] = None,
    ) -> SubscribeResult:
        """Tells once more the events behind a number, directly behind the answer and under the numbers they had; after a restart of the process, too. Without `after` it only tells where the events stand.

        :param after: `seq` of the last event that the host has
        """
        result: SubscribeResult = await self._command("subscribe", {**given({"after": after})}, request_timeout)
        return result

    async def set_event_filter(
        self,
        events: Union[List[str], None],
        *,
        request_timeout: Optional[float] = None,
    ) -> SetEventFilterResult:
        """From now on only these events are sent; `null` is all of them. Responses and other frames come anyway, and so do `prompt_result`, `session_settled`, `extension_error` and the events of sub-agents that were asked for.

        :param events: types of events; one that does not exist is not missed
        """
        result: SetEventFilterResult = await self._command("set_event_filter", {"events": events}, request_timeout)
        return result
