import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { busyPlan } from "./support/busy-run.ts";
import { type CrashCount, crashWhileBusy, crashWhileWriting } from "./support/crash.ts";

/**
 * `kill -9` against the real process: the file opens, everything that was told is in it, and the next prompt works.
 * `npm run test:long` kills many more, in other stories each time. TILLER_SEED=... plays the same stories; timing is part
 * of them, so once may not be enough.
 */

const USUAL = 10;
const KILLS = Number(process.env.TILLER_KILLS ?? USUAL);
const SEED = Number(process.env.TILLER_SEED ?? (KILLS > USUAL ? Math.floor(Math.random() * 1e6) : 995038));
const LIMIT_MS = Number(process.env.TILLER_KILLS_MS ?? 120_000);
const KILLS_PER_STORY = 5;
/** Most of the time they wait. */
const SIDE_BY_SIDE = 3;

describe("kill -9", () => {
  const count: CrashCount = { kills: 0, tornLines: 0, interruptedRuns: 0 };
  afterAll(() => process.stdout.write(`${JSON.stringify(count)} TILLER_SEED=${SEED}\n`));

  test(`at ${KILLS} random moments of a busy run loses nothing`, { timeout: LIMIT_MS + 60_000 }, async () => {
    const story = fc.array(busyPlan, { minLength: KILLS_PER_STORY, maxLength: KILLS_PER_STORY });
    const stories = fc.sample(story, { seed: SEED, numRuns: Math.ceil(KILLS / KILLS_PER_STORY) }).entries();
    const end = performance.now() + LIMIT_MS;
    const failures: string[] = [];
    const worker = async (): Promise<void> => {
      for (const [number, plans] of stories) {
        if (performance.now() > end) return;
        // At least one in each story, whatever the lots say.
        Object.assign(plans.at(-1) ?? {}, { tear: 0.5 });
        await crashWhileBusy(plans, count).catch((error: Error) => failures.push(`story ${number}, ${error.message}`));
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
    if (failures.length > 0) throw new Error(`TILLER_SEED=${SEED}\n${failures.join("\n\n")}`);
    expect(count.interruptedRuns).toBeGreaterThan(0);
    expect(count.tornLines).toBeGreaterThan(0);
  });

  test("in the middle of a large write loses nothing else", { timeout: LIMIT_MS + 60_000 }, async () => {
    for (let left = KILLS; left > 0; left -= 100) await crashWhileWriting(3, count);
  });
});
