// Tools of the host: from its result to the end of the call, against a process that only sends back what it gets.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHome, startAgent } from "./processes.mjs";
import { inTurns, OURS, row, withAgent } from "./sampling.mjs";
import { median } from "./statistics.mjs";

const ECHO = "bare echo";
const CALLS_OF_PROMPT = 10;
const TOOL = {
  name: "echo_host",
  description: "Gives back what it gets",
  parameters: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
};
const resultOf = (id) =>
  `${JSON.stringify({ type: "host_tool_result", id, result: { content: [{ type: "text", text: "the answer of the host" }] } })}\n`;

/** The first half loads and warms what a call needs, here and there. */
const warm = (times) => median(times.slice(times.length / 2));

async function echoed(bench, calls) {
  const home = createHome(bench.tmp, bench.port);
  const code = 'process.stdin.on("data", (piece) => process.stdout.write(piece));';
  const echo = startAgent(bench.node, ["-e", code], home);
  try {
    const times = [];
    for (let i = 0; i < calls; i++) {
      const began = performance.now();
      echo.write(resultOf(`host-${i}`));
      times.push((await echo.until(`"id":"host-${i}"`)).at - began);
    }
    return warm(times);
  } finally {
    await echo.close();
    home.remove();
  }
}

/** In short sessions: a long conversation costs something else. */
async function answered(agent, calls) {
  await agent.call({ type: "set_host_tools", tools: [TOOL] });
  const times = [];
  while (times.length < calls) {
    agent.write('{"type":"prompt","message":"go"}\n');
    for (let i = 0; i < CALLS_OF_PROMPT; i++) times.push(await answerOne(agent));
    await agent.until('{"type":"session_settled"');
    await agent.call({ type: "new_session" });
  }
  return warm(times);
}

async function answerOne(agent) {
  const { id } = JSON.parse((await agent.until('{"type":"host_tool_call"')).line);
  const began = performance.now();
  agent.write(resultOf(id));
  const end = await agent.until('{"type":"tool_execution_end"');
  if (end.line.includes('"isError":true')) throw new Error(`echo_host failed: ${end.line.slice(0, 500)}`);
  return end.at - began;
}

export async function hostTools(bench) {
  const prompts = bench.quick ? 1 : 200;
  const calls = prompts * CALLS_OF_PROMPT;
  const script = join(bench.tmp, "script-host-tools.json");
  const call = { toolCall: { name: TOOL.name, arguments: { message: "hello" } } };
  const answer = [...Array.from({ length: CALLS_OF_PROMPT }, () => call), "ok"];
  writeFileSync(script, JSON.stringify({ turns: Array.from({ length: prompts }, () => answer).flat() }));
  const samples = await inTurns(bench, 9, {
    [ECHO]: () => echoed(bench, calls),
    [OURS]: () => withAgent(bench, OURS, (agent) => answered(agent, calls), { model: ["--script", script] }),
  });
  return [
    row(`result of a host tool to the end of its call, one of ${calls}`, "ms", samples, { base: ECHO, limit: 2 }),
  ];
}
