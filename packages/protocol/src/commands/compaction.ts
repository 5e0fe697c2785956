import { Type } from "typebox";
import { CompactionResult } from "../compaction.ts";
import { defineCommand, table } from "../define.ts";

export const COMPACTION = table({
  compact: defineCommand({
    type: "compact",
    summary: "Replaces the older part of the conversation by a summary.",
    params: {
      customInstructions: Type.Optional(Type.String({ description: "what the summary shall pay attention to" })),
    },
    result: CompactionResult,
    lane: "background",
    systems: ["pi", "omp", "xcsh"],
    examples: [
      {
        params: { customInstructions: "Keep the file names" },
        data: {
          summary: "The build was repaired ...",
          firstKeptEntryId: "1a2b3c4d",
          tokensBefore: 151000,
          details: { readFiles: ["src/a.ts"], modifiedFiles: [] },
          estimatedTokensAfter: 21400,
        },
      },
      { note: "twice in a row", params: {}, error: "Already compacted" },
    ],
  }),
  set_auto_compaction: defineCommand({
    type: "set_auto_compaction",
    summary: "Turns compaction by itself, when the context is nearly full, on or off.",
    params: { enabled: Type.Boolean() },
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [{ params: { enabled: true } }],
  }),
});
