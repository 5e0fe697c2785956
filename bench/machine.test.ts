import { expect, test } from "vitest";
import { createQuiet } from "./machine.mjs";

/** A machine that takes so many ticks away during each sample; the samples are their own numbers. */
async function sampleWhile(stolen: number[], patienceMs = 1): Promise<unknown> {
  let ticks = 0;
  let taken = 0;
  const quiet = createQuiet({ patienceMs, stolenTicks: () => ticks });
  const sample = await quiet.undisturbed(async () => {
    ticks += stolen[taken] ?? 0;
    taken += 1;
    return taken;
  });
  return { sample, again: quiet.counts.again, robbed: quiet.counts.robbed };
}

test.each([
  ["nothing", [0], { sample: 1, again: 0, robbed: 0 }],
  ["something, and then nothing", [5, 0], { sample: 2, again: 1, robbed: 0 }],
  ["something each time, least in the second", [1e9, 1, 1e9, 1e9, 1e9, 1e9, 0], { sample: 2, again: 5, robbed: 1 }],
])("of a sample during which %s was taken away", async (_what, stolen, expected) => {
  expect(await sampleWhile(stolen)).toEqual(expected);
});

test("a quick look takes each sample once", async () => {
  expect(await sampleWhile([1e9, 0], 0)).toEqual({ sample: 1, again: 0, robbed: 0 });
});

test.each([
  [
    15_000,
    "more than a quarter of the processors was busy right before 0 of 0 samples, even after 15 s of waiting; 0 were taken again because the processors had been taken away from this virtual machine, 0 stayed like that",
  ],
  [0, "not looked at"],
])("with a patience of %i ms it says what it has looked at", (patienceMs, said) => {
  expect(createQuiet({ patienceMs }).describe()).toBe(said);
});
