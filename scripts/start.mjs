#!/usr/bin/env node
// `npm start`: shows the product on the offline model, and at a terminal lets you talk to it. `npm start -- --mode rpc`: the
// raw server, stdin and stdout yours.
import { spawnSync } from "node:child_process";
import { ensure } from "./ensure.mjs";

const args = process.argv.slice(2);

function run(cli, words) {
  const { status, signal } = spawnSync(process.execPath, [cli, ...words], { stdio: "inherit" });
  return status ?? (signal ? 1 : 0);
}

try {
  const cli = ensure();
  if (args.length > 0) {
    process.exitCode = run(cli, args);
  } else {
    const { showDemo } = await import("./demo.mjs");
    process.exitCode = await showDemo(cli);
    const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
    if (isTerminal && process.exitCode === 0) {
      process.stdout.write("\nNow you: this is `tiller chat --no-session`.\n");
      process.exitCode = run(cli, ["chat", "--no-session"]);
    }
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
