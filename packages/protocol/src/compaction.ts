import { type Static, Type } from "typebox";

/** What a compaction leaves behind. */
export const CompactionResult = Type.Object({
  summary: Type.String(),
  firstKeptEntryId: Type.String(),
  tokensBefore: Type.Number(),
  details: Type.Optional(Type.Unknown({ description: "by default the files read and modified" })),
});
export type CompactionResult = Static<typeof CompactionResult>;
