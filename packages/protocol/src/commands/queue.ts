import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";
import { InterruptMode, QueueMode } from "../state.ts";

export const QUEUE = table({
  set_steering_mode: defineCommand({
    type: "set_steering_mode",
    summary: "Chooses whether queued `steer` messages are delivered one per turn or all together.",
    params: { mode: QueueMode },
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [
      { params: { mode: "all" } },
      {
        params: { mode: "one-at-a-time" },
      },
    ],
  }),
  set_follow_up_mode: defineCommand({
    type: "set_follow_up_mode",
    summary: "Chooses whether queued `follow_up` messages are delivered one per stop or all together.",
    params: { mode: QueueMode },
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [{ params: { mode: "one-at-a-time" } }],
  }),
  set_interrupt_mode: defineCommand({
    type: "set_interrupt_mode",
    summary: "Chooses whether steering skips the remaining tool calls of a turn (`immediate`) or waits for its end.",
    params: { mode: InterruptMode },
    lane: "ordered",
    systems: ["omp", "xcsh"],
    examples: [{ params: { mode: "wait" } }],
  }),
  clear_queue: defineCommand({
    type: "clear_queue",
    summary: "Removes all queued messages and gives their texts back.",
    params: {},
    result: Type.Object({ steering: Type.Array(Type.String()), followUp: Type.Array(Type.String()) }),
    lane: "ordered",
    systems: ["later"],
    examples: [{ params: {}, data: { steering: ["Fix the build first"], followUp: [] } }],
  }),
});
