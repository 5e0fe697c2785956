#!/usr/bin/env node
// `npm run test:faults`: see HELP.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { readCommandLine } from "./command-line.mjs";
import { ensure, root } from "./ensure.mjs";

const HELP = `npm run test:faults [-- NAMES]

Every fault in every state (test/faults), several at a time, ten minutes at most.

  npm run test:faults -- "process: SIG"       those whose name matches: "GROUP: FAULT · STATE"; a host that stops
                                              reading then does so for 2 s, which among all of them is 60 s once
  UPDATE_RELIABILITY=1 npm run test:faults    accepts what comes of it and writes docs/reliability.md
  TILLER_CLI=FILE npm run test:faults         another built cli.js
`;
const [names = "all"] = readCommandLine(HELP, { words: 1 });

const LIMIT_MS = 600_000;
const SIDE_BY_SIDE = 6;

const { NODE_EXTRA_CA_CERTS: _unused, ...inherited } = process.env;
/** Small disks are mounted where nobody else sees them; what is left of them goes with the last process. */
const mounts = ["unshare", "-rm"];
const canMount = spawnSync(mounts[0], [...mounts.slice(1), "true"]).status === 0;
const env = {
  ...inherited,
  TILLER_CLI: inherited.TILLER_CLI ?? ensure(),
  TILLER_FAULTS: names,
  TILLER_FAULTS_MS: String(LIMIT_MS - 60_000),
  ...(canMount && { TILLER_MAY_MOUNT: "1" }),
};
const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--maxConcurrency", String(SIDE_BY_SIDE)];
const [command, ...args] = [...(canMount ? mounts : []), process.execPath, ...vitest, "test/faults/faults.test.ts"];
const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit", env, timeout: LIMIT_MS });
if (status === null) process.stderr.write(`ended after ${LIMIT_MS / 1000} s\n`);
process.exitCode = status ?? 1;
