import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";
import { SessionEntry } from "../session-entry.ts";
import { ContextUsage } from "../state.ts";

const Cancelled = Type.Object({ cancelled: Type.Boolean({ description: "an extension said no" }) });
const Forked = Type.Object({
  text: Type.Optional(Type.String({ description: "the message the new session starts before; absent when cancelled" })),
  cancelled: Type.Boolean(),
});
const ForkPoints = Type.Object({
  messages: Type.Array(Type.Object({ entryId: Type.String(), text: Type.String() })),
});
const leafId = Type.Union([Type.String(), Type.Null()]);
const entryId = Type.String({ description: "of a user message" });

export const SessionStats = Type.Object({
  sessionFile: Type.Optional(Type.String()),
  sessionId: Type.String(),
  userMessages: Type.Integer(),
  assistantMessages: Type.Integer(),
  toolCalls: Type.Integer(),
  toolResults: Type.Integer(),
  totalMessages: Type.Integer(),
  tokens: Type.Object({
    input: Type.Number(),
    output: Type.Number(),
    cacheRead: Type.Number(),
    cacheWrite: Type.Number(),
    total: Type.Number(),
  }),
  cost: Type.Number({ description: "dollars" }),
  contextUsage: Type.Optional(ContextUsage),
});

/** One node: its children are nodes of the same form (kept open here, a schema cannot end in itself). */
export const TreeNode = Type.Object({
  entry: SessionEntry,
  children: Type.Array(Type.Unknown(), { description: "nodes of this same form, oldest first" }),
  label: Type.Optional(Type.String()),
});

const disk = { lane: "ordered", opens: "sessions on disk" } as const;

export const SESSION = table({
  new_session: defineCommand({
    type: "new_session",
    summary: "Starts an empty session; a run that is active is aborted first.",
    params: { parentSession: Type.Optional(Type.String({ description: "path that is noted as the origin" })) },
    result: Cancelled,
    systems: ["pi", "omp", "xcsh"],
    ...disk,
    examples: [{ params: { parentSession: "/home/me/sessions/old.jsonl" }, data: { cancelled: false } }],
  }),
  get_session_stats: defineCommand({
    type: "get_session_stats",
    summary: "Counts messages, tokens and dollars of the session.",
    params: {},
    result: SessionStats,
    systems: ["pi", "omp", "xcsh"],
    ...disk,
    examples: [
      {
        params: {},
        data: {
          sessionFile: "/home/me/sessions/a.jsonl",
          sessionId: "019b7618-5f00-7000-8000-000000000001",
          userMessages: 1,
          assistantMessages: 2,
          toolCalls: 1,
          toolResults: 1,
          totalMessages: 4,
          tokens: { input: 900, output: 120, cacheRead: 0, cacheWrite: 0, total: 1020 },
          cost: 0.0045,
        },
      },
    ],
  }),
  export_html: defineCommand({
    type: "export_html",
    summary: "Writes the session as an HTML page and tells where.",
    params: { outputPath: Type.Optional(Type.String()) },
    result: Type.Object({ path: Type.String() }),
    lane: "background",
    systems: ["pi", "omp", "xcsh"],
    opens: "HTML export",
    examples: [{ params: { outputPath: "/home/me/session.html" }, data: { path: "/home/me/session.html" } }],
  }),
  switch_session: defineCommand({
    type: "switch_session",
    summary: "Opens another session file; a path that does not exist starts a session there.",
    params: { sessionPath: Type.String() },
    result: Cancelled,
    systems: ["pi", "omp", "xcsh"],
    ...disk,
    examples: [{ params: { sessionPath: "/home/me/sessions/b.jsonl" }, data: { cancelled: false } }],
  }),
  fork: defineCommand({
    type: "fork",
    summary: "Starts a new session that ends just before an earlier user message.",
    params: { entryId },
    result: Forked,
    systems: ["pi"],
    ...disk,
    examples: [
      { params: { entryId: "1a2b3c4d" }, data: { text: "Summarize this repo", cancelled: false } },
      { params: { entryId: "nowhere" }, error: "Invalid entry ID for forking" },
    ],
  }),
  get_fork_messages: defineCommand({
    type: "get_fork_messages",
    summary: "Lists the user messages that `fork` accepts.",
    params: {},
    result: ForkPoints,
    systems: ["pi"],
    ...disk,
    examples: [{ params: {}, data: { messages: [{ entryId: "1a2b3c4d", text: "Summarize this repo" }] } }],
  }),
  branch: defineCommand({
    type: "branch",
    summary: "The same as `fork`, under the name that omp and xcsh use.",
    params: { entryId },
    result: Forked,
    systems: ["omp", "xcsh"],
    ...disk,
    examples: [{ params: { entryId: "1a2b3c4d" }, data: { text: "Summarize this repo", cancelled: false } }],
  }),
  get_branch_messages: defineCommand({
    type: "get_branch_messages",
    summary: "Lists the user messages that `branch` accepts.",
    params: {},
    result: ForkPoints,
    systems: ["omp", "xcsh"],
    ...disk,
    examples: [{ params: {}, data: { messages: [{ entryId: "1a2b3c4d", text: "Summarize this repo" }] } }],
  }),
  clone: defineCommand({
    type: "clone",
    summary: "Copies the current conversation into a new session and goes on there.",
    params: {},
    result: Cancelled,
    systems: ["later"],
    ...disk,
    examples: [{ params: {}, data: { cancelled: false } }],
  }),
  set_session_name: defineCommand({
    type: "set_session_name",
    summary: "Gives the session a name that people can read.",
    params: { name: Type.String({ description: "not empty" }) },
    systems: ["pi", "omp", "xcsh"],
    ...disk,
    examples: [
      { params: { name: "repair the build" } },
      { params: { name: " " }, error: "Session name cannot be empty" },
    ],
  }),
  get_entries: defineCommand({
    type: "get_entries",
    summary: "Lists the entries of the session file, all or those after one that is known already.",
    params: { since: Type.Optional(Type.String({ description: "entry id" })) },
    result: Type.Object({ entries: Type.Array(SessionEntry), leafId }),
    systems: ["later"],
    ...disk,
    examples: [{ params: { since: "1a2b3c4d" }, data: { entries: [], leafId: "1a2b3c4d" } }],
  }),
  get_tree: defineCommand({
    type: "get_tree",
    summary: "Tells the session as a tree of entries.",
    params: {},
    result: Type.Object({ tree: Type.Array(TreeNode), leafId }),
    systems: ["later"],
    ...disk,
    examples: [{ params: {}, data: { tree: [], leafId: null } }],
  }),
});
