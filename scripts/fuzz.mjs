#!/usr/bin/env node
// `npm run test:fuzz`: see HELP.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { readCommandLine } from "./command-line.mjs";
import { ensure, root } from "./ensure.mjs";

const HELP = `npm run test:fuzz

Input that is nearly right, and input that is not right at all (test/fuzz). No crash, no hang, and an answer where one is
documented. Variables, with the numbers that hold unless told; zero leaves one out:

  TILLER_FUZZ_LINES=1000000           lines for real processes
  TILLER_FUZZ_CHECKED_LINES=200000    lines for the dispatcher alone
  TILLER_FUZZ_STREAMS=20000           provider streams of each family, through the reader
  TILLER_FUZZ_STREAMS_THROUGH=500     provider streams of each family, through a real process
  TILLER_FUZZ_SESSION_FILES=5000      session files
  TILLER_FUZZ_EXTENSION_ANSWERS=500   prompts among an extension's answers
  TILLER_SEED=7                       the same again; a new seed each time unless told, and it is printed
  TILLER_CLI=FILE                     another built cli.js
`;
readCommandLine(HELP);

const RUNS = {
  TILLER_FUZZ_LINES: "1000000",
  TILLER_FUZZ_CHECKED_LINES: "200000",
  TILLER_FUZZ_STREAMS: "20000",
  TILLER_FUZZ_STREAMS_THROUGH: "500",
  TILLER_FUZZ_SESSION_FILES: "5000",
  TILLER_FUZZ_EXTENSION_ANSWERS: "500",
};

const { NODE_EXTRA_CA_CERTS: _unused, ...inherited } = process.env;
const seed = inherited.TILLER_SEED ?? String(Math.floor(Math.random() * 1e6));
const env = { ...RUNS, ...inherited, TILLER_CLI: inherited.TILLER_CLI ?? ensure(), TILLER_SEED: seed };
for (const name of Object.keys(RUNS)) process.stdout.write(`${name}=${env[name]} `);
process.stdout.write(`TILLER_SEED=${seed}\n`);

const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--reporter=verbose", "test/fuzz"];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env });
process.exitCode = status ?? 1;
