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
  const find = (provider: string, id: string): Model | undefined => {
    const registered = configs.get(provider)?.models.find((model) => (model as Model).id === id);
    if (registered) return { ...registered, provider } as Model;
    return `${provider}/${id}` === "p/m" ? (real as unknown as Model) : undefined;
  };
  const asked: unknown[] = [];
  const virtual = createVirtualModels({
    registry: { find, modelsOf: (provider) => (provider === "p" ? [real as unknown as Model] : []) },
    providers: {
      register(name, config) {
        const { models } = config as Config;
        if (models.some((model) => "odd" in model)) throw new Error("odd");
        configs.set(name, config as Config);
      },
    },
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

  test("may stand for another virtual one: the model at the end of the way is asked", async () => {
    const { configs, add, asked } = desk();
    add({ id: "fast", model: "p/m" });
    add({ id: "faster", provider: "mine", model: "virtual/fast" });
    await configs.get("mine")?.streamSimple({ provider: "mine", id: "faster" }, "context", {});
    expect(asked).toEqual([[real, "context", {}]]);
  });

  test("that stands for itself, at once or by way of others, says so and asks nobody", async () => {
    const { configs, add, asked } = desk();
    add({ id: "self", model: "virtual/self" });
    add({ id: "here", model: () => "virtual/there" });
    add({ id: "there", model: "virtual/here" });
    const ask = (id: string) => configs.get("virtual")?.streamSimple({ provider: "virtual", id }, 0, 0);
    await expect(ask("self")).rejects.toThrow(
      "The virtual model virtual/self stands for virtual/self, which stands for it",
    );
    await expect(ask("here")).rejects.toThrow(
      "The virtual model virtual/there stands for virtual/here, which stands for it",
    );
    expect(asked).toEqual([]);
  });

  test("that does not know yet what it stands for is no rejection that nobody catches", async () => {
    const { configs, add } = desk();
    add({ id: "fast", model: () => Promise.reject(new Error("not yet")) });
    await new Promise((resolve) => setImmediate(resolve));
    const said = configs.get("virtual")?.streamSimple({ provider: "virtual", id: "fast" }, 0, 0);
    await expect(said).rejects.toThrow("not yet");
  });

  test("does not take the place of the models of another provider", () => {
    const { configs, add } = desk();
    expect(() => add({ id: "fast", provider: "p", model: "p/m" })).toThrow(
      '"p" has models of its own, which would be gone: give "fast" another provider',
    );
    expect([...configs.keys()]).toEqual([]);
  });

  test("that is refused does not stand in the way of the next", () => {
    const { configs, add } = desk();
    add({ id: "first", model: "p/m" });
    expect(() => add({ id: "second", model: "p/m", odd: true })).toThrow("odd");
    add({ id: "third", model: "p/m" });
    expect(configs.get("virtual")?.models).toMatchObject([{ id: "first" }, { id: "third" }]);
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
