import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";

/** The fields of all three systems. */
export const BashResult = Type.Object({
  output: Type.String({ description: "stdout and stderr as they came, readable; the end of it when truncated" }),
  exitCode: Type.Optional(Type.Integer({ description: "absent when the command was killed" })),
  cancelled: Type.Boolean({ description: "ended by `abort_bash`, or because the process ends" }),
  truncated: Type.Boolean({ description: "`output` is not all of it" }),
  fullOutputPath: Type.Optional(
    Type.String({ description: "of a file with all of it; absent when there was no room for it" }),
  ),
  totalLines: Type.Optional(Type.Integer()),
  totalBytes: Type.Optional(Type.Integer()),
  outputLines: Type.Optional(Type.Integer()),
  outputBytes: Type.Optional(Type.Integer()),
  artifactId: Type.Optional(Type.String({ description: "of the full output, where a system keeps artifacts" })),
  workingDir: Type.Optional(Type.String({ description: "in which the next command starts" })),
  newCwd: Type.Optional(Type.String({ description: "the same, where a `cd` survives" })),
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
    examples: [
      {
        params: { command: "echo hi; exit 3" },
        data: {
          output: "hi\n",
          exitCode: 3,
          cancelled: false,
          truncated: false,
          totalLines: 1,
          totalBytes: 3,
          outputLines: 1,
          outputBytes: 3,
          workingDir: "/home/me/repo",
        },
      },
      {
        note: "ended by `abort_bash`",
        params: { command: "echo begun; sleep 600", excludeFromContext: true },
        data: { output: "begun\n", cancelled: true, truncated: false },
      },
    ],
  }),
  abort_bash: defineCommand({
    type: "abort_bash",
    summary: "Ends every shell command started by `bash`; a success also when there is none.",
    params: {},
    lane: "control",
    systems: ["pi", "omp", "xcsh"],
    examples: [{ params: {} }],
  }),
});
