#!/usr/bin/env node
// `npm run test:long`: many more random sequences of commands than `npm test` plays (test/run/sequences.test.ts).
//   TILLER_SEQUENCES=5000   how many, 2500 unless told
//   TILLER_SEED=7           the same stories again; a new seed each time unless told, and it is printed
//   TILLER_CLI=FILE         another built cli.js
// It ends after ten minutes at the latest and says how many were played by then.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ensure, root } from "./ensure.mjs";

const LIMIT_MS = 570_000;

const { NODE_EXTRA_CA_CERTS: _unused, ...inherited } = process.env;
const seed = inherited.TILLER_SEED ?? String(Math.floor(Math.random() * 1e6));
const count = inherited.TILLER_SEQUENCES ?? "2500";
const env = {
  ...inherited,
  TILLER_CLI: inherited.TILLER_CLI ?? ensure(),
  TILLER_SEED: seed,
  TILLER_SEQUENCES: count,
  TILLER_SEQUENCES_MS: String(LIMIT_MS),
};

process.stdout.write(`${count} sequences, TILLER_SEED=${seed}\n`);
const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "test/run/sequences.test.ts"];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env });
process.exitCode = status ?? 1;
