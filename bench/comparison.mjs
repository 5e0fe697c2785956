// Tiller beside its peers and the floor agent, all in one run and in turns.
import { abort, abortInText, aboveRequest, faults, openai, paced, stream, tools, ttft } from "./beside-answers.mjs";
import { commands, resumed, session, shell } from "./beside-commands.mjs";
import { ending, firstStart, many, memory, start } from "./beside-processes.mjs";
import { PEER_NAMES } from "./peers.mjs";
import { FLOOR, inTurns, OURS, prompt, withAgent } from "./sampling.mjs";

/** Those with a target first, by the order of their table; a part may give numbers to both. */
const PARTS = [
  start,
  memory,
  ttft,
  stream(10_000, 9, { limit: 2, goal: 1.3 }),
  stream(50_000, 3, { limit: 2, goal: 1.3 }),
  tools,
  shell,
  session(50_000, 5, { open: [0.5, 0.15], prompt: [1, 0.3], pss: [1, 0.5] }),
  commands,
  many,
  abort,
  firstStart,
  ending,
  stream(2_000, 3, { record: true }),
  paced,
  aboveRequest,
  openai,
  session(0, 3),
  session(1_000, 3),
  session(10_000, 3),
  resumed,
  abortInText,
  faults,
];

/**
 * Asks no more of one that has failed: waiting for it again would take a minute each time. A peer is judged by what it gave
 * before; of Tiller no number is left, so that a failure cannot hide behind samples that went well.
 */
function patiently(contenders, failures, doing, use) {
  const failed = new Set();
  const samplers = contenders.map((name) => [
    name,
    async () => {
      if (failed.has(name)) return undefined;
      try {
        return await use(name);
      } catch (error) {
        failed.add(name);
        const why = error.message.trimEnd().slice(0, 400);
        process.stderr.write(`${doing}: ${name}: ${why}\n`);
        // What follows is what it said itself, the stack of a crash say.
        failures.push({ doing, name, why: why.split("\n", 1)[0] });
        return undefined;
      }
    },
  ]);
  return { samplers: Object.fromEntries(samplers), failed };
}

/** The rows of the table, with the samples of each contender, none where it has no number; and what has failed. */
export async function comparison(bench) {
  const rows = [];
  const failures = [];
  // As Tiller has: what they keep from one start to the next is there.
  const first = (name) => withAgent(bench, name, (agent) => prompt(agent, "deltas=20"));
  const { samplers } = patiently(PEER_NAMES, failures, "a first prompt", first);
  for (const sampler of Object.values(samplers)) await sampler();
  for (const { reps, floor = FLOOR, numbers, sample } of PARTS) {
    const [[doing]] = Object.values(numbers);
    const contenders = [floor, OURS, ...PEER_NAMES];
    const { samplers, failed } = patiently(contenders, failures, doing, (name) => sample(bench, name));
    const samples = await inTurns(bench, reps, samplers);
    if (failed.has(OURS)) samples[OURS] = [];
    for (const [key, [what, unit, limit, goal]] of Object.entries(numbers)) {
      // What could not be had, or is a sum with such a part, is no number.
      const of = (name) => samples[name].map((one) => one?.[key]).filter(Number.isFinite);
      const peers = Object.fromEntries(PEER_NAMES.map((name) => [name, of(name)]));
      rows.push({ what, unit, limit, goal, floorName: floor, floor: of(floor), ours: of(OURS), peers });
    }
  }
  return { rows, failures };
}
