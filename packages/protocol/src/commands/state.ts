import { type Static, Type } from "typebox";
import { defineCommand, table } from "../define.ts";
import { SessionState, UpdateMode } from "../state.ts";
import { exampleModel } from "./examples.ts";

export const Limits = Type.Object({
  maxLineBytes: Type.Integer({ description: "longest line read from stdin" }),
  maxFrameBytes: Type.Integer({ description: "a longer frame comes in chunks, once that is negotiated" }),
  maxReassembledFrameBytes: Type.Integer({ description: "longest frame that comes in chunks" }),
});
export type Limits = Static<typeof Limits>;

export const Capabilities = Type.Object({
  version: Type.String({ description: "of the program" }),
  dialect: Type.String(),
  protocolVersion: Type.Integer({ description: "2 once that is negotiated" }),
  supportedProtocolVersions: Type.Array(Type.Integer()),
  commands: Type.Array(Type.String(), { description: "that work in this release" }),
  events: Type.Array(Type.String(), { description: "that this process may send: those of its dialect" }),
  limits: Limits,
});

const measured = {
  name: Type.String(),
  path: Type.Optional(Type.String()),
  characters: Type.Integer(),
  tokens: Type.Number({ description: "an estimate" }),
  share: Type.Number({ description: "of all tokens, in percent" }),
  why: Type.String({ description: "why it is there" }),
};

export const ContextReport = Type.Object({
  systemPrompt: Type.String(),
  tokens: Type.Number({ description: "an estimate" }),
  contextWindow: Type.Optional(Type.Number()),
  percent: Type.Optional(Type.Number({ description: "of the context window" })),
  parts: Type.Array(
    Type.Object({
      kind: Type.String(),
      ...measured,
      items: Type.Optional(Type.Array(Type.Object(measured), { description: "each tool, each skill" })),
    }),
  ),
  leftOut: Type.Array(Type.Object({ name: Type.String(), path: Type.Optional(Type.String()), why: Type.String() }), {
    description: "what is there and yet not shown to the model",
  }),
});

const idleState: SessionState = {
  model: exampleModel,
  thinkingLevel: "medium",
  isStreaming: false,
  isCompacting: false,
  isSettled: true,
  hasPendingAsyncWork: false,
  steeringMode: "one-at-a-time",
  followUpMode: "one-at-a-time",
  interruptMode: "wait",
  sessionId: "019b7618-5f00-7000-8000-000000000001",
  autoCompactionEnabled: true,
  messageCount: 0,
  pendingMessageCount: 0,
  queuedMessageCount: 0,
  todoPhases: [],
};

export const STATE = table({
  get_state: defineCommand({
    type: "get_state",
    summary: "Tells the model, the modes and what is going on.",
    params: {},
    result: SessionState,
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [
      { params: {}, data: idleState },
      {
        note: "while an extension asks something",
        params: {},
        data: {
          ...idleState,
          isStreaming: true,
          isSettled: false,
          messageCount: 2,
          pendingDialogs: [
            {
              id: "ui-1",
              method: "confirm",
              title: "Delete the folder?",
              message: "It is not empty.",
              openedAt: 1767225600000,
              timeout: 30000,
            },
          ],
        },
      },
    ],
  }),
  get_context: defineCommand({
    type: "get_context",
    summary: "Tells what the model will see with the next prompt: each part, how large it is and why it is there.",
    params: {},
    result: ContextReport,
    lane: "ordered",
    systems: ["tiller"],
    examples: [
      {
        params: {},
        data: {
          systemPrompt: "You are a coding agent. ...",
          tokens: 400,
          contextWindow: 200000,
          percent: 0.2,
          parts: [
            {
              kind: "contextFile",
              name: "AGENTS.md",
              path: "/home/me/repo/AGENTS.md",
              characters: 1600,
              tokens: 400,
              share: 100,
              why: "It lies in the working folder",
            },
          ],
          leftOut: [],
        },
      },
    ],
  }),
  get_capabilities: defineCommand({
    type: "get_capabilities",
    summary: "Tells which commands and events this process has, its dialect and its limits.",
    params: {},
    result: Capabilities,
    lane: "ordered",
    systems: ["tiller"],
    examples: [
      {
        params: {},
        data: {
          version: "0.1.0",
          dialect: "union",
          protocolVersion: 1,
          supportedProtocolVersions: [1, 2],
          commands: ["prompt", "abort", "get_state"],
          events: ["agent_start", "agent_end"],
          limits: { maxLineBytes: 268435456, maxFrameBytes: 1048576, maxReassembledFrameBytes: 67108864 },
        },
      },
    ],
  }),
  set_update_mode: defineCommand({
    type: "set_update_mode",
    summary:
      "Chooses whether `message_update` repeats the message so far (`snapshot`) or only the new piece (`delta`).",
    params: { mode: UpdateMode },
    lane: "ordered",
    systems: ["tiller"],
    examples: [{ params: { mode: "delta" } }],
  }),
});
