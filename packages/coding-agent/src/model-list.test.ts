import type { Model } from "@tiller/protocol/model";
import { expect, it } from "vitest";
import { modelList } from "./model-list.ts";

const model = (id: string, facts: Partial<Model> = {}): Model => ({
  id,
  name: id,
  api: "test",
  provider: "p",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 200_000,
  maxTokens: 8192,
  ...facts,
});

it("has a line for each model, in columns", () => {
  const models = [
    model("small"),
    model("a-larger-one", { reasoning: true, input: ["text", "image"], contextWindow: 900 }),
  ];
  expect(modelList(models, true)).toBe(
    [
      "p/small         200k context  8k output  -       -",
      "p/a-larger-one  900 context   8k output  thinks  sees",
    ].join("\n"),
  );
});

it("can be narrowed, whatever the case, and says when nothing is left", () => {
  expect(modelList([model("Alpha"), model("beta")], "ALP")).toMatch(/^p\/Alpha [^\n]*$/);
  expect(modelList([model("beta")], "alp")).toBe('No model matches "alp".');
  expect(modelList([], true)).toBe("No model can be used.");
});
