// The processes of a measurement: started here, ended here by their id, each agent with a throw-away home.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const LF = 10;
/** How an agent ends that does not know one of its arguments. */
const USAGE_ERROR = 2;
/** An answer begins with its id, type, command and success. */
const HEAD_OF_ANSWER = 200;
/** Longer than any sample takes, even on a busy machine. */
export const PATIENCE_MS = 60_000;
const CLOSING_MS = 3000;

/** The agent does not have the command or the option. */
export class Refused extends Error {}

const alive = new Set();
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

function start(command, args, options) {
  const child = spawn(command, args, options);
  alive.add(child);
  const ended = new Promise((resolve) => {
    child.once("exit", resolve);
    child.once("error", resolve);
  }).then(() => alive.delete(child));
  return { child, ended };
}

async function endByStdin({ child, ended }) {
  child.stdin.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), CLOSING_MS);
  await ended;
  clearTimeout(timer);
}

/** Nothing of the caller's environment but the path: above all no NODE_OPTIONS and no NODE_EXTRA_CA_CERTS. */
const cleanEnv = (home) => ({ PATH: process.env.PATH, LANG: "C.UTF-8", HOME: home, TMPDIR: home });

/** A home folder of one sample with the mock as the only provider, under a name for each API that it speaks. */
export function createHome(tmp, port) {
  const home = mkdtempSync(join(tmp, "home-"));
  const agentDir = join(home, "agent");
  const cwd = join(home, "project");
  mkdirSync(agentDir);
  mkdirSync(cwd);
  const url = `http://127.0.0.1:${port}`;
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const model = { id: "mock-1", name: "Mock", reasoning: false, input: ["text"], cost };
  const models = [{ ...model, contextWindow: 100_000_000, maxTokens: 100_000 }];
  const providers = {
    mock: { baseUrl: url, api: "anthropic-messages", apiKey: "key", models },
    "mock-openai": { baseUrl: `${url}/v1`, api: "openai-completions", apiKey: "key", models },
  };
  const text = JSON.stringify({ providers });
  writeFileSync(join(agentDir, "models.json"), text);
  return {
    cwd,
    models: text,
    env: { ...cleanEnv(home), PI_CODING_AGENT_DIR: agentDir, MOCK_BASE_URL: url },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** Milliseconds from start to end of a process that ends by itself. */
export async function timeToExit(command, args, tmp) {
  const began = performance.now();
  const { ended } = start(command, args, { stdio: "ignore", env: cleanEnv(tmp), cwd: tmp });
  await ended;
  return performance.now() - began;
}

export async function startMock() {
  const path = fileURLToPath(new URL("mock-llm.mjs", import.meta.url));
  const mock = start(process.execPath, [path], { stdio: ["pipe", "pipe", "inherit"] });
  const { port } = JSON.parse(await new Promise((resolve) => mock.child.stdout.once("data", resolve)));
  return { port, close: () => endByStdin(mock) };
}

/**
 * An agent and its stdout. What arrives is only searched for what is waited for, never parsed while the clock
 * runs: the reader must stay cheaper than any writer.
 */
export function startAgent(command, args, { env, cwd, record = true }) {
  const began = performance.now();
  const agent = start(command, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  const { child } = agent;
  const waiters = [];
  /** From the last line break that no wait has passed. */
  let rest = Buffer.from("\n");
  /** More of the line that is waited for: a line of 30 MB is put together once, not with each of its pieces. */
  let more = [];
  let recorded = [];
  let stderr = "";
  let lastId = 0;
  let received = 0;

  /** Each waits for a line of its own, in whatever order they come. */
  const look = (at) => {
    if (waiters.length === 0) return;
    let passed = -1;
    for (const waiter of [...waiters]) {
      const found = rest.indexOf(waiter.text);
      const end = found === -1 ? -1 : rest.indexOf(LF, found + 1);
      waiter.isFound = found !== -1;
      if (end !== -1) {
        const line = rest.toString("utf8", rest.lastIndexOf(LF, found) + 1, end);
        settle(waiter, () => waiter.resolve({ at, line }));
        passed = Math.max(passed, end);
      }
    }
    // What one has passed the others have looked through as well. Where none has, a line may still become the right one.
    rest = rest.subarray(passed === -1 ? rest.lastIndexOf(LF) : passed);
  };
  const settle = (waiter, how) => {
    waiters.splice(waiters.indexOf(waiter), 1);
    clearTimeout(waiter.timer);
    how();
  };
  const fail = (why, failing = [...waiters]) => {
    const Kind = child.exitCode === USAGE_ERROR ? Refused : Error;
    for (const waiter of failing)
      settle(waiter, () => waiter.reject(new Kind(`${why} while waiting for ${waiter.text}\n${stderr}`)));
  };

  child.stdout.on("data", (piece) => {
    const at = performance.now();
    received += piece.length;
    if (record) recorded.push(piece);
    more.push(piece);
    if (waiters.some(({ isFound }) => isFound) && !piece.includes(LF)) return;
    rest = Buffer.concat([rest, ...more]);
    more = [];
    look(at);
  });
  child.stderr.on("data", (piece) => {
    stderr = (stderr + piece).slice(-2000);
  });
  child.stdin.on("error", () => fail("the agent closed its stdin"));
  void agent.ended.then(() => fail("the agent ended"));

  /** Resolves to the next line that has `text` in it, and when it was complete. */
  const until = (text, patienceMs = PATIENCE_MS) =>
    new Promise((resolve, reject) => {
      const waiter = { text, resolve, reject, timer: setTimeout(() => fail("nothing came", [waiter]), patienceMs) };
      waiters.push(waiter);
      look(performance.now());
    });
  const write = (text) => child.stdin.write(text);
  /** Resolves to the answer as a line. */
  const ask = async (request) => {
    const id = `b${++lastId}`;
    write(`${JSON.stringify({ id, ...request })}\n`);
    const { at, line } = await until(`"id":"${id}","type":"response"`);
    if (line.slice(0, HEAD_OF_ANSWER).includes('"success":false')) throw new Refused(`${request.type} failed: ${line}`);
    return { at, line };
  };
  const call = async (request) => {
    const { at, line } = await ask(request);
    return { at, data: JSON.parse(line).data };
  };
  return {
    began,
    pid: child.pid,
    write,
    until,
    ask,
    call,
    /** Bytes of its stdout until now. */
    get received() {
      return received;
    },
    /** Everything since the last call. */
    takeOutput() {
      const bytes = Buffer.concat(recorded);
      recorded = [];
      return bytes;
    },
    close: () => endByStdin(agent),
  };
}
