// Tiller beside its peers and the floor agent, all in one run and in turns.
import { abortsIn } from "./aborts.mjs";
import { pssMb } from "./machine.mjs";
import { PEER_NAMES } from "./peers.mjs";
import { timeToExit } from "./processes.mjs";
import { FLOOR, inTurns, OURS, prompt, settle, withAgent } from "./sampling.mjs";
import { inFolder, openSession, plantSession, promptAtLength, sessionEntries, warmUpMock } from "./sessions.mjs";
import { median } from "./statistics.mjs";

const NODE = "node -e 0";
/** Where a program has a mode for it, deltas come alone. Only Tiller has. */
const DELTAS = ["--updates", "delta"];

const firstAnswer = async (agent) => (await agent.call({ type: "get_state" })).at - agent.began;

const start = {
  reps: 7,
  floor: NODE,
  numbers: { ms: ["start to first answer", "ms", 2] },
  sample: async (bench, contender) =>
    contender === NODE
      ? { ms: await timeToExit(bench.node, ["-e", "0"], bench.tmp) }
      : { ms: await withAgent(bench, contender, firstAnswer) },
};

const memory = {
  reps: 3,
  numbers: { pss: ["idle, PSS", "MB", 1.25] },
  sample: (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        await firstAnswer(agent);
        await settle(bench);
        return { pss: pssMb(agent.pid) };
      },
      { node: bench.privateNode() },
    ),
};

const ttft = {
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

const stream = (count, reps) => ({
  reps,
  numbers: { ms: [`${count.toLocaleString("en")} deltas`, "ms", 2] },
  sample: (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        await prompt(agent, "deltas=1");
        return { ms: (await prompt(agent, `deltas=${bench.quick ? 20 : count}`)).end };
      },
      // Some write gigabytes.
      { args: DELTAS, record: false },
    ),
});

const tools = {
  reps: 3,
  numbers: { ms: ["200 turns with a tool", "ms", 1.5] },
  sample: (bench, contender) =>
    withAgent(bench, contender, async (agent) => {
      await prompt(agent, "deltas=1");
      return { ms: (await prompt(agent, `calls=${bench.quick ? 3 : 200} run=true`)).end };
    }),
};

const shell = {
  reps: 11,
  numbers: { least: ["`bash` `true`", "ms", 1.2], flood: ["`bash` with 50 MB of output", "ms", 1.5] },
  sample: (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        const run = async (command) => {
          const began = performance.now();
          return (await agent.ask({ type: "bash", command })).at - began;
        };
        await run("true");
        const times = [];
        for (let i = 0; i < (bench.quick ? 2 : 30); i++) times.push(await run("true"));
        const bytes = bench.quick ? 1_000_000 : 50_000_000;
        const flood = await run(`yes 'a line of a long output, as programs print them' | head -c ${bytes}`);
        return { least: median(times), flood };
      },
      { record: false },
    ),
};

const session = {
  reps: 5,
  numbers: {
    open: ["open 50,000 messages", "ms", 0.5],
    prompt: ["prompt to end at 50,000 messages", "ms", 1],
    pss: ["memory after loading them, PSS", "MB", 1],
  },
  async sample(bench, contender) {
    const count = bench.quick ? 40 : 50_000;
    const entries = sessionEntries(count);
    await warmUpMock(bench, entries);
    const use = async (agent, home) => {
      const open = await openSession(agent, contender, plantSession(home, entries), count);
      await settle(bench);
      const pss = pssMb(agent.pid);
      return { open, pss, prompt: (await promptAtLength(bench, agent)).prompt };
    };
    return withAgent(bench, contender, use, { session: inFolder, node: bench.privateNode(), record: false });
  },
};

const commands = {
  reps: 5,
  numbers: { ms: ["10,000 `get_state` at once", "ms", 1.5] },
  sample: (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        await firstAnswer(agent);
        const count = bench.quick ? 100 : 10_000;
        const lines = Array.from({ length: count }, (_, i) => `{"id":"c${i}","type":"get_state"}\n`);
        const began = performance.now();
        agent.write(lines.join(""));
        return { ms: (await agent.until(`"id":"c${count - 1}"`)).at - began };
      },
      { record: false },
    ),
};

const many = {
  reps: 3,
  numbers: { ms: ["20 agents started", "ms", 1.5], pss: ["20 agents, idle, PSS", "MB", 1.5] },
  async sample(bench, contender) {
    const began = performance.now();
    const count = bench.quick ? 2 : 20;
    let waiting = count;
    let allThere;
    const there = new Promise((resolve) => {
      allThere = resolve;
    });
    const one = async (agent) => {
      await firstAnswer(agent);
      const ms = performance.now() - began;
      waiting -= 1;
      if (waiting === 0) allThere();
      await there;
      await settle(bench);
      return { ms, pss: pssMb(agent.pid) };
    };
    const started = Array.from({ length: count }, () =>
      withAgent(bench, contender, one, { node: bench.privateNode() }).finally(allThere),
    );
    // One that fails lets the others go, and all are gone before this one is given up.
    await Promise.allSettled(started);
    const agents = await Promise.all(started);
    return { ms: Math.max(...agents.map(({ ms }) => ms)), pss: agents.reduce((sum, { pss }) => sum + pss, 0) };
  },
};

const abort = {
  reps: 11,
  numbers: { ms: ["abort in a tool", "ms", 1.5] },
  sample: (bench, contender) =>
    withAgent(bench, contender, async (agent) => ({
      ms: median(await abortsIn(agent, "calls=1000 run=sleep_60", '"tool_execution_start"', bench.quick ? 1 : 10)),
    })),
};

const PARTS = [start, memory, ttft, stream(10_000, 9), stream(50_000, 3), tools, shell, session, commands, many, abort];

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

/** Rows of the table: the median of each contender, undefined where there is none. */
export async function comparison(bench) {
  const rows = [];
  for (const { reps, floor = FLOOR, numbers, sample } of PARTS) {
    const contenders = [floor, OURS, ...PEER_NAMES];
    const samplers = contenders.map((name) => [name, patient(name, () => sample(bench, name))]);
    const samples = await inTurns(bench, reps, Object.fromEntries(samplers));
    for (const [key, [what, unit, limit]] of Object.entries(numbers)) {
      const medianOf = (name) => {
        const found = samples[name].flatMap((one) => (one?.[key] === undefined ? [] : [one[key]]));
        return found.length > 0 ? median(found) : undefined;
      };
      const peers = Object.fromEntries(PEER_NAMES.map((name) => [name, medianOf(name)]));
      rows.push({ what, unit, limit, floorName: floor, floor: medianOf(floor), ours: medianOf(OURS), peers });
    }
  }
  return rows;
}
