// Beside the peers: processes that start, lie idle and end.
import { residentMb, treeCpuMs, treeMemoryMb } from "./machine.mjs";
import { rememberCompiledCode } from "./metrics.mjs";
import { timeToExit } from "./processes.mjs";
import { DELTAS, expectText, firstAnswer, OURS, prompt, settle, withAgent } from "./sampling.mjs";

const NODE = "node -e 0";

export const start = {
  reps: 7,
  floor: NODE,
  numbers: { ms: ["start to first answer", "ms", 2, 1.5] },
  sample: async (bench, contender, options) =>
    contender === NODE
      ? { ms: await timeToExit(bench.node, ["-e", "0"], bench.tmp) }
      : { ms: await withAgent(bench, contender, firstAnswer, options) },
};

/** Nothing is there that a program keeps from one start to the next. */
export const firstStart = {
  reps: 1,
  floor: NODE,
  numbers: { ms: ["start to first answer, first ever", "ms"] },
  async sample(bench, contender) {
    if (contender !== OURS) return start.sample(bench, contender, { isFirst: true });
    bench.forgetCompiledCode();
    try {
      return await start.sample(bench, contender);
    } finally {
      await rememberCompiledCode(bench);
    }
  },
};

export const ending = {
  reps: 3,
  numbers: { cpu: ["start to first answer, processor time", "ms"], exit: ["end of stdin to exit", "ms"] },
  sample: (bench, contender) =>
    withAgent(bench, contender, async (agent) => {
      await firstAnswer(agent);
      const cpu = treeCpuMs(agent.pid);
      const began = performance.now();
      await agent.close();
      return { cpu, exit: performance.now() - began };
    }),
};

export const memory = {
  reps: 3,
  numbers: {
    pss: ["idle, PSS", "MB", 1.25, 1.1],
    resident: ["idle, RSS", "MB"],
    own: ["idle, private memory", "MB"],
    processes: ["idle, processes", ""],
    used: ["after ten prompts, PSS", "MB"],
    usedResident: ["after ten prompts, RSS", "MB"],
  },
  sample: (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        await firstAnswer(agent);
        await settle(bench);
        const idle = treeMemoryMb(agent.pid);
        for (let i = 0; i < 10; i++) await prompt(agent, "deltas=20");
        await settle(bench);
        const { pss: used, resident: usedResident } = treeMemoryMb(agent.pid);
        return { ...idle, used, usedResident };
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
    ms: ["20 agents started", "ms", 1.5, 1.2],
    pss: ["20 agents, idle, PSS", "MB", 1.5, 1.2],
    first: ["20 agents, all prompted at once, to the last first delta", "ms"],
    stream: ["20 agents, 2,000 deltas each, at once", "ms"],
    used: ["20 agents, after these deltas, PSS", "MB"],
    peak: ["20 agents, sum of their peak RSS", "MB"],
    cpu: ["20 agents, start and deltas, processor time", "ms"],
    mb: ["20 agents, stdout", "MB"],
  },
  async sample(bench, contender) {
    const began = performance.now();
    const [agents, deltas] = bench.quick ? [2, 20] : [20, 2000];
    const [started, measured, streamed] = Array.from({ length: 3 }, () => gathering(agents));
    const one = async (agent) => {
      await firstAnswer(agent);
      const ms = performance.now() - began;
      await started.join();
      await settle(bench);
      const { pss } = treeMemoryMb(agent.pid);
      await measured.join();
      const { first, end: stream, received } = await prompt(agent, `deltas=${deltas}`);
      await streamed.join();
      const { pss: used } = treeMemoryMb(agent.pid);
      const { peak } = residentMb(agent.pid);
      await expectText(agent, contender, deltas);
      return { ms, pss, first, stream, used, peak, cpu: treeCpuMs(agent.pid), mb: received / 1e6 };
    };
    const letGo = () => {
      for (const gathered of [started, measured, streamed]) gathered.open();
    };
    const options = { args: DELTAS, node: bench.privateNode(), record: false };
    const running = Array.from({ length: agents }, () => withAgent(bench, contender, one, options).finally(letGo));
    // One that fails lets the others go, and all are gone before this one is given up.
    await Promise.allSettled(running);
    const all = await Promise.all(running);
    const last = (key) => Math.max(...all.map((one) => one[key]));
    const sum = (key) => all.reduce((total, one) => total + one[key], 0);
    const sums = Object.fromEntries(["pss", "used", "peak", "cpu", "mb"].map((key) => [key, sum(key)]));
    return { ms: last("ms"), first: last("first"), stream: last("stream"), ...sums };
  },
};
