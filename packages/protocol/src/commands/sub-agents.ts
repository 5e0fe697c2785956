import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";
import { AgentMessage } from "../message.ts";
import { SessionEntry } from "../session-entry.ts";
import { Subagent, SubagentLevel } from "../sub-agent.ts";
import { exampleUser } from "./examples.ts";

const file = "/home/me/.tiller/agent/subagents/0199c0de-0000-7000-8000-000000000001/parser.jsonl";

export const exampleSubagent: Subagent = {
  id: "parser",
  index: 0,
  agent: "explore",
  agentSource: "bundled",
  description: "Find the parser",
  status: "running",
  sessionFile: file,
  lastUpdate: 1767225600000,
  progress: { turns: 1, toolCalls: 1, tokens: 1200, cost: 0.004, durationMs: 2100, currentTool: "grep" },
  parentToolCallId: "call_1",
};

export const SUB_AGENTS = table({
  get_subagents: defineCommand({
    type: "get_subagents",
    summary: "Tells the sub-agents of this session that this process has started, also those that have ended.",
    params: {},
    result: Type.Object({ subagents: Type.Array(Subagent) }),
    lane: "ordered",
    systems: ["later"],
    examples: [{ params: {}, data: { subagents: [exampleSubagent] } }],
  }),
  get_subagent_messages: defineCommand({
    type: "get_subagent_messages",
    summary:
      "Reads the conversation of a sub-agent from a place on. Ask again with `nextByte` for what has come since; a long one is told in several answers.",
    params: {
      subagentId: Type.Optional(Type.String()),
      sessionFile: Type.Optional(Type.String({ description: "instead of `subagentId`" })),
      // Looked at by hand, so that the answer is the one that hosts know.
      fromByte: Type.Optional(Type.Unsafe<number>(Type.Unknown({ description: "a number; 0 if left out" }))),
    },
    result: Type.Object({
      sessionFile: Type.Optional(Type.String({ description: "absent when sessions are kept in memory" })),
      fromByte: Type.Number({ description: "where this answer begins" }),
      nextByte: Type.Number({ description: "where the next one goes on" }),
      reset: Type.Boolean({ description: "`fromByte` was behind the end: this answer begins at 0" }),
      entries: Type.Array(SessionEntry),
      messages: Type.Array(AgentMessage, { description: "those of the entries" }),
    }),
    lane: "ordered",
    systems: ["later"],
    examples: [
      {
        params: { subagentId: "parser", fromByte: 410 },
        data: {
          sessionFile: file,
          fromByte: 410,
          nextByte: 560,
          reset: false,
          entries: [
            {
              type: "message",
              id: "1a2b3c4d",
              parentId: "9a8b7c6d",
              timestamp: "2026-01-01T00:00:00.000Z",
              message: exampleUser,
            },
          ],
          messages: [exampleUser],
        },
      },
      { params: { subagentId: "lexer" }, error: "Unknown subagent: lexer" },
      { params: { subagentId: "parser", fromByte: "soon" as never }, error: "fromByte must be a finite number" },
    ],
  }),
  set_subagent_subscription: defineCommand({
    type: "set_subagent_subscription",
    summary:
      "Chooses what is told of sub-agents beside the updates of the tool call: nothing (`off`, as at the start), how they are getting on (`progress`), or all their events too (`events`).",
    params: {
      // Looked at by hand, so that the answer is the one that hosts know.
      level: Type.Unsafe<SubagentLevel>(Type.Unknown({ description: "`off`, `progress` or `events`" })),
    },
    result: Type.Object({ level: SubagentLevel }),
    lane: "ordered",
    systems: ["later"],
    examples: [
      { params: { level: "progress" }, data: { level: "progress" } },
      { params: { level: "all" as SubagentLevel }, error: "Invalid subagent subscription level: all" },
    ],
  }),
});
