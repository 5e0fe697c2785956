import { type Static, Type } from "typebox";
import { PendingDialog } from "./extension-ui.ts";
import { Model, ThinkingLevel } from "./model.ts";
import { TodoPhase } from "./todo.ts";

/** What `get_state` tells, and the small enumerations that commands set. */

export const QueueMode = Type.Union([Type.Literal("all"), Type.Literal("one-at-a-time")]);
export type QueueMode = Static<typeof QueueMode>;

export const InterruptMode = Type.Union([Type.Literal("immediate"), Type.Literal("wait")]);
export type InterruptMode = Static<typeof InterruptMode>;

export const UpdateMode = Type.Union([Type.Literal("snapshot"), Type.Literal("delta")]);
export type UpdateMode = Static<typeof UpdateMode>;

export const ContextUsage = Type.Object({
  tokens: Type.Union([Type.Number(), Type.Null()], { description: "null right after a compaction: not known yet" }),
  contextWindow: Type.Number(),
  percent: Type.Union([Type.Number(), Type.Null()]),
});
export type ContextUsage = Static<typeof ContextUsage>;

export const SessionState = Type.Object({
  model: Type.Union([Model, Type.Null()], { description: "null when no model is usable" }),
  thinkingLevel: ThinkingLevel,
  isStreaming: Type.Boolean({
    description: "true from the acceptance of a prompt until its agent_end without a retry",
  }),
  isCompacting: Type.Boolean(),
  isSettled: Type.Boolean({ description: "nothing runs, nothing will start by itself, and no message is queued" }),
  hasPendingAsyncWork: Type.Boolean({
    description: "background jobs are running, or their results are not in the conversation yet",
  }),
  steeringMode: QueueMode,
  followUpMode: QueueMode,
  interruptMode: InterruptMode,
  sessionFile: Type.Optional(Type.String({ description: "absent with --no-session" })),
  sessionId: Type.String(),
  sessionName: Type.Optional(Type.String({ description: "absent when no name was set" })),
  autoCompactionEnabled: Type.Boolean(),
  autoRetryEnabled: Type.Optional(Type.Boolean()),
  messageCount: Type.Integer(),
  pendingMessageCount: Type.Integer({ description: "queued messages that were not delivered yet" }),
  queuedMessageCount: Type.Integer({ description: "the same number, under the name that omp and xcsh use" }),
  todoPhases: Type.Array(TodoPhase),
  contextUsage: Type.Optional(ContextUsage),
  lastRunInterrupted: Type.Optional(
    Type.Literal(true, {
      description:
        "the process that ran the last prompt of this session was cut off; the next prompt goes on from there",
    }),
  ),
  retry: Type.Optional(
    Type.Object(
      { attempt: Type.Integer(), until: Type.Number({ description: "Unix milliseconds of the next attempt" }) },
      { description: "present while waiting for a retry" },
    ),
  ),
  pendingDialogs: Type.Optional(
    Type.Array(PendingDialog, {
      description: "dialogs of extensions that wait for an answer, oldest first; absent when there are none",
    }),
  ),
});
export type SessionState = Static<typeof SessionState>;
