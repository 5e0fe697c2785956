import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import { describe, expect, it } from "vitest";
import { createModelControl, type ModelSource } from "./model-control.ts";

function model(id: string, reasoning = true): Model {
  return {
    id,
    name: id,
    api: "test",
    provider: "p",
    baseUrl: "",
    reasoning,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1000,
    maxTokens: 100,
  };
}

interface Options extends Partial<ModelSource> {
  scope?: Model[];
  level?: ThinkingLevel;
}

function control(models: Model[], start: Model | null, options: Options = {}) {
  const told: string[] = [];
  const subject = createModelControl({
    source: {
      available: () => models,
      find: (_provider, id) => models.find((known) => known.id === id),
      named: () => undefined,
      refresh: () => undefined,
      describe: () => undefined,
      ...options,
    },
    initial: { model: start, thinkingLevel: options.level ?? "medium" },
    scope: options.scope ?? [],
    onModel: (m) => told.push(`model ${m.id}`),
    onThinkingLevel: (level) => told.push(`level ${level}`),
  });
  return { subject, told };
}

const [a, b, c, plain] = [model("a"), model("b"), model("c"), model("plain", false)];

describe("model control", () => {
  it("switches to a model that is available, and to no other", () => {
    const { subject, told } = control([a, b], a);
    expect(subject.set("p", "b")).toBe(b);
    expect(subject.set("p", "nope")).toBeUndefined();
    expect(subject.model).toBe(b);
    expect(told).toEqual(["model b"]);
  });

  it("cycles through all available models and wraps around", () => {
    const { subject } = control([a, b, c], b);
    expect([subject.cycle()?.model.id, subject.cycle()?.model.id, subject.cycle()?.model.id]).toEqual(["c", "a", "b"]);
  });

  it("cycles within the scope when there is one, and says so", () => {
    const { subject } = control([a, b, c], a, { scope: [a, c] });
    expect(subject.cycle()).toMatchObject({ model: { id: "c" }, isScoped: true });
    expect(subject.cycle()).toMatchObject({ model: { id: "a" } });
  });

  it("has nothing to cycle to with one model, or none", () => {
    expect(control([a], a).subject.cycle()).toBeNull();
    expect(control([], null).subject.cycle()).toBeNull();
  });

  it("takes the second model when the current one is not among the candidates", () => {
    expect(control([a, b], c).subject.cycle()?.model.id).toBe("b");
  });

  it("clamps the level to the model, and gives it back to a model that can think", () => {
    const { subject, told } = control([plain, a], a, { level: "high" });
    subject.set("p", "plain");
    expect(subject.thinkingLevel).toBe("off");
    subject.set("p", "a");
    expect(subject.thinkingLevel).toBe("high");
    expect(told).toEqual(["model plain", "level off", "model a", "level high"]);
  });

  it("tells a change of level once, and nothing when it stays", () => {
    const { subject, told } = control([a], a);
    subject.setThinkingLevel("medium");
    subject.setThinkingLevel("low");
    expect(told).toEqual(["level low"]);
  });

  it("cycles the levels of the model in order, and not at all when it cannot think", () => {
    const { subject } = control([a], a, { level: "medium" });
    expect([subject.cycleThinkingLevel(), subject.cycleThinkingLevel(), subject.cycleThinkingLevel()]).toEqual([
      "high",
      "off",
      "minimal",
    ]);
    expect(control([plain], plain).subject.cycleThinkingLevel()).toBeNull();
    expect(control([], null).subject.cycleThinkingLevel()).toBeNull();
  });

  it("takes up a model of a server that has not been asked yet, by the name that a session gives it", () => {
    const { subject, told } = control([a], a, { named: (provider, id) => (provider === "p" ? model(id) : undefined) });
    expect(subject.restore({ model: { provider: "p", id: "there" } })).toBe(true);
    expect([subject.model?.id, told]).toEqual(["there", []]);
    expect(subject.restore({ model: { provider: "other", id: "gone" } })).toBe(false);
    expect(subject.model?.id).toBe("there");
  });

  it("switches to a model that no list has, where that may be", () => {
    const { subject, told } = control([a], a, { named: (provider, id) => (provider === "p" ? model(id) : undefined) });
    expect(subject.set("p", "new")).toMatchObject({ id: "new" });
    expect(subject.set("q", "new")).toBeUndefined();
    expect([subject.model?.id, told]).toEqual(["new", ["model new"]]);
  });

  it("asks servers for a model that it does not know before it takes the bare name", async () => {
    const models = [a];
    const asked: unknown[] = [];
    const { subject } = control(models, a, {
      refresh: async (provider) => {
        asked.push(provider);
        models.push(b);
      },
      named: (_provider, id) => model(id, false),
    });
    expect(subject.set("p", "a")).toBe(a);
    expect(asked).toEqual([]);
    expect(await subject.set("p", "b")).toBe(b);
    expect(asked).toEqual(["p"]);
  });

  it("learns what its model can do before it is asked: the level follows, the model is not told again", async () => {
    const clever = { ...plain, reasoning: true };
    const { subject, told } = control([plain], plain, { level: "high", describe: async () => clever });
    expect(subject.thinkingLevel).toBe("off");
    await subject.prepare();
    expect([subject.model, subject.thinkingLevel, told]).toEqual([clever, "high", ["level high"]]);
  });

  it("learns which model was meant, and tells it", async () => {
    const { subject, told } = control([a], c, { describe: async () => a });
    await subject.prepare();
    expect([subject.model, told]).toEqual([a, ["model a"]]);
  });

  it("does not take back a choice that was made while a server was asked", async () => {
    let answer = (_found: Model): void => undefined;
    const described = new Promise<Model>((resolve) => {
      answer = resolve;
    });
    const { subject } = control([a, b], a, { describe: () => described });
    const prepared = subject.prepare();
    subject.set("p", "b");
    answer({ ...a, contextWindow: 5 });
    await prepared;
    expect(subject.model).toBe(b);
  });

  it("has nothing to wait for when there is nothing to learn, or no model", () => {
    expect(control([a], a).subject.prepare()).toBeUndefined();
    expect(control([], null, { describe: async () => a }).subject.prepare()).toBeUndefined();
  });
});

describe("who is told of a change", () => {
  function listened(models: Model[], start: Model | null) {
    const told: string[] = [];
    const name = (m: Model | null) => m?.id ?? "none";
    const subject = createModelControl({
      source: {
        available: () => models,
        find: (_provider, id) => models.find((known) => known.id === id),
        named: () => undefined,
        refresh: () => undefined,
        describe: () => undefined,
      },
      initial: { model: start, thinkingLevel: "medium" },
      scope: [],
      onModel: (next, { previous, source }) => told.push(`${source} ${name(previous)} -> ${name(next)}`),
      onRestored: (next, { previous, source }) => told.push(`${source} ${name(previous)} -> ${name(next)}`),
      onThinkingLevel: (level, previous) => told.push(`level ${previous} -> ${level}`),
    });
    return { subject, told };
  }

  it("hears what was before and where it came from", () => {
    const { subject, told } = listened([a, b], null);
    subject.set("p", "a");
    subject.cycle();
    subject.restore({ model: { provider: "p", id: "a" } });
    subject.setThinkingLevel("high");
    expect(told).toEqual([
      "set none -> a",
      "level off -> medium",
      "cycle a -> b",
      "restore b -> a",
      "level medium -> high",
    ]);
  });

  it("hears nothing of a session that brings the same model, or one that cannot be used", () => {
    const { subject, told } = listened([a], a);
    subject.restore({ model: { provider: "p", id: "a" } });
    subject.restore({ model: { provider: "p", id: "gone" } });
    expect(told).toEqual([]);
  });

  it("takes the current model anew from the lists, and keeps one that has gone", () => {
    const models = [a, b];
    const { subject, told } = listened(models, a);
    const moved = { ...model("a", false), baseUrl: "https://proxy.test" };
    models[0] = moved;
    subject.renew();
    expect(subject.model).toBe(moved);
    expect(told).toEqual(["level medium -> off"]);
    models.splice(0);
    subject.renew();
    expect(subject.model).toBe(moved);
  });

  it("begins anew with another choice without a word", () => {
    const { subject, told } = listened([a, b, c], null);
    subject.begin({ model: b, thinkingLevel: "high", scope: [b, c] });
    expect([subject.model, subject.thinkingLevel]).toEqual([b, "high"]);
    expect(told).toEqual([]);
    expect(subject.cycle()).toMatchObject({ model: { id: "c" }, isScoped: true });
  });
});
