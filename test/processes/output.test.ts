import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";

/** Outputs that are too large for everything. */

const start = useRpc({ args: ["--no-session"] });
const TIME_MS = 60_000;

async function bash(rpc: RpcProcess, command: string): Promise<Frame> {
  return (await rpc.call({ type: "bash", command }, TIME_MS)).data as Frame;
}

/** The most memory that the process ever had, where the system tells it. */
function peakMb({ pid }: RpcProcess): number {
  if (process.platform !== "linux") return 0;
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** An agent whose temporary files go into a folder that the test looks into. */
function startWithOwnTmp(): { rpc: RpcProcess; tmp: string } {
  const rpc = start({ env: { TMPDIR: "tmp" } });
  const tmp = join(rpc.sandbox.cwd, "tmp");
  mkdirSync(tmp);
  return { rpc, tmp };
}

/** Memory would show in less, and `npm run test:long` has more. */
const isLong = process.env.TILLER_ALL === "1";
const SHORT_LINES_MB = isLong ? 500 : 100;

describe("a large output", () => {
  it(
    `of ${SHORT_LINES_MB} MB in short lines needs no more memory than a small one, and its file has all of it`,
    async () => {
      const { rpc, tmp } = startWithOwnTmp();
      await bash(rpc, "true");
      const before = peakMb(rpc);
      const data = await bash(rpc, `yes | head -c ${SHORT_LINES_MB}M`);
      const bytes = SHORT_LINES_MB * 1024 * 1024;
      expect(data).toMatchObject({ exitCode: 0, truncated: true, totalBytes: bytes, totalLines: bytes / 2 });
      expect(data).toMatchObject({ output: "y\n".repeat(2000).trimEnd(), outputLines: 2000 });
      expect(statSync(join(tmp, readdirSync(tmp)[0] ?? "")).size).toBe(bytes);
      expect(peakMb(rpc) - before).toBeLessThan(32);
    },
    TIME_MS,
  );

  it.runIf(isLong)(
    "of 1 GB without a line break is cut, and its file has a limit (takes long: npm run test:long)",
    async () => {
      const { rpc, tmp } = startWithOwnTmp();
      await bash(rpc, "true");
      const before = peakMb(rpc);
      const data = await bash(rpc, "head -c 1100000000 /dev/zero | tr '\\0' x");
      expect(data).toMatchObject({ truncated: true, totalBytes: 1_100_000_000, totalLines: 1, outputLines: 1 });
      expect(data.output).toBe("x".repeat(50 * 1024));
      const size = statSync(join(tmp, readdirSync(tmp)[0] ?? "")).size;
      expect(size).toBeGreaterThan(1024 ** 3);
      expect(size).toBeLessThan(1024 ** 3 + 100);
      expect(peakMb(rpc) - before).toBeLessThan(32);
    },
    TIME_MS,
  );

  it("is never cut inside a character", async () => {
    // 3 bytes each, so that no limit falls between two of them by chance.
    const data = await bash(start(), "yes € | tr -d '\\n' | head -c 5000000");
    expect(data).toMatchObject({ truncated: true, totalBytes: 5_000_000, totalLines: 1, outputLines: 1 });
    // Only the end is half a character, and is told as what it is.
    expect(String(data.output)).toMatch(/^€+\ufffd$/);
    expect(data.outputBytes).toBeLessThanOrEqual(50 * 1024);
  });
});

const mount = (folder: string): boolean =>
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=200k", "tiller-test", folder]).status === 0;
const unmount = (folder: string): boolean => spawnSync("umount", [folder]).status === 0;

/** A small file system needs rights that not everybody has. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "tiller-mount-"));
  const isPossible = mount(folder) && unmount(folder);
  rmdirSync(folder);
  return isPossible;
}

describe("a full disk", () => {
  const name = "leaves the end of the output, removes the useless part of the file, and tells the host";
  if (!canMount()) {
    it(`${name} (not tried: no right to mount here)`, () => undefined);
    return;
  }

  it(name, async () => {
    const { rpc, tmp } = startWithOwnTmp();
    expect(mount(tmp)).toBe(true);
    try {
      const data = await bash(rpc, "seq 1 300000");
      expect(data).toMatchObject({ exitCode: 0, truncated: true, totalLines: 300_000 });
      expect(String(data.output)).toMatch(/\n299999\n300000$/);
      expect(data).not.toHaveProperty("fullOutputPath");
      expect(rpc.frames.filter(({ type, source }) => type === "notice" && source === "bash")).toHaveLength(1);
      expect(readdirSync(tmp)).toEqual([]);
      expect(await bash(rpc, `dd if=/dev/zero of=${tmp}/full bs=1k count=500; echo next`)).toMatchObject({
        output: expect.stringMatching(/next\n$/),
      });
      expect(at(await rpc.call({ type: "bash", command: "seq 1 20000" }), "data", "totalLines")).toBe(20_000);
    } finally {
      rpc.closeStdin();
      await rpc.waitExit();
      expect(unmount(tmp)).toBe(true);
    }
  });
});
