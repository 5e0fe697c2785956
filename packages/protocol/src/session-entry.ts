import { type Static, type TProperties, Type } from "typebox";
import { UserContent } from "./content.ts";
import { AgentMessage } from "./message.ts";

/** The lines of a session file, version 3: one header, then entries that form a tree by `parentId`. */

export const SESSION_FILE_VERSION = 3;

export const SessionHeader = Type.Object({
  type: Type.Literal("session"),
  version: Type.Integer(),
  id: Type.String(),
  timestamp: Type.String({ description: "ISO 8601" }),
  cwd: Type.String(),
  parentSession: Type.Optional(Type.String({ description: "path of the file this one was forked from" })),
});
export type SessionHeader = Static<typeof SessionHeader>;

function entry<T extends string, F extends TProperties>(type: T, fields: F) {
  return Type.Object({
    type: Type.Literal(type),
    id: Type.String({ description: "8 hex digits" }),
    parentId: Type.Union([Type.String(), Type.Null()]),
    timestamp: Type.String({ description: "ISO 8601" }),
    ...fields,
  });
}

export const MessageEntry = entry("message", { message: AgentMessage });
export const ThinkingLevelEntry = entry("thinking_level_change", { thinkingLevel: Type.String() });
export const ModelEntry = entry("model_change", {
  provider: Type.String(),
  modelId: Type.String(),
  /** `provider/modelId`, which is where omp and xcsh look. */
  model: Type.Optional(Type.String()),
});
export const CompactionEntry = entry("compaction", {
  summary: Type.String(),
  firstKeptEntryId: Type.String(),
  tokensBefore: Type.Number(),
  details: Type.Optional(Type.Unknown()),
  fromHook: Type.Optional(Type.Boolean()),
});
export const BranchSummaryEntry = entry("branch_summary", {
  fromId: Type.String(),
  summary: Type.String(),
  details: Type.Optional(Type.Unknown()),
  fromHook: Type.Optional(Type.Boolean()),
});
export const CustomEntry = entry("custom", { customType: Type.String(), data: Type.Optional(Type.Unknown()) });
export const CustomMessageEntry = entry("custom_message", {
  customType: Type.String(),
  content: Type.Union([Type.String(), Type.Array(UserContent)]),
  display: Type.Boolean(),
  details: Type.Optional(Type.Unknown()),
});
export const LabelEntry = entry("label", { targetId: Type.String(), label: Type.Optional(Type.String()) });
export const SessionInfoEntry = entry("session_info", { name: Type.Optional(Type.String()) });

export const SessionEntry = Type.Union([
  MessageEntry,
  ThinkingLevelEntry,
  ModelEntry,
  CompactionEntry,
  BranchSummaryEntry,
  CustomEntry,
  CustomMessageEntry,
  LabelEntry,
  SessionInfoEntry,
]);
export type SessionEntry = Static<typeof SessionEntry>;
