#!/usr/bin/env node
// `npm run test:soak`: see HELP.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { readCommandLine } from "./command-line.mjs";
import { ensure, root } from "./ensure.mjs";

const HELP = `npm run test:soak

Many agents at once for some minutes, under random load and with random faults (test/soak). Variables, with what holds
unless told:

  TILLER_SOAK_AGENTS=20     so many
  TILLER_SOAK_MS=300000     so long
  TILLER_SEED=7             the same load again, as far as timing lets it; a new seed each time unless told
  TILLER_CLI=FILE           another built cli.js
`;
readCommandLine(HELP);

const { NODE_EXTRA_CA_CERTS: _unused, ...inherited } = process.env;
const env = {
  TILLER_SOAK_AGENTS: "20",
  TILLER_SOAK_MS: "300000",
  TILLER_SEED: String(Math.floor(Math.random() * 1e6)),
  ...inherited,
  TILLER_CLI: inherited.TILLER_CLI ?? ensure(),
};
process.stdout.write(`${env.TILLER_SOAK_AGENTS} agents, ${env.TILLER_SOAK_MS} ms, TILLER_SEED=${env.TILLER_SEED}\n`);
const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "test/soak/soak.test.ts"];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env });
process.exitCode = status ?? 1;
