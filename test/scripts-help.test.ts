import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

/** The long tests take minutes: who asks what they can do must not start them. */
describe.each(["soak", "fuzz", "faults"])("npm run test:%s", (name) => {
  const call = (...args: string[]) =>
    spawnSync(process.execPath, [`scripts/${name}.mjs`, ...args], { encoding: "utf8", timeout: 10_000 });

  it("tells what it does, and what it can be told", () => {
    const { status, stdout, stderr } = call("--help");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(new RegExp(`^npm run test:${name}`));
    expect(stdout).toContain("TILLER_CLI=FILE");
  });

  it("does not start with an option that it does not know", () => {
    const { status, stdout, stderr } = call("--seed=7");
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^Error: Unknown option '--seed'\n/);
  });
});
