import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";
import { Model, ThinkingLevel } from "../model.ts";
import { exampleModel } from "./examples.ts";

export const MODEL = table({
  set_model: defineCommand({
    type: "set_model",
    summary: "Switches to a model that has credentials; the next model call uses it.",
    params: { provider: Type.String(), modelId: Type.String() },
    result: Model,
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [
      { params: { provider: "anthropic", modelId: "claude-sonnet-4-5" }, data: exampleModel },
      { params: { provider: "acme", modelId: "m1" }, error: "Model not found: acme/m1" },
    ],
  }),
  cycle_model: defineCommand({
    type: "cycle_model",
    summary: "Switches to the next model of the list, or answers `null` when there is no other.",
    params: {},
    result: Type.Union([
      Type.Object({
        model: Model,
        thinkingLevel: ThinkingLevel,
        isScoped: Type.Boolean({ description: "the list was narrowed by --models or a setting" }),
      }),
      Type.Null(),
    ]),
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [
      { params: {}, data: { model: exampleModel, thinkingLevel: "medium", isScoped: false } },
      { note: "only one model is usable", params: {}, data: null },
    ],
  }),
  get_available_models: defineCommand({
    type: "get_available_models",
    summary: "Lists the models that could be used now.",
    params: {},
    result: Type.Object({ models: Type.Array(Model) }),
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [{ params: {}, data: { models: [exampleModel] } }],
  }),
  set_fast_mode: defineCommand({
    type: "set_fast_mode",
    summary: "Turns the faster service of a model on or off. No model has one here: it can only be turned off.",
    params: { enabled: Type.Boolean() },
    result: Type.Object({ enabled: Type.Boolean(), active: Type.Boolean() }),
    lane: "ordered",
    systems: ["later"],
    examples: [
      { params: { enabled: false }, data: { enabled: false, active: false } },
      { params: { enabled: true }, error: "Fast mode is unavailable for the current model." },
    ],
  }),
});
