#!/usr/bin/env node
// How long from `abort` to `agent_end`, at every moment of a run, also when model or tool do not listen.
//   node test/run/abort-latency.mjs [--reps N] [--cli FILE]
// A measurement, not a test: it prints a table and always succeeds. Run it on a quiet machine.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startAgent } from "../../bench/processes.mjs";
import { median } from "../../bench/statistics.mjs";
import { ensure } from "../../scripts/ensure.mjs";

const { values } = parseArgs({ options: { reps: { type: "string" }, cli: { type: "string" } } });
const REPS = Number(values.reps ?? 30);
const WARM_UP = 3;

const bash = (command) => ({ toolCall: { name: "bash", arguments: { command } } });
const read = (path) => ({ toolCall: { name: "read", arguments: { path } } });
const update = (type) => `"assistantMessageEvent":{"type":"${type}"`;
const TOOL_STARTS = '"type":"tool_execution_start"';
const END = '"type":"agent_end"';

/** The turn that the model plays each time, the frame that shows that the moment has come, and a rest before the abort. */
const MOMENTS = [
  { name: "before the first byte", steps: [{ hang: true }], begins: update("start") },
  { name: "the same, the model ignores it", steps: [{ ignoreAbort: true }, { hang: true }], begins: update("start") },
  { name: "streaming text", steps: [{ endless: "tick ", pace: 5 }], begins: update("text_delta") },
  { name: "the same, as fast as it goes", steps: [{ endless: "tick ", pace: 0 }], begins: update("text_delta") },
  {
    name: "the same, the model ignores it",
    steps: [{ ignoreAbort: true }, { endless: "tick ", pace: 5 }],
    begins: update("text_delta"),
  },
  {
    name: "streaming tool arguments",
    steps: [{ ...bash(`echo ${"x".repeat(200)}`), chunk: 1, pace: 20 }],
    begins: update("toolcall_delta"),
  },
  { name: "running one tool", steps: [bash("sleep 60")], begins: TOOL_STARTS, restMs: 30 },
  { name: "the same, it ignores SIGTERM", steps: [bash("trap '' TERM; sleep 60")], begins: TOOL_STARTS, restMs: 30 },
  {
    name: "the same, it has left its process group",
    steps: [bash("setsid sh -c \"trap '' TERM INT HUP; sleep 60\" & wait")],
    begins: TOOL_STARTS,
    restMs: 30,
  },
  {
    name: "running several tools",
    steps: [bash("sleep 60"), bash("sleep 60"), read("a.txt")],
    begins: TOOL_STARTS,
    restMs: 30,
  },
  {
    name: "retry delay",
    steps: [{ error: { status: 529, message: "overloaded" } }],
    begins: '"type":"auto_retry_start"',
    // Its agent_end, which promised a retry, is already out.
    end: '"type":"agent_settled"',
  },
  {
    name: "a dialog is open, before a tool may run",
    steps: [bash("true")],
    begins: '"method":"confirm"',
    extension: "test/fixtures/extensions/run/ask-first.ts",
  },
];

async function measure(moment, cli, tmp) {
  const home = mkdtempSync(join(tmp, "home-"));
  const cwd = join(home, "project");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "a.txt"), "A\n");
  const script = join(home, "script.json");
  writeFileSync(script, JSON.stringify({ turns: [moment.steps], onEnd: "repeat-last" }));
  const env = { PATH: process.env.PATH, LANG: "C.UTF-8", HOME: home, TILLER_DIR: join(home, "agent") };
  const args = [cli, "--mode", "rpc", "--no-session", "--script", script, "--set", "retry.baseDelayMs=60000"];
  if (moment.extension) args.push("-e", resolve(moment.extension));
  const agent = startAgent(process.execPath, args, { env, cwd });
  const samples = [];
  for (let i = 0; i < REPS + WARM_UP; i++) {
    const sample = await abortOnce(agent, moment);
    if (i >= WARM_UP) samples.push(sample);
  }
  await agent.close();
  return samples;
}

async function abortOnce(agent, { begins, end = END, restMs = 5 }) {
  agent.write('{"type":"prompt","message":"go"}\n');
  await agent.until(begins);
  await sleep(restMs);
  agent.takeOutput();
  const began = performance.now();
  agent.write('{"type":"abort"}\n');
  const ended = await agent.until(end);
  const answered = await agent.until('"command":"abort"');
  await sleep(2);
  return { end: ended.at - began, answer: answered.at - began };
}

const ms = (value) => value.toFixed(1);

/** With few samples that is the slowest. */
const p99 = (samples) => samples.toSorted((a, b) => a - b)[Math.ceil(samples.length * 0.99) - 1];

const tmp = mkdtempSync(join(tmpdir(), "tiller-abort-"));
process.on("exit", () => rmSync(tmp, { recursive: true, force: true }));
const cli = values.cli ? resolve(values.cli) : ensure();
const lines = [
  "| abort when | agent_end, median | p99 | answer, median | p99 | samples |",
  "|---|---|---|---|---|---|",
];
for (const moment of MOMENTS) {
  const samples = await measure(moment, cli, tmp);
  const ends = samples.map(({ end }) => end);
  const answers = samples.map(({ answer }) => answer);
  const cells = [ms(median(ends)), ms(p99(ends)), ms(median(answers)), ms(p99(answers)), samples.length];
  lines.push(`| ${moment.name} | ${cells.join(" | ")} |`);
}
process.stdout.write(`${lines.join("\n")}\n\nmilliseconds, seen by a host at the other end of the pipes\n`);
