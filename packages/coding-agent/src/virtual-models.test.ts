import type { Model } from "@tiller/protocol/model";
import { describe, expect, test } from "vitest";
import { namedModel, virtualModelOf } from "./extensions/virtual-model.ts";
import { createVirtualModels } from "./virtual-models.ts";

const real = { provider: "p", id: "m", contextWindow: 5000, maxTokens: 50, reasoning: true, input: ["text", "image"] };
interface Config {
  models: object[];
  streamSimple(model: object, context: unknown, options: unknown): Promise<unknown>;
}

function desk() {
  const configs = new Map<string, Config>();
  const asked: unknown[] = [];
  const virtual = createVirtualModels({
    registry: { find: (provider, id) => (`${provider}/${id}` === "p/m" ? (real as unknown as Model) : undefined) },
    providers: { register: (name, config) => void configs.set(name, config as Config) },
    ask(model, context, options) {
      asked.push([model, context, options]);
      return "the answer" as never;
    },
  });
  const add = (given: object) => {
    const made = virtualModelOf(given);
    if ("problem" in made) throw new Error(made.problem);
    virtual.register(made);
  };
  return { configs, asked, virtual, add };
}

describe("a virtual model", () => {
  test("is like the one it stands for, but for what it says of itself", () => {
    const { configs, add } = desk();
    add({ id: "fast", model: "p/m", name: "Fast", maxTokens: 9 });
    add({ id: "odd", model: { provider: "p", id: "gone" } });
    expect(configs.get("virtual")?.models).toMatchObject([
      { id: "fast", name: "Fast", contextWindow: 5000, maxTokens: 9, reasoning: true },
      { id: "odd", name: "odd", contextWindow: 128_000, reasoning: false },
    ]);
  });

  test("asks that one, with its own key", async () => {
    const { configs, add, asked } = desk();
    add({ id: "fast", provider: "mine", model: async () => "p/m" });
    const options = { apiKey: "x", headers: {}, reasoning: "low" };
    const said = configs.get("mine")?.streamSimple({ provider: "mine", id: "fast" }, "context", options);
    expect(await said).toBe("the answer");
    expect(asked).toEqual([[real, "context", { reasoning: "low" }]]);
  });

  test.each([
    ["p/gone", "The virtual model virtual/fast stands for p/gone, which is not there"],
    ["nonsense", "The virtual model virtual/fast stands for no model"],
  ])("that stands for %s says so when it is asked", async (target, words) => {
    const { configs, add } = desk();
    add({ id: "fast", model: () => target });
    await expect(configs.get("virtual")?.streamSimple({ provider: "virtual", id: "fast" }, 0, 0)).rejects.toThrow(
      words,
    );
  });

  test("goes with the extension that has brought it", async () => {
    const { configs, virtual, add } = desk();
    add({ id: "fast", model: "p/m" });
    virtual.forget();
    const said = configs.get("virtual")?.streamSimple({ provider: "virtual", id: "fast" }, 0, 0);
    await expect(said).rejects.toThrow("There is no virtual model virtual/fast any more");
  });

  test.each([
    [undefined, "a virtual model is an object with an id and a model"],
    [{ model: "p/m" }, "a virtual model needs an id"],
    [{ id: "a", provider: 7, model: "p/m" }, "the provider of a virtual model is a text"],
    [
      { id: "a", model: "m" },
      'the virtual model "a" does not say which model it stands for: model must be "provider/id"',
    ],
  ])("%j is none", (given, problem) => expect(virtualModelOf(given)).toEqual({ problem }));

  test.each([
    ["p/m", { provider: "p", id: "m" }],
    ["p/a/b", { provider: "p", id: "a/b" }],
    [
      { provider: "p", id: "m", more: 1 },
      { provider: "p", id: "m" },
    ],
    ["p/", undefined],
    ["/m", undefined],
    [{ id: "m" }, undefined],
    [7, undefined],
  ])("%j names %j", (value, named) => expect(namedModel(value)).toEqual(named));
});
