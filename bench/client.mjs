// What the TypeScript client costs its host: events through a loop against the same lines through JSON.parse alone, and memory.
import { fork } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inTurns, OURS, row } from "./sampling.mjs";

const PARSE = "JSON.parse";
/** Lines of a real stream: short pieces of text in update mode `delta`. */
const VARIETY = 1000;
const MESSAGE = 100_000;

export function streamLine(i) {
  const message = { role: "assistant", content: [] };
  const piece = { type: "text_delta", contentIndex: 0, delta: `word ${i}`, partial: message };
  const head = { type: "message_update", message, assistantMessageEvent: piece };
  return JSON.stringify({ ...head, promptId: "prompt-1", turnIndex: 0, messageId: `message-${i % 7}`, seq: 1000 + i });
}

export const streamLines = () => Array.from({ length: VARIETY }, (_, i) => streamLine(i));

const say = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`);
const drained = () => new Promise((resolve) => process.stdout.once("drain", resolve));

/** An agent that answers everything and streams `count` pieces for a prompt, as messages of a size that occurs. */
async function flood(id, count) {
  const block = `${streamLines().join("\n")}\n`;
  for (let sent = 0; sent < count; sent += VARIETY) {
    if (sent % MESSAGE === 0) {
      say({ type: "message_end", message: { role: "assistant", content: [] } });
      say({ type: "message_start", message: { role: "assistant", content: [] } });
    }
    if (!process.stdout.write(block)) await drained();
  }
  say({
    type: "prompt_result",
    id,
    promptId: "prompt-1",
    status: "completed",
    agentInvoked: true,
    sessionSettled: true,
  });
}

function beAgent(count) {
  let rest = "";
  process.stdin.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const { id, type } of lines.map((line) => JSON.parse(line))) {
      const capabilities = { version: "0", dialect: "union", commands: [], events: [], limits: { maxLineBytes: 1 } };
      const data = type === "get_capabilities" ? capabilities : {};
      say({ id, type: "response", command: type, success: true, data });
      if (type === "prompt") void flood(id, count);
    }
  });
  process.stdin.on("end", () => process.exit(0));
}

const cpuMs = (since) => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

/** Behind a collection: between two of them memory goes up and down by more than what is looked for. */
function keptMb() {
  globalThis.gc();
  return process.memoryUsage.rss() / 1e6;
}

/** Work is counted, not time: somebody else may use the machine. The first round warms. */
async function beHost(clientFile, count) {
  const { RpcClient } = await import(clientFile);
  const agent = [process.execPath, fileURLToPath(import.meta.url), "agent"];
  const run = async (events) => {
    const client = new RpcClient({ command: () => [...agent, String(events)] });
    await client.start();
    const before = process.cpuUsage();
    let seen = 0;
    let half = 0;
    for await (const event of client.run("go")) {
      if (event.type !== "message_update") continue;
      seen++;
      if (seen === events / 2) half = keptMb();
    }
    const ms = cpuMs(before);
    const whole = keptMb();
    await client.stop();
    if (seen !== events) throw new Error(`${seen} events came instead of ${events}`);
    return { usEach: (ms * 1000) / events, grownMb: Math.max(0, whole - half) };
  };
  await run(Math.min(count, 100_000));
  process.send(await run(count));
}

function beParser(count) {
  const lines = streamLines();
  let found = 0;
  const round = (times) => {
    const before = process.cpuUsage();
    for (let i = 0; i < times; i++) for (const line of lines) if (JSON.parse(line).type === "message_update") found++;
    return cpuMs(before);
  };
  round(Math.min(count, 100_000) / VARIETY);
  process.send({ usEach: (round(count / VARIETY) * 1000) / count, found });
}

function inProcess(...args) {
  return new Promise((resolve, reject) => {
    let answer;
    const child = fork(fileURLToPath(import.meta.url), args.map(String), {
      execArgv: ["--expose-gc"],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    child.on("message", (message) => {
      answer = message;
    });
    child.on("error", reject);
    child.on("close", (code) => (answer ? resolve(answer) : reject(new Error(`${args[0]} ended with ${code}`))));
  });
}

export async function client(bench) {
  const count = bench.quick ? 20_000 : 1_000_000;
  const clientFile = join(dirname(bench.cli), "client.js");
  const samples = await inTurns(bench, 5, {
    [PARSE]: () => inProcess("parser", count),
    [OURS]: () => inProcess("host", clientFile, count),
  });
  return [
    row(`processor time of one of ${count} events in a loop of the client`, "µs", samples, {
      key: "usEach",
      base: PARSE,
      limit: 2,
    }),
    row(`memory that the second half of ${count} events leaves behind`, "MB", samples, {
      key: "grownMb",
      base: null,
      limit: 16,
    }),
  ];
}

const [role, ...words] = process.argv.slice(2);
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (role === "agent") beAgent(Number(words[0]));
  else if (role === "host") await beHost(words[0], Number(words[1]));
  else beParser(Number(words[0]));
}
