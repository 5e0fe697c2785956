// Beside the peers: answers of the model, with tools, broken off and failing.
import { setTimeout as sleep } from "node:timers/promises";
import { abortsIn } from "./aborts.mjs";
import { endStrays, forgetPeak, residentMb, treeCpuMs } from "./machine.mjs";
import {
  countIn,
  DELTAS,
  expect,
  expectText,
  FLOOR,
  firstAnswer,
  idle,
  prompt,
  seenByMock,
  withAgent,
} from "./sampling.mjs";
import { inFolder } from "./sessions.mjs";
import { median } from "./statistics.mjs";

export const ttft = {
  reps: 15,
  numbers: {
    cold: ["first prompt to first delta", "ms", 2, 1.4],
    warm: ["later prompt to first delta", "ms", 1.5, 1.2],
    ack: ["later prompt to its acknowledgement", "ms"],
    end: ["later prompt to end", "ms"],
    body: ["request of a first prompt", "kB"],
  },
  sample: (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        await firstAnswer(agent);
        await seenByMock(bench);
        const { first: cold } = await prompt(agent, "deltas=20");
        const body = (await seenByMock(bench)).longest / 1e3;
        const later = [];
        for (let i = 0; i < 10; i++) later.push(await prompt(agent, "deltas=20"));
        await expectText(agent, contender, 20);
        const middle = (key) => median(later.map((one) => one[key]));
        return { cold, warm: middle("first"), ack: middle("ack"), end: middle("end"), body };
      },
      { args: DELTAS },
    ),
};

/**
 * An answer after a short one: how long it takes, how much is written and how much work it is. Only of a short one can the
 * frames be recorded and counted: some write gigabytes.
 */
const oneAnswer =
  (count, { pace = "", record = false } = {}) =>
  (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        const pieces = bench.quick ? 20 : count;
        await prompt(agent, "deltas=1");
        agent.takeOutput();
        forgetPeak(agent.pid);
        const before = { cpu: treeCpuMs(agent.pid), received: agent.received };
        const { end: ms, received } = await prompt(agent, `deltas=${pieces}${pace}`);
        const cpu = treeCpuMs(agent.pid) - before.cpu;
        const { peak } = residentMb(agent.pid);
        const frames = countIn(agent.takeOutput(), '{"type":"message_update"');
        await expectText(agent, contender, pieces);
        return { ms, cpu, peak, frames, mb: (received - before.received) / 1e6 };
      },
      { args: DELTAS, record },
    );

export const stream = (count, reps, { limit, goal, record } = {}) => {
  const what = `${count.toLocaleString("en")} deltas`;
  return {
    reps,
    numbers: {
      ms: [what, "ms", limit, goal],
      mb: [`${what}, stdout`, "MB"],
      cpu: [`${what}, processor time`, "ms"],
      peak: [`${what}, peak RSS`, "MB"],
      ...(record && { frames: [`${what}, update frames`, ""] }),
    },
    sample: oneAnswer(count, { record }),
  };
};

export const paced = {
  reps: 2,
  numbers: {
    cpu: ["2,000 deltas, 200 a second, processor time", "ms"],
    mb: ["2,000 deltas, 200 a second, stdout", "MB"],
    frames: ["2,000 deltas, 200 a second, update frames", ""],
  },
  sample: oneAnswer(2000, { pace: " by=1 every=5", record: true }),
};

export const tools = {
  reps: 3,
  numbers: {
    ms: ["200 turns with a tool", "ms", 1.5, 1.2],
    cpu: ["200 turns with a tool, processor time", "ms"],
    mb: ["200 turns with a tool, stdout", "MB"],
    body: ["200 turns with a tool, longest request", "kB"],
  },
  async sample(bench, contender) {
    const use = async (agent) => {
      const turns = bench.quick ? 3 : 200;
      await prompt(agent, "deltas=1");
      agent.takeOutput();
      await seenByMock(bench);
      const before = { cpu: treeCpuMs(agent.pid), received: agent.received };
      const { end: ms, received } = await prompt(agent, `calls=${turns} run=true`);
      const cpu = treeCpuMs(agent.pid) - before.cpu;
      expect(contender, "tools run", countIn(agent.takeOutput(), '{"type":"tool_execution_end"'), turns);
      return { ms, cpu, mb: (received - before.received) / 1e6, body: (await seenByMock(bench)).longest / 1e3 };
    };
    // Each message is kept, as where such a run is more than a measurement.
    return withAgent(bench, contender, use, { session: inFolder });
  },
};

const REQUEST = "a bare request";

/** The mock asked by somebody who only reads the answer: what is above it is an agent's own. */
async function bareRequest(bench, message) {
  const body = JSON.stringify({ messages: [{ role: "user", content: message }] });
  const began = performance.now();
  const response = await fetch(`http://127.0.0.1:${bench.port}/v1/messages`, { method: "POST", body });
  const reader = response.body.getReader();
  await reader.read();
  const first = performance.now() - began;
  for (;;) {
    const { done } = await reader.read();
    if (done) return { first, end: performance.now() - began };
  }
}

/** Ten short answers and a long one, against the same without an agent. */
export const aboveRequest = {
  reps: 3,
  floor: REQUEST,
  numbers: {
    warm: ["later prompt to first delta", "ms"],
    end: ["later prompt to end", "ms"],
    long: ["10,000 deltas", "ms"],
  },
  async sample(bench, contender) {
    const measure = async (ask) => {
      await ask("deltas=20");
      const short = [];
      for (let i = 0; i < 10; i++) short.push(await ask("deltas=20"));
      const middle = (key) => median(short.map((one) => one[key]));
      const { end: long } = await ask(`deltas=${bench.quick ? 20 : 10_000}`);
      return { warm: middle("first"), end: middle("end"), long };
    };
    if (contender === REQUEST) return measure((message) => bareRequest(bench, message));
    const agents = (agent) => measure((message) => prompt(agent, message));
    return withAgent(bench, contender, agents, { args: DELTAS });
  },
};

/** The other API that nearly every server speaks. The floor agent speaks one alone. */
export const openai = {
  reps: 5,
  numbers: {
    cold: ["OpenAI Chat Completions: first prompt to first delta", "ms"],
    warm: ["OpenAI Chat Completions: later prompt to first delta", "ms"],
    long: ["OpenAI Chat Completions: 10,000 deltas", "ms"],
  },
  async sample(bench, contender) {
    if (contender === FLOOR) return {};
    const measure = async (agent) => {
      await firstAnswer(agent);
      const { first: cold } = await prompt(agent, "deltas=20");
      const later = [];
      for (let i = 0; i < 10; i++) later.push((await prompt(agent, "deltas=20")).first);
      const pieces = bench.quick ? 20 : 10_000;
      const { end: long } = await prompt(agent, `deltas=${pieces}`);
      await expectText(agent, contender, pieces);
      return { cold, warm: median(later), long };
    };
    const model = ["--provider", "mock-openai", "--model", "mock-1"];
    return withAgent(bench, contender, measure, { args: DELTAS, model });
  },
};

/** By then a process that is to be ended has ended, and a connection that is to be closed is closed. */
const AFTER_ABORTS_MS = 200;

export const abort = {
  reps: 11,
  numbers: {
    ms: ["abort in a tool", "ms", 1.5, 1],
    strays: ["`sleep`s that run on after ten of them", ""],
  },
  sample: (bench, contender) =>
    withAgent(bench, contender, async (agent, { env }) => {
      const count = bench.quick ? 1 : 10;
      const { ends } = await abortsIn(agent, "calls=1000 run=sleep_60", '"tool_execution_start"', count);
      await sleep(AFTER_ABORTS_MS);
      return { ms: median(ends), strays: endStrays("sleep", env.HOME) };
    }),
};

export const abortInText = {
  reps: 3,
  numbers: {
    ms: ["abort while text streams", "ms"],
    ack: ["abort while text streams, acknowledgement", "ms"],
    open: ["requests that stay open after five of them", ""],
  },
  sample: (bench, contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        const count = bench.quick ? 1 : 5;
        await seenByMock(bench);
        const { ends, acks } = await abortsIn(agent, "deltas=100000 by=1 every=5", '"text_delta"', count);
        await sleep(AFTER_ABORTS_MS);
        return { ms: median(ends), ack: median(acks), open: count - (await seenByMock(bench)).brokenOff };
      },
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

const FAULTS = {
  429: "an answer of 429",
  500: "an answer of 500",
  529: "an answer of 529",
  cut: "an answer that is cut off",
};
const timeAfter = (what) => `time after ${what}`;
const requestsOf = (what) => `requests of ${what}`;

export const faults = {
  reps: 2,
  numbers: Object.fromEntries(
    Object.entries(FAULTS).flatMap(([what, words]) => [
      [timeAfter(what), [`${words} to the text of the second try`, "ms"]],
      [requestsOf(what), [`${words}, requests made`, ""]],
    ]),
  ),
  sample: (bench, contender) =>
    withAgent(bench, contender, async (agent) => {
      await prompt(agent, "deltas=1");
      const sample = {};
      for (const what of Object.keys(FAULTS)) {
        await seenByMock(bench);
        sample[timeAfter(what)] = await recovery(agent, what);
        sample[requestsOf(what)] = (await seenByMock(bench)).requests;
      }
      return sample;
    }),
};
