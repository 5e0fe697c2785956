import type { Model } from "@tiller/protocol/model";
import { expect, it } from "vitest";
import { modelTable } from "./model-list.ts";

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
    model("a-larger-one", {
      reasoning: true,
      input: ["text", "image"],
      contextWindow: 900,
      cost: { input: 0.25, output: 15, cacheRead: 0, cacheWrite: 0 },
    }),
  ];
  expect(modelTable(models, { search: "", remark: ({ id }) => (id === "small" ? "" : "no key") })).toBe(
    [
      "model           context  output  thinks  sees  $ in/out per 1M",
      "p/small         200k     8k      -       -     -",
      "p/a-larger-one  900      8k      yes     yes   0.25/15          no key",
    ].join("\n"),
  );
});

it.each([
  [900, "900"],
  [8192, "8k"],
  [999_499, "999k"],
  [1_000_000, "1M"],
  [1_048_576, "1M"],
  [2_500_000, "2.5M"],
])("shows %i tokens as %s", (contextWindow, shown) => {
  expect(modelTable([model("a", { contextWindow })], { search: "" }).split("\n")[1]).toContain(`p/a    ${shown} `);
});

it("can be narrowed, whatever the case, and says when nothing is left", () => {
  const [, ...rows] = modelTable([model("Alpha"), model("beta")], { search: "ALP" }).split("\n");
  expect(rows).toEqual([expect.stringMatching(/^p\/Alpha /)]);
  expect(modelTable([model("beta")], { search: "alp" })).toBe('No model matches "alp".');
  expect(modelTable([], { search: "" })).toBe("No model can be used; `tiller doctor` tells why.");
});
