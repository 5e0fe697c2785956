import { type Static, Type } from "typebox";
import { defineCommand, table } from "../define.ts";
import { SessionEntry } from "../session-entry.ts";
import { ContextUsage } from "../state.ts";
import { exampleUser } from "./examples.ts";

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
  premiumRequests: Type.Number({ description: "none are counted here; xcsh has the field" }),
  contextUsage: Type.Optional(ContextUsage),
});

/** One node: its children are nodes of the same form (kept open here, a schema cannot end in itself). */
export const TreeNode = Type.Object({
  entry: SessionEntry,
  children: Type.Array(Type.Unknown(), { description: "nodes of this same form, oldest first" }),
  label: Type.Optional(Type.String()),
  labelTimestamp: Type.Optional(Type.String({ description: "when the label was given" })),
});

const SessionSummary = Type.Object({
  sessionPath: Type.String(),
  sessionId: Type.String(),
  sessionName: Type.Optional(Type.String()),
  cwd: Type.String(),
  parentSession: Type.Optional(Type.String()),
  created: Type.String({ description: "ISO 8601" }),
  modified: Type.String({ description: "ISO 8601" }),
  messageCount: Type.Integer(),
  firstMessage: Type.Optional(Type.String({ description: "the beginning of the first user message" })),
  damaged: Type.Optional(Type.Literal(true, { description: "some of it cannot be read; opening it repairs it" })),
});

const disk = { lane: "ordered" } as const;

const exampleEntry: Static<typeof SessionEntry> = {
  type: "message",
  id: "1a2b3c4d",
  parentId: "9a8b7c6d",
  timestamp: "2026-01-01T00:00:01.000Z",
  message: exampleUser,
};

/** A session begins with its model and its thinking level. */
const exampleTree: Static<typeof TreeNode> = {
  entry: {
    type: "model_change",
    id: "5e6f7a8b",
    parentId: null,
    timestamp: "2026-01-01T00:00:00.000Z",
    provider: "anthropic",
    modelId: "claude-sonnet-4-5",
  },
  children: [
    {
      entry: {
        type: "thinking_level_change",
        id: "9a8b7c6d",
        parentId: "5e6f7a8b",
        timestamp: "2026-01-01T00:00:00.000Z",
        thinkingLevel: "medium",
      },
      children: [{ entry: exampleEntry, children: [], label: "before the rewrite" }],
    },
  ],
};

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
    summary: "Counts messages, tokens and dollars of the whole session file, on all branches.",
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
          premiumRequests: 0,
          contextUsage: { tokens: 1020, contextWindow: 200000, percent: 0.51 },
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
  open_session: defineCommand({
    type: "open_session",
    summary:
      "Goes on with the latest session of a folder, or begins one there; later sessions of this process lie there too.",
    params: { sessionDir: Type.String() },
    result: Type.Object({
      cancelled: Type.Boolean({ description: "an extension said no" }),
      resumed: Type.Boolean({ description: "there was a session to go on with" }),
      sessionId: Type.String(),
      sessionFile: Type.Optional(Type.String()),
    }),
    systems: ["later"],
    ...disk,
    examples: [
      {
        params: { sessionDir: "/home/me/sessions" },
        data: {
          cancelled: false,
          resumed: true,
          sessionId: "019b7618-5f00-7000-8000-000000000001",
          sessionFile: "/home/me/sessions/a.jsonl",
        },
      },
      {
        note: "without session files",
        params: { sessionDir: "/home/me/sessions" },
        error: "open_session requires session persistence (omit --no-session)",
      },
    ],
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
    examples: [
      { params: {}, data: { entries: [exampleEntry], leafId: "1a2b3c4d" } },
      { note: "what came after an entry", params: { since: "1a2b3c4d" }, data: { entries: [], leafId: "1a2b3c4d" } },
    ],
  }),
  get_tree: defineCommand({
    type: "get_tree",
    summary: "Tells the session as a tree of entries.",
    params: {},
    result: Type.Object({ tree: Type.Array(TreeNode), leafId }),
    systems: ["later"],
    ...disk,
    examples: [{ params: {}, data: { tree: [exampleTree], leafId: "1a2b3c4d" } }],
  }),
  navigate_tree: defineCommand({
    type: "navigate_tree",
    summary:
      "Goes on from another entry of the same session; from a user message: from just before it, to ask differently.",
    params: {
      entryId: Type.String(),
      summarize: Type.Optional(
        Type.Boolean({ description: "tell the model what happened on the branch that is left" }),
      ),
      customInstructions: Type.Optional(Type.String({ description: "what the summary shall pay attention to" })),
    },
    result: Type.Object({
      cancelled: Type.Boolean(),
      leafId,
      text: Type.Optional(Type.String({ description: "of the user message" })),
      summary: Type.Optional(Type.String()),
    }),
    lane: "ordered",
    systems: ["tiller"],
    examples: [
      {
        params: { entryId: "1a2b3c4d" },
        data: { cancelled: false, leafId: "5e6f7a8b", text: "Summarize this repo" },
      },
      { params: { entryId: "nowhere" }, error: "Entry not found: nowhere" },
    ],
  }),
  set_label: defineCommand({
    type: "set_label",
    summary: "Gives an entry a label that people can find it by; without a label takes it away.",
    params: { entryId: Type.String(), label: Type.Optional(Type.String()) },
    systems: ["tiller"],
    ...disk,
    examples: [
      { params: { entryId: "1a2b3c4d", label: "before the rewrite" } },
      { params: { entryId: "nowhere" }, error: "Entry not found: nowhere" },
    ],
  }),
  list_sessions: defineCommand({
    type: "list_sessions",
    summary: "Lists session files, the latest first.",
    params: {
      scope: Type.Optional(
        Type.Union([Type.Literal("cwd"), Type.Literal("all")], {
          description: "those of this working folder (the default), or of all",
        }),
      ),
      text: Type.Optional(Type.String({ description: "only those in which somebody said this" })),
      name: Type.Optional(Type.String({ description: "only those with this in their name" })),
      cwd: Type.Optional(Type.String({ description: "only those of this folder" })),
      limit: Type.Optional(Type.Integer({ minimum: 1, description: "at most 200; 50 when absent" })),
      cursor: Type.Optional(Type.String({ description: "`nextCursor` of the page before" })),
    },
    result: Type.Object({ sessions: Type.Array(SessionSummary), nextCursor: Type.Optional(Type.String()) }),
    lane: "background",
    systems: ["tiller"],
    examples: [
      {
        params: { text: "build", limit: 1 },
        data: {
          sessions: [
            {
              sessionPath: "/home/me/sessions/a.jsonl",
              sessionId: "019b7618-5f00-7000-8000-000000000001",
              sessionName: "repair the build",
              cwd: "/home/me/repo",
              created: "2026-01-01T00:00:00.000Z",
              modified: "2026-01-01T00:10:00.000Z",
              messageCount: 4,
              firstMessage: "Why does the build fail?",
            },
          ],
        },
      },
    ],
  }),
  delete_session: defineCommand({
    type: "delete_session",
    summary:
      "Moves a session file, with those of its sub-agents, to the trash of the agent folder. Not the one that is open.",
    params: { sessionPath: Type.String() },
    result: Type.Object({ trashPath: Type.String({ description: "where it is now" }) }),
    systems: ["tiller"],
    ...disk,
    examples: [
      {
        params: { sessionPath: "/home/me/sessions/a.jsonl" },
        data: { trashPath: "/home/me/.tiller/agent/trash/2026-01-01T00-00-00-000Z-a.jsonl" },
      },
    ],
  }),
});
