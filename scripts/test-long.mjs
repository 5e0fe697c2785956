#!/usr/bin/env node
// `npm run test:long`: all tests, also those that `npm test` leaves out or plays in part, then many more random
// stories than it plays.
//   TILLER_SEQUENCES=5000   random sequences of commands (test/run/sequences.test.ts), 2500 unless told
//   TILLER_KILLS=100        `kill -9` at random moments (test/sessions/crash.test.ts), 2000 unless told
//   TILLER_REPLAYS=10      times that a recording is played back (test/recording.test.ts), 100 unless told
//   TILLER_SEED=7           the same stories again; a new seed each time unless told, and it is printed
//   TILLER_CLI=FILE         another built cli.js
// Zero leaves one of them out. The sequences end after ten minutes at the latest, the kills after twenty, and each says
// how many were played by then.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ensure, root } from "./ensure.mjs";

const SEQUENCES_MS = 570_000;
const KILLS_MS = 1_170_000;

const { NODE_EXTRA_CA_CERTS: _unused, ...inherited } = process.env;
const seed = inherited.TILLER_SEED ?? String(Math.floor(Math.random() * 1e6));
const sequences = inherited.TILLER_SEQUENCES ?? "2500";
const kills = inherited.TILLER_KILLS ?? "2000";
const all = {
  ...inherited,
  TILLER_CLI: inherited.TILLER_CLI ?? ensure(),
  TILLER_SEED: seed,
  TILLER_ALL: "1",
  TILLER_REPLAYS: inherited.TILLER_REPLAYS ?? "100",
};

function play(files, env) {
  const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", ...files];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env: { ...all, ...env } });
  if (status !== 0) process.exitCode = status ?? 1;
}

process.stdout.write(`${sequences} sequences, ${kills} kills, TILLER_SEED=${seed}\n`);
// Everything, as what `npm test` leaves out stands in many files; the two that go on for long only as far as there.
play([], { TILLER_SEQUENCES: undefined, TILLER_KILLS: undefined });
if (Number(sequences) > 0)
  play(["test/run/sequences.test.ts"], { TILLER_SEQUENCES: sequences, TILLER_SEQUENCES_MS: String(SEQUENCES_MS) });
if (Number(kills) > 0)
  play(["test/sessions/crash.test.ts"], { TILLER_KILLS: kills, TILLER_KILLS_MS: String(KILLS_MS) });
