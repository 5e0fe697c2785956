import { type Static, Type } from "typebox";
import { defineCommand, table } from "../define.ts";

/** A command that a prompt can call as `/name`. `location` and `path` for older clients, `sourceInfo` for newer ones. */
export const SlashCommand = Type.Object({
  name: Type.String(),
  description: Type.Optional(Type.String()),
  source: Type.Union([Type.Literal("extension"), Type.Literal("prompt"), Type.Literal("skill")]),
  location: Type.Optional(Type.Union([Type.Literal("user"), Type.Literal("project"), Type.Literal("path")])),
  path: Type.Optional(Type.String()),
  sourceInfo: Type.Optional(
    Type.Object({
      path: Type.String(),
      source: Type.String(),
      scope: Type.Union([Type.Literal("user"), Type.Literal("project"), Type.Literal("temporary")]),
      origin: Type.Union([Type.Literal("package"), Type.Literal("top-level")]),
      baseDir: Type.Optional(Type.String({ description: "the folder that was searched" })),
    }),
  ),
});
export type SlashCommand = Static<typeof SlashCommand>;

/** The same in the form that omp has for it. */
export const AvailableCommand = Type.Object({
  name: Type.String(),
  description: Type.Optional(Type.String()),
  input: Type.Optional(Type.Object({ hint: Type.Optional(Type.String()) })),
  source: Type.Union([Type.Literal("extension"), Type.Literal("prompt"), Type.Literal("skill")]),
});

export const SLASH_COMMANDS = table({
  get_commands: defineCommand({
    type: "get_commands",
    summary: "Lists what a prompt can call with a slash: extension commands, prompt templates, skills.",
    params: {},
    result: Type.Object({ commands: Type.Array(SlashCommand) }),
    lane: "ordered",
    systems: ["pi"],
    examples: [
      {
        params: {},
        data: {
          commands: [
            {
              name: "review",
              description: "Review the staged changes",
              source: "prompt",
              location: "project",
              path: "/home/me/repo/.tiller/prompts/review.md",
            },
          ],
        },
      },
    ],
  }),
  get_available_commands: defineCommand({
    type: "get_available_commands",
    summary: "The same list in the form that omp has for it.",
    params: {},
    result: Type.Object({ commands: Type.Array(AvailableCommand) }),
    lane: "ordered",
    systems: ["later"],
    examples: [
      {
        params: {},
        data: { commands: [{ name: "review", description: "Review the staged changes", source: "prompt" }] },
      },
    ],
  }),
});
