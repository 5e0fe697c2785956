#!/usr/bin/env node
// The whole check: what only reads the sources at once, then the tests. Ends when something fails and says what to do.
// Arguments are handed to vitest: `npm test -- test/transcripts.test.ts`.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BROWSER, leavesOutBrowserTests } from "./browser-here.mjs";
import { ensureInstalled, root } from "./ensure.mjs";

const say = (text) => process.stdout.write(`${text}\n`);
const bin = (path) => join(root, "node_modules", path);
const reportDir = mkdtempSync(join(tmpdir(), "tiller-report-"));
const report = join(reportDir, "vitest.json");

/** Collecting garbage is a third of a type check, for little: nearly all that it allocates lives until its end. */
const NO_GARBAGE = { GOGC: "off" };

/** They need nothing of each other. The longest comes first. */
const STATIC_STEPS = [
  {
    name: "types",
    // More checkers would check the same types again, each for itself: twice the work for two cores.
    args: [bin("typescript/bin/tsc"), "--noEmit", "--checkers", "1", "-p", "tsconfig.json"],
    env: NO_GARBAGE,
    hint: "fix the types above",
  },
  {
    name: "types of the exported page",
    args: [bin("typescript/bin/tsc"), "-p", "packages/coding-agent/src/export/page/tsconfig.json"],
    env: NO_GARBAGE,
    hint: "fix the types above",
  },
  {
    name: "lint and format",
    args: [bin("@biomejs/biome/bin/biome"), "check", "."],
    hint: "`npm run fix` repairs what can be repaired",
  },
  {
    name: "generated files",
    args: ["scripts/run.mjs", "scripts/generate.ts", "--check"],
    hint: "run `npm run generate` and look at the difference",
  },
  { name: "build", args: ["scripts/build.mjs"], hint: "fix the bundling error above" },
];

const TESTS = {
  name: "tests",
  args: [
    bin("vitest/vitest.mjs"),
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  hint: "run one file alone with `npx vitest run FILE`; frames and stderr of a process test stand in its message",
};

/** A certificate bundle in the environment doubles the start time of every process; nothing here talks to a network. */
function stepEnvironment() {
  const { NODE_EXTRA_CA_CERTS: _unused, ...rest } = process.env;
  return rest;
}

/** Counts what vitest saw; a file that could not even be loaded counts as one failure. */
function countTests() {
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const result = JSON.parse(readFileSync(report, "utf8"));
  const unloadable = result.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  return { passed: result.numPassedTests, failed: result.numFailedTests + unloadable.length };
}

const since = (began) => `${((performance.now() - began) / 1000).toFixed(1)} s`;

function verdict({ name, hint }, isFine, time) {
  say(isFine ? `── ${name}: fine, ${time}` : `── ${name}: FAILED, ${time}; ${hint}`);
  return isFine;
}

/** What it says is shown when it has ended: several run at once. */
function runAside(step) {
  const began = performance.now();
  const child = spawn(process.execPath, step.args, { cwd: root, env: { ...stepEnvironment(), ...step.env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => {
      say(`\n── ${step.name}\n${output.trimEnd()}`);
      resolve(verdict(step, status === 0, since(began)));
    });
  });
}

async function findProblem() {
  const results = await Promise.all(STATIC_STEPS.map(runAside));
  return STATIC_STEPS[results.indexOf(false)];
}

function runTests() {
  const began = performance.now();
  say(`\n── ${TESTS.name}`);
  const { status } = spawnSync(process.execPath, TESTS.args, { cwd: root, stdio: "inherit", env: stepEnvironment() });
  return verdict(TESTS, status === 0, since(began));
}

async function main() {
  ensureInstalled();
  const problem = await findProblem();
  if (problem) say(`\nThe tests were not run because the step "${problem.name}" failed.`);
  const isFine = !problem && runTests();
  const counts = problem ? { passed: 0, failed: 0 } : countTests();
  // A run that is red for a reason outside every test (a leaked error, say) must not end with "0 failed".
  if (!isFine && counts.failed === 0) counts.failed = 1;
  if (leavesOutBrowserTests)
    say(
      `\nThe tests of exported pages were left out: there is no browser at ${BROWSER} (Debian's chromium; or set CHROMIUM)`,
    );
  say(`\n${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = isFine ? 0 : 1;
}

try {
  await main();
} catch (error) {
  say(error.message);
  process.exitCode = 1;
} finally {
  rmSync(reportDir, { recursive: true, force: true });
}
