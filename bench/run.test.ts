import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Says nothing about speed: a timed test would fail on a busy machine. It keeps the harness from falling apart. */
test("a quick run measures everything but the peers once and writes the report", () => {
  const folder = mkdtempSync(join(tmpdir(), "tiller-bench-test-"));
  try {
    const out = join(folder, "results.md");
    const run = spawnSync(process.execPath, ["bench/run.mjs", "--quick", "--without-peers", "--out", out], {
      encoding: "utf8",
    });
    expect(run.stderr).toMatch(/^paced: /m);
    expect(run.status).toBe(0);
    const report = readFileSync(out, "utf8");
    expect(report.match(/^## .+$/gm)).toEqual([
      "## Start",
      "## Memory",
      "## Commands",
      "## Time to the first delta",
      "## One answer, as fast as the provider can",
      "## One answer at the pace of a model",
      "## Tool loop",
      "## Shell commands of the host",
      "## Tools on files",
      "## Sessions",
      "## Sessions as pages",
      "## Extensions",
      "## Stream rules",
      "## Tools of the host",
      "## The TypeScript client",
      "## Abort",
      "## Steering",
    ]);
    const cells = report.split("\n").map((line) => line.split(" | "));
    const judged = cells.filter(([, , , , , target]) => target?.startsWith("≤ "));
    expect(judged).toHaveLength(44);
    for (const row of judged) expect(row.at(-1)).toMatch(/^(met|\*\*not met\*\*)/);
    expect(report).not.toMatch(/NaN|not available/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a program that is missing is told before anything is measured, with the way out", () => {
  const env = { ...process.env, PATH: "/nowhere", CHROMIUM: "/nowhere/chromium" };
  const run = spawnSync(process.execPath, ["bench/run.mjs", "--only", "start,files,export"], { encoding: "utf8", env });
  expect(run).toMatchObject({ status: 1, stdout: "" });
  expect(run.stderr.split("\n")).toEqual([
    "files needs rg, which is not here: install ripgrep",
    "export needs /nowhere/chromium, which is not here: install chromium, or name the path of one with CHROMIUM",
    "Or choose other metrics with --only.",
    "",
  ]);
});
