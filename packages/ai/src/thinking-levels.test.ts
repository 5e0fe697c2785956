import type { Model } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { testModel } from "./testing.ts";
import { clampLevel, levelsFor } from "./thinking-levels.ts";

const plain = testModel({ reasoning: true });
const extra = testModel({ reasoning: true, thinkingLevelMap: { xhigh: "max" } });
const always = testModel({ reasoning: true, thinkingLevelMap: { off: null, minimal: null, xhigh: null } });

test.each<[story: string, model: Model, levels: string[]]>([
  ["no reasoning", testModel(), ["off"]],
  ["reasoning", plain, ["off", "minimal", "low", "medium", "high"]],
  ["reasoning with more", extra, ["off", "minimal", "low", "medium", "high", "xhigh"]],
  ["reasoning that cannot be turned off", always, ["low", "medium", "high"]],
])("levels of a model with %s", (_story, model, levels) => {
  expect(levelsFor(model)).toEqual(levels);
});

test.each<[model: Model, asked: string, level: string]>([
  [plain, "low", "low"],
  [plain, "xhigh", "high"],
  [extra, "xhigh", "xhigh"],
  [always, "off", "low"],
  [always, "xhigh", "high"],
  [plain, "enormous", "medium"],
  [testModel(), "high", "off"],
])("clamped (%#) from %s", (model, asked, level) => {
  expect(clampLevel(model, asked)).toBe(level);
});
