// Beside the peers: answers of the model, with tools, broken off and failing.
import { abortsIn } from "./aborts.mjs";
import { cpuMs } from "./machine.mjs";
import { DELTAS, firstAnswer, idle, prompt, withAgent } from "./sampling.mjs";
import { median } from "./statistics.mjs";

export const ttft = {
  reps: 15,
  numbers: { cold: ["first prompt to first delta", "ms", 2], warm: ["later prompt to first delta", "ms", 1.5] },
  sample: (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        await firstAnswer(agent);
        const cold = (await prompt(agent, "deltas=20")).first;
        const warm = [];
        for (let i = 0; i < 10; i++) warm.push((await prompt(agent, "deltas=20")).first);
        return { cold, warm: median(warm) };
      },
      { args: DELTAS },
    ),
};

/** An answer after a short one: how long it takes, how much is written and how much work it is. */
const oneAnswer = (plan) => (bench, contender) =>
  withAgent(
    bench,
    contender,
    async (agent) => {
      await prompt(agent, "deltas=1");
      const before = { cpu: cpuMs(agent.pid), received: agent.received };
      const { end } = await prompt(agent, plan(bench));
      return { ms: end, cpu: cpuMs(agent.pid) - before.cpu, mb: (agent.received - before.received) / 1e6 };
    },
    // Some write gigabytes.
    { args: DELTAS, record: false },
  );

export const stream = (count, reps, limit) => ({
  reps,
  numbers: {
    ms: [`${count.toLocaleString("en")} deltas`, "ms", limit],
    mb: [`${count.toLocaleString("en")} deltas, stdout`, "MB"],
  },
  sample: oneAnswer(({ quick }) => `deltas=${quick ? 20 : count}`),
});

export const paced = {
  reps: 2,
  numbers: {
    cpu: ["2,000 deltas, 200 a second, processor time", "ms"],
    mb: ["2,000 deltas, 200 a second, stdout", "MB"],
  },
  sample: oneAnswer(({ quick }) => `deltas=${quick ? 20 : 2000} by=1 every=5`),
};

export const tools = {
  reps: 3,
  numbers: { ms: ["200 turns with a tool", "ms", 1.5] },
  sample: (bench, contender) =>
    withAgent(bench, contender, async (agent) => {
      await prompt(agent, "deltas=1");
      return { ms: (await prompt(agent, `calls=${bench.quick ? 3 : 200} run=true`)).end };
    }),
};

export const abort = {
  reps: 11,
  numbers: { ms: ["abort in a tool", "ms", 1.5] },
  sample: (bench, contender) =>
    withAgent(bench, contender, async (agent) => ({
      ms: median(await abortsIn(agent, "calls=1000 run=sleep_60", '"tool_execution_start"', bench.quick ? 1 : 10)),
    })),
};

export const abortInText = {
  reps: 3,
  numbers: { ms: ["abort while text streams", "ms"] },
  sample: (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => ({
        ms: median(await abortsIn(agent, "deltas=100000 by=1 every=5", '"text_delta"', bench.quick ? 1 : 5)),
      }),
      { record: false },
    ),
};

/** As long as this one waits for a second try: all that try again do it after half a second or two. */
const RETRY_MS = 8000;

/** The time to the text of the second try; none from those that do not try again. */
async function recovery(agent, what) {
  const key = `k${Math.random().toString(36).slice(2)}`;
  const began = performance.now();
  agent.write(`${JSON.stringify({ type: "prompt", message: `fail=${what} key=${key}` })}\n`);
  try {
    return (await agent.until(`recovered-${key}`, RETRY_MS)).at - began;
  } catch {
    return undefined;
  } finally {
    await idle(agent);
  }
}

export const faults = {
  reps: 2,
  numbers: {
    429: ["an answer of 429 to the text of the second try", "ms"],
    500: ["the same for 500", "ms"],
    529: ["the same for 529", "ms"],
    cut: ["the same for an answer that is cut off", "ms"],
  },
  sample: (bench, contender) =>
    withAgent(bench, contender, async (agent) => {
      await prompt(agent, "deltas=1");
      const times = {};
      for (const what of Object.keys(faults.numbers)) times[what] = await recovery(agent, what);
      return times;
    }),
};
