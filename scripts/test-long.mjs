#!/usr/bin/env node
// `npm run test:long`: many more random stories than `npm test` plays, and all those of which it plays a part.
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
const env = {
  ...inherited,
  TILLER_CLI: inherited.TILLER_CLI ?? ensure(),
  TILLER_SEED: seed,
  TILLER_ALL: "1",
  TILLER_SEQUENCES: sequences,
  TILLER_SEQUENCES_MS: String(SEQUENCES_MS),
  TILLER_REPLAYS: inherited.TILLER_REPLAYS ?? "100",
  TILLER_KILLS: kills,
  TILLER_KILLS_MS: String(KILLS_MS),
};

function play(file) {
  const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", file];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env });
  if (status !== 0) process.exitCode = status ?? 1;
}

process.stdout.write(`${sequences} sequences, ${kills} kills, TILLER_SEED=${seed}\n`);
play("test/extensions");
play("packages/protocol/test");
play("packages/coding-agent/src/extensions/guards");
play("bench/run.test.ts");
play("test/architecture.test.ts");
play("test/recording.test.ts");
play("test/sessions/later-damage.test.ts");
play("test/host");
play("test/processes/output.test.ts");
play("test/conformance/bad-providers.test.ts");
play("packages/coding-agent/src/session/store/session-store.property.test.ts");
play("test/run/dialogs.test.ts");
play("test/conformance/extensions.test.ts");
if (Number(sequences) > 0) play("test/run/sequences.test.ts");
if (Number(kills) > 0) play("test/sessions/crash.test.ts");
