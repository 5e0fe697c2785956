import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
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
