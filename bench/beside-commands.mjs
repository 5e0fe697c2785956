// Beside the peers: what a host asks for without the model, and sessions of any length.
import { treePssMb } from "./machine.mjs";
import { expect, firstAnswer, settle, withAgent } from "./sampling.mjs";
import { inFolder, openSession, plantSession, promptAtLength, sessionEntries, warmUpMock } from "./sessions.mjs";
import { median } from "./statistics.mjs";

export const shell = {
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
export const session = (size, reps, limits = {}) => ({
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
