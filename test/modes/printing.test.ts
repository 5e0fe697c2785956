import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeWhole } from "../../packages/coding-agent/src/modes/rpc/frame-writer.ts";
import { cliPath } from "../support/rpc-process.ts";

/** What is printed for people: help, versions and what the sub-commands tell. */

it("arrives whole through a pipe that is full at times and does not block", () => {
  const text = "0123456789".repeat(7);
  let written = "";
  let calls = 0;
  writeWhole(Buffer.from(text), (bytes) => {
    calls++;
    if (calls % 3 === 0) throw Object.assign(new Error("full"), { code: "EAGAIN" });
    written += bytes.subarray(0, 16).toString();
    return Math.min(16, bytes.length);
  });
  expect(written).toBe(text);
});

it("that cannot be written is told in a line", async () => {
  const full = openSync("/dev/full", "w");
  try {
    const child = spawn(process.execPath, [cliPath(), "--help"], { stdio: ["ignore", full, "pipe"] });
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
      stderr += piece;
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^tiller: stdout cannot be written: ENOSPC.*\n$/)]);
  } finally {
    closeSync(full);
  }
});

it("is a line too when the working folder is gone", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tiller-gone-"));
  // The shell goes on in a folder that it has removed itself.
  const script = 'cd "$1" && rmdir "$1" && exec "$2" "$3" -p hi';
  const { status, stderr } = spawnSync("sh", ["-c", script, "sh", folder, process.execPath, cliPath()], {
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([1, "Error: the working folder does not exist any more; start in another one\n"]);
});
