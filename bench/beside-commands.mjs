// Beside the peers: what a host asks for without the model, and sessions of any length.
import { forgetPeak, residentMb, treeCpuMs, treeMemoryMb } from "./machine.mjs";
import { countIn, expect, firstAnswer, seenByMock, settle, withAgent } from "./sampling.mjs";
import {
  inFolder,
  openSession,
  plantSession,
  promptAtLength,
  sessionEntries,
  timed,
  unlessRefused,
  warmUpMock,
} from "./sessions.mjs";
import { median } from "./statistics.mjs";

export const shell = {
  reps: 11,
  numbers: {
    least: ["`bash` `true`", "ms", 1.2, 1],
    program: ["`bash` `/bin/true`", "ms"],
    flood: ["`bash` with 50 MB of output", "ms", 1.5, 1.1],
    cpu: ["`bash` with 50 MB of output, processor time", "ms"],
    grown: ["`bash` with 50 MB of output, growth of memory at its peak", "MB"],
    mb: ["`bash` with 50 MB of output, stdout", "MB"],
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
        forgetPeak(agent.pid);
        const before = { cpu: treeCpuMs(agent.pid), received: agent.received, resident: residentMb(agent.pid).now };
        const flood = await run(`yes 'a line of a long output, as programs print them' | head -c ${bytes}`);
        const cpu = treeCpuMs(agent.pid) - before.cpu;
        const grown = residentMb(agent.pid).peak - before.resident;
        return { least, program, flood, cpu, grown, mb: (agent.received - before.received) / 1e6 };
      },
      { record: false },
    ),
};

/** From here on the memory that a session takes is more than chance. */
const LONG = 10_000;

/**
 * A session of so many messages: opened, read, appended to, gone on with. One of none is a new one. Some read a file when it is
 * opened and some when it is needed, so there are sums too, and memory before and after the prompts.
 */
export const session = (size, reps, { open = [], prompt = [], pss = [] } = {}) => {
  const n = size.toLocaleString("en");
  return {
    reps,
    numbers: {
      ...(size > 0 && {
        open: [`open ${n} messages`, "ms", ...open],
        openAndFirst: [`open ${n} messages, then first prompt to its end`, "ms"],
        all: [`open ${n} messages, first \`get_messages\`, first prompt to its end`, "ms"],
        answer: [`answer of \`get_messages\` of ${n}`, "MB"],
      }),
      read: [`first \`get_messages\` of ${n}`, "ms"],
      prompt: [`prompt to end at ${n} messages`, "ms", ...prompt],
      pss: [size > 0 ? `memory after reading ${n}, PSS` : "memory of a new session, PSS", "MB", ...pss],
      ...(size >= LONG && { used: [`memory after the first prompts at ${n} messages, PSS`, "MB"] }),
      peak: [`peak RSS at ${n} messages`, "MB"],
      append: [`\`bash\` \`true\` at ${n} messages`, "ms"],
      first: [`first prompt to end at ${n} messages`, "ms"],
      body: [`request at ${n} messages`, "MB"],
    },
    async sample(bench, contender) {
      const count = bench.quick ? Math.min(40, size) : size;
      const entries = sessionEntries(count);
      await warmUpMock(bench, entries);
      const use = async (agent, home) => {
        const sample = await useSession(bench, contender, agent, plantSession(home, entries), count);
        return size >= LONG ? { ...sample, used: await settledPss(bench, agent) } : sample;
      };
      return withAgent(bench, contender, use, { session: inFolder, node: bench.privateNode(), record: false });
    },
  };
};

async function useSession(bench, contender, agent, file, count) {
  const open = count > 0 ? await openSession(agent, contender, file, count) : undefined;
  if (open === undefined) await firstAnswer(agent);
  const reading = await readAll(bench, contender, agent, count);
  const appends = [];
  for (let i = 0; i < (bench.quick ? 2 : 6); i++)
    appends.push((await timed(agent, { type: "bash", command: "true" })).ms);
  await seenByMock(bench);
  const { firstPrompt: first, prompt } = await promptAtLength(bench, agent);
  const body = (await seenByMock(bench)).longest / 1e6;
  const { peak } = residentMb(agent.pid);
  const sums = { openAndFirst: open + first, all: open + reading.read + first };
  return { open, ...reading, ...sums, prompt, peak, append: median(appends.slice(1)), first, body };
}

/** No numbers of one that refuses: omp does when its answer would be too long. */
async function readAll(bench, contender, agent, count) {
  const before = agent.received;
  const said = await unlessRefused(timed(agent, { type: "get_messages" }));
  if (said === undefined) return {};
  expect(contender, "messages in the answer", said.data.messages.length, count);
  const answer = (agent.received - before) / 1e6;
  return { read: said.ms, answer, pss: await settledPss(bench, agent) };
}

async function settledPss(bench, agent) {
  await settle(bench);
  return treeMemoryMb(agent.pid).pss;
}

export const resumed = {
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

export const commands = {
  reps: 5,
  numbers: {
    ms: ["10,000 `get_state` at once", "ms", 1.5, 1.1],
    cpu: ["10,000 `get_state`, processor time", "ms"],
    peak: ["10,000 `get_state`, peak RSS", "MB"],
    mb: ["10,000 `get_state`, stdout", "MB"],
  },
  sample: (bench, contender) =>
    withAgent(bench, contender, async (agent) => {
      await firstAnswer(agent);
      const count = bench.quick ? 100 : 10_000;
      const lines = Array.from({ length: count }, (_, i) => `{"id":"c${i}","type":"get_state"}\n`);
      agent.takeOutput();
      forgetPeak(agent.pid);
      const cpuBefore = treeCpuMs(agent.pid);
      const began = performance.now();
      agent.write(lines.join(""));
      const ms = (await agent.until(`"id":"c${count - 1}"`)).at - began;
      const cpu = treeCpuMs(agent.pid) - cpuBefore;
      const { peak } = residentMb(agent.pid);
      const output = agent.takeOutput();
      expect(contender, "answers", countIn(output, '"type":"response"'), count);
      return { ms, cpu, peak, mb: output.length / 1e6 };
    }),
};
