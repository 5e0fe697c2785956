import { Type } from "typebox";
import { ImageContent } from "../content.ts";
import { defineCommand, table } from "../define.ts";
import { PromptLimits } from "../limits.ts";

const message = Type.String();
const images = Type.Optional(Type.Array(ImageContent));

/** What became of a message: a run was started, it waits in a queue, or a local command dealt with it. */
export const Disposition = Type.Object({
  disposition: Type.Union([Type.Literal("started"), Type.Literal("queued"), Type.Literal("handled")]),
  agentInvoked: Type.Optional(Type.Literal(false, { description: "present when no model will be asked" })),
});

export const PROMPTING = table({
  prompt: defineCommand({
    type: "prompt",
    summary: "Sends a user message and starts a run. Answered at once; the run is told by events.",
    params: {
      message,
      images,
      streamingBehavior: Type.Optional(
        Type.Union([Type.Literal("steer"), Type.Literal("followUp")], {
          description: "needed while a run is active: into which queue the message goes",
        }),
      ),
      limits: Type.Optional(PromptLimits),
    },
    result: Disposition,
    lane: "background",
    systems: ["pi", "omp", "xcsh"],
    examples: [
      { params: { message: "Summarize this repo" }, data: { disposition: "started" } },
      {
        note: "with a picture",
        params: {
          message: "What does this show?",
          images: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }],
        },
        data: { disposition: "started" },
      },
      {
        note: "while a run is active",
        params: { message: "Also name the risks", streamingBehavior: "followUp" },
        data: { disposition: "queued" },
      },
      {
        note: "a command of an extension",
        params: { message: "/review src" },
        data: { disposition: "handled", agentInvoked: false },
      },
    ],
  }),
  steer: defineCommand({
    type: "steer",
    summary: "Queues a message that changes the course of the active run; idle, it waits for the next prompt.",
    params: { message, images },
    result: Disposition,
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [{ params: { message: "Leave the tests, fix the build first" }, data: { disposition: "queued" } }],
  }),
  follow_up: defineCommand({
    type: "follow_up",
    summary: "Queues a message for when the active run would stop; idle, it waits for the next prompt.",
    params: { message, images },
    result: Disposition,
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [{ params: { message: "Then write the changelog" }, data: { disposition: "queued" } }],
  }),
  abort: defineCommand({
    type: "abort",
    summary: "Ends the active run. Answered after the last event of that run; a success also when nothing runs.",
    params: {},
    lane: "control",
    systems: ["pi", "omp", "xcsh"],
    examples: [{ params: {} }],
  }),
  abort_and_prompt: defineCommand({
    type: "abort_and_prompt",
    summary: "Ends the active run, then sends a new message. Answered after the old run's last event.",
    params: { message, images },
    result: Disposition,
    lane: "background",
    systems: ["omp", "xcsh"],
    examples: [{ params: { message: "Start over with the small module" }, data: { disposition: "started" } }],
  }),
});
