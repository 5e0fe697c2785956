// Beside the peers: processes that start, lie idle and end.
import { cpuMs, treePssMb } from "./machine.mjs";
import { timeToExit } from "./processes.mjs";
import { DELTAS, firstAnswer, prompt, settle, withAgent } from "./sampling.mjs";

export const NODE = "node -e 0";

export const start = {
  reps: 7,
  floor: NODE,
  numbers: { ms: ["start to first answer", "ms", 2] },
  sample: async (bench, contender) =>
    contender === NODE
      ? { ms: await timeToExit(bench.node, ["-e", "0"], bench.tmp) }
      : { ms: await withAgent(bench, contender, firstAnswer) },
};

export const ending = {
  reps: 3,
  numbers: { cpu: ["start to first answer, processor time", "ms"], exit: ["end of stdin to exit", "ms"] },
  sample: (bench, contender) =>
    withAgent(bench, contender, async (agent) => {
      await firstAnswer(agent);
      const cpu = cpuMs(agent.pid);
      const began = performance.now();
      await agent.close();
      return { cpu, exit: performance.now() - began };
    }),
};

export const memory = {
  reps: 3,
  numbers: { pss: ["idle, PSS", "MB", 1.25], used: ["after ten prompts, PSS", "MB"] },
  sample: (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        await firstAnswer(agent);
        await settle(bench);
        const pss = treePssMb(agent.pid);
        for (let i = 0; i < 10; i++) await prompt(agent, "deltas=20");
        await settle(bench);
        return { pss, used: treePssMb(agent.pid) };
      },
      { node: bench.privateNode() },
    ),
};

/** Whoever joins goes on when all are there, or when it is opened for good. */
function gathering(count) {
  let missing = count;
  let open;
  const there = new Promise((resolve) => {
    open = resolve;
  });
  const join = () => {
    missing -= 1;
    if (missing === 0) open();
    return there;
  };
  return { join, open };
}

export const many = {
  reps: 3,
  numbers: {
    ms: ["20 agents started", "ms", 1.5],
    pss: ["20 agents, idle, PSS", "MB", 1.5],
    stream: ["20 agents, 2,000 deltas each, at once", "ms"],
  },
  async sample(bench, contender) {
    const began = performance.now();
    const count = bench.quick ? 2 : 20;
    const [started, measured] = [gathering(count), gathering(count)];
    const one = async (agent) => {
      await firstAnswer(agent);
      const ms = performance.now() - began;
      await started.join();
      await settle(bench);
      const pss = treePssMb(agent.pid);
      await measured.join();
      return { ms, pss, stream: (await prompt(agent, `deltas=${bench.quick ? 20 : 2000}`)).end };
    };
    const letGo = () => {
      started.open();
      measured.open();
    };
    const agents = Array.from({ length: count }, () =>
      withAgent(bench, contender, one, { args: DELTAS, node: bench.privateNode(), record: false }).finally(letGo),
    );
    // One that fails lets the others go, and all are gone before this one is given up.
    await Promise.allSettled(agents);
    const all = await Promise.all(agents);
    const last = (key) => Math.max(...all.map((one) => one[key]));
    return { ms: last("ms"), pss: all.reduce((sum, { pss }) => sum + pss, 0), stream: last("stream") };
  },
};
