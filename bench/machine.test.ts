import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { createQuiet, endStrays, treeCpuMs } from "./machine.mjs";

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

test("a process that another has left behind is found by its home, counted and ended", async () => {
  const home = `/home-of-${process.pid}`;
  const parent = spawn("/bin/bash", ["-c", "sleep 60 & echo; wait"], { env: { PATH: process.env.PATH, HOME: home } });
  await once(parent.stdout, "data");
  parent.kill("SIGKILL");
  await expect.poll(() => endStrays("sleep", home)).toBe(1);
  expect(endStrays("sleep", "/another")).toBe(0);
  await expect.poll(() => endStrays("sleep", home)).toBe(0);
});

test("the work of a process counts that of those it has started, also when they have ended", async () => {
  const busy = "for ((i = 0; i < 100000; i++)); do :; done";
  const parent = spawn("/bin/bash", ["-c", `/bin/bash -c "${busy}"; echo; read`]);
  await once(parent.stdout, "data");
  expect(treeCpuMs(Number(parent.pid))).toBeGreaterThan(0);
  parent.stdin.end();
  await once(parent, "exit");
});
