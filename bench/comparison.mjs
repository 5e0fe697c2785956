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
  stream(10_000, 9, { limit: 2 }),
  stream(50_000, 3, { limit: 2 }),
  tools,
  shell,
  session(50_000, 5, { open: 0.5, prompt: 1, pss: 1 }),
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

/** Asks no more of one that has failed: waiting for it again would take a minute each time. */
function patient(contender, sample) {
  let hasFailed = false;
  return async () => {
    if (hasFailed) return undefined;
    try {
      return await sample();
    } catch (error) {
      hasFailed = true;
      process.stderr.write(`${contender}: ${error.message.trimEnd().slice(0, 400)}\n`);
      return undefined;
    }
  };
}

/** Rows of the table: the samples of each contender, none where it has no number. */
export async function comparison(bench) {
  // As Tiller has: what they keep from one start to the next is there.
  for (const name of PEER_NAMES)
    await patient(name, () => withAgent(bench, name, (agent) => prompt(agent, "deltas=20")))();
  const rows = [];
  for (const { reps, floor = FLOOR, numbers, sample } of PARTS) {
    const contenders = [floor, OURS, ...PEER_NAMES];
    const samplers = contenders.map((name) => [name, patient(name, () => sample(bench, name))]);
    const samples = await inTurns(bench, reps, Object.fromEntries(samplers));
    for (const [key, [what, unit, limit]] of Object.entries(numbers)) {
      // What could not be had, or is a sum with such a part, is no number.
      const of = (name) => samples[name].map((one) => one?.[key]).filter(Number.isFinite);
      const peers = Object.fromEntries(PEER_NAMES.map((name) => [name, of(name)]));
      rows.push({ what, unit, limit, floorName: floor, floor: of(floor), ours: of(OURS), peers });
    }
  }
  return rows;
}
