#!/usr/bin/env node
// What the programs of the family, MCP servers and Tiller can do with each other's things. Needs the package registry.
//
//   npm run test:compat                       all parts
//   npm run test:compat -- sessions           session files go back and forth (scripts/compat-pi.mjs)
//   npm run test:compat -- extensions         extensions that others wrote (scripts/compat-extensions.mjs)
//   npm run test:compat -- clients            clients that others wrote (scripts/compat-clients.mjs)
//   npm run test:compat -- mcp                MCP servers that others wrote (scripts/compat-mcp.mjs)
//
// Further arguments go to the part.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./ensure.mjs";

const PARTS = {
  sessions: "compat-pi.mjs",
  extensions: "compat-extensions.mjs",
  clients: "compat-clients.mjs",
  mcp: "compat-mcp.mjs",
};

const [first, ...rest] = process.argv.slice(2);
const isPart = first !== undefined && Object.hasOwn(PARTS, first);
const names = isPart ? [first] : Object.keys(PARTS);
if (first !== undefined && !isPart) {
  process.stderr.write(`there is no part "${first}"; there are ${names.join(", ")}\n`);
  process.exit(2);
}
for (const name of names) {
  const { status } = spawnSync(process.execPath, [join(root, "scripts", PARTS[name]), ...rest], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
