import { createModelRegistry } from "@tiller/ai/models";
import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { createExtensionModels } from "./extension-models.ts";

test("the start waits for all providers of which no model is known, not only for the last", async () => {
  const registry = createModelRegistry({
    now: () => 0,
    runCommand: async () => ({ output: "" }),
    offline: false,
    env: {},
  });
  const ground = { models: { registry }, env: {}, clock: new FakeClock() };
  const { providers, known } = createExtensionModels(ground as never, {} as never, (error) => {
    throw new Error(error.error);
  });
  const opened = new Map<string, () => void>();
  for (const id of ["slow", "quick"]) {
    let models: object[] = [];
    const refreshModels = async () => {
      await new Promise<void>((resolve) => opened.set(id, resolve));
      models = [{ id: "pier", api: id }];
    };
    const provider = {
      id,
      baseUrl: `https://${id}.test`,
      getModels: () => models,
      refreshModels,
      streamSimple: () => [],
    };
    providers.register(id, provider);
  }
  let isKnown = false;
  const knowing = known().then(() => {
    isKnown = true;
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  await turn();
  opened.get("quick")?.();
  await turn();
  expect(isKnown).toBe(false);
  opened.get("slow")?.();
  await knowing;
  expect(registry.find("slow", "pier")).toBeDefined();
});
