// How a sample is taken and what becomes of it.
import { setTimeout as sleep } from "node:timers/promises";
import { createHome, startAgent } from "./processes.mjs";

export const FLOOR = "floor agent";
export const OURS = "Tiller";
const MOCK_MODEL = ["--provider", "mock", "--model", "mock-1"];
/** Where a program has a mode for it, deltas come alone. Only Tiller has. */
export const DELTAS = ["--updates", "delta"];

/** After an answer, before its memory is looked at: by then garbage collection and idle work are over. */
const SETTLE_MS = 1500;

export const settle = (bench) => sleep(bench.quick ? 0 : SETTLE_MS);

const inMemory = () => ["--no-session"];

/**
 * Runs `use` with a fresh agent in a fresh home; `session` gives the arguments that say where the session is. With `isFirst` a
 * peer finds nothing that it has kept.
 */
export async function withAgent(
  bench,
  contender,
  use,
  { args = [], node = bench.node, model = MOCK_MODEL, session = inMemory, record = true, isFirst = false } = {},
) {
  const home = createHome(bench.tmp, bench.port);
  const peer = bench.peers?.[contender];
  const program = contender === FLOOR ? bench.floor : bench.cli;
  const [command, ...lead] = peer ? peer.settle(home, { node, isFirst }) : [node, program];
  try {
    const options = ["--mode", "rpc", ...model, ...session(home), ...(peer ? [] : args)];
    const agent = startAgent(command, [...lead, ...options], { ...home, record });
    try {
      return await use(agent, home);
    } finally {
      await agent.close();
    }
  } finally {
    home.remove();
  }
}

/**
 * Sends a prompt; resolves to the milliseconds until its answer, until its first piece of text and until `agent_end`, and to
 * the bytes of stdout by then.
 */
export async function prompt(agent, message) {
  const began = performance.now();
  // All at once: not every program has answered before the text begins.
  const moments = await Promise.all([
    agent.ask({ type: "prompt", message }),
    agent.until('"text_delta"'),
    agent.until('{"type":"agent_end"'),
  ]);
  const { received } = agent;
  await idle(agent);
  const [ack, first, end] = moments.map(({ at }) => at - began);
  return { ack, first, end, received };
}

/** What the mock has seen since this was asked the last time. */
export const seenByMock = async (bench) => (await fetch(`http://127.0.0.1:${bench.port}/seen`)).json();

export const firstAnswer = async (agent) => (await agent.call({ type: "get_state" })).at - agent.began;

/** Some are not ready for the next prompt when they say that the run is over. */
export async function idle(agent) {
  while ((await agent.call({ type: "get_state" })).data.isStreaming) await sleep(5);
}

/**
 * Takes `reps` samples of each contender in turns. Each time another one begins, and every other time they go backwards, so
 * that no one is always the first, or always follows the same: a machine is slower after one that has kept it busy.
 */
export async function inTurns(bench, reps, samplers) {
  const names = Object.keys(samplers);
  const samples = Object.fromEntries(names.map((name) => [name, []]));
  for (let rep = 0; rep < bench.reps(reps); rep++) {
    const first = rep % names.length;
    const turn = [...names.slice(first), ...names.slice(0, first)];
    for (const name of rep % 2 === 0 ? turn : turn.toReversed()) {
      await bench.quiet();
      samples[name].push(await bench.undisturbed(samplers[name]));
    }
  }
  return samples;
}

export const floorAndOurs = (sampler) => ({ [FLOOR]: () => sampler(FLOOR), [OURS]: () => sampler(OURS) });

/**
 * A row from samples by contender; `key` names the number when a sample has several. A number that could not be had is
 * undefined in its sample and left out; a row without any of ours says so.
 * With `base`, the limit is one for the ratio of the medians; without, for our own median.
 */
export function row(what, unit, samples, { key, name = OURS, base = FLOOR, limit, goal } = {}) {
  const of = (contender) =>
    samples[contender].map((sample) => (key ? sample[key] : sample)).filter((number) => number !== undefined);
  return { what, unit, ours: of(name), against: base ? { name: base, samples: of(base) } : undefined, limit, goal };
}

/** How often `text` occurs in `bytes`. */
export function countIn(bytes, text) {
  let count = 0;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) count++;
  return count;
}

/** A sample counts only when nothing was lost on the way. */
export function expect(contender, what, found, wanted) {
  if (found !== wanted) throw new Error(`${contender}: ${found} ${what} instead of ${wanted}`);
}

/** A piece of the mock's text; the last one ends with a blank, which not everybody keeps. */
const CHARACTERS = 4;

/** The last answer is whole: all characters of so many pieces. */
export async function expectText(agent, contender, pieces) {
  const { data } = await agent.call({ type: "get_last_assistant_text" });
  expect(contender, "characters of text", data?.text?.trimEnd().length, pieces * CHARACTERS - 1);
}
