import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";
import { ThinkingLevel } from "../model.ts";

export const THINKING = table({
  set_thinking_level: defineCommand({
    type: "set_thinking_level",
    summary: "Sets how much the model may think, clamped to what it supports.",
    params: { level: ThinkingLevel },
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [{ params: { level: "high" } }],
  }),
  cycle_thinking_level: defineCommand({
    type: "cycle_thinking_level",
    summary: "Goes to the next level the model supports, or answers `null` when it cannot think.",
    params: {},
    result: Type.Union([Type.Object({ level: ThinkingLevel }), Type.Null()]),
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [
      { params: {}, data: { level: "high" } },
      { note: "a model without reasoning", params: {}, data: null },
    ],
  }),
  get_available_thinking_levels: defineCommand({
    type: "get_available_thinking_levels",
    summary: "Lists the levels the current model supports.",
    params: {},
    result: Type.Object({ levels: Type.Array(ThinkingLevel) }),
    lane: "ordered",
    systems: ["later"],
    examples: [{ params: {}, data: { levels: ["off", "minimal", "low", "medium", "high"] } }],
  }),
});
