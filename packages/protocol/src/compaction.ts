import { type Static, Type } from "typebox";
import { Usage } from "./message.ts";

/** What a compaction leaves behind. */
export const CompactionResult = Type.Object({
  summary: Type.String(),
  firstKeptEntryId: Type.String(),
  tokensBefore: Type.Number(),
  details: Type.Optional(Type.Unknown({ description: "by default the files read and modified" })),
  estimatedTokensAfter: Type.Optional(Type.Number({ description: "of the summary and the messages that are kept" })),
  usage: Type.Optional(Usage),
});
export type CompactionResult = Static<typeof CompactionResult>;
