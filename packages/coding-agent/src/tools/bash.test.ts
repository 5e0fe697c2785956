import { existsSync, readFileSync, rmSync } from "node:fs";
import type { ToolResult } from "@tiller/protocol/tool";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { killAllProcesses } from "../exec/run-process.ts";
import { createToolFixture, type ToolFixture, textOf } from "./test-fixture.ts";
import type { TruncationResult } from "./truncate.ts";

let fixture: ToolFixture;
/** The same on a clock that stands still. */
let slow: ToolFixture;
let clock: FakeClock;
beforeEach(() => {
  clock = new FakeClock();
  fixture = createToolFixture();
  slow = createToolFixture({}, { clock });
});
afterEach(() => {
  killAllProcesses();
  fixture.remove();
  slow.remove();
});

const details = (result: ToolResult) => result.details as { truncation: TruncationResult; fullOutputPath: string };

describe("a command that works", () => {
  it("gives its output, cleaned, and nothing more", async () => {
    expect(await fixture.call("bash", { command: "printf '\\033[31mred\\033[0m\\r\\n'; echo err >&2" })).toEqual({
      content: [{ type: "text", text: "red\nerr\n" }],
    });
  });

  it("runs in the working folder with the given environment", async () => {
    expect(await fixture.text("bash", { command: "pwd; echo $HOME" })).toBe(`${fixture.root}\n${fixture.root}\n`);
  });

  it("knows the session that it runs for", async () => {
    expect(await fixture.text("bash", { command: "echo $PI_SESSION_ID" })).toBe("session-of-the-test\n");
  });

  it.each(["true", "echo", "printf ' \\n'"])("that prints nothing says so: %s", async (command) => {
    expect(await fixture.text("bash", { command })).toBe("(no output)");
  });
});

describe("a command that fails", () => {
  it.each([
    ["echo oops; exit 3", "oops\n\nCommand exited with code 3"],
    ["exit 1", "(no output)\n\nCommand exited with code 1"],
    ["kill -TERM $$", "(no output)\n\nCommand exited with code 143"],
  ])("%s", async (command, text) => {
    await expect(fixture.call("bash", { command })).rejects.toThrow(new Error(text));
  });

  it("runs into its timeout", async () => {
    const call = slow.call("bash", { command: "echo started; sleep 100", timeout: 2 });
    const failed = expect(call).rejects.toThrow(new Error("started\n\nCommand timed out after 2 seconds"));
    await until(() => slow.updates.length === 2);
    clock.advanceSync(2000);
    await failed;
  });

  it("is aborted: what it printed stays", async () => {
    const stop = new AbortController();
    const call = fixture.call("bash", { command: "echo started; sleep 100" }, stop.signal);
    const failed = expect(call).rejects.toThrow(new Error("started\n\nCommand aborted"));
    await until(() => fixture.updates.length === 2);
    stop.abort();
    await failed;
    await expect(fixture.call("bash", { command: "true" }, AbortSignal.abort())).rejects.toThrow(
      new Error("Command aborted"),
    );
  });

  it("has no folder to run in", async () => {
    fixture.remove();
    await expect(fixture.call("bash", { command: "true" })).rejects.toThrow(
      new Error(`Working directory does not exist: ${fixture.root}\nCannot execute bash commands.`),
    );
  });
});

describe("a large output", () => {
  it("with many lines shows the last 2000 and where the rest is", async () => {
    const result = await fixture.call("bash", { command: "seq 1 3000" });
    const { truncation, fullOutputPath } = details(result);
    expect(textOf(result)).toMatch(
      /^1001\n1002\n[\s\S]*\n3000\n\n\[Showing lines 1001-3000 of 3000\. Full output: \S+\]$/,
    );
    expect(textOf(result)).toContain(`Full output: ${fullOutputPath}]`);
    expect(truncation).toMatchObject({ truncatedBy: "lines", totalLines: 3000, outputLines: 2000, totalBytes: 13893 });
    expect(readFileSync(fullOutputPath, "utf8").split("\n")).toHaveLength(3001);
    rmSync(fullOutputPath);
  });

  it("with many bytes shows the last 50 KB", async () => {
    const result = await fixture.call("bash", { command: "for i in $(seq 1000); do printf '%01023d\\n' $i; done" });
    const { truncation, fullOutputPath } = details(result);
    expect(textOf(result)).toContain(
      `\n\n[Showing lines 951-1000 of 1000 (50.0KB limit). Full output: ${fullOutputPath}]`,
    );
    expect(truncation).toMatchObject({
      truncatedBy: "bytes",
      totalLines: 1000,
      totalBytes: 1_024_000,
      outputLines: 50,
    });
    expect(readFileSync(fullOutputPath)).toHaveLength(1_024_000);
    rmSync(fullOutputPath);
  });

  it("in one line shows the end of it", async () => {
    const result = await fixture.call("bash", { command: "echo first; head -c 200000 /dev/zero | tr '\\0' x" });
    const { truncation, fullOutputPath } = details(result);
    expect(textOf(result)).toContain(
      `x\n\n[Showing last 50.0KB of line 2 (line is 195.3KB). Full output: ${fullOutputPath}]`,
    );
    expect(truncation).toMatchObject({ lastLinePartial: true, outputBytes: 51200, totalBytes: 200_006 });
    rmSync(fullOutputPath);
  });

  it("that only looked large because of its colours leaves no file behind", async () => {
    const command = "for i in $(seq 1500); do printf '\\033[38;5;200m%d\\033[0m\\033[38;5;201m\\033[0m\\n' $i; done";
    const result = await fixture.call("bash", { command });
    expect(result).not.toHaveProperty("details");
    const partial = fixture.updates.map((update) => (update.details as { fullOutputPath?: string })?.fullOutputPath);
    expect(partial.filter((path) => path && existsSync(path))).toEqual([]);
  });

  it("of a failing command is cut too, and the error says where the rest is", async () => {
    const error: Error = await fixture.call("bash", { command: "seq 1 3000; exit 4" }).catch((thrown) => thrown);
    const path = /Full output: (\S+)\]\n\nCommand exited with code 4$/.exec(error.message)?.[1];
    expect(readFileSync(path!, "utf8").startsWith("1\n2\n")).toBe(true);
    rmSync(path!);
  });
});

describe("updates", () => {
  it("begin empty, are cumulative, and come at most every 100 ms", async () => {
    // Each number waits for a file that the test makes.
    const command = "for i in 1 2 3; do until [ -e go$i ]; do sleep 0.01; done; echo $i; done; touch all; sleep 100";
    const stop = new AbortController();
    const call = slow.call("bash", { command }, stop.signal);
    const ended = expect(call).rejects.toThrow(new Error("1\n2\n3\n\nCommand aborted"));
    slow.write("go1", "");
    await until(() => slow.updates.length === 2);
    slow.write("go2", "");
    await until(() => clock.pending === 1);
    slow.write("go3", "");
    await until(() => existsSync(`${slow.root}/all`));
    // However much is printed, one timer waits and nothing is told before it.
    expect(clock.waits).toEqual([100]);
    expect(slow.updates).toHaveLength(2);
    clock.advanceSync(100);
    expect(slow.updates[0]).toEqual({ content: [] });
    expect(slow.updates[1]).toEqual({
      content: [{ type: "text", text: "1\n" }],
      details: { truncation: null, fullOutputPath: null },
    });
    expect(textOf(slow.updates[2]!)).toMatch(/^1\n2\n/);
    stop.abort();
    await ended;
    // What is left is the look for children that ran away.
    expect(clock.pending).toBe(1);
  });

  it("end with the call", async () => {
    await fixture.call("bash", { command: "echo hi" });
    const count = fixture.updates.length;
    await fixture.call("bash", { command: "sleep 0.3" });
    expect(fixture.updates.length).toBe(count + 1);
  });
});

/** Waits for something that happens in another process. */
async function until(condition: () => unknown): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
