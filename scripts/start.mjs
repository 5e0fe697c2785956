#!/usr/bin/env node
// `npm start`: shows the product on the offline model. `npm start -- --mode rpc`: the raw server, stdin and stdout yours.
import { spawnSync } from "node:child_process";
import { ensure } from "./ensure.mjs";

const args = process.argv.slice(2);
try {
  const cli = ensure();
  if (args.length > 0) {
    const { status, signal } = spawnSync(process.execPath, [cli, ...args], { stdio: "inherit" });
    process.exitCode = status ?? (signal ? 1 : 0);
  } else {
    const { showDemo } = await import("./demo.mjs");
    process.exitCode = await showDemo(cli);
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
