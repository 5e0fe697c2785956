// An agent in RPC mode, ours or pi's, with a home of its own.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const TIMEOUT_MS = 30_000;

/** The models of the mock on loopback, as all programs of the family want them written. */
function modelsJson(port) {
  const cost = { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 };
  const model = { reasoning: true, input: ["text", "image"], contextWindow: 200_000, maxTokens: 8000, cost };
  const models = ["mock-1", "mock-2"].map((id) => ({ ...model, id, name: id }));
  const mock = { baseUrl: `http://127.0.0.1:${port}`, api: "anthropic-messages", apiKey: "none", models };
  return JSON.stringify({ providers: { mock } });
}

/** `call` throws when the answer is no success. */
export function startAgent({ cli, folder, port, settings, agentFiles = {}, args = [], doneType }) {
  const [cwd, agentDir] = [join(folder, "app"), join(folder, "agent")];
  for (const path of [cwd, agentDir]) mkdirSync(path, { recursive: true });
  const files = { "models.json": modelsJson(port), "settings.json": JSON.stringify(settings), ...agentFiles };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(agentDir, name), text);
  const env = { PATH: process.env.PATH, HOME: folder, TILLER_DIR: agentDir, PI_CODING_AGENT_DIR: agentDir };
  const sessionDir = join(folder, "sessions");
  const allArgs = [cli, "--mode", "rpc", "--session-dir", sessionDir, ...args];
  const child = spawn(process.execPath, allArgs, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  const frames = [];
  let rest = "";
  let wake = () => undefined;
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) frames.push(JSON.parse(line));
    wake();
  });
  let isClosed = false;
  const closed = new Promise((resolve) => child.on("close", resolve)).then(() => {
    isClosed = true;
    wake();
  });

  async function frame(from, matches, what) {
    const end = Date.now() + TIMEOUT_MS;
    for (;;) {
      const found = frames.slice(from).find(matches);
      if (found) return found;
      if (isClosed || Date.now() > end) throw new Error(`no ${what}; the last frames:\n${tail(frames)}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 500);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  let count = 0;
  async function call(command) {
    const id = `call-${++count}`;
    const from = frames.length;
    child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    const answer = await frame(from, (f) => f.type === "response" && f.id === id, `answer to ${command.type}`);
    if (!answer.success) throw new Error(`${JSON.stringify(command)} failed: ${answer.error}`);
    return answer.data ?? {};
  }

  return {
    cwd,
    sessionDir,
    pid: child.pid,
    frames,
    frame,
    call,
    /** Until everything that it led to is over. */
    async prompt(message, fields = {}) {
      const from = frames.length;
      await call({ type: "prompt", message, ...fields });
      await frame(from, (f) => f.type === doneType, doneType);
      return frames.slice(from);
    },
    /** Stopped in the middle of what it leads to. */
    async abortedPrompt(message, untilType) {
      const from = frames.length;
      await call({ type: "prompt", message });
      await frame(from, (f) => f.type === untilType, untilType);
      await call({ type: "abort" });
      await frame(from, (f) => f.type === doneType, doneType);
    },
    async end() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
      await closed;
      clearTimeout(timer);
    },
    kill: () => child.kill("SIGKILL"),
  };
}

function tail(frames) {
  const lines = frames.slice(-5).map((frame) => JSON.stringify(frame).slice(0, 300));
  return lines.join("\n");
}
