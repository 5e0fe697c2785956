import type { Model } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { providerNames } from "./provider-factories.ts";

interface Made {
  id: string;
  name: string;
  getModels(): Model[];
  refreshModels?(context: object): Promise<void>;
  stream(model: Model, context: object): unknown;
  streamSimple(model: Model, context: object): unknown;
}
type Auth = { variables: string[]; resolve(about?: object): Promise<unknown> };

const names = providerNames({ SPARE: "two", EMPTY: " " }) as {
  createProvider(parts: object): Made;
  envApiKeyAuth(name: string, variables: string[]): Auth;
};
const model = (id: string, api = "x") => ({ id, api }) as Model;
const streams = (who: string) => ({ stream: () => `${who} whole`, streamSimple: () => who });

test("one API answers for all models, or each for its own", () => {
  const one = names.createProvider({ id: "a", models: [model("m")], api: streams("x") });
  expect([one.id, one.name, one.getModels(), one.streamSimple(model("m", "any"), {})]).toEqual([
    "a",
    "a",
    [model("m")],
    "x",
  ]);
  const both = names.createProvider({ id: "b", name: "B", api: { x: streams("x"), y: streams("y") } });
  expect([both.name, both.getModels(), both.streamSimple(model("m", "y"), {}), both.stream(model("m"), {})]).toEqual([
    "B",
    [],
    "y",
    "x whole",
  ]);
  expect(() => both.streamSimple(model("m", "z"), {})).toThrow('The provider "b" has no API "z", which m speaks');
  expect(both.refreshModels).toBeUndefined();
});

test("models that were fetched take the place of those of the same name, when they are published", async () => {
  const lists = [[model("m", "new"), model("n")], [model("o")]];
  const provider = names.createProvider({
    id: "a",
    models: [model("m"), model("old")],
    fetchModels: async () => lists.shift(),
    api: streams("x"),
  });
  await provider.refreshModels?.({ publish: () => undefined });
  expect(provider.getModels().map(({ id }) => id)).toEqual(["m", "old"]);
  await provider.refreshModels?.({ publish: ({ update }: { update(): void }) => update() });
  expect(provider.getModels().map(({ id }) => id)).toEqual(["m", "old", "o"]);
});

test("a key that is kept goes before the first variable that is set", async () => {
  const auth = names.envApiKeyAuth("Key", ["EMPTY", "SPARE"]);
  expect(auth.variables).toEqual(["EMPTY", "SPARE"]);
  expect(await auth.resolve({ credential: { key: "kept" } })).toEqual({
    auth: { apiKey: "kept" },
    source: "stored credential",
  });
  expect(await auth.resolve()).toEqual({ auth: { apiKey: "two" }, source: "SPARE" });
  expect(await names.envApiKeyAuth("Key", ["EMPTY"]).resolve({})).toBeUndefined();
});
