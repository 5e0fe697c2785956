#!/usr/bin/env node
// The whole check, one step after the other. Stops at the first step that fails and says what to do about it.
// Arguments are handed to vitest: `npm test -- test/transcripts.test.ts`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureInstalled, root } from "./ensure.mjs";

const say = (text) => process.stdout.write(`${text}\n`);
const bin = (path) => join(root, "node_modules", path);
const reportDir = mkdtempSync(join(tmpdir(), "tiller-report-"));
const report = join(reportDir, "vitest.json");

const STEPS = [
  {
    name: "generated files",
    args: ["scripts/run.mjs", "scripts/generate.ts", "--check"],
    hint: "run `npm run generate` and look at the difference",
  },
  { name: "types", args: [bin("typescript/bin/tsc"), "--noEmit", "-p", "tsconfig.json"], hint: "fix the types above" },
  {
    name: "lint and format",
    args: [bin("@biomejs/biome/bin/biome"), "check", "."],
    hint: "`npm run fix` repairs what can be repaired",
  },
  { name: "build", args: ["scripts/build.mjs"], hint: "fix the bundling error above" },
  {
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
  },
];

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

function runStep(step) {
  const began = performance.now();
  say(`\n── ${step.name}`);
  const { status } = spawnSync(process.execPath, step.args, { cwd: root, stdio: "inherit", env: stepEnvironment() });
  const time = `${((performance.now() - began) / 1000).toFixed(1)} s`;
  say(status === 0 ? `── ${step.name}: fine, ${time}` : `── ${step.name}: FAILED, ${time}; ${step.hint}`);
  return status === 0;
}

function main() {
  ensureInstalled();
  const failed = STEPS.find((step) => !runStep(step));
  const isTestStep = !failed || failed.name === "tests";
  const counts = isTestStep ? countTests() : { passed: 0, failed: 0 };
  if (!isTestStep) say(`\nThe tests were not run because the step "${failed.name}" failed.`);
  // A run that is red for a reason outside every test (a leaked error, say) must not end with "0 failed".
  if (failed && counts.failed === 0) counts.failed = 1;
  say(`\n${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = failed ? 1 : 0;
}

try {
  main();
} catch (error) {
  say(error.message);
  process.exitCode = 1;
} finally {
  rmSync(reportDir, { recursive: true, force: true });
}
