// Long sessions: opened, read, gone on with, forked.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { forgetPeak, pssMb, residentMb } from "./machine.mjs";
import { Refused, timeToExit } from "./processes.mjs";
import { countIn, expect, FLOOR, floorAndOurs, inTurns, OURS, prompt, row, settle, withAgent } from "./sampling.mjs";
import { median } from "./statistics.mjs";

const BEGAN = Date.UTC(2026, 0, 1);
const WORDS = "some words of a conversation that has been going on for a very long time and is far from over ";
const USAGE = {
  ...{ input: 100, output: 50, cacheRead: 0, cacheWrite: 0, totalTokens: 150 },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const MADE_BY = { api: "anthropic-messages", provider: "mock", model: "mock-1", usage: USAGE };

function textBlock(i, length) {
  return { type: "text", text: `[${i}] ${WORDS.repeat(Math.ceil(length / WORDS.length))}`.slice(0, length) };
}

/** What message `i` is, by its place in the four messages of a turn. */
const TURN = [
  (i) => ({ role: "user", content: [textBlock(i, 180)] }),
  (i) => {
    const call = { type: "toolCall", id: `call_${i - 1}`, name: "bash", arguments: { command: `grep -rn ${i} src` } };
    return { role: "assistant", content: [textBlock(i, 130), call], ...MADE_BY, stopReason: "toolUse" };
  },
  (i) => {
    const content = [textBlock(i, 600)];
    return { role: "toolResult", toolCallId: `call_${i - 2}`, toolName: "bash", content, isError: false };
  },
  (i) => ({ role: "assistant", content: [textBlock(i, 400)], ...MADE_BY, stopReason: "stop" }),
];

const entryId = (i) => (i + 1).toString(16).padStart(8, "0");

/** The entries of a session file, about 670 bytes each: one branch, turns of a question, a tool call and an answer. */
export function sessionEntries(count) {
  const lines = Array.from({ length: count }, (_, i) => {
    const timestamp = BEGAN + i * 1000;
    const message = { ...TURN[i % TURN.length](i), timestamp };
    const parentId = i > 0 ? entryId(i - 1) : null;
    const entry = { type: "message", id: entryId(i), parentId, timestamp: new Date(timestamp).toISOString(), message };
    return `${JSON.stringify(entry)}\n`;
  });
  return Buffer.from(lines.join(""));
}

/** Writes the session as one that was had in the home's project; returns its path. */
export function plantSession({ cwd }, entries) {
  const file = join(cwd, "..", "long.jsonl");
  const id = "00000000-0000-4000-8000-000000000001";
  const header = { type: "session", version: 3, id, timestamp: new Date(BEGAN).toISOString(), cwd };
  writeFileSync(file, `${JSON.stringify(header)}\n`);
  writeFileSync(file, entries, { flag: "a" });
  return file;
}

export const inFolder = ({ cwd }) => ["--session-dir", join(cwd, "..", "sessions")];

/** Undefined when the agent has no such command or option; why is said aside, the report only says that it is so. */
export async function unlessRefused(doing) {
  try {
    return await doing;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    process.stderr.write(`${error.message.trimEnd().slice(0, 500)}\n`);
    return undefined;
  }
}

export async function timed(agent, request) {
  const began = performance.now();
  const { at, data } = await agent.call(request);
  return { ms: at - began, data };
}

export async function openSession(agent, contender, file, count) {
  await agent.call({ type: "get_state" });
  const { ms } = await timed(agent, { type: "switch_session", sessionPath: file });
  const { data } = await agent.call({ type: "get_state" });
  expect(contender, "messages after switch_session", data.messageCount, count);
  return ms;
}

/** `get_messages` and the most memory it took on top of what there was. */
async function readMessages(agent, contender, count) {
  agent.takeOutput();
  forgetPeak(agent.pid);
  const before = residentMb(agent.pid).now;
  const began = performance.now();
  // The answer is far too long to be read by the one who holds the clock.
  const { at } = await agent.ask({ type: "get_messages" });
  const grown = Math.max(0, residentMb(agent.pid).peak - before);
  const answer = agent.takeOutput();
  expect(contender, "messages in the answer", countIn(answer, '"role":"'), count);
  return { read: at - began, grown, answer: answer.length / 1e6 };
}

/** `bash` `true` in a long and in a new session, call by call in turns. */
async function appendInTurns(bench, contender, agent) {
  const request = { type: "bash", command: "true" };
  const times = { long: [], fresh: [] };
  const use = async (other) => {
    // A file is written for a conversation, and the first command loads what the others need.
    await prompt(other, "deltas=1");
    for (const one of [agent, other]) await timed(one, request);
    for (let i = 0; i < (bench.quick ? 2 : 40); i++) {
      times.long.push((await timed(agent, request)).ms);
      times.fresh.push((await timed(other, request)).ms);
    }
  };
  await withAgent(bench, contender, use, { session: inFolder, node: bench.privateNode() });
  return { append: median(times.long), appendFresh: median(times.fresh) };
}

export async function promptAtLength(bench, agent) {
  await unlessRefused(agent.call({ type: "set_auto_compaction", enabled: false }));
  const { end: firstPrompt } = await prompt(agent, "deltas=3");
  const ends = [];
  for (let i = 0; i < (bench.quick ? 1 : 5); i++) ends.push((await prompt(agent, "deltas=3")).end);
  return { firstPrompt, prompt: median(ends) };
}

async function useLongSession(bench, contender, agent, file, count) {
  const open = await unlessRefused(openSession(agent, contender, file, count));
  if (open === undefined) return {};
  const read = await unlessRefused(readMessages(agent, contender, count));
  await settle(bench);
  const pss = pssMb(agent.pid);
  const stats = await unlessRefused(timed(agent, { type: "get_session_stats" }));
  const append = await appendInTurns(bench, contender, agent);
  const prompts = await promptAtLength(bench, agent);
  return { open, ...read, pss, stats: stats?.ms, ...append, ...prompts };
}

/** The mock's first long requests take several times as long as the later ones. */
export async function warmUpMock(bench, body) {
  const request = { method: "POST", body };
  for (let i = 0; i < 5; i++) await fetch(`http://127.0.0.1:${bench.port}/v1/messages`, request).then((r) => r.text());
}

async function longSession(bench, count) {
  const entries = sessionEntries(count);
  await warmUpMock(bench, entries);
  const sampler = (contender) =>
    withAgent(
      bench,
      contender,
      (agent, home) => useLongSession(bench, contender, agent, plantSession(home, entries), count),
      { session: inFolder, node: bench.privateNode() },
    );
  const samples = await inTurns(bench, 7, floorAndOurs(sampler));
  const part = (key, name = OURS) => samples[name].map((sample) => sample[key]);
  const growth = { [OURS]: part("grown"), "size of the answer": part("answer") };
  const appends = { [OURS]: part("append"), "new session": part("appendFresh") };
  const floorAppends = { [FLOOR]: part("append", FLOOR), "new session": part("appendFresh", FLOOR) };
  const at = `${count} messages (${Math.round(entries.length / 1e6)} MB)`;
  return [
    row(`\`switch_session\` to ${at}`, "ms", samples, { key: "open", limit: 1, goal: 0.15 }),
    row(`${at}, \`get_messages\``, "ms", samples, { key: "read", limit: 0.6 }),
    row(`${at}, memory at the peak of \`get_messages\` above that before`, "MB", growth, {
      base: "size of the answer",
      limit: 0.5,
    }),
    row("the same, against the floor agent", "MB", samples, { key: "grown" }),
    row(`${at}, PSS after \`get_messages\``, "MB", samples, { key: "pss", limit: 1, goal: 0.5 }),
    row(`${at}, \`get_session_stats\``, "ms", samples, { key: "stats", base: null }),
    row(`${at}, \`bash\` \`true\` and its entry`, "ms", appends, { base: "new session", limit: 1.2 }),
    row("the same, against the floor agent", "ms", samples, { key: "append" }),
    row("the same, floor agent in both", "ms", floorAppends, { name: FLOOR, base: "new session" }),
    row(`${at}, first prompt to its end`, "ms", samples, { key: "firstPrompt" }),
    row(`${at}, later prompt to its end`, "ms", samples, { key: "prompt", limit: 1, goal: 0.3 }),
  ];
}

async function sessionOnCommandLine(bench, count) {
  const entries = sessionEntries(count);
  const session = (home) => ["--session", plantSession(home, entries)];
  const firstAnswer = async (agent, contender) => {
    const { at, data } = await agent.call({ type: "get_state" });
    expect(contender, "messages after --session", data.messageCount, count);
    return at - agent.began;
  };
  const sampler = (contender) =>
    unlessRefused(withAgent(bench, contender, (agent) => firstAnswer(agent, contender), { session }));
  const samples = await inTurns(bench, 9, floorAndOurs(sampler));
  const what = `spawn to the answer of \`get_state\` with \`--session\` of ${count} messages`;
  return [row(what, "ms", samples, { limit: 1.2 })];
}

/** Forks at the last thing the user said; the new session has all before it. */
async function forkOnce(agent, file, count) {
  await openSession(agent, OURS, file, count);
  const list = await timed(agent, { type: "get_fork_messages" });
  const last = list.data?.messages.at(-1);
  if (!last) throw new Refused("get_fork_messages: no messages");
  const lastUser = count - TURN.length;
  expect(OURS, "as the last entry to fork at", last.entryId, entryId(lastUser));
  const { ms } = await timed(agent, { type: "fork", entryId: last.entryId });
  const { data } = await agent.call({ type: "get_state" });
  expect(OURS, "messages after fork", data.messageCount, lastUser);
  return { list: list.ms, fork: ms };
}

async function forks(bench, count) {
  const entries = sessionEntries(count);
  const original = join(bench.tmp, "original.jsonl");
  const copy = join(bench.tmp, "copy.jsonl");
  writeFileSync(original, entries);
  const samples = await inTurns(bench, 5, {
    cp: async () => {
      const ms = await timeToExit("cp", [original, copy], bench.tmp);
      rmSync(copy);
      return { fork: ms };
    },
    [OURS]: async () => {
      const use = (agent, home) => forkOnce(agent, plantSession(home, entries), count);
      return (await unlessRefused(withAgent(bench, OURS, use, { session: inFolder }))) ?? {};
    },
  });
  rmSync(original);
  const at = `${count} messages (${Math.round(entries.length / 1e6)} MB)`;
  return [
    row(`${at}, \`get_fork_messages\``, "ms", samples, { key: "list", base: null }),
    row(`${at}, \`fork\` at the last user message`, "ms", samples, { key: "fork", base: null, limit: 300 }),
    row("the same, against a copy of the file", "ms", samples, { key: "fork", base: "cp" }),
  ];
}

export async function sessions(bench) {
  const { open, resume, fork } = bench.sessionSizes;
  return [
    ...(await longSession(bench, open)),
    ...(await sessionOnCommandLine(bench, resume)),
    ...(await forks(bench, fork)),
  ];
}
