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
  handoff: defineCommand({
    type: "handoff",
    summary:
      "Writes down what somebody needs who goes on with the work, and goes on in a new session that begins with it. The old session stays as it is.",
    params: {
      customInstructions: Type.Optional(Type.String({ description: "what the notes shall pay attention to" })),
    },
    result: Type.Union(
      [
        Type.Object({
          savedPath: Type.Optional(Type.String({ description: "of the notes; absent with --no-session" })),
        }),
        Type.Null(),
      ],
      { description: "null when an extension said no" },
    ),
    lane: "background",
    systems: ["later"],
    examples: [
      {
        params: { customInstructions: "Keep the file names" },
        data: { savedPath: "/home/me/.tiller/agent/handoffs/2026-01-01T00-00-00-000Z_019b7618.md" },
      },
      { note: "during a run", params: {}, error: "Cannot hand off while a response is in progress" },
    ],
  }),
});
