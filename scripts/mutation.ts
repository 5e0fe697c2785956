import { parseArgs } from "node:util";
import type { Mutation } from "../test/support/mutate.ts";
import { planMutations, sampleMutations } from "./mutation/plan.ts";
import { type Outcome, testsAreGreen, tryMutation } from "./mutation/run-tests.ts";
import { acceptedReason } from "./mutation/survivors.ts";

/**
 * Shows that the proving tests notice when one field of one frame is lost or wrong:
 *
 *   npm run test:mutation                     20 mutations, the same ones each time
 *   npm run test:mutation -- --sample 50 --seed 7
 *   npm run test:mutation -- --all            every field, both ways; takes long
 *   npm run test:mutation -- --only response:get_state
 *   npm run test:mutation -- --list           what would be done
 */

const { values } = parseArgs({
  options: {
    all: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    only: { type: "string" },
    sample: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string" },
    parallel: { type: "string", default: "2" },
  },
});

interface Result {
  mutation: Mutation;
  outcome: Outcome | "not run";
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const name = ({ frame, field, op }: Mutation) => `${op.padEnd(6)} ${field} of ${frame}`;

function choose(): Mutation[] {
  const { only } = values;
  const plan = planMutations().filter(({ frame }) => only === undefined || frame.startsWith(only));
  if (values.all || only !== undefined) return plan;
  return sampleMutations(plan, Number(values.sample), Number(values.seed));
}

/** Tries all, a few at a time; none is begun after the time is up. */
async function tryAll(mutations: readonly Mutation[], parallel: number, limitMs: number): Promise<Result[]> {
  const results: Result[] = mutations.map((mutation) => ({ mutation, outcome: "not run" }));
  const end = Date.now() + limitMs;
  const waiting = results.values();
  const work = async () => {
    for (const result of waiting) {
      if (Date.now() > end) return;
      result.outcome = await tryMutation(result.mutation);
      say(`${result.outcome.padEnd(9)} ${name(result.mutation)}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return results;
}

/** Prints what was found; true when nothing is left to explain. */
function report(results: readonly Result[]): boolean {
  const unnoticed = results.filter(({ outcome }) => outcome === "survived" || outcome === "unseen");
  const accepted = unnoticed.filter(({ mutation }) => acceptedReason(mutation) !== undefined);
  const bad = unnoticed.filter((result) => !accepted.includes(result));
  const count = (outcome: Result["outcome"]) => results.filter((result) => result.outcome === outcome).length;

  say(
    `\nmutations: ${count("killed")} killed, ${accepted.length} accepted, ${bad.length} unnoticed of ${results.length}`,
  );
  for (const { mutation } of accepted) say(`  accepted  ${name(mutation)}: ${acceptedReason(mutation)}`);
  for (const { mutation, outcome } of bad) say(`  ${outcome.padEnd(9)} ${name(mutation)}`);
  if (count("not run") > 0) say(`  ${count("not run")} were not run: the time was up, give it more with --minutes`);
  return bad.length === 0 && count("not run") === 0;
}

async function main(): Promise<number> {
  const mutations = choose();
  if (values.list) {
    for (const mutation of mutations) say(name(mutation));
    return 0;
  }
  if (mutations.length === 0) {
    say(`no mutation fits --only ${values.only}; --list shows all`);
    return 2;
  }
  say("first the tests without any mutation ...");
  if (!(await testsAreGreen())) {
    say("they are red: make `npx vitest run test/conformance test/transcripts.test.ts` green first");
    return 2;
  }
  const minutes = Number(values.minutes ?? (values.all ? 180 : 15));
  return report(await tryAll(mutations, Number(values.parallel), minutes * 60_000)) ? 0 : 1;
}

process.exitCode = await main();
