import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cliPath, repoRoot } from "../support/rpc-process.ts";
import { runProgram } from "./run-program.ts";

/** clients/python: its own tests, run by Python, and the programs of its page. */

const folder = join(repoRoot, "clients/python");
const readme = readFileSync(join(folder, "README.md"), "utf8");
const env = {
  PYTHONPATH: join(folder, "src"),
  PYTHONDONTWRITEBYTECODE: "1",
  TILLER_TEST_AGENT: JSON.stringify([process.execPath, cliPath()]),
};

function snippet(name: string): string {
  const found = new RegExp(`<!-- test: ${name} -->\\n\`\`\`python\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (found === undefined) throw new Error(`clients/python/README.md has no snippet behind <!-- test: ${name} -->`);
  return found;
}

test("its version is that of the agent", () => {
  const { version } = JSON.parse(readFileSync(join(repoRoot, "packages/coding-agent/package.json"), "utf8"));
  expect(readFileSync(join(folder, "pyproject.toml"), "utf8")).toContain(`\nversion = "${version}"\n`);
});

/** The number is there so that a suite which finds no tests is red. */
test.each([
  ["the parts without a process", "test_parts", 27],
  ["agents that misbehave", "test_bad_agents", 12],
  ["a whole story with the real agent: sync, async, compatible", "test_real_agent", 3],
])("%s", { timeout: 60_000 }, async (_, suite, atLeast) => {
  const tests = ["-m", "unittest", "discover", "-s", join(folder, "tests"), "-p", `${suite}.py`];
  const { code, stderr, left } = await runProgram(["python3", ...tests], { env });
  expect(stderr).toMatch(/\nOK\n$/);
  expect([code, left]).toEqual([0, []]);
  expect(Number(/^Ran (\d+) tests?/m.exec(stderr)?.[1])).toBeGreaterThanOrEqual(atLeast);
});

test("the programs of its page work", { timeout: 60_000 }, async () => {
  const program = `${snippet("python-readme")}\n${snippet("python-readme-async")}`;
  const { code, stdout, stderr, left } = await runProgram(["python3", "-c", program], {
    env,
    files: { "treasure.txt": "gold" },
  });
  expect([stderr, code, left]).toEqual(["", 0, []]);
  expect(stdout.match(/treasure\.txt/g)).toHaveLength(2);
  expect(stdout).toMatch(/^Listing `\.`\.\n/);
  expect(stdout.match(/^completed$/gm)).toHaveLength(2);
});
