// Tiller beside its peers and the floor agent, all in one run and in turns.
import { abortsIn } from "./aborts.mjs";
import { cpuMs, treePssMb } from "./machine.mjs";
import { PEER_NAMES } from "./peers.mjs";
import { timeToExit } from "./processes.mjs";
import { expect, FLOOR, idle, inTurns, OURS, prompt, settle, withAgent } from "./sampling.mjs";
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

const ending = {
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

const memory = {
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

const stream = (count, reps, limit) => ({
  reps,
  numbers: {
    ms: [`${count.toLocaleString("en")} deltas`, "ms", limit],
    mb: [`${count.toLocaleString("en")} deltas, stdout`, "MB"],
  },
  sample: oneAnswer(({ quick }) => `deltas=${quick ? 20 : count}`),
});

const paced = {
  reps: 2,
  numbers: {
    cpu: ["2,000 deltas, 200 a second, processor time", "ms"],
    mb: ["2,000 deltas, 200 a second, stdout", "MB"],
  },
  sample: oneAnswer(({ quick }) => `deltas=${quick ? 20 : 2000} by=1 every=5`),
};

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
  numbers: {
    least: ["`bash` `true`", "ms", 1.2],
    program: ["`bash` `/bin/true`", "ms"],
    flood: ["`bash` with 50 MB of output", "ms", 1.5],
  },
  sample: (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        const run = async (command) => {
          const began = performance.now();
          return (await agent.ask({ type: "bash", command })).at - began;
        };
        const often = async (command, count) => {
          const times = [];
          for (let i = 0; i < (bench.quick ? 2 : count); i++) times.push(await run(command));
          return median(times);
        };
        await run("true");
        const least = await often("true", 30);
        const program = await often("/bin/true", 10);
        const bytes = bench.quick ? 1_000_000 : 50_000_000;
        const flood = await run(`yes 'a line of a long output, as programs print them' | head -c ${bytes}`);
        return { least, program, flood };
      },
      { record: false },
    ),
};

/** A session of so many messages: opened, read, gone on with. One of none is a new one. */
const session = (size, reps, limits = {}) => ({
  reps,
  numbers: {
    ...(size > 0 && { open: [`open ${size.toLocaleString("en")} messages`, "ms", limits.open] }),
    prompt: [`prompt to end at ${size.toLocaleString("en")} messages`, "ms", limits.prompt],
    pss: [
      size > 0 ? `memory after loading ${size.toLocaleString("en")}, PSS` : "memory of a new session, PSS",
      "MB",
      limits.pss,
    ],
    first: [`first prompt to end at ${size.toLocaleString("en")} messages`, "ms"],
    read: [`\`get_messages\` of ${size.toLocaleString("en")}`, "ms"],
    append: [`\`bash\` \`true\` at ${size.toLocaleString("en")} messages`, "ms"],
  },
  async sample(bench, contender) {
    const count = bench.quick ? Math.min(40, size) : size;
    const entries = sessionEntries(count);
    await warmUpMock(bench, entries);
    const timed = async (agent, request) => {
      const began = performance.now();
      return (await agent.ask(request)).at - began;
    };
    const use = async (agent, home) => {
      const file = plantSession(home, entries);
      const open = count > 0 ? await openSession(agent, contender, file, count) : undefined;
      if (open === undefined) await firstAnswer(agent);
      await settle(bench);
      const pss = treePssMb(agent.pid);
      const { firstPrompt: first, prompt: later } = await promptAtLength(bench, agent);
      const read = await timed(agent, { type: "get_messages" });
      const appends = [];
      for (let i = 0; i < (bench.quick ? 2 : 6); i++)
        appends.push(await timed(agent, { type: "bash", command: "true" }));
      return { open, pss, prompt: later, first, read, append: median(appends.slice(1)) };
    };
    return withAgent(bench, contender, use, { session: inFolder, node: bench.privateNode(), record: false });
  },
});

const resumed = {
  reps: 3,
  numbers: { ms: ["start with a session of 10,000 messages", "ms"] },
  async sample(bench, contender) {
    const count = bench.quick ? 40 : 10_000;
    const entries = sessionEntries(count);
    const option = bench.peers?.[contender]?.resume ?? "--session";
    const use = async (agent) => {
      const { at, data } = await agent.call({ type: "get_state" });
      expect(contender, `messages after ${option}`, data.messageCount, count);
      return { ms: at - agent.began };
    };
    return withAgent(bench, contender, use, { session: (home) => [option, plantSession(home, entries)] });
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

const many = {
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

const abort = {
  reps: 11,
  numbers: { ms: ["abort in a tool", "ms", 1.5] },
  sample: (bench, contender) =>
    withAgent(bench, contender, async (agent) => ({
      ms: median(await abortsIn(agent, "calls=1000 run=sleep_60", '"tool_execution_start"', bench.quick ? 1 : 10)),
    })),
};

const abortInText = {
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

const faults = {
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

/** Those with a target first, by the order of their table; a part may give numbers to both. */
const PARTS = [
  start,
  memory,
  ttft,
  stream(10_000, 9, 2),
  stream(50_000, 3, 2),
  tools,
  shell,
  session(50_000, 5, { open: 0.5, prompt: 1, pss: 1 }),
  commands,
  many,
  abort,
  ending,
  stream(2_000, 3),
  paced,
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
      const of = (name) => samples[name].flatMap((one) => (one?.[key] === undefined ? [] : [one[key]]));
      const peers = Object.fromEntries(PEER_NAMES.map((name) => [name, of(name)]));
      rows.push({ what, unit, limit, floorName: floor, floor: of(floor), ours: of(OURS), peers });
    }
  }
  return rows;
}
