import fc from "fast-check";
import { test } from "vitest";
import type { Frame } from "../support/frame.ts";
import { playSequence } from "./play-sequence.ts";
import { type Sequence, sequence } from "./sequence.ts";
import { brokenLaws } from "./sequence-laws.ts";
import { sequenceText } from "./sequence-text.ts";

/**
 * Random commands at random times, against the real process with a model full of faults. `npm run test:long` plays many
 * more, others each time; here they are the same stories each time. A failure prints the shortest story that still fails,
 * and how to play it again; timing is part of it, so once may not be enough. TILLER_SEED=... plays others.
 */

const USUAL = 30;
const COUNT = Number(process.env.TILLER_SEQUENCES ?? USUAL);
const SEED = Number(process.env.TILLER_SEED ?? (COUNT > USUAL ? Math.floor(Math.random() * 1e6) : 118234));
const LIMIT_MS = Number(process.env.TILLER_SEQUENCES_MS ?? 30_000);
/** One story alone: what a failure prints. */
const PATH = process.env.TILLER_PATH;
/** Most of the time they wait. */
const SIDE_BY_SIDE = PATH === undefined ? 5 : 1;

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
  const options = { seed: SEED + number, numRuns, interruptAfterTimeLimit: LIMIT_MS };
  const run = await fc.check(property, PATH === undefined ? options : { ...options, path: PATH, endOnFailure: true });
  if (!run.failed || run.counterexample === null) return [];
  const again = `TILLER_SEED=${run.seed} TILLER_PATH=${run.counterexamplePath} npm run unit -- test/run/sequences.test.ts`;
  return [
    `made smaller ${run.numShrinks} times; play it again with\n  ${again}\n${(run.errorInstance as Error).message}`,
  ];
}

test("random sequences of commands break no law", { timeout: LIMIT_MS + 60_000 }, async () => {
  let held = 0;
  const property = fc.asyncProperty(sequence, async (story) => {
    await play(story);
    held += 1;
  });
  const workers = Array.from({ length: SIDE_BY_SIDE }, (_, number) => worker(number, property));
  const failures = (await Promise.all(workers)).flat();
  if (COUNT > USUAL) process.stdout.write(`${held} sequences held, seed ${SEED}\n`);
  if (failures.length > 0) throw new Error(failures.join("\n\n"));
});
