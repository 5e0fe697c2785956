import { type Static, Type } from "typebox";
import { exampleAssistant, exampleUsage, exampleUser } from "./commands/examples.ts";
import { exampleSubagent } from "./commands/sub-agents.ts";
import { CompactionResult } from "./compaction.ts";
import { defineEvent, type FieldsOf, table } from "./define.ts";
import { AgentMessage, AssistantMessage, ToolResultMessage, Usage } from "./message.ts";
import { ThinkingLevel } from "./model.ts";
import { SessionEntry } from "./session-entry.ts";
import { AssistantMessageEvent, PartialAssistant } from "./stream-event.ts";
import { StreamRule } from "./stream-rule.ts";
import { Subagent, SubagentEvent } from "./sub-agent.ts";
import { TodoItem } from "./todo.ts";
import { ToolResult } from "./tool.ts";

/** What the process tells by itself. Every event has `seq`; those of a prompt have its `promptId`. */

/** Why a model call failed. */
const ErrorKind = Type.Union(
  [
    Type.Literal("auth"),
    Type.Literal("rate_limit"),
    Type.Literal("overloaded"),
    Type.Literal("server"),
    Type.Literal("overflow"),
    Type.Literal("bad_request"),
    Type.Literal("network"),
    Type.Literal("stalled"),
    Type.Literal("content_filter"),
    Type.Literal("malformed"),
  ],
  { description: "why the model call failed; absent when something else did" },
);

const everywhere = ["pi", "omp", "xcsh"] as const;
const args = Type.Record(Type.String(), Type.Unknown());
const texts = Type.Array(Type.String());

const RUN_EVENTS = table({
  agent_start: defineEvent({
    type: "agent_start",
    summary: "A run begins.",
    fields: {},
    systems: everywhere,
    promptScoped: true,
    examples: [{}],
  }),
  agent_end: defineEvent({
    type: "agent_end",
    summary: "A run ends. Unless `willRetry` is true a new prompt is accepted from here on.",
    fields: {
      messages: Type.Array(AgentMessage, { description: "those that this run added" }),
      willRetry: Type.Boolean({ description: "another run follows for the same prompt" }),
      awaitingAsyncWork: Type.Optional(
        Type.Literal(true, {
          description:
            "background jobs are running: a run may begin by itself when one ends, and `session_settled` waits",
        }),
      ),
    },
    systems: everywhere,
    promptScoped: true,
    examples: [{ messages: [exampleUser, exampleAssistant], willRetry: false }],
  }),
  agent_settled: defineEvent({
    type: "agent_settled",
    summary: "Nothing more follows by itself: no retry, no compaction, no queued message.",
    fields: { aborted: Type.Boolean() },
    systems: ["later"],
    promptScoped: true,
    examples: [{ aborted: false }],
  }),
  turn_start: defineEvent({
    type: "turn_start",
    summary: "A turn begins: one model call and the tools it asks for.",
    fields: {},
    systems: everywhere,
    promptScoped: true,
    examples: [{}],
  }),
  turn_end: defineEvent({
    type: "turn_end",
    summary: "A turn ends.",
    fields: { message: AssistantMessage, toolResults: Type.Array(ToolResultMessage) },
    systems: everywhere,
    promptScoped: true,
    examples: [{ message: exampleAssistant, toolResults: [] }],
  }),
  prompt_result: defineEvent({
    type: "prompt_result",
    summary: "The end of one accepted prompt, sent exactly once for each, whatever happened.",
    fields: {
      id: Type.Optional(Type.Union([Type.String(), Type.Number()], { description: "of the prompt command" })),
      promptId: Type.String(),
      status: Type.Union([Type.Literal("completed"), Type.Literal("aborted"), Type.Literal("error")]),
      agentInvoked: Type.Boolean({ description: "a model was asked" }),
      error: Type.Optional(
        Type.Object({
          message: Type.String(),
          provider: Type.Optional(Type.String()),
          model: Type.Optional(Type.String()),
          kind: Type.Optional(ErrorKind),
          httpStatus: Type.Optional(Type.Integer()),
          retryable: Type.Boolean(),
        }),
      ),
      sessionSettled: Type.Boolean({ description: "nothing else is running or queued" }),
      offline: Type.Optional(Type.Literal(true, { description: "the built-in offline model answered" })),
      limit: Type.Optional(
        Type.Object(
          {
            scope: Type.Union([Type.Literal("prompt"), Type.Literal("session")]),
            limit: Type.String(),
            used: Type.Number(),
            max: Type.Number(),
          },
          { description: "the limit that ended it" },
        ),
      ),
      usage: Type.Optional(Usage),
      turns: Type.Optional(Type.Integer({ description: "model calls; like `usage`, with those of sub-agents" })),
      toolCalls: Type.Optional(Type.Integer({ description: "with those of sub-agents" })),
      durationMs: Type.Optional(Type.Number({ description: "from acceptance, or from delivery if it was queued" })),
    },
    systems: ["later"],
    promptScoped: true,
    examples: [
      {
        id: "req-1",
        promptId: "prompt-1",
        status: "completed",
        agentInvoked: true,
        sessionSettled: true,
        usage: exampleUsage,
        turns: 2,
        toolCalls: 1,
        durationMs: 2310,
      },
      {
        id: "req-2",
        promptId: "prompt-2",
        status: "error",
        agentInvoked: true,
        sessionSettled: true,
        error: {
          message: "529 overloaded",
          provider: "anthropic",
          kind: "overloaded",
          httpStatus: 529,
          retryable: true,
        },
      },
    ],
  }),
  session_settled: defineEvent({
    type: "session_settled",
    summary:
      "The run and all its endings have been told; `prompt_result.sessionSettled` says whether messages still wait.",
    fields: {},
    systems: ["later"],
    promptScoped: true,
    examples: [{}],
  }),
});

const MESSAGE_EVENTS = table({
  message_start: defineEvent({
    type: "message_start",
    summary: "A message begins; for an assistant message it is still empty.",
    fields: { message: AgentMessage },
    systems: everywhere,
    promptScoped: true,
    examples: [{ message: exampleUser }],
  }),
  message_update: defineEvent({
    type: "message_update",
    summary: "The assistant message grew.",
    fields: {
      message: PartialAssistant,
      assistantMessageEvent: AssistantMessageEvent,
      usage: Type.Optional(Usage),
    },
    systems: everywhere,
    promptScoped: true,
    examples: [
      {
        message: { role: "assistant", content: [{ type: "text", text: "Hi" }] },
        assistantMessageEvent: {
          type: "text_delta",
          contentIndex: 0,
          delta: "Hi",
          partial: { role: "assistant", content: [{ type: "text", text: "Hi" }] },
        },
      },
    ],
  }),
  message_end: defineEvent({
    type: "message_end",
    summary: "A message is complete.",
    fields: { message: AgentMessage },
    systems: everywhere,
    persisted: true,
    promptScoped: true,
    examples: [{ message: exampleAssistant }],
  }),
});

const toolCall = { toolCallId: Type.String(), toolName: Type.String() };
const exampleCall = { toolCallId: "toolu_01", toolName: "bash" };
const exampleOutput: Static<typeof ToolResult> = { content: [{ type: "text", text: "README.md\n" }] };

const TOOL_EVENTS = table({
  tool_execution_start: defineEvent({
    type: "tool_execution_start",
    summary: "A tool call begins.",
    fields: { ...toolCall, args },
    systems: everywhere,
    promptScoped: true,
    examples: [{ ...exampleCall, args: { command: "ls" } }],
  }),
  tool_execution_update: defineEvent({
    type: "tool_execution_update",
    summary: "Progress of a tool call: the whole result so far, not only what is new.",
    fields: { ...toolCall, args, partialResult: ToolResult },
    systems: everywhere,
    promptScoped: true,
    examples: [{ ...exampleCall, args: { command: "ls" }, partialResult: exampleOutput }],
  }),
  tool_execution_end: defineEvent({
    type: "tool_execution_end",
    summary: "A tool call is done.",
    fields: { ...toolCall, result: ToolResult, isError: Type.Boolean() },
    systems: everywhere,
    promptScoped: true,
    examples: [{ ...exampleCall, result: exampleOutput, isError: false }],
  }),
});

const AutoReason = Type.Union([Type.Literal("threshold"), Type.Literal("overflow"), Type.Literal("idle")]);
const Reason = Type.Union([Type.Literal("manual"), Type.Literal("threshold"), Type.Literal("overflow")]);
const action = Type.Union([Type.Literal("context-full"), Type.Literal("handoff")]);
const compactionOutcome = {
  result: Type.Optional(CompactionResult),
  aborted: Type.Boolean(),
  willRetry: Type.Boolean({ description: "the run that could not go on without it goes on" }),
  errorMessage: Type.Optional(Type.String()),
  skipped: Type.Optional(Type.Literal(true, { description: "there was nothing to compact" })),
};
const exampleCompaction = { summary: "The build was repaired ...", firstKeptEntryId: "1a2b3c4d", tokensBefore: 151000 };
const exampleOutcome = { result: exampleCompaction, aborted: false, willRetry: false };
const retry = { promptScoped: true, systems: everywhere } as const;

const RECOVERY_EVENTS = table({
  auto_compaction_start: defineEvent({
    type: "auto_compaction_start",
    summary: "A compaction that was not asked for begins.",
    fields: { reason: AutoReason, action },
    systems: everywhere,
    promptScoped: true,
    examples: [{ reason: "threshold", action: "context-full" }],
  }),
  auto_compaction_end: defineEvent({
    type: "auto_compaction_end",
    summary: "A compaction that was not asked for ends.",
    fields: { action, ...compactionOutcome },
    systems: everywhere,
    persisted: true,
    promptScoped: true,
    examples: [
      { action: "context-full", ...exampleOutcome },
      {
        action: "context-full",
        aborted: false,
        willRetry: false,
        errorMessage: "Auto-compaction failed: Summarization failed: 500 internal error",
      },
    ],
  }),
  compaction_start: defineEvent({
    type: "compaction_start",
    summary: "Any compaction begins. Has `promptId` unless its reason is `manual`.",
    fields: { reason: Reason },
    systems: ["later"],
    examples: [{ reason: "manual" }],
  }),
  compaction_end: defineEvent({
    type: "compaction_end",
    summary: "Any compaction ends. Has `promptId` unless its reason is `manual`.",
    fields: { reason: Reason, ...compactionOutcome },
    systems: ["later"],
    persisted: true,
    examples: [{ reason: "manual", ...exampleOutcome }],
  }),
  auto_retry_start: defineEvent({
    type: "auto_retry_start",
    summary: "A model call failed in a passing way and is tried again after a wait.",
    fields: {
      attempt: Type.Integer({ description: "counted from 1" }),
      maxAttempts: Type.Integer(),
      delayMs: Type.Number(),
      errorMessage: Type.String(),
    },
    ...retry,
    examples: [{ attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: "529 overloaded" }],
  }),
  auto_retry_end: defineEvent({
    type: "auto_retry_end",
    summary: "Retrying is over, well or not.",
    fields: { success: Type.Boolean(), attempt: Type.Integer(), finalError: Type.Optional(Type.String()) },
    ...retry,
    examples: [{ success: true, attempt: 1 }],
  }),
});

const SESSION_EVENTS = table({
  queue_update: defineEvent({
    type: "queue_update",
    summary: "The queues changed; both are told whole.",
    fields: { steering: texts, followUp: texts },
    systems: ["later"],
    examples: [{ steering: ["Fix the build first"], followUp: [] }],
  }),
  thinking_level_changed: defineEvent({
    type: "thinking_level_changed",
    summary: "The thinking level is another one now.",
    fields: { level: ThinkingLevel },
    systems: ["later"],
    persisted: true,
    examples: [{ level: "high" }],
  }),
  session_info_changed: defineEvent({
    type: "session_info_changed",
    summary: "The session has another name now.",
    fields: { name: Type.Optional(Type.String()) },
    systems: ["later"],
    persisted: true,
    examples: [{ name: "repair the build" }],
  }),
  entry_appended: defineEvent({
    type: "entry_appended",
    summary: "An entry that is not a message was written to the session file.",
    fields: { entry: SessionEntry },
    systems: ["later"],
    persisted: true,
    examples: [
      {
        entry: {
          type: "custom",
          id: "5e6f7a8b",
          parentId: "1a2b3c4d",
          timestamp: "2026-01-01T00:00:02.000Z",
          customType: "bookmark",
        },
      },
    ],
  }),
  bash_execution_update: defineEvent({
    type: "bash_execution_update",
    summary:
      "Output of a running `bash` command, only what is new. Joined they are the output; of one that is cut in the answer, parts may be skipped, and the text says so.",
    fields: {
      id: Type.Optional(Type.Union([Type.String(), Type.Number()], { description: "of the bash command" })),
      delta: Type.String(),
    },
    systems: ["later"],
    examples: [{ id: "req-3", delta: "compiling ...\n" }],
  }),
  notice: defineEvent({
    type: "notice",
    summary: "Something a person should know, outside of any answer.",
    fields: {
      level: Type.Union([Type.Literal("info"), Type.Literal("warning"), Type.Literal("error")]),
      message: Type.String(),
      source: Type.Optional(Type.String()),
    },
    systems: ["later"],
    examples: [{ level: "warning", message: "No model is configured; the offline model answers", source: "models" }],
  }),
  extension_error: defineEvent({
    type: "extension_error",
    summary: "An extension threw, took too long or gave back nonsense; the session goes on.",
    fields: {
      extensionPath: Type.String({ description: "or `command:NAME`, for one of its commands" }),
      event: Type.String({ description: "the hook, or what else it was doing: `load`, `command`, `send_message` ..." }),
      error: Type.String(),
    },
    systems: everywhere,
    examples: [
      {
        extensionPath: "/home/me/repo/.tiller/extensions/format.ts",
        event: "tool_result",
        error: "the formatter is not installed",
      },
    ],
  }),
  ttsr_triggered: defineEvent({
    type: "ttsr_triggered",
    summary: "A stream rule matched what the model was writing, and the run is corrected.",
    fields: { rules: Type.Array(StreamRule) },
    systems: ["omp", "xcsh"],
    promptScoped: true,
    examples: [
      {
        rules: [
          {
            name: "no-any",
            path: "/home/me/repo/.omp/rules/no-any.md",
            content: "Avoid any.",
            condition: [": any\\b"],
            _source: {
              provider: "native",
              providerName: "native",
              path: "/home/me/repo/.omp/rules/no-any.md",
              level: "project",
            },
          },
        ],
      },
    ],
  }),
  todo_reminder: defineEvent({
    type: "todo_reminder",
    summary: "The run stopped with open tasks; the model is reminded of them.",
    fields: { todos: Type.Array(TodoItem), attempt: Type.Integer(), maxAttempts: Type.Integer() },
    systems: ["omp", "xcsh"],
    promptScoped: true,
    examples: [
      {
        todos: [{ id: "task-1", content: "Find the failing step", status: "in_progress" }],
        attempt: 1,
        maxAttempts: 3,
      },
    ],
  }),
  todo_auto_clear: defineEvent({
    type: "todo_auto_clear",
    summary: "Finished tasks were removed from the plan; `get_state` tells what is left.",
    fields: {},
    systems: ["xcsh"],
    examples: [{}],
  }),
});

const exampleEnded: Subagent = {
  ...exampleSubagent,
  status: "completed",
  progress: { turns: 2, toolCalls: 1, tokens: 1600, cost: 0.005, durationMs: 4200 },
};

/** Told when the host has subscribed to them. */
const SUB_AGENT_EVENTS = table({
  subagent_lifecycle: defineEvent({
    type: "subagent_lifecycle",
    summary: "A sub-agent begins to work, or has ended. From the level `progress` on.",
    fields: { payload: Subagent },
    systems: ["later"],
    promptScoped: true,
    examples: [{ payload: exampleEnded }],
  }),
  subagent_progress: defineEvent({
    type: "subagent_progress",
    summary: "A sub-agent has answered, or begins or ends a tool call. From the level `progress` on.",
    fields: { payload: Subagent },
    systems: ["later"],
    promptScoped: true,
    examples: [{ payload: exampleSubagent }],
  }),
  subagent_event: defineEvent({
    type: "subagent_event",
    summary: "What happens in the run of a sub-agent. On the level `events`.",
    fields: { payload: SubagentEvent },
    systems: ["later"],
    promptScoped: true,
    examples: [
      {
        payload: {
          id: "parser",
          index: 0,
          agent: "explore",
          agentSource: "bundled",
          parentToolCallId: "call_1",
          event: { type: "turn_start" },
        },
      },
    ],
  }),
});

/** The groups in the order of the documentation. */
export const EVENT_GROUPS = {
  "The run": RUN_EVENTS,
  Messages: MESSAGE_EVENTS,
  Tools: TOOL_EVENTS,
  "Compaction and retry": RECOVERY_EVENTS,
  "The session": SESSION_EVENTS,
  "Sub-agents": SUB_AGENT_EVENTS,
} as const;

/** The one table of events. */
export const EVENTS = {
  ...RUN_EVENTS,
  ...MESSAGE_EVENTS,
  ...TOOL_EVENTS,
  ...RECOVERY_EVENTS,
  ...SESSION_EVENTS,
  ...SUB_AGENT_EVENTS,
} as const;

export type EventType = keyof typeof EVENTS;

/** What an event says, without `type`, `promptId` and `seq`. */
export type EventFields<K extends EventType> = FieldsOf<(typeof EVENTS)[K]["fields"]>;

/** Fields of every event. */
export const EVENT_ENVELOPE = {
  seq: Type.Integer({ description: "counts the events of the session; higher with each event, also over restarts" }),
  promptId: Type.Optional(Type.String({ description: "of the prompt the event belongs to" })),
  turnIndex: Type.Optional(Type.Integer({ description: "of the turn within its prompt, from 0, over retries" })),
  messageId: Type.Optional(Type.String({ description: "on message events: the same for all events of one message" })),
};

/** An event as it stands on the wire. */
export type RpcEvent<K extends EventType = EventType> = {
  [T in K]: { type: T; seq: number; promptId?: string; turnIndex?: number; messageId?: string } & EventFields<T>;
}[K];
