import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";

/** The fields of all three systems. */
export const BashResult = Type.Object({
  output: Type.String({ description: "stdout and stderr as they came; the tail when truncated" }),
  exitCode: Type.Optional(Type.Integer({ description: "absent when the command was killed" })),
  cancelled: Type.Boolean(),
  truncated: Type.Boolean(),
  fullOutputPath: Type.Optional(Type.String()),
  totalLines: Type.Optional(Type.Integer()),
  totalBytes: Type.Optional(Type.Integer()),
  outputLines: Type.Optional(Type.Integer()),
  outputBytes: Type.Optional(Type.Integer()),
});

export const BASH = table({
  bash: defineCommand({
    type: "bash",
    summary: "Runs a shell command in the session's folder; the model sees the output with the next prompt.",
    params: {
      command: Type.String(),
      excludeFromContext: Type.Optional(Type.Boolean({ description: "the model never sees it" })),
    },
    result: BashResult,
    lane: "background",
    systems: ["pi", "omp", "xcsh"],
    opens: "shell commands",
    examples: [
      {
        params: { command: "echo hi; exit 3" },
        data: { output: "hi\n", exitCode: 3, cancelled: false, truncated: false, totalLines: 1, totalBytes: 3 },
      },
    ],
  }),
  abort_bash: defineCommand({
    type: "abort_bash",
    summary: "Kills every shell command started by `bash`; a success also when there is none.",
    params: {},
    lane: "control",
    systems: ["pi", "omp", "xcsh"],
    opens: "shell commands",
    examples: [{ params: {} }],
  }),
});
