# Written by `npm run generate` from the tables in packages/protocol/src. Do not edit.
"""The types of the protocol. On the wire all of them are plain dictionaries, lists and values."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union

__all__ = [
    "TextContent",
    "ThinkingContent",
    "ImageContent",
    "ToolCall",
    "UserContent",
    "AssistantContent",
    "Cost",
    "Usage",
    "StopReason",
    "UserMessage",
    "AssistantMessage",
    "ToolResultMessage",
    "BashExecutionMessage",
    "CustomMessage",
    "BranchSummaryMessage",
    "CompactionSummaryMessage",
    "AgentMessage",
    "PartialAssistant",
    "AssistantMessageEventStart",
    "AssistantMessageEventTextStart",
    "AssistantMessageEventTextDelta",
    "AssistantMessageEventTextEnd",
    "AssistantMessageEventThinkingStart",
    "AssistantMessageEventThinkingDelta",
    "AssistantMessageEventThinkingEnd",
    "AssistantMessageEventToolcallStart",
    "AssistantMessageEventToolcallDelta",
    "AssistantMessageEventToolcallEnd",
    "AssistantMessageEventDone",
    "AssistantMessageEventError",
    "AssistantMessageEvent",
    "ModelPromptCache",
    "Model",
    "ModelCost",
    "ThinkingLevel",
    "ToolResult",
    "JsonSchema",
    "QueueMode",
    "InterruptMode",
    "UpdateMode",
    "ContextUsage",
    "SessionStateRetry",
    "SessionState",
    "PendingDialog",
    "Disposition",
    "Limits",
    "Capabilities",
    "CompactionResult",
    "BashResult",
    "SessionStats",
    "SlashCommandSourceInfo",
    "SlashCommand",
    "AvailableCommandInput",
    "AvailableCommand",
    "TodoStatus",
    "TodoItem",
    "TodoItemInput",
    "TodoPhase",
    "TodoPhaseInput",
    "HostToolDefinition",
    "Subagent",
    "SubagentStatus",
    "SubagentProgress",
    "SubagentEvent",
    "SubagentLevel",
    "AgentSource",
    "HostUriScheme",
    "SessionHeader",
    "SessionEntry1",
    "SessionEntry2",
    "SessionEntry3",
    "SessionEntry4",
    "SessionEntry5",
    "SessionEntry6",
    "SessionEntry7",
    "SessionEntry8",
    "SessionEntry9",
    "SessionEntry10",
    "SessionEntry11",
    "SessionEntry12",
    "SessionEntry13",
    "SessionEntry14",
    "SessionEntry15",
    "SessionEntry16",
    "SessionEntry17",
    "SessionEntry18",
    "SessionEntry",
    "TreeNode",
    "PromptLimits",
    "GetContextResultPartsItemItemsItem",
    "GetContextResultPartsItem",
    "GetContextResultLeftOutItem",
    "GetContextResult",
    "GetMessagesResult",
    "GetMessagesPageResult",
    "GetLastAssistantTextResult",
    "CycleModelResult",
    "GetAvailableModelsResult",
    "SetFastModeResult",
    "CycleThinkingLevelResult",
    "GetAvailableThinkingLevelsResult",
    "ClearQueueResult",
    "HandoffResult",
    "NewSessionResult",
    "ExportHtmlResult",
    "SwitchSessionResult",
    "OpenSessionResult",
    "ForkResult",
    "GetForkMessagesResultMessagesItem",
    "GetForkMessagesResult",
    "BranchResult",
    "GetBranchMessagesResultMessagesItem",
    "GetBranchMessagesResult",
    "CloneResult",
    "GetEntriesResult",
    "GetTreeResult",
    "NavigateTreeResult",
    "ListSessionsResultSessionsItem",
    "ListSessionsResult",
    "DeleteSessionResult",
    "GetCommandsResult",
    "GetAvailableCommandsResult",
    "SetTodosResult",
    "SetHostToolsResult",
    "GetSubagentsResult",
    "GetSubagentMessagesResult",
    "SetSubagentSubscriptionResult",
    "SetHostUriSchemesResult",
    "GetLoginProvidersResultProvidersItem",
    "GetLoginProvidersResult",
    "LoginResult",
    "NegotiateProtocolResult",
    "SubscribeResult",
    "SetEventFilterResult",
    "AgentStartEvent",
    "AgentEndEvent",
    "AgentSettledEvent",
    "TurnStartEvent",
    "TurnEndEvent",
    "PromptResultEventError",
    "PromptResultEventLimit",
    "PromptResultEvent",
    "SessionSettledEvent",
    "MessageStartEvent",
    "MessageUpdateEvent",
    "MessageEndEvent",
    "ToolExecutionStartEvent",
    "ToolExecutionUpdateEvent",
    "ToolExecutionEndEvent",
    "AutoCompactionStartEvent",
    "AutoCompactionEndEvent",
    "CompactionStartEvent",
    "CompactionEndEvent",
    "AutoRetryStartEvent",
    "AutoRetryEndEvent",
    "QueueUpdateEvent",
    "ThinkingLevelChangedEvent",
    "SessionInfoChangedEvent",
    "EntryAppendedEvent",
    "BashExecutionUpdateEvent",
    "NoticeEvent",
    "ExtensionErrorEvent",
    "TtsrTriggeredEventRulesItemSource",
    "TtsrTriggeredEventRulesItem",
    "TtsrTriggeredEvent",
    "TodoReminderEvent",
    "TodoAutoClearEvent",
    "SubagentLifecycleEvent",
    "SubagentProgressEvent",
    "SubagentEventEvent",
    "Event",
    "ReadyFrame",
    "ResponseFrame1",
    "ResponseFrame2",
    "ResponseFrame",
    "RpcChunkFrame",
    "RpcFrameErrorFrame",
    "AvailableCommandsUpdateFrame",
    "SessionInfoUpdateFrame",
    "ConfigUpdateFrame",
    "ExtensionUiRequestFrameSelectOptionDetailsItem",
    "ExtensionUiRequestFrameSelect",
    "ExtensionUiRequestFrameConfirm",
    "ExtensionUiRequestFrameInput",
    "ExtensionUiRequestFrameEditor",
    "ExtensionUiRequestFrameCancel",
    "ExtensionUiRequestFrameNotify",
    "ExtensionUiRequestFrameSetStatus",
    "ExtensionUiRequestFrameSetWidget",
    "ExtensionUiRequestFrameSetTitle",
    "ExtensionUiRequestFrameSetEditorText",
    "ExtensionUiRequestFrame",
    "ExtensionUiResponseFrame1",
    "ExtensionUiResponseFrame2",
    "ExtensionUiResponseFrame3",
    "ExtensionUiResponseFrame",
    "HostToolCallFrame",
    "HostToolCancelFrame",
    "HostToolUpdateFrame",
    "HostToolResultFrame",
    "HostUriRequestFrame",
    "HostUriCancelFrame",
    "HostUriResultFrame",
    "Notification",
]


class _TextContent(TypedDict):
    type: Literal["text"]
    text: str


class TextContent(_TextContent, total=False):
    """`TextContent` on the wire."""

    textSignature: str


class _ThinkingContent(TypedDict):
    type: Literal["thinking"]
    thinking: str


class ThinkingContent(_ThinkingContent, total=False):
    """`ThinkingContent` on the wire."""

    thinkingSignature: str
    redacted: bool


class ImageContent(TypedDict):
    """`ImageContent` on the wire."""

    type: Literal["image"]
    #: base64
    data: str
    mimeType: str


class _ToolCall(TypedDict):
    type: Literal["toolCall"]
    id: str
    name: str
    arguments: JsonSchema


class ToolCall(_ToolCall, total=False):
    """`ToolCall` on the wire."""

    thoughtSignature: str


UserContent = Union["TextContent", "ImageContent"]


AssistantContent = Union["TextContent", "ThinkingContent", "ToolCall"]


class Cost(TypedDict):
    """`Cost` on the wire."""

    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    total: float


class _Usage(TypedDict):
    #: tokens, without the cached ones
    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    totalTokens: float
    cost: Cost


class Usage(_Usage, total=False):
    """`Usage` on the wire."""

    #: the part of cacheWrite that is kept for an hour
    cacheWrite1h: float
    #: the part of output that was thought
    reasoning: float


StopReason = Literal["stop", "length", "toolUse", "error", "aborted"]


class UserMessage(TypedDict):
    """`UserMessage` on the wire."""

    role: Literal["user"]
    content: Union[str, List[UserContent]]
    timestamp: float


class _AssistantMessage(TypedDict):
    role: Literal["assistant"]
    content: List[AssistantContent]
    api: str
    provider: str
    model: str
    usage: Usage
    stopReason: StopReason
    timestamp: float


class AssistantMessage(_AssistantMessage, total=False):
    """`AssistantMessage` on the wire."""

    errorMessage: str
    responseId: str
    #: the model that answered, when it is not the one asked
    responseModel: str


class _ToolResultMessage(TypedDict):
    role: Literal["toolResult"]
    toolCallId: str
    toolName: str
    content: List[UserContent]
    isError: bool
    timestamp: float


class ToolResultMessage(_ToolResultMessage, total=False):
    """`ToolResultMessage` on the wire."""

    details: Any


class _BashExecutionMessage(TypedDict):
    role: Literal["bashExecution"]
    command: str
    output: str
    cancelled: bool
    truncated: bool
    timestamp: float


class BashExecutionMessage(_BashExecutionMessage, total=False):
    """`BashExecutionMessage` on the wire."""

    exitCode: float
    fullOutputPath: str
    excludeFromContext: bool


class _CustomMessage(TypedDict):
    role: Literal["custom"]
    customType: str
    content: Union[str, List[UserContent]]
    display: bool
    timestamp: float


class CustomMessage(_CustomMessage, total=False):
    """`CustomMessage` on the wire."""

    details: Any


class BranchSummaryMessage(TypedDict):
    """`BranchSummaryMessage` on the wire."""

    role: Literal["branchSummary"]
    summary: str
    fromId: str
    timestamp: float


class CompactionSummaryMessage(TypedDict):
    """`CompactionSummaryMessage` on the wire."""

    role: Literal["compactionSummary"]
    summary: str
    tokensBefore: float
    timestamp: float


AgentMessage = Union["UserMessage", "AssistantMessage", "ToolResultMessage", "BashExecutionMessage", "CustomMessage", "BranchSummaryMessage", "CompactionSummaryMessage"]


class PartialAssistant(TypedDict):
    """`PartialAssistant` on the wire."""

    role: Literal["assistant"]
    content: List[Any]


class AssistantMessageEventStart(TypedDict):
    """`AssistantMessageEventStart` on the wire."""

    type: Literal["start"]
    partial: PartialAssistant


class AssistantMessageEventTextStart(TypedDict):
    """`AssistantMessageEventTextStart` on the wire."""

    type: Literal["text_start"]
    contentIndex: int
    partial: PartialAssistant


class AssistantMessageEventTextDelta(TypedDict):
    """`AssistantMessageEventTextDelta` on the wire."""

    type: Literal["text_delta"]
    contentIndex: int
    delta: str
    partial: PartialAssistant


class AssistantMessageEventTextEnd(TypedDict):
    """`AssistantMessageEventTextEnd` on the wire."""

    type: Literal["text_end"]
    contentIndex: int
    content: str
    partial: PartialAssistant


class AssistantMessageEventThinkingStart(TypedDict):
    """`AssistantMessageEventThinkingStart` on the wire."""

    type: Literal["thinking_start"]
    contentIndex: int
    partial: PartialAssistant


class AssistantMessageEventThinkingDelta(TypedDict):
    """`AssistantMessageEventThinkingDelta` on the wire."""

    type: Literal["thinking_delta"]
    contentIndex: int
    delta: str
    partial: PartialAssistant


class AssistantMessageEventThinkingEnd(TypedDict):
    """`AssistantMessageEventThinkingEnd` on the wire."""

    type: Literal["thinking_end"]
    contentIndex: int
    content: str
    partial: PartialAssistant


class AssistantMessageEventToolcallStart(TypedDict):
    """`AssistantMessageEventToolcallStart` on the wire."""

    type: Literal["toolcall_start"]
    contentIndex: int
    id: str
    toolName: str
    partial: PartialAssistant


class AssistantMessageEventToolcallDelta(TypedDict):
    """`AssistantMessageEventToolcallDelta` on the wire."""

    type: Literal["toolcall_delta"]
    contentIndex: int
    delta: str
    partial: PartialAssistant


class AssistantMessageEventToolcallEnd(TypedDict):
    """`AssistantMessageEventToolcallEnd` on the wire."""

    type: Literal["toolcall_end"]
    contentIndex: int
    toolCall: ToolCall
    partial: PartialAssistant


class AssistantMessageEventDone(TypedDict):
    """`AssistantMessageEventDone` on the wire."""

    type: Literal["done"]
    reason: Literal["stop", "length", "toolUse"]
    message: AssistantMessage


class AssistantMessageEventError(TypedDict):
    """`AssistantMessageEventError` on the wire."""

    type: Literal["error"]
    reason: Literal["aborted", "error"]
    error: AssistantMessage


AssistantMessageEvent = Union["AssistantMessageEventStart", "AssistantMessageEventTextStart", "AssistantMessageEventTextDelta", "AssistantMessageEventTextEnd", "AssistantMessageEventThinkingStart", "AssistantMessageEventThinkingDelta", "AssistantMessageEventThinkingEnd", "AssistantMessageEventToolcallStart", "AssistantMessageEventToolcallDelta", "AssistantMessageEventToolcallEnd", "AssistantMessageEventDone", "AssistantMessageEventError"]


class ModelPromptCache(TypedDict, total=False):
    """`ModelPromptCache` on the wire."""

    short: float
    long: float


class _Model(TypedDict):
    id: str
    name: str
    api: str
    provider: str
    baseUrl: str
    reasoning: bool
    input: List[Literal["text", "image"]]
    cost: ModelCost
    contextWindow: float
    maxTokens: float


class Model(_Model, total=False):
    """`Model` on the wire."""

    costTiers: List[Any]
    promptCache: ModelPromptCache
    thinkingLevelMap: Dict[str, Any]
    compat: JsonSchema


class ModelCost(TypedDict):
    """`ModelCost` on the wire."""

    input: float
    output: float
    cacheRead: float
    cacheWrite: float


ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh"]


class _ToolResult(TypedDict):
    content: List[UserContent]


class ToolResult(_ToolResult, total=False):
    """`ToolResult` on the wire."""

    details: Any


#: a JSON Schema object
JsonSchema = Dict[str, Any]


QueueMode = Literal["all", "one-at-a-time"]


InterruptMode = Literal["immediate", "wait"]


UpdateMode = Literal["snapshot", "delta"]


class ContextUsage(TypedDict):
    """`ContextUsage` on the wire."""

    #: null right after a compaction: not known yet
    tokens: Union[float, None]
    contextWindow: float
    percent: Union[float, None]


class SessionStateRetry(TypedDict):
    """present while waiting for a retry"""

    attempt: int
    #: Unix milliseconds of the next attempt
    until: float


class _SessionState(TypedDict):
    #: null when no model is usable
    model: Union[Model, None]
    thinkingLevel: ThinkingLevel
    #: true from the acceptance of a prompt until its agent_end without a retry
    isStreaming: bool
    isCompacting: bool
    #: nothing runs, nothing will start by itself, and no message is queued
    isSettled: bool
    #: background jobs are running, or their results are not in the conversation yet
    hasPendingAsyncWork: bool
    steeringMode: QueueMode
    followUpMode: QueueMode
    interruptMode: InterruptMode
    sessionId: str
    autoCompactionEnabled: bool
    messageCount: int
    #: queued messages that were not delivered yet
    pendingMessageCount: int
    #: the same number, under the name that omp and xcsh use
    queuedMessageCount: int
    todoPhases: List[TodoPhase]


class SessionState(_SessionState, total=False):
    """`SessionState` on the wire."""

    #: absent with --no-session
    sessionFile: str
    #: absent when no name was set
    sessionName: str
    autoRetryEnabled: bool
    contextUsage: ContextUsage
    #: the process that ran the last prompt of this session was cut off; the next prompt goes on from there
    lastRunInterrupted: Literal[True]
    #: present while waiting for a retry
    retry: SessionStateRetry
    #: dialogs of extensions that wait for an answer, oldest first; absent when there are none
    pendingDialogs: List[PendingDialog]


class _PendingDialog(TypedDict):
    #: of the request; the answer repeats it
    id: str
    method: Literal["select", "confirm", "input", "editor"]
    title: str
    #: Unix milliseconds
    openedAt: float


class PendingDialog(_PendingDialog, total=False):
    """`PendingDialog` on the wire."""

    message: str
    options: List[str]
    placeholder: str
    prefill: str
    #: milliseconds until the default answer is taken
    timeout: float


class _Disposition(TypedDict):
    disposition: Literal["started", "queued", "handled"]


class Disposition(_Disposition, total=False):
    """`Disposition` on the wire."""

    #: present when no model will be asked
    agentInvoked: Literal[False]


class Limits(TypedDict):
    """`Limits` on the wire."""

    #: longest line read from stdin
    maxLineBytes: int
    #: a longer frame comes in chunks, once that is negotiated
    maxFrameBytes: int
    #: longest frame that comes in chunks
    maxReassembledFrameBytes: int


class Capabilities(TypedDict):
    """`Capabilities` on the wire."""

    #: of the program
    version: str
    dialect: str
    #: 2 once that is negotiated
    protocolVersion: int
    supportedProtocolVersions: List[int]
    #: that work in this release
    commands: List[str]
    #: that this process may send: those of its dialect
    events: List[str]
    limits: Limits


class _CompactionResult(TypedDict):
    summary: str
    firstKeptEntryId: str
    tokensBefore: float


class CompactionResult(_CompactionResult, total=False):
    """`CompactionResult` on the wire."""

    #: by default the files read and modified
    details: Any
    #: of the summary and the messages that are kept
    estimatedTokensAfter: float
    usage: Usage


class _BashResult(TypedDict):
    #: stdout and stderr as they came, readable; the end of it when truncated
    output: str
    #: ended by `abort_bash`, or because the process ends
    cancelled: bool
    #: `output` is not all of it
    truncated: bool


class BashResult(_BashResult, total=False):
    """`BashResult` on the wire."""

    #: absent when the command was killed
    exitCode: int
    #: of a file with all of it; absent when there was no room for it
    fullOutputPath: str
    totalLines: int
    totalBytes: int
    outputLines: int
    outputBytes: int
    #: of the full output, where a system keeps artifacts
    artifactId: str
    #: in which the next command starts
    workingDir: str
    #: the same, where a `cd` survives
    newCwd: str


class _SessionStats(TypedDict):
    sessionId: str
    userMessages: int
    assistantMessages: int
    toolCalls: int
    toolResults: int
    totalMessages: int
    tokens: Cost
    #: dollars
    cost: float
    #: none are counted here; xcsh has the field
    premiumRequests: float


class SessionStats(_SessionStats, total=False):
    """`SessionStats` on the wire."""

    sessionFile: str
    contextUsage: ContextUsage


class _SlashCommandSourceInfo(TypedDict):
    path: str
    source: str
    scope: Literal["user", "project", "temporary"]
    origin: Literal["package", "top-level"]


class SlashCommandSourceInfo(_SlashCommandSourceInfo, total=False):
    """`SlashCommandSourceInfo` on the wire."""

    #: the folder that was searched
    baseDir: str


class _SlashCommand(TypedDict):
    name: str
    source: Literal["extension", "prompt", "skill"]


class SlashCommand(_SlashCommand, total=False):
    """`SlashCommand` on the wire."""

    description: str
    location: Literal["user", "project", "path"]
    path: str
    sourceInfo: SlashCommandSourceInfo


class AvailableCommandInput(TypedDict, total=False):
    """`AvailableCommandInput` on the wire."""

    hint: str


class _AvailableCommand(TypedDict):
    name: str
    source: Literal["extension", "prompt", "skill"]


class AvailableCommand(_AvailableCommand, total=False):
    """`AvailableCommand` on the wire."""

    description: str
    input: AvailableCommandInput


TodoStatus = Literal["pending", "in_progress", "completed", "abandoned"]


class _TodoItem(TypedDict):
    id: str
    content: str
    status: TodoStatus


class TodoItem(_TodoItem, total=False):
    """`TodoItem` on the wire."""

    notes: str


class _TodoItemInput(TypedDict):
    content: str


class TodoItemInput(_TodoItemInput, total=False):
    """`TodoItemInput` on the wire."""

    id: Union[str, None]
    status: Union[Literal["pending", "in_progress", "completed", "abandoned"], None]
    notes: Union[str, None]


class TodoPhase(TypedDict):
    """`TodoPhase` on the wire."""

    id: str
    name: str
    tasks: List[TodoItem]


class _TodoPhaseInput(TypedDict):
    name: str
    tasks: List[TodoItemInput]


class TodoPhaseInput(_TodoPhaseInput, total=False):
    """`TodoPhaseInput` on the wire."""

    id: Union[str, None]


class _HostToolDefinition(TypedDict):
    #: unique, not empty, not the name of another tool
    name: str
    #: what the model is told, not empty
    description: str
    #: a JSON Schema object
    parameters: JsonSchema


class HostToolDefinition(_HostToolDefinition, total=False):
    """`HostToolDefinition` on the wire."""

    label: Union[str, None]
    #: registered but not active
    hidden: Union[bool, None]
    #: how long the host may take; without it as long as it likes
    timeoutMs: Union[float, None]


class _Subagent(TypedDict):
    #: unique in the session
    id: str
    #: its place in the tool call, from 0
    index: int
    agent: str
    agentSource: AgentSource
    status: SubagentStatus
    #: Unix milliseconds
    lastUpdate: float


class Subagent(_Subagent, total=False):
    """`Subagent` on the wire."""

    #: absent when sessions are kept in memory
    sessionFile: str
    parentToolCallId: str
    #: of the sub-agent that has started it; absent for the main agent
    parentId: str
    #: of the task, in a few words
    description: str
    #: everything that it was told
    task: str
    #: the part of it that is about this task alone
    assignment: str
    progress: SubagentProgress
    #: why it failed or was aborted
    error: str


SubagentStatus = Literal["pending", "running", "completed", "failed", "aborted"]


class _SubagentProgress(TypedDict):
    turns: int
    toolCalls: int
    tokens: float
    #: dollars
    cost: float
    durationMs: float


class SubagentProgress(_SubagentProgress, total=False):
    """`SubagentProgress` on the wire."""

    #: the tool that is running
    currentTool: str


class _SubagentEvent(TypedDict):
    #: unique in the session
    id: str
    #: its place in the tool call, from 0
    index: int
    agent: str
    agentSource: AgentSource
    #: an event as the main agent has them, with its `type`; message_update as in the mode `delta`
    event: Any


class SubagentEvent(_SubagentEvent, total=False):
    """`SubagentEvent` on the wire."""

    #: absent when sessions are kept in memory
    sessionFile: str
    parentToolCallId: str
    #: of the sub-agent that has started it; absent for the main agent
    parentId: str


SubagentLevel = Literal["off", "progress", "events"]


AgentSource = Literal["bundled", "user", "project", "inline"]


class _HostUriScheme(TypedDict):
    #: the part before `://`: a letter, then letters, digits, `+`, `.` and `-`
    scheme: str


class HostUriScheme(_HostUriScheme, total=False):
    """`HostUriScheme` on the wire."""

    #: what the model is told of it
    description: Union[str, None]
    #: the tool write may be used on it
    writable: Union[bool, None]
    #: what is there never changes
    immutable: Union[bool, None]
    #: how long the host may take; without it as long as it likes
    timeoutMs: Union[float, None]


class _SessionHeader(TypedDict):
    type: Literal["session"]
    #: 3 in what we write
    version: int
    #: UUID
    id: str
    #: ISO 8601
    timestamp: str
    #: the folder the session works in
    cwd: str


class SessionHeader(_SessionHeader, total=False):
    """`SessionHeader` on the wire."""

    #: path of the file this one was forked from, or of the session that has started this sub-agent
    parentSession: str
    #: the name, where omp and xcsh keep it
    title: str
    #: omp, xcsh: `auto` or `user`
    titleSource: str


class SessionEntry1(TypedDict):
    """`SessionEntry1` on the wire."""

    type: Literal["message"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    message: AgentMessage


class _SessionEntry2(TypedDict):
    type: Literal["thinking_level_change"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str


class SessionEntry2(_SessionEntry2, total=False):
    """`SessionEntry2` on the wire."""

    #: absent: the default of whoever reads it
    thinkingLevel: str


class _SessionEntry3(TypedDict):
    type: Literal["model_change"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    provider: str
    modelId: str


class SessionEntry3(_SessionEntry3, total=False):
    """`SessionEntry3` on the wire."""

    #: `provider/modelId`, which is where omp and xcsh look
    model: str
    #: omp, xcsh: what it is used for; `default` when absent
    role: str


class _SessionEntry4(TypedDict):
    type: Literal["compaction"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    summary: str
    #: the model sees what follows from this entry on
    firstKeptEntryId: str
    tokensBefore: float


class SessionEntry4(_SessionEntry4, total=False):
    """`SessionEntry4` on the wire."""

    #: whatever the maker of the summary wants to keep
    details: Any
    #: an extension made it
    fromHook: bool
    #: the name omp and xcsh have for `fromHook`
    fromExtension: bool
    usage: Usage
    #: omp, xcsh
    shortSummary: str
    #: omp, xcsh
    preserveData: Any


class _SessionEntry5(TypedDict):
    type: Literal["branch_summary"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    #: where that branch begins: the entry gone back to, or `root`
    fromId: str
    summary: str


class SessionEntry5(_SessionEntry5, total=False):
    """`SessionEntry5` on the wire."""

    #: whatever the maker of the summary wants to keep
    details: Any
    usage: Usage
    #: an extension made it
    fromHook: bool
    #: the name omp and xcsh have for `fromHook`
    fromExtension: bool


class _SessionEntry6(TypedDict):
    type: Literal["custom"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    customType: str


class SessionEntry6(_SessionEntry6, total=False):
    """`SessionEntry6` on the wire."""

    data: Any


class _SessionEntry7(TypedDict):
    type: Literal["custom_message"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    customType: str
    content: Union[str, List[UserContent]]
    #: whether people are shown it
    display: bool


class SessionEntry7(_SessionEntry7, total=False):
    """`SessionEntry7` on the wire."""

    details: Any


class _SessionEntry8(TypedDict):
    type: Literal["label"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    targetId: str


class SessionEntry8(_SessionEntry8, total=False):
    """`SessionEntry8` on the wire."""

    #: absent or empty takes the name away
    label: str


class _SessionEntry9(TypedDict):
    type: Literal["session_info"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str


class SessionEntry9(_SessionEntry9, total=False):
    """`SessionEntry9` on the wire."""

    name: str


class SessionEntry10(TypedDict):
    """`SessionEntry10` on the wire."""

    type: Literal["usage"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    kind: str
    provider: str
    model: str
    usage: Usage


class _SessionEntry11(TypedDict):
    type: Literal["session_init"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    systemPrompt: str
    task: str
    tools: List[str]


class SessionEntry11(_SessionEntry11, total=False):
    """`SessionEntry11` on the wire."""

    outputSchema: Any


class SessionEntry12(TypedDict):
    """`SessionEntry12` on the wire."""

    type: Literal["context_edit"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    targetId: str
    #: null leaves the entry out; a text, or blocks, are said instead
    replacement: Any


class SessionEntry13(TypedDict):
    """`SessionEntry13` on the wire."""

    type: Literal["service_tier_change"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    serviceTier: Union[str, None]


class SessionEntry14(TypedDict):
    """`SessionEntry14` on the wire."""

    type: Literal["ttsr_injection"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    injectedRules: List[str]


class SessionEntry15(TypedDict):
    """`SessionEntry15` on the wire."""

    type: Literal["mcp_tool_selection"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    selectedToolNames: List[str]


class _SessionEntry16(TypedDict):
    type: Literal["mode_change"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str
    mode: str


class SessionEntry16(_SessionEntry16, total=False):
    """`SessionEntry16` on the wire."""

    data: Any


class _SessionEntry17(TypedDict):
    type: Literal["title_change"]
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str


class SessionEntry17(_SessionEntry17, total=False):
    """`SessionEntry17` on the wire."""

    title: str
    #: `auto` or `user`
    source: str


class SessionEntry18(TypedDict):
    """`SessionEntry18` on the wire."""

    type: str
    #: unique in the file; 8 hex digits in what we write
    id: str
    #: the entry this one follows; null for a root
    parentId: Union[str, None]
    #: ISO 8601
    timestamp: str


SessionEntry = Union["SessionEntry1", "SessionEntry2", "SessionEntry3", "SessionEntry4", "SessionEntry5", "SessionEntry6", "SessionEntry7", "SessionEntry8", "SessionEntry9", "SessionEntry10", "SessionEntry11", "SessionEntry12", "SessionEntry13", "SessionEntry14", "SessionEntry15", "SessionEntry16", "SessionEntry17", "SessionEntry18"]


class _TreeNode(TypedDict):
    entry: SessionEntry
    #: nodes of this same form, oldest first
    children: List[Any]


class TreeNode(_TreeNode, total=False):
    """`TreeNode` on the wire."""

    label: str
    #: when the label was given
    labelTimestamp: str


class PromptLimits(TypedDict, total=False):
    """`PromptLimits` on the wire."""

    #: model calls
    turns: int
    #: tool calls
    toolCalls: int
    #: dollars
    cost: float
    #: input and output together
    tokens: int
    #: milliseconds from acceptance
    wallTimeMs: int


class _GetContextResultPartsItemItemsItem(TypedDict):
    name: str
    characters: int
    #: an estimate
    tokens: float
    #: of all tokens, in percent
    share: float
    #: why it is there
    why: str


class GetContextResultPartsItemItemsItem(_GetContextResultPartsItemItemsItem, total=False):
    """`GetContextResultPartsItemItemsItem` on the wire."""

    path: str


class _GetContextResultPartsItem(TypedDict):
    kind: str
    name: str
    characters: int
    #: an estimate
    tokens: float
    #: of all tokens, in percent
    share: float
    #: why it is there
    why: str


class GetContextResultPartsItem(_GetContextResultPartsItem, total=False):
    """`GetContextResultPartsItem` on the wire."""

    path: str
    #: each tool, each skill
    items: List[GetContextResultPartsItemItemsItem]


class _GetContextResultLeftOutItem(TypedDict):
    name: str
    why: str


class GetContextResultLeftOutItem(_GetContextResultLeftOutItem, total=False):
    """`GetContextResultLeftOutItem` on the wire."""

    path: str


class _GetContextResult(TypedDict):
    systemPrompt: str
    #: an estimate
    tokens: float
    parts: List[GetContextResultPartsItem]
    #: what is there and yet not shown to the model
    leftOut: List[GetContextResultLeftOutItem]


class GetContextResult(_GetContextResult, total=False):
    """`GetContextResult` on the wire."""

    contextWindow: float
    #: of the context window
    percent: float


class GetMessagesResult(TypedDict):
    """`GetMessagesResult` on the wire."""

    messages: List[AgentMessage]


class _GetMessagesPageResult(TypedDict):
    messages: List[AgentMessage]
    totalMessages: int


class GetMessagesPageResult(_GetMessagesPageResult, total=False):
    """`GetMessagesPageResult` on the wire."""

    #: absent on the last page
    nextCursor: str


class GetLastAssistantTextResult(TypedDict, total=False):
    """`GetLastAssistantTextResult` on the wire."""

    #: absent when there is none
    text: str


class CycleModelResult(TypedDict):
    """`CycleModelResult` on the wire."""

    model: Model
    thinkingLevel: ThinkingLevel
    #: the list was narrowed by --models or a setting
    isScoped: bool


class GetAvailableModelsResult(TypedDict):
    """`GetAvailableModelsResult` on the wire."""

    models: List[Model]


class SetFastModeResult(TypedDict):
    """`SetFastModeResult` on the wire."""

    enabled: bool
    active: bool


class CycleThinkingLevelResult(TypedDict):
    """`CycleThinkingLevelResult` on the wire."""

    level: ThinkingLevel


class GetAvailableThinkingLevelsResult(TypedDict):
    """`GetAvailableThinkingLevelsResult` on the wire."""

    levels: List[ThinkingLevel]


class ClearQueueResult(TypedDict):
    """`ClearQueueResult` on the wire."""

    steering: List[str]
    followUp: List[str]


class HandoffResult(TypedDict, total=False):
    """`HandoffResult` on the wire."""

    #: of the notes; absent with --no-session
    savedPath: str


class NewSessionResult(TypedDict):
    """`NewSessionResult` on the wire."""

    #: an extension said no
    cancelled: bool


class ExportHtmlResult(TypedDict):
    """`ExportHtmlResult` on the wire."""

    path: str


class SwitchSessionResult(TypedDict):
    """`SwitchSessionResult` on the wire."""

    #: an extension said no
    cancelled: bool


class _OpenSessionResult(TypedDict):
    #: an extension said no
    cancelled: bool
    #: there was a session to go on with
    resumed: bool
    sessionId: str


class OpenSessionResult(_OpenSessionResult, total=False):
    """`OpenSessionResult` on the wire."""

    sessionFile: str


class _ForkResult(TypedDict):
    cancelled: bool


class ForkResult(_ForkResult, total=False):
    """`ForkResult` on the wire."""

    #: the message the new session starts before; absent when cancelled
    text: str


class GetForkMessagesResultMessagesItem(TypedDict):
    """`GetForkMessagesResultMessagesItem` on the wire."""

    entryId: str
    text: str


class GetForkMessagesResult(TypedDict):
    """`GetForkMessagesResult` on the wire."""

    messages: List[GetForkMessagesResultMessagesItem]


class _BranchResult(TypedDict):
    cancelled: bool


class BranchResult(_BranchResult, total=False):
    """`BranchResult` on the wire."""

    #: the message the new session starts before; absent when cancelled
    text: str


class GetBranchMessagesResultMessagesItem(TypedDict):
    """`GetBranchMessagesResultMessagesItem` on the wire."""

    entryId: str
    text: str


class GetBranchMessagesResult(TypedDict):
    """`GetBranchMessagesResult` on the wire."""

    messages: List[GetBranchMessagesResultMessagesItem]


class CloneResult(TypedDict):
    """`CloneResult` on the wire."""

    #: an extension said no
    cancelled: bool


class GetEntriesResult(TypedDict):
    """`GetEntriesResult` on the wire."""

    entries: List[SessionEntry]
    leafId: Union[str, None]


class GetTreeResult(TypedDict):
    """`GetTreeResult` on the wire."""

    tree: List[TreeNode]
    leafId: Union[str, None]


class _NavigateTreeResult(TypedDict):
    cancelled: bool
    leafId: Union[str, None]


class NavigateTreeResult(_NavigateTreeResult, total=False):
    """`NavigateTreeResult` on the wire."""

    #: of the user message
    text: str
    summary: str


class _ListSessionsResultSessionsItem(TypedDict):
    sessionPath: str
    sessionId: str
    cwd: str
    #: ISO 8601
    created: str
    #: ISO 8601
    modified: str
    messageCount: int


class ListSessionsResultSessionsItem(_ListSessionsResultSessionsItem, total=False):
    """`ListSessionsResultSessionsItem` on the wire."""

    sessionName: str
    parentSession: str
    #: the beginning of the first user message
    firstMessage: str
    #: some of it cannot be read; opening it repairs it
    damaged: Literal[True]


class _ListSessionsResult(TypedDict):
    sessions: List[ListSessionsResultSessionsItem]


class ListSessionsResult(_ListSessionsResult, total=False):
    """`ListSessionsResult` on the wire."""

    nextCursor: str


class DeleteSessionResult(TypedDict):
    """`DeleteSessionResult` on the wire."""

    #: where it is now
    trashPath: str


class GetCommandsResult(TypedDict):
    """`GetCommandsResult` on the wire."""

    commands: List[SlashCommand]


class GetAvailableCommandsResult(TypedDict):
    """`GetAvailableCommandsResult` on the wire."""

    commands: List[AvailableCommand]


class SetTodosResult(TypedDict):
    """`SetTodosResult` on the wire."""

    todoPhases: List[TodoPhase]


class SetHostToolsResult(TypedDict):
    """`SetHostToolsResult` on the wire."""

    toolNames: List[str]


class GetSubagentsResult(TypedDict):
    """`GetSubagentsResult` on the wire."""

    subagents: List[Subagent]


class _GetSubagentMessagesResult(TypedDict):
    #: where this answer begins
    fromByte: float
    #: where the next one goes on
    nextByte: float
    #: `fromByte` was behind the end: this answer begins at 0
    reset: bool
    entries: List[SessionEntry]
    #: those of the entries
    messages: List[AgentMessage]


class GetSubagentMessagesResult(_GetSubagentMessagesResult, total=False):
    """`GetSubagentMessagesResult` on the wire."""

    #: absent when sessions are kept in memory
    sessionFile: str


class SetSubagentSubscriptionResult(TypedDict):
    """`SetSubagentSubscriptionResult` on the wire."""

    level: SubagentLevel


class SetHostUriSchemesResult(TypedDict):
    """`SetHostUriSchemesResult` on the wire."""

    schemes: List[str]


class GetLoginProvidersResultProvidersItem(TypedDict):
    """`GetLoginProvidersResultProvidersItem` on the wire."""

    id: str
    name: str
    #: `login` works with it
    available: bool
    #: somebody has logged in
    authenticated: bool


class GetLoginProvidersResult(TypedDict):
    """`GetLoginProvidersResult` on the wire."""

    providers: List[GetLoginProvidersResultProvidersItem]


class LoginResult(TypedDict):
    """`LoginResult` on the wire."""

    providerId: str


class NegotiateProtocolResult(TypedDict):
    """`NegotiateProtocolResult` on the wire."""

    #: of all frames behind this answer
    protocolVersion: int


class SubscribeResult(TypedDict):
    """`SubscribeResult` on the wire."""

    #: from this number on events are kept
    oldest: int
    #: no event above it was told; what comes next has a higher number
    latest: int
    #: events behind `after` are not kept any more: read the session anew (`get_messages`)
    missed: bool
    #: events that follow this answer with nothing in between
    count: int


class SetEventFilterResult(TypedDict):
    """`SetEventFilterResult` on the wire."""

    events: Union[List[str], None]


class _AgentStartEvent(TypedDict):
    type: Literal["agent_start"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int


class AgentStartEvent(_AgentStartEvent, total=False):
    """A run begins."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _AgentEndEvent(TypedDict):
    type: Literal["agent_end"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    #: those that this run added
    messages: List[AgentMessage]
    #: another run follows for the same prompt
    willRetry: bool


class AgentEndEvent(_AgentEndEvent, total=False):
    """A run ends. Unless `willRetry` is true a new prompt is accepted from here on."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str
    #: background jobs are running: a run may begin by itself when one ends, and `session_settled` waits
    awaitingAsyncWork: Literal[True]


class _AgentSettledEvent(TypedDict):
    type: Literal["agent_settled"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    aborted: bool


class AgentSettledEvent(_AgentSettledEvent, total=False):
    """Nothing more follows by itself: no retry, no compaction, no queued message."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _TurnStartEvent(TypedDict):
    type: Literal["turn_start"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int


class TurnStartEvent(_TurnStartEvent, total=False):
    """A turn begins: one model call and the tools it asks for."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _TurnEndEvent(TypedDict):
    type: Literal["turn_end"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    message: AssistantMessage
    toolResults: List[ToolResultMessage]


class TurnEndEvent(_TurnEndEvent, total=False):
    """A turn ends."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _PromptResultEventError(TypedDict):
    message: str
    retryable: bool


class PromptResultEventError(_PromptResultEventError, total=False):
    """`PromptResultEventError` on the wire."""

    provider: str
    model: str
    #: why the model call failed; absent when something else did
    kind: Literal["auth", "rate_limit", "overloaded", "server", "overflow", "bad_request", "network", "stalled", "content_filter", "malformed"]
    httpStatus: int


class PromptResultEventLimit(TypedDict):
    """the limit that ended it"""

    scope: Literal["prompt", "session"]
    limit: str
    used: float
    max: float


class _PromptResultEvent(TypedDict):
    type: Literal["prompt_result"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    promptId: str
    status: Literal["completed", "aborted", "error"]
    #: a model was asked
    agentInvoked: bool
    #: nothing else is running or queued
    sessionSettled: bool


class PromptResultEvent(_PromptResultEvent, total=False):
    """The end of one accepted prompt, sent exactly once for each, whatever happened."""

    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str
    #: of the prompt command
    id: Union[str, float]
    error: PromptResultEventError
    #: the built-in offline model answered
    offline: Literal[True]
    #: the limit that ended it
    limit: PromptResultEventLimit
    usage: Usage
    #: model calls; like `usage`, with those of sub-agents
    turns: int
    #: with those of sub-agents
    toolCalls: int
    #: from acceptance, or from delivery if it was queued
    durationMs: float


class _SessionSettledEvent(TypedDict):
    type: Literal["session_settled"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int


class SessionSettledEvent(_SessionSettledEvent, total=False):
    """The run and all its endings have been told; `prompt_result.sessionSettled` says whether messages still wait."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _MessageStartEvent(TypedDict):
    type: Literal["message_start"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    message: AgentMessage


class MessageStartEvent(_MessageStartEvent, total=False):
    """A message begins; for an assistant message it is still empty."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _MessageUpdateEvent(TypedDict):
    type: Literal["message_update"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    message: PartialAssistant
    assistantMessageEvent: AssistantMessageEvent


class MessageUpdateEvent(_MessageUpdateEvent, total=False):
    """The assistant message grew."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str
    usage: Usage


class _MessageEndEvent(TypedDict):
    type: Literal["message_end"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    message: AgentMessage


class MessageEndEvent(_MessageEndEvent, total=False):
    """A message is complete."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _ToolExecutionStartEvent(TypedDict):
    type: Literal["tool_execution_start"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    toolCallId: str
    toolName: str
    args: JsonSchema


class ToolExecutionStartEvent(_ToolExecutionStartEvent, total=False):
    """A tool call begins."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _ToolExecutionUpdateEvent(TypedDict):
    type: Literal["tool_execution_update"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    toolCallId: str
    toolName: str
    args: JsonSchema
    partialResult: ToolResult


class ToolExecutionUpdateEvent(_ToolExecutionUpdateEvent, total=False):
    """Progress of a tool call: the whole result so far, not only what is new."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _ToolExecutionEndEvent(TypedDict):
    type: Literal["tool_execution_end"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    toolCallId: str
    toolName: str
    result: ToolResult
    isError: bool


class ToolExecutionEndEvent(_ToolExecutionEndEvent, total=False):
    """A tool call is done."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _AutoCompactionStartEvent(TypedDict):
    type: Literal["auto_compaction_start"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    reason: Literal["threshold", "overflow", "idle"]
    action: Literal["context-full", "handoff"]


class AutoCompactionStartEvent(_AutoCompactionStartEvent, total=False):
    """A compaction that was not asked for begins."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _AutoCompactionEndEvent(TypedDict):
    type: Literal["auto_compaction_end"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    action: Literal["context-full", "handoff"]
    aborted: bool
    #: the run that could not go on without it goes on
    willRetry: bool


class AutoCompactionEndEvent(_AutoCompactionEndEvent, total=False):
    """A compaction that was not asked for ends."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str
    result: CompactionResult
    errorMessage: str
    #: there was nothing to compact
    skipped: Literal[True]


class _CompactionStartEvent(TypedDict):
    type: Literal["compaction_start"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    reason: Literal["manual", "threshold", "overflow"]


class CompactionStartEvent(_CompactionStartEvent, total=False):
    """Any compaction begins. Has `promptId` unless its reason is `manual`."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _CompactionEndEvent(TypedDict):
    type: Literal["compaction_end"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    reason: Literal["manual", "threshold", "overflow"]
    aborted: bool
    #: the run that could not go on without it goes on
    willRetry: bool


class CompactionEndEvent(_CompactionEndEvent, total=False):
    """Any compaction ends. Has `promptId` unless its reason is `manual`."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str
    result: CompactionResult
    errorMessage: str
    #: there was nothing to compact
    skipped: Literal[True]


class _AutoRetryStartEvent(TypedDict):
    type: Literal["auto_retry_start"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    #: counted from 1
    attempt: int
    maxAttempts: int
    delayMs: float
    errorMessage: str


class AutoRetryStartEvent(_AutoRetryStartEvent, total=False):
    """A model call failed in a passing way and is tried again after a wait."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _AutoRetryEndEvent(TypedDict):
    type: Literal["auto_retry_end"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    success: bool
    attempt: int


class AutoRetryEndEvent(_AutoRetryEndEvent, total=False):
    """Retrying is over, well or not."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str
    finalError: str


class _QueueUpdateEvent(TypedDict):
    type: Literal["queue_update"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    steering: List[str]
    followUp: List[str]


class QueueUpdateEvent(_QueueUpdateEvent, total=False):
    """The queues changed; both are told whole."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _ThinkingLevelChangedEvent(TypedDict):
    type: Literal["thinking_level_changed"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    level: ThinkingLevel


class ThinkingLevelChangedEvent(_ThinkingLevelChangedEvent, total=False):
    """The thinking level is another one now."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _SessionInfoChangedEvent(TypedDict):
    type: Literal["session_info_changed"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int


class SessionInfoChangedEvent(_SessionInfoChangedEvent, total=False):
    """The session has another name now."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str
    name: str


class _EntryAppendedEvent(TypedDict):
    type: Literal["entry_appended"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    entry: SessionEntry


class EntryAppendedEvent(_EntryAppendedEvent, total=False):
    """An entry that is not a message was written to the session file."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _BashExecutionUpdateEvent(TypedDict):
    type: Literal["bash_execution_update"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    delta: str


class BashExecutionUpdateEvent(_BashExecutionUpdateEvent, total=False):
    """Output of a running `bash` command, only what is new. Joined they are the output; of one that is cut in the answer, parts may be skipped, and the text says so."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str
    #: of the bash command
    id: Union[str, float]


class _NoticeEvent(TypedDict):
    type: Literal["notice"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    level: Literal["info", "warning", "error"]
    message: str


class NoticeEvent(_NoticeEvent, total=False):
    """Something a person should know, outside of any answer."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str
    source: str


class _ExtensionErrorEvent(TypedDict):
    type: Literal["extension_error"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    #: or `command:NAME`, for one of its commands
    extensionPath: str
    #: the hook, or what else it was doing: `load`, `command`, `send_message` ...
    event: str
    error: str


class ExtensionErrorEvent(_ExtensionErrorEvent, total=False):
    """An extension threw, took too long or gave back nonsense; the session goes on."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class TtsrTriggeredEventRulesItemSource(TypedDict):
    """`TtsrTriggeredEventRulesItemSource` on the wire."""

    provider: str
    providerName: str
    path: str
    level: Literal["project", "user"]


class _TtsrTriggeredEventRulesItem(TypedDict):
    #: of its file, without the ending
    name: str
    path: str
    #: what the model is told
    content: str


class TtsrTriggeredEventRulesItem(_TtsrTriggeredEventRulesItem, total=False):
    """`TtsrTriggeredEventRulesItem` on the wire."""

    description: str
    globs: List[str]
    alwaysApply: bool
    condition: List[str]
    scope: List[str]
    interruptMode: Literal["always", "prose-only", "tool-only", "never"]
    _source: TtsrTriggeredEventRulesItemSource


class _TtsrTriggeredEvent(TypedDict):
    type: Literal["ttsr_triggered"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    rules: List[TtsrTriggeredEventRulesItem]


class TtsrTriggeredEvent(_TtsrTriggeredEvent, total=False):
    """A stream rule matched what the model was writing, and the run is corrected."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _TodoReminderEvent(TypedDict):
    type: Literal["todo_reminder"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    todos: List[TodoItem]
    attempt: int
    maxAttempts: int


class TodoReminderEvent(_TodoReminderEvent, total=False):
    """The run stopped with open tasks; the model is reminded of them."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _TodoAutoClearEvent(TypedDict):
    type: Literal["todo_auto_clear"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int


class TodoAutoClearEvent(_TodoAutoClearEvent, total=False):
    """Finished tasks were removed from the plan; `get_state` tells what is left."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _SubagentLifecycleEvent(TypedDict):
    type: Literal["subagent_lifecycle"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    payload: Subagent


class SubagentLifecycleEvent(_SubagentLifecycleEvent, total=False):
    """A sub-agent begins to work, or has ended. From the level `progress` on."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _SubagentProgressEvent(TypedDict):
    type: Literal["subagent_progress"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    payload: Subagent


class SubagentProgressEvent(_SubagentProgressEvent, total=False):
    """A sub-agent has answered, or begins or ends a tool call. From the level `progress` on."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


class _SubagentEventEvent(TypedDict):
    type: Literal["subagent_event"]
    #: counts the events of the session; higher with each event, also over restarts
    seq: int
    payload: SubagentEvent


class SubagentEventEvent(_SubagentEventEvent, total=False):
    """What happens in the run of a sub-agent. On the level `events`."""

    #: of the prompt the event belongs to
    promptId: str
    #: of the turn within its prompt, from 0, over retries
    turnIndex: int
    #: on message events: the same for all events of one message
    messageId: str


#: Everything that the agent tells by itself.
Event = Union["AgentStartEvent", "AgentEndEvent", "AgentSettledEvent", "TurnStartEvent", "TurnEndEvent", "PromptResultEvent", "SessionSettledEvent", "MessageStartEvent", "MessageUpdateEvent", "MessageEndEvent", "ToolExecutionStartEvent", "ToolExecutionUpdateEvent", "ToolExecutionEndEvent", "AutoCompactionStartEvent", "AutoCompactionEndEvent", "CompactionStartEvent", "CompactionEndEvent", "AutoRetryStartEvent", "AutoRetryEndEvent", "QueueUpdateEvent", "ThinkingLevelChangedEvent", "SessionInfoChangedEvent", "EntryAppendedEvent", "BashExecutionUpdateEvent", "NoticeEvent", "ExtensionErrorEvent", "TtsrTriggeredEvent", "TodoReminderEvent", "TodoAutoClearEvent", "SubagentLifecycleEvent", "SubagentProgressEvent", "SubagentEventEvent"]


class ReadyFrame(TypedDict):
    """The first frame: the process takes commands."""

    type: Literal["ready"]
    #: of the program
    version: str
    dialect: str
    protocolVersion: int
    supportedProtocolVersions: List[int]
    #: as in `limits`; where omp has it
    maxFrameBytes: int
    #: as in `limits`; where omp has it
    maxReassembledFrameBytes: int
    limits: Limits


class _ResponseFrame1(TypedDict):
    type: Literal["response"]
    command: str
    success: Literal[True]


class ResponseFrame1(_ResponseFrame1, total=False):
    """`ResponseFrame1` on the wire."""

    #: of the command, if it had one; echoed as it came
    id: Union[str, float]
    #: see the command
    data: Any


class _ResponseFrame2(TypedDict):
    type: Literal["response"]
    #: `parse` when the line was not understood as a command
    command: str
    success: Literal[False]
    error: str


class ResponseFrame2(_ResponseFrame2, total=False):
    """`ResponseFrame2` on the wire."""

    #: of the command, if it had one; echoed as it came
    id: Union[str, float]


#: The answer to a command.
ResponseFrame = Union["ResponseFrame1", "ResponseFrame2"]


class RpcChunkFrame(TypedDict):
    """A piece of a frame that is longer than `maxFrameBytes`. The pieces follow each other with nothing in between; their bytes, joined, are the frame."""

    type: Literal["rpc_chunk"]
    #: the same for all chunks of one frame
    chunkId: str
    index: int
    #: of the chunks of this frame
    count: int
    #: of the whole frame, without its LF
    byteLength: int
    #: base64
    data: str


class _RpcFrameErrorFrame(TypedDict):
    type: Literal["rpc_frame_error"]
    error: str


class RpcFrameErrorFrame(_RpcFrameErrorFrame, total=False):
    """Stands for a frame that is longer than `maxReassembledFrameBytes`. A response of that size becomes a failure as well, and an `agent_end` comes without its messages, so that nobody waits for them in vain."""

    #: of the frame that is missing
    originalType: str


class AvailableCommandsUpdateFrame(TypedDict):
    """What a prompt can call with a slash: after the negotiation, and when another session is entered."""

    type: Literal["available_commands_update"]
    commands: List[AvailableCommand]


class _SessionInfoUpdateFrame(TypedDict):
    type: Literal["session_info_update"]
    sessionId: str


class SessionInfoUpdateFrame(_SessionInfoUpdateFrame, total=False):
    """Another session was entered, or the session has another name."""

    #: absent when it has no name
    title: str


class ConfigUpdateFrame(TypedDict):
    """The model or the thinking level is another one."""

    type: Literal["config_update"]
    model: Union[Model, None]
    thinkingLevel: ThinkingLevel


class ExtensionUiRequestFrameSelectOptionDetailsItem(TypedDict, total=False):
    """`ExtensionUiRequestFrameSelectOptionDetailsItem` on the wire."""

    description: str


class _ExtensionUiRequestFrameSelect(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["select"]
    title: str
    options: List[str]


class ExtensionUiRequestFrameSelect(_ExtensionUiRequestFrameSelect, total=False):
    """`ExtensionUiRequestFrameSelect` on the wire."""

    #: one for each option; absent when no option has any
    optionDetails: List[ExtensionUiRequestFrameSelectOptionDetailsItem]
    #: milliseconds until the default answer is taken
    timeout: float


class _ExtensionUiRequestFrameConfirm(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["confirm"]
    title: str
    message: str


class ExtensionUiRequestFrameConfirm(_ExtensionUiRequestFrameConfirm, total=False):
    """`ExtensionUiRequestFrameConfirm` on the wire."""

    #: milliseconds until the default answer is taken
    timeout: float


class _ExtensionUiRequestFrameInput(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["input"]
    title: str


class ExtensionUiRequestFrameInput(_ExtensionUiRequestFrameInput, total=False):
    """`ExtensionUiRequestFrameInput` on the wire."""

    placeholder: str
    #: milliseconds until the default answer is taken
    timeout: float


class _ExtensionUiRequestFrameEditor(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["editor"]
    title: str


class ExtensionUiRequestFrameEditor(_ExtensionUiRequestFrameEditor, total=False):
    """`ExtensionUiRequestFrameEditor` on the wire."""

    prefill: str
    #: the extension wants it to look like the prompt's editor
    promptStyle: bool
    #: milliseconds until the default answer is taken
    timeout: float


class ExtensionUiRequestFrameCancel(TypedDict):
    """`ExtensionUiRequestFrameCancel` on the wire."""

    type: Literal["extension_ui_request"]
    id: str
    method: Literal["cancel"]
    #: id of the dialog that is withdrawn
    targetId: str


class _ExtensionUiRequestFrameNotify(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["notify"]
    message: str


class ExtensionUiRequestFrameNotify(_ExtensionUiRequestFrameNotify, total=False):
    """`ExtensionUiRequestFrameNotify` on the wire."""

    notifyType: Literal["info", "warning", "error"]


class _ExtensionUiRequestFrameSetStatus(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["setStatus"]
    statusKey: str


class ExtensionUiRequestFrameSetStatus(_ExtensionUiRequestFrameSetStatus, total=False):
    """`ExtensionUiRequestFrameSetStatus` on the wire."""

    #: absent: the entry is removed
    statusText: str


class _ExtensionUiRequestFrameSetWidget(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["setWidget"]
    widgetKey: str


class ExtensionUiRequestFrameSetWidget(_ExtensionUiRequestFrameSetWidget, total=False):
    """`ExtensionUiRequestFrameSetWidget` on the wire."""

    #: absent: the widget is removed
    widgetLines: List[str]
    widgetPlacement: Literal["aboveEditor", "belowEditor"]


class ExtensionUiRequestFrameSetTitle(TypedDict):
    """`ExtensionUiRequestFrameSetTitle` on the wire."""

    type: Literal["extension_ui_request"]
    id: str
    method: Literal["setTitle"]
    title: str


class ExtensionUiRequestFrameSetEditorText(TypedDict):
    """`ExtensionUiRequestFrameSetEditorText` on the wire."""

    type: Literal["extension_ui_request"]
    id: str
    method: Literal["set_editor_text"]
    text: str


#: An extension shows or asks something, or a tool call waits for its [approval](#approvals). `select`, `confirm`, `input` and `editor` wait for an answer with the same `id`. A dialog that is withdrawn, because its `timeout` is over or the extension no longer asks, is told by `cancel` (in the pi dialect by nothing); what is answered to it afterwards is ignored.
ExtensionUiRequestFrame = Union["ExtensionUiRequestFrameSelect", "ExtensionUiRequestFrameConfirm", "ExtensionUiRequestFrameInput", "ExtensionUiRequestFrameEditor", "ExtensionUiRequestFrameCancel", "ExtensionUiRequestFrameNotify", "ExtensionUiRequestFrameSetStatus", "ExtensionUiRequestFrameSetWidget", "ExtensionUiRequestFrameSetTitle", "ExtensionUiRequestFrameSetEditorText"]


class ExtensionUiResponseFrame1(TypedDict):
    """`ExtensionUiResponseFrame1` on the wire."""

    type: Literal["extension_ui_response"]
    id: str
    value: str


class ExtensionUiResponseFrame2(TypedDict):
    """`ExtensionUiResponseFrame2` on the wire."""

    type: Literal["extension_ui_response"]
    id: str
    confirmed: bool


class _ExtensionUiResponseFrame3(TypedDict):
    type: Literal["extension_ui_response"]
    id: str
    cancelled: Literal[True]


class ExtensionUiResponseFrame3(_ExtensionUiResponseFrame3, total=False):
    """`ExtensionUiResponseFrame3` on the wire."""

    timedOut: bool


#: The answer to a dialog; it never gets a response itself. The first one with the `id` of an open dialog counts, all others are ignored. `cancelled: true` beats everything else in it; an answer of the wrong kind counts as cancelled, and a `notice` says so.
ExtensionUiResponseFrame = Union["ExtensionUiResponseFrame1", "ExtensionUiResponseFrame2", "ExtensionUiResponseFrame3"]


class HostToolCallFrame(TypedDict):
    """Asks the host to run one of its tools; the host answers with `host_tool_result`."""

    type: Literal["host_tool_call"]
    #: of this call; updates and the result repeat it
    id: str
    toolCallId: str
    toolName: str
    arguments: JsonSchema


class HostToolCancelFrame(TypedDict):
    """Tells the host that the result of a call is no longer wanted."""

    type: Literal["host_tool_cancel"]
    id: str
    #: id of the host_tool_call that is given up
    targetId: str


class HostToolUpdateFrame(TypedDict):
    """Progress of a call: the result so far. It becomes a `tool_execution_update` event."""

    type: Literal["host_tool_update"]
    id: str
    partialResult: ToolResult


class _HostToolResultFrame(TypedDict):
    type: Literal["host_tool_result"]
    id: str
    result: ToolResult


class HostToolResultFrame(_HostToolResultFrame, total=False):
    """The final result of a call. With `isError` the model sees the text as a failure."""

    isError: bool


class _HostUriRequestFrame(TypedDict):
    type: Literal["host_uri_request"]
    #: of this request; the result repeats it
    id: str
    operation: Literal["read", "write"]
    #: as the model wrote it
    url: str


class HostUriRequestFrame(_HostUriRequestFrame, total=False):
    """Asks the host for what stands behind one of its URLs, or to write there; it answers with `host_uri_result`."""

    #: what is to be written, whole
    content: str


class HostUriCancelFrame(TypedDict):
    """Tells the host that the result of a request is no longer wanted."""

    type: Literal["host_uri_cancel"]
    id: str
    #: id of the host_uri_request that is given up
    targetId: str


class _HostUriResultFrame(TypedDict):
    type: Literal["host_uri_result"]
    id: str


class HostUriResultFrame(_HostUriResultFrame, total=False):
    """What stands behind the URL, or that it was written. With `isError` the model sees `error` as a failure."""

    #: the text, or an image in base64; of a write what the model reads, if anything
    content: str
    #: `text/plain` without it; `image/png`, `-jpeg`, `-gif` or `-webp` make it an image
    contentType: str
    #: shown under the content
    notes: Union[str, List[str]]
    immutable: bool
    isError: bool
    #: what went wrong, when `isError` is true
    error: str


#: Every frame that is not the answer to a command.
Notification = Union["Event", "ReadyFrame", "RpcChunkFrame", "RpcFrameErrorFrame", "AvailableCommandsUpdateFrame", "SessionInfoUpdateFrame", "ConfigUpdateFrame", "ExtensionUiRequestFrame", "HostToolCallFrame", "HostToolCancelFrame", "HostUriRequestFrame", "HostUriCancelFrame"]
