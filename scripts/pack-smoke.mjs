#!/usr/bin/env node
// Packs the product, installs the tarball into an empty folder without network and talks to it.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { check, withPacked } from "./packed.mjs";

const TIMEOUT_MS = 30_000;

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

withPacked(async ({ tarball, user, bin }) => {
  const count = checkFrames(await converse(bin, user));
  process.stdout.write(
    `packed ${tarball.count} files, ${(tarball.size / 1024).toFixed(0)} KB; installed offline; ${count} frames for one prompt; fine\n`,
  );
}).catch((error) => {
  process.stderr.write(`pack-smoke: ${error.message}\n`);
  process.exitCode = 1;
});
