import { type Static, Type } from "typebox";
import { exampleAssistant, exampleUsage, exampleUser } from "./commands/examples.ts";
import { UserContent } from "./content.ts";
import { table } from "./define.ts";
import { defineEntry, ENTRY_BASE, type EntryIn, type EntryRow, entryOf } from "./define-entry.ts";
import { AgentMessage, Usage } from "./message.ts";
import { FAMILY_ENTRIES } from "./session-entry-family.ts";
import { TodoPhase } from "./todo.ts";

/** The lines of a session file, version 3: one header, then entries that form a tree by `parentId`. */

export const SESSION_FILE_VERSION = 3;

export const SessionHeader = Type.Object({
  type: Type.Literal("session"),
  version: Type.Integer({ description: `${SESSION_FILE_VERSION} in what we write` }),
  id: Type.String({ description: "UUID" }),
  timestamp: Type.String({ description: "ISO 8601" }),
  cwd: Type.String({ description: "the folder the session works in" }),
  parentSession: Type.Optional(
    Type.String({
      description: "path of the file this one was forked from, or of the session that has started this sub-agent",
    }),
  ),
  title: Type.Optional(Type.String({ description: "the name, where omp and xcsh keep it" })),
  titleSource: Type.Optional(Type.String({ description: "omp, xcsh: `auto` or `user`" })),
});
export type SessionHeader = Static<typeof SessionHeader>;

/** The first line in files of newer omp releases, before the header; padded, so that it can be overwritten in place. */
export const TitleLine = Type.Object({
  type: Type.Literal("title"),
  v: Type.Optional(Type.Integer()),
  title: Type.Optional(Type.String()),
  source: Type.Optional(Type.String({ description: "`auto` or `user`" })),
  updatedAt: Type.Optional(Type.String({ description: "ISO 8601" })),
  pad: Type.Optional(Type.String({ description: "spaces" })),
});
export type TitleLine = Static<typeof TitleLine>;

const everywhere = ["pi", "omp", "xcsh"] as const;
const details = Type.Optional(Type.Unknown({ description: "whatever the maker of the summary wants to keep" }));
const usage = Type.Optional(Usage);
const fromHook = Type.Optional(Type.Boolean({ description: "an extension made it" }));
const fromExtension = Type.Optional(Type.Boolean({ description: "the name omp and xcsh have for `fromHook`" }));

export const ENTRIES = table({
  message: defineEntry({
    type: "message",
    summary: "A message of the conversation.",
    fields: { message: AgentMessage },
    systems: everywhere,
    context: "its message",
    examples: [{ message: exampleUser }, { message: exampleAssistant }],
  }),
  thinking_level_change: defineEntry({
    type: "thinking_level_change",
    summary: "From here on the model thinks this hard.",
    fields: { thinkingLevel: Type.Optional(Type.String({ description: "absent: the default of whoever reads it" })) },
    elsewhere: {
      systems: ["omp", "xcsh"],
      fields: { thinkingLevel: Type.Optional(Type.Union([Type.String(), Type.Null()])) },
    },
    systems: everywhere,
    examples: [{ thinkingLevel: "high" }],
  }),
  model_change: defineEntry({
    type: "model_change",
    summary: "From here on another model answers.",
    fields: {
      provider: Type.String(),
      modelId: Type.String(),
      model: Type.Optional(Type.String({ description: "`provider/modelId`, which is where omp and xcsh look" })),
      role: Type.Optional(Type.String({ description: "omp, xcsh: what it is used for; `default` when absent" })),
    },
    elsewhere: {
      systems: ["omp", "xcsh"],
      fields: {
        model: Type.String({ description: "`provider/modelId`" }),
        role: Type.Optional(Type.String()),
      },
    },
    systems: everywhere,
    examples: [{ provider: "anthropic", modelId: "claude-sonnet-4-5", model: "anthropic/claude-sonnet-4-5" }],
  }),
  compaction: defineEntry({
    type: "compaction",
    summary: "What came before `firstKeptEntryId` is replaced by a summary, for the model; the entries stay.",
    fields: {
      summary: Type.String(),
      firstKeptEntryId: Type.String({ description: "the model sees what follows from this entry on" }),
      tokensBefore: Type.Number(),
      details,
      fromHook,
      fromExtension,
      usage,
      shortSummary: Type.Optional(Type.String({ description: "omp, xcsh" })),
      preserveData: Type.Optional(Type.Unknown({ description: "omp, xcsh" })),
    },
    systems: everywhere,
    context: "a summary",
    examples: [
      {
        summary: "## Goal\nRepair the build.",
        firstKeptEntryId: "1a2b3c4d",
        tokensBefore: 151000,
        details: { readFiles: ["package.json"], modifiedFiles: ["src/index.ts"] },
      },
    ],
  }),
  branch_summary: defineEntry({
    type: "branch_summary",
    summary: "What happened on a branch that was left.",
    fields: {
      fromId: Type.String({ description: "where that branch begins: the entry gone back to, or `root`" }),
      summary: Type.String(),
      details,
      usage,
      fromHook,
      fromExtension,
    },
    systems: everywhere,
    context: "a summary",
    examples: [{ fromId: "1a2b3c4d", summary: "Tried to patch the parser; it did not work." }],
  }),
  custom: defineEntry({
    type: "custom",
    summary: "Data of an extension, or of the program itself; no model sees it.",
    fields: { customType: Type.String(), data: Type.Optional(Type.Unknown()) },
    systems: everywhere,
    examples: [
      { customType: "bookmark", data: { line: 12 } },
      { customType: "tiller.leaf", data: { from: "9a8b7c6d" } },
    ],
  }),
  custom_message: defineEntry({
    type: "custom_message",
    summary: "A message of an extension, which the model sees as one of the user's.",
    fields: {
      customType: Type.String(),
      content: Type.Union([Type.String(), Type.Array(UserContent)]),
      display: Type.Boolean({ description: "whether people are shown it" }),
      details: Type.Optional(Type.Unknown()),
    },
    systems: everywhere,
    context: "a custom message",
    examples: [{ customType: "reminder", content: "The tests are still red.", display: true }],
  }),
  label: defineEntry({
    type: "label",
    summary: "Gives an entry a name. The last one for a target counts.",
    fields: {
      targetId: Type.String(),
      label: Type.Optional(Type.String({ description: "absent or empty takes the name away" })),
    },
    systems: everywhere,
    examples: [{ targetId: "1a2b3c4d", label: "before the rewrite" }, { targetId: "1a2b3c4d" }],
  }),
  session_info: defineEntry({
    type: "session_info",
    summary: "Gives the session a name. The last one in the file counts.",
    fields: { name: Type.Optional(Type.String()) },
    systems: ["pi"],
    examples: [{ name: "repair the build" }],
  }),
  usage: defineEntry({
    type: "usage",
    summary:
      "Tokens that were spent beside the conversation, by a sub-agent (`kind` is `subagent`), to keep the cache of a provider warm (`cache_warm`) or, in files of others, on a summary.",
    fields: { kind: Type.String(), provider: Type.String(), model: Type.String(), usage: Usage },
    systems: ["later"],
    examples: [{ kind: "compaction", provider: "anthropic", model: "claude-sonnet-4-5", usage: exampleUsage }],
  }),
  session_init: defineEntry({
    type: "session_init",
    summary: "What the session of a sub-agent was started with.",
    fields: {
      systemPrompt: Type.String(),
      task: Type.String(),
      tools: Type.Array(Type.String()),
      outputSchema: Type.Optional(Type.Unknown()),
    },
    systems: ["xcsh"],
    examples: [{ systemPrompt: "You look things up.", task: "Find the entry point", tools: ["read", "grep"] }],
  }),
  ...FAMILY_ENTRIES,
});

export type EntryType = keyof typeof ENTRIES;

export const MessageEntry = entryOf(ENTRIES.message);
export type MessageEntry = Static<typeof MessageEntry>;
export const ThinkingLevelEntry = entryOf(ENTRIES.thinking_level_change);
export type ThinkingLevelEntry = Static<typeof ThinkingLevelEntry>;
export const ModelEntry = entryOf(ENTRIES.model_change);
export type ModelEntry = Static<typeof ModelEntry>;
export const CompactionEntry = entryOf(ENTRIES.compaction);
export type CompactionEntry = Static<typeof CompactionEntry>;
export const BranchSummaryEntry = entryOf(ENTRIES.branch_summary);
export type BranchSummaryEntry = Static<typeof BranchSummaryEntry>;
export const CustomEntry = entryOf(ENTRIES.custom);
export type CustomEntry = Static<typeof CustomEntry>;
export const CustomMessageEntry = entryOf(ENTRIES.custom_message);
export type CustomMessageEntry = Static<typeof CustomMessageEntry>;
export const LabelEntry = entryOf(ENTRIES.label);
export type LabelEntry = Static<typeof LabelEntry>;
export const SessionInfoEntry = entryOf(ENTRIES.session_info);
export type SessionInfoEntry = Static<typeof SessionInfoEntry>;

/** Every kind of entry that the table has, told apart by `type`. */
export type KnownEntry = EntryIn<typeof ENTRIES>;

/** An entry of a kind, or in a form, that the table does not have. It is carried along as it is. */
export const OtherEntry = Type.Object({ type: Type.String(), ...ENTRY_BASE });
export type OtherEntry = Static<typeof OtherEntry>;

/**
 * An entry on the wire. A file may hold what only its writer understands and a host gets that too, so the schema takes
 * anything that has an entry's base; the type names only what we know, so that `type` tells the kinds apart.
 */
export const SessionEntry = Type.Unsafe<KnownEntry>(
  Type.Union([...Object.values<EntryRow>(ENTRIES).map((row) => entryOf(row)), OtherEntry]),
);
export type SessionEntry = KnownEntry;

/** The `custom` entries that we write ourselves: `customType`, and what `data` holds. */
export const OWN_CUSTOM_TYPES = {
  "tiller.leaf": {
    summary: "Somebody went to another place in the tree. The parent of this entry is that place.",
    data: Type.Object({
      from: Type.Union([Type.String(), Type.Null()], { description: "the entry that was the leaf before" }),
    }),
    example: { from: "9a8b7c6d" },
  },
  "tiller.run_end": {
    summary:
      "The run ended, although the last message of the conversation is no answer, or no run was begun for the result of a background job. Without it a run was cut off.",
    data: Type.Object({ status: Type.String({ description: "the `status` of its `prompt_result`" }) }),
    example: { status: "aborted" },
  },
  "tiller.cut": {
    summary: "The place of a compaction that keeps no message: its `firstKeptEntryId` has to name something.",
    data: Type.Object({}),
    example: {},
  },
  "tiller.todos": {
    summary: "The plan, whole, as it is from here on.",
    data: Type.Object({ phases: Type.Array(TodoPhase) }),
    example: {
      phases: [
        {
          id: "phase-1",
          name: "Build",
          tasks: [{ id: "task-1", content: "Find the failing step", status: "pending" }],
        },
      ],
    },
  },
  "tiller.lost": {
    summary: "Stands in for an entry that was damaged beyond reading, so that those after it still have their parent.",
    data: Type.Object({}),
    example: {},
  },
} as const;
export type OwnCustomType = keyof typeof OWN_CUSTOM_TYPES;
export type OwnCustomData<T extends OwnCustomType> = Static<(typeof OWN_CUSTOM_TYPES)[T]["data"]>;
