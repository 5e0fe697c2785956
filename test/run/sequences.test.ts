import fc from "fast-check";
import { test } from "vitest";
import type { Frame } from "../support/frame.ts";
import { playSequence } from "./play-sequence.ts";
import { type Sequence, sequence } from "./sequence.ts";
import { brokenLaws } from "./sequence-laws.ts";
import { sequenceText } from "./sequence-text.ts";

/**
 * Random commands at random times, against the real process with a model full of faults. `npm run test:long` plays many
 * more. A failure prints its seed and the shortest story that still fails; TILLER_SEED=... plays the same stories again.
 */

const COUNT = Number(process.env.TILLER_SEQUENCES ?? 100);
const SEED = Number(process.env.TILLER_SEED ?? Math.floor(Math.random() * 1e6));
const LIMIT_MS = Number(process.env.TILLER_SEQUENCES_MS ?? 60_000);
/** Most of the time they wait. */
const SIDE_BY_SIDE = 5;

async function play(story: Sequence): Promise<void> {
  let frames: readonly Frame[] = [];
  const problems: string[] = [];
  try {
    await playSequence(story, (played) => {
      frames = played.frames;
      problems.push(...brokenLaws(played, story));
    });
  } catch (error) {
    problems.push((error as Error).message);
  }
  if (problems.length > 0) throw new Error(`${problems.join("\n")}\n\n${sequenceText(story, frames)}\n`);
}

/** Plays its share; what failed, as a story. */
async function worker(number: number, property: fc.IAsyncProperty<[Sequence]>): Promise<string[]> {
  const numRuns = Math.ceil(COUNT / SIDE_BY_SIDE);
  const run = await fc.check(property, { seed: SEED + number, numRuns, interruptAfterTimeLimit: LIMIT_MS });
  if (!run.failed || run.counterexample === null) return [];
  const where = `sequence ${run.numRuns} of seed ${run.seed}, made smaller ${run.numShrinks} times`;
  return [`${where}\n${(run.errorInstance as Error).message}`];
}

test(`${COUNT} random sequences of commands, seed ${SEED}`, { timeout: LIMIT_MS + 60_000 }, async () => {
  let held = 0;
  const property = fc.asyncProperty(sequence, async (story) => {
    await play(story);
    held += 1;
  });
  const workers = Array.from({ length: SIDE_BY_SIDE }, (_, number) => worker(number, property));
  const failures = (await Promise.all(workers)).flat();
  if (COUNT > 100) process.stdout.write(`${held} sequences held, seed ${SEED}\n`);
  if (failures.length > 0) throw new Error(failures.join("\n\n"));
});
