// What is measured. A metric gives rows (see `row` in sampling.mjs); report.mjs writes them down.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aborts } from "./aborts.mjs";
import { client } from "./client.mjs";
import { CHROMIUM, exporting } from "./export.mjs";
import { extensions } from "./extensions.mjs";
import { hostTools } from "./host-tools.mjs";
import { pssMb, residentMb } from "./machine.mjs";
import { timeToExit } from "./processes.mjs";
import { rules } from "./rules.mjs";
import { countIn, expect, FLOOR, floorAndOurs, inTurns, OURS, prompt, row, settle, withAgent } from "./sampling.mjs";
import { inFolder, sessions } from "./sessions.mjs";
import { median } from "./statistics.mjs";

const NODE = "node -e 0";
const SNAPSHOTS = "Tiller, snapshots";
const CHARACTERS = 4;

async function start(bench) {
  const agentStart = (contender) =>
    withAgent(bench, contender, async (agent) => (await agent.call({ type: "get_state" })).at - agent.began);
  const samplers = { [NODE]: () => timeToExit(bench.node, ["-e", "0"], bench.tmp), ...floorAndOurs(agentStart) };
  for (const warmUp of Object.values(samplers)) await warmUp();
  const samples = await inTurns(bench, 15, samplers);
  const what = "spawn to the answer of `get_state`";
  bench.forgetCompiledCode();
  const first = await inTurns(bench, 7, { [NODE]: samplers[NODE], [OURS]: samplers[OURS] });
  await rememberCompiledCode(bench);
  return [
    row(what, "ms", samples, { base: NODE, limit: 2, goal: 1.5 }),
    row(what, "ms", samples),
    row(`${what}, nothing compiled before`, "ms", first, { base: NODE, limit: 2 }),
  ];
}

/** The first process that has answered a prompt leaves its compiled code beside the program. */
export async function rememberCompiledCode(bench) {
  await withAgent(bench, OURS, (agent) => prompt(agent, "deltas=20"));
}

async function memory(bench) {
  // Agents get a copy of the binary: sharing its pages with whatever else runs Node here would make PSS a matter of luck.
  const node = bench.privateNode();
  const sampler = (contender) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        await agent.call({ type: "get_state" });
        await settle(bench);
        const idle = pssMb(agent.pid);
        for (let i = 0; i < 10; i++) await prompt(agent, "deltas=20");
        await settle(bench);
        return { idle, used: pssMb(agent.pid) };
      },
      { node },
    );
  const samples = await inTurns(bench, 5, floorAndOurs(sampler));
  return [
    row("PSS after `get_state`", "MB", samples, { key: "idle", limit: 1.25 }),
    row("PSS after ten short prompts", "MB", samples, { key: "used" }),
  ];
}

async function commands(bench) {
  const count = bench.quick ? 100 : 10_000;
  const lines = Array.from({ length: count }, (_, i) => `{"id":"c${i}","type":"get_state"}\n`).join("");
  const sampler = (contender) =>
    withAgent(bench, contender, async (agent) => {
      await agent.call({ type: "get_state" });
      agent.takeOutput();
      const began = performance.now();
      agent.write(lines);
      const { at } = await agent.until(`"id":"c${count - 1}"`);
      expect(contender, "answers", countIn(agent.takeOutput(), "\n"), count);
      return at - began;
    });
  const samples = await inTurns(bench, 9, floorAndOurs(sampler));
  return [row(`${count} \`get_state\`, sent at once`, "ms", samples, { limit: 1.5 })];
}

async function ttft(bench) {
  const sampler = (contender, mode) =>
    withAgent(
      bench,
      contender,
      async (agent) => {
        await agent.call({ type: "get_state" });
        const cold = await prompt(agent, "deltas=20");
        const warm = [];
        for (let i = 0; i < 10; i++) warm.push((await prompt(agent, "deltas=20")).first);
        return { cold: cold.first, warm: median(warm) };
      },
      { args: ["--updates", mode] },
    );
  const samples = await inTurns(bench, 25, {
    [FLOOR]: () => sampler(FLOOR, "delta"),
    [OURS]: () => sampler(OURS, "delta"),
    [SNAPSHOTS]: () => sampler(SNAPSHOTS, "snapshot"),
  });
  return [
    row("first prompt to its first delta", "ms", samples, { key: "cold", limit: 2 }),
    row("first prompt to its first delta, snapshots", "ms", samples, { key: "cold", name: SNAPSHOTS }),
    row("later prompt to its first delta", "ms", samples, { key: "warm", limit: 1.5 }),
    row("later prompt to its first delta, snapshots", "ms", samples, { key: "warm", name: SNAPSHOTS }),
  ];
}

/** One answer, after a short one that loads and warms what a prompt needs. */
async function streamOnce(agent, contender, plan, count) {
  await agent.call({ type: "get_state" });
  const idleMb = residentMb(agent.pid).now;
  await prompt(agent, "deltas=1");
  agent.takeOutput();
  const { end } = await prompt(agent, plan);
  const output = agent.takeOutput();
  const { frames, characters } = readDeltas(output);
  expect(contender, "characters", characters, count * CHARACTERS);
  const mb = output.length / 1e6;
  const peakMb = residentMb(agent.pid).peak - idleMb;
  return { ms: end, mb, frames, peakMb, usEach: (end * 1000) / count, bytesEach: output.length / count };
}

async function burst(bench, count, reps) {
  const plan = `deltas=${count}`;
  // The mock makes this answer now, not during the first sample.
  await fetch(`http://127.0.0.1:${bench.port}/v1/messages`, { method: "POST", body: plan }).then((r) => r.text());
  const sample = (contender, args) =>
    withAgent(bench, contender, (agent) => streamOnce(agent, contender, plan, count), { args });
  return inTurns(bench, reps, {
    [FLOOR]: () => sample(FLOOR, ["--updates", "delta"]),
    [OURS]: () => sample(OURS, ["--updates", "delta"]),
    [SNAPSHOTS]: () => sample(SNAPSHOTS, ["--updates", "snapshot"]),
  });
}

async function stream(bench) {
  const [small, middle, large] = bench.quick ? [20, 100, 500] : [2000, 10_000, 50_000];
  const rows = [];
  const taken = {};
  for (const [count, reps] of [
    [small, 9],
    [middle, 9],
    [large, 5],
  ]) {
    const samples = await burst(bench, count, reps);
    taken[count] = samples;
    const limits = { [middle]: { time: 2, snapshots: 20 }, [large]: { time: 2, peak: 30 } }[count] ?? {};
    const whole = { base: null, name: SNAPSHOTS };
    rows.push(
      row(`${count} deltas at once, time`, "ms", samples, { key: "ms", limit: limits.time }),
      row(`${count} deltas at once, stdout`, "MB", samples, { key: "mb" }),
      row(`${count} deltas at once, most memory above idle`, "MB", samples, {
        key: "peakMb",
        base: null,
        limit: limits.peak,
      }),
      row(`${count} deltas at once, snapshots, time`, "ms", samples, { key: "ms", name: SNAPSHOTS }),
      row(`${count} deltas at once, snapshots, stdout`, "MB", samples, {
        key: "mb",
        ...whole,
        limit: limits.snapshots,
      }),
    );
  }
  const linear = { [OURS]: taken[large][OURS], [`${middle} deltas`]: taken[middle][OURS] };
  const growth = { base: `${middle} deltas`, limit: 1.25 };
  rows.push(
    row(`time of one of ${large} deltas`, "µs", linear, { key: "usEach", ...growth }),
    row(`stdout of one of ${large} deltas`, "bytes", linear, { key: "bytesEach", ...growth }),
  );
  return rows;
}

async function paced(bench) {
  const count = bench.quick ? 20 : 2000;
  const plan = `deltas=${count} by=2 every=10`;
  const samples = await inTurns(bench, 2, {
    [OURS]: () => withAgent(bench, OURS, (agent) => streamOnce(agent, OURS, plan, count)),
  });
  const what = `${count} deltas, 200 a second, snapshots`;
  return [
    row(`${what}, stdout`, "MB", samples, { key: "mb", base: null, limit: 4 }),
    row(`${what}, frames`, "", samples, { key: "frames", base: null }),
  ];
}

async function tools(bench) {
  const turns = bench.quick ? 3 : 200;
  const use = async (agent) => {
    await prompt(agent, "deltas=1");
    return (await prompt(agent, `calls=${turns} run=true`)).end;
  };
  const sampler = (contender) => withAgent(bench, contender, use, { session: inFolder });
  const samples = await inTurns(bench, 5, floorAndOurs(sampler));
  return [row(`${turns} turns, each with one \`bash\` call of \`true\``, "ms", samples, { limit: 1.5 })];
}

/** The host's own shell commands: the least one, and one that prints a lot. */
async function shell(bench) {
  const [calls, bytes] = bench.quick ? [3, 1_000_000] : [50, 50_000_000];
  const least = (contender) =>
    withAgent(bench, contender, async (agent) => {
      await agent.call({ type: "bash", command: "true" });
      const times = [];
      for (let i = 0; i < calls; i++) {
        const began = performance.now();
        times.push((await agent.call({ type: "bash", command: "true" })).at - began);
      }
      return median(times);
    });
  const flood = (contender) =>
    withAgent(bench, contender, async (agent) => {
      await agent.call({ type: "bash", command: "true" });
      const before = residentMb(agent.pid);
      const began = performance.now();
      const command = `yes 'a line of a long output, as programs print them' | head -c ${bytes}`;
      const { at } = await agent.call({ type: "bash", command });
      return { ms: at - began, grown: residentMb(agent.pid).peak - before.now };
    });
  const small = await inTurns(bench, 7, floorAndOurs(least));
  const large = await inTurns(bench, 9, floorAndOurs(flood));
  const what = `\`bash\` with ${bytes / 1e6} MB of output`;
  return [
    row(`\`bash\` \`true\`, one of ${calls}`, "ms", small, { limit: 1.2 }),
    row(`${what}, time`, "ms", large, { key: "ms", limit: 1.5 }),
    row(`${what}, growth of memory at its peak`, "MB", large, { key: "grown", base: null, limit: 16 }),
    row("the same, floor agent", "MB", large, { key: "grown", name: FLOOR, base: null }),
  ];
}

/** Folders of small files, as a repository has them; every hundredth has the word that is looked for. */
function plantTree(folder, count) {
  const filler = "some words of a file that is not looked for\n".repeat(100);
  for (let i = 0; i < count; i++) {
    const place = join(folder, `area-${i % 50}`, `part-${i % 7}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `file-${i}.txt`), i % 100 === 0 ? `${filler}the needle\n` : filler);
  }
}

/** Calls of one tool by the script model; resolves to the milliseconds of each. */
async function timeTool(bench, name, calls) {
  const script = join(bench.tmp, `script-${name}.json`);
  const turns = calls.flatMap((args) => [{ toolCall: { name, arguments: args } }, "ok"]);
  writeFileSync(script, JSON.stringify({ turns }));
  const use = async (agent) => {
    const times = [];
    for (let i = 0; i < calls.length; i++) {
      agent.write('{"type":"prompt","message":"go"}\n');
      const began = await agent.until('{"type":"tool_execution_start"');
      const ended = await agent.until('{"type":"tool_execution_end"');
      if (ended.line.includes('"isError":true')) throw new Error(`${name} failed: ${ended.line.slice(0, 500)}`);
      times.push(ended.at - began.at);
      await agent.until('{"type":"session_settled"');
    }
    // The first call loads the tool.
    return median(times.slice(1));
  };
  return withAgent(bench, OURS, use, { model: ["--script", script], args: ["--tools", "all"] });
}

async function files(bench) {
  const tree = join(bench.tmp, "tree");
  plantTree(tree, bench.quick ? 100 : 20_000);
  const rounds = bench.quick ? 2 : 8;
  const again = (args) => Array.from({ length: rounds }, () => args);
  const rg = (args) => () => timeToExit("rg", args, bench.tmp);
  const grep = await inTurns(bench, 5, {
    rg: rg(["--line-number", "--hidden", "needle", tree]),
    [OURS]: () => timeTool(bench, "grep", again({ pattern: "needle", path: tree, limit: 1000 })),
  });
  const find = await inTurns(bench, 5, {
    rg: rg(["--files", "--hidden", "-g", "*9.txt", tree]),
    [OURS]: () => timeTool(bench, "find", again({ pattern: "*9.txt", path: tree, limit: 100_000 })),
  });
  const big = join(bench.tmp, "big.txt");
  const line = "one line of a large file, with some words in it\n";
  const changes = Array.from({ length: rounds }, (_, i) => ({ oldText: `word-${i}\n`, newText: `word-${i + 1}\n` }));
  const edits = changes.map((change) => ({ path: big, edits: [change] }));
  const edit = await inTurns(bench, 1, {
    [OURS]() {
      // Anew: a sample may be taken again.
      writeFileSync(big, `${line.repeat(bench.quick ? 1000 : 210_000)}word-0\n`);
      return timeTool(bench, "edit", edits);
    },
  });
  const count = bench.quick ? 100 : "20,000";
  return [
    row(`\`grep\` over ${count} files`, "ms", grep, { base: "rg", limit: 1.2 }),
    row(`\`find\` over ${count} files`, "ms", find, { base: "rg", limit: 1.2 }),
    row("`edit` of a 10 MB file", "ms", edit, { base: null, limit: 200 }),
  ];
}

/** From the end of the turn that is its delivery point to the `message_start` of a steering message. */
async function steering(bench) {
  const sampler = () =>
    withAgent(bench, OURS, async (agent) => {
      const times = [];
      await prompt(agent, "deltas=1");
      for (let i = 0; i < (bench.quick ? 1 : 10); i++) {
        agent.write(`${JSON.stringify({ type: "prompt", message: "deltas=40 by=4 every=2" })}\n`);
        await agent.until('"text_delta"');
        agent.write(`${JSON.stringify({ type: "steer", message: "deltas=1" })}\n`);
        const turn = await agent.until('{"type":"turn_end"');
        times.push((await agent.until('{"type":"message_start"')).at - turn.at);
        await agent.until('{"type":"session_settled"');
      }
      return median(times);
    });
  const samples = await inTurns(bench, 3, { [OURS]: sampler });
  return [row("end of the turn to `message_start` of a steering message", "ms", samples, { base: null, limit: 5 })];
}

function readDeltas(output) {
  let frames = 0;
  let characters = 0;
  for (const line of output.toString("utf8").split("\n")) {
    if (!line.startsWith('{"type":"message_update"') || !line.includes('"text_delta"')) continue;
    frames++;
    characters += JSON.parse(line).assistantMessageEvent.delta.length;
  }
  return { frames, characters };
}

const BROWSER = { [CHROMIUM]: "install chromium, or name the path of one with CHROMIUM" };

export const METRICS = {
  start: { title: "Start", measure: start },
  memory: { title: "Memory", measure: memory },
  commands: { title: "Commands", measure: commands },
  ttft: { title: "Time to the first delta", measure: ttft },
  stream: { title: "One answer, as fast as the provider can", measure: stream },
  paced: { title: "One answer at the pace of a model", measure: paced },
  tools: { title: "Tool loop", measure: tools },
  shell: { title: "Shell commands of the host", measure: shell },
  files: { title: "Tools on files", measure: files, needs: { rg: "install ripgrep" } },
  sessions: { title: "Sessions", measure: sessions },
  export: { title: "Sessions as pages", measure: exporting, needs: BROWSER },
  extensions: { title: "Extensions", measure: extensions },
  rules: { title: "Stream rules", measure: rules },
  "host-tools": { title: "Tools of the host", measure: hostTools },
  client: { title: "The TypeScript client", measure: client },
  aborts: { title: "Abort", measure: aborts },
  steering: { title: "Steering", measure: steering },
};
