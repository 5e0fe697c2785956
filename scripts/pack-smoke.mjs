#!/usr/bin/env node
// Packs the product, installs the tarball into an empty folder without network and talks to it.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { check, withPacked } from "./packed.mjs";

const TIMEOUT_MS = 30_000;

<<<<<<< HEAD
=======
function check(truth, sentence) {
  if (!truth) throw new Error(sentence);
}

function npm(args, cwd) {
  const result = spawnSync("npm", args, { cwd, encoding: "utf8", shell: process.platform === "win32" });
  check(result.status === 0, `npm ${args.join(" ")} failed:\n${result.stderr}${result.stdout}`);
  return result.stdout;
}

function pack(destination) {
  const [packed] = JSON.parse(
    npm(["pack", "--json", "--ignore-scripts", "--pack-destination", destination], productDir),
  );
  const paths = packed.files.map((file) => file.path);
  for (const wanted of [
    "package.json",
    "README.md",
    "LICENSE",
    "dist/cli.js",
    "dist/client.js",
    "dist/client/index.d.ts",
    "dist/rpc.schema.json",
  ]) {
    check(paths.includes(wanted), `the tarball lacks ${wanted}; it has ${paths.join(", ")}`);
  }
  const stray = paths.find((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"));
  check(!stray, `the tarball contains source: ${stray}`);
  return { file: join(destination, packed.filename), size: packed.size, count: paths.length };
}

function install(tarball, folder) {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "empty", private: true }));
  npm(["install", "--ignore-scripts", "--offline", "--no-audit", "--no-fund", tarball], folder);
  const bin = join(folder, "node_modules/.bin/tiller");
  check((statSync(bin).mode & 0o100) !== 0, `${bin} is not executable`);
  return bin;
}

/** The client, as a program of the user imports it. */
function useClient(folder) {
  const program = `import { RpcClient } from "tiller/client";
    const client = new RpcClient({ args: ["--no-session"] });
    await client.start();
    process.stdout.write((await client.ask("hello")).status);
    await client.stop();`;
  const env = { PATH: process.env.PATH, HOME: folder, TILLER_DIR: join(folder, "home/agent") };
  const args = ["--input-type=module", "--eval", program];
  const result = spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8", timeout: TIMEOUT_MS });
  check(result.stdout === "completed", `the client said "${result.stdout}".\nstderr: ${result.stderr}`);
}

>>>>>>> 9c4d140 (client: documentation, examples that are run, a benchmark of its cost per event and of its memory)
/** One prompt over pipes; resolves to what came out. */
function converse(bin, folder) {
  const home = join(folder, "home");
  mkdirSync(home);
  const env = { PATH: process.env.PATH, HOME: home, TILLER_DIR: join(home, "agent") };
  const child = spawn(bin, ["--mode", "rpc", "--no-session"], { cwd: folder, env });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
    if (stdout.includes('"type":"session_settled"')) child.stdin.end();
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  child.stdin.write('{"id":"1","type":"prompt","message":"hello"}\n');
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`no session_settled within ${TIMEOUT_MS} ms.\nstdout:\n${stdout}\nstderr:\n${stderr}`));
    }, TIMEOUT_MS);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
  });
}

function checkFrames({ code, stdout, stderr }) {
  const frames = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const types = frames.map((frame) => frame.type);
  const seen = `frames: ${types.join(" ")}\nstderr: ${stderr}`;
  check(types[0] === "ready", `the first frame is not "ready".\n${seen}`);
  const answer = frames.find((frame) => frame.type === "response" && frame.id === "1");
  check(answer?.success === true && answer.command === "prompt", `the prompt was not accepted.\n${seen}`);
  for (const type of [
    "agent_start",
    "message_update",
    "agent_end",
    "agent_settled",
    "prompt_result",
    "session_settled",
  ]) {
    check(types.includes(type), `no ${type}.\n${seen}`);
  }
  check(code === 0, `exit code ${code} after stdin was closed.\n${seen}`);
  return types.length;
}

<<<<<<< HEAD
withPacked(async ({ tarball, user, bin }) => {
  const count = checkFrames(await converse(bin, user));
  process.stdout.write(
    `packed ${tarball.count} files, ${(tarball.size / 1024).toFixed(0)} KB; installed offline; ${count} frames for one prompt; fine\n`,
  );
}).catch((error) => {
=======
async function main() {
  ensure();
  const folder = mkdtempSync(join(tmpdir(), "tiller-pack-"));
  try {
    const tarball = pack(folder);
    const empty = join(folder, "user");
    mkdirSync(empty);
    const bin = install(tarball.file, empty);
    const count = checkFrames(await converse(bin, empty));
    useClient(empty);
    process.stdout.write(
      `packed ${tarball.count} files, ${(tarball.size / 1024).toFixed(0)} KB; installed offline; ${count} frames for one prompt; fine\n`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

main().catch((error) => {
>>>>>>> 9c4d140 (client: documentation, examples that are run, a benchmark of its cost per event and of its memory)
  process.stderr.write(`pack-smoke: ${error.message}\n`);
  process.exitCode = 1;
});
