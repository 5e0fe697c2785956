// How fast a run ends that is told to.
import { setTimeout as sleep } from "node:timers/promises";
import { floorAndOurs, idle, inTurns, OURS, row, withAgent } from "./sampling.mjs";

/** From the abort to `agent_end` and to its answer, `count` times in one process, each in the given moment. */
export async function abortsIn(agent, message, moment, count) {
  const ends = [];
  const acks = [];
  for (let i = 0; i < count; i++) {
    agent.write(`${JSON.stringify({ type: "prompt", message })}\n`);
    await agent.until(moment);
    // In the middle of it, not at its very beginning: starting a process takes milliseconds of its own.
    await sleep(50);
    const began = performance.now();
    // Some answer before the run is over, some after.
    const [ack, end] = await Promise.all([agent.ask({ type: "abort" }), agent.until('{"type":"agent_end"')]);
    acks.push(ack.at - began);
    ends.push(end.at - began);
    await idle(agent);
  }
  return { acks, ends };
}

export async function aborts(bench) {
  const count = bench.quick ? 1 : 20;
  const moments = [
    ["while text streams", "deltas=100000 by=1 every=5", '"text_delta"'],
    ["while `bash` runs `sleep 60`", "calls=1000 run=sleep_60", '"tool_execution_start"'],
  ];
  const rows = [];
  for (const [what, plan, moment] of moments) {
    const sampler = (contender) => withAgent(bench, contender, (agent) => abortsIn(agent, plan, moment, count));
    const samples = await inTurns(bench, 3, floorAndOurs(sampler));
    const all = Object.fromEntries(
      Object.entries(samples).map(([name, times]) => [name, times.flatMap(({ ends }) => ends)]),
    );
    const p99 = all[OURS].toSorted((a, b) => a - b)[Math.ceil(all[OURS].length * 0.99) - 1];
    rows.push(
      row(`abort ${what} to \`agent_end\``, "ms", all),
      row(`the same, median alone`, "ms", all, { base: null, limit: 3 }),
      row(`the same, 99th percentile`, "ms", { [OURS]: [p99] }, { base: null, limit: 50 }),
    );
  }
  return rows;
}
