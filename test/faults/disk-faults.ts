import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { repoRoot } from "../support/rpc-process.ts";
import type { Fault } from "./fault.ts";
import { post, type Stage } from "./stage.ts";

/** What happens to the folder in which sessions are kept. */

const BAD_DISK = join(repoRoot, "test/faults/bad-disk.cjs");

const disk = (name: string, says: string): Fault => ({ group: "disk", name, says, after: "lives" });

/** The functions of `node:fs` are replaced by some that do what a bad disk does, for what lies below the agent folder. */
const injected = (name: string, says: string, mode: string, felt: Partial<Fault>): Fault => ({
  ...disk(name, says),
  env: (props) => ({ NODE_OPTIONS: `--require=${BAD_DISK}`, TILLER_TEST_DISK: join(props, "disk") }),
  strike: (stage) => post(stage, "disk", mode),
  ...felt,
  lift: (stage) => post(stage, "disk", ""),
});

const isNoticed =
  (words: RegExp): NonNullable<Fault["felt"]> =>
  ({ rpc, since }) =>
    rpc.frames.slice(since).some(({ type, message }) => type === "notice" && words.test(String(message)));

/** The bad disk has noted the names of the calls that met it. */
const haveMet =
  (...calls: string[]): Fault["felt"] =>
  ({ props }) => {
    const notes = join(props, "disk.met");
    const met = existsSync(notes) ? readFileSync(notes, "utf8").split("\n") : [];
    return calls.every((call) => met.includes(call));
  };

/** `npm run test:faults` has mounts of its own where the system allows it. Elsewhere files may not grow for a while. */
const CAN_MOUNT = process.env.TILLER_MAY_MOUNT === "1";

function run(command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}

const limitFileSize = ({ rpc }: Stage, limit: number | "unlimited"): void =>
  run("prlimit", `--fsize=${limit}:unlimited`, "--pid", String(rpc.pid));

const smallDisk = ({ rpc }: Stage): string => join(rpc.sandbox.agentDir, "sessions");
const filler = (stage: Stage): string => join(smallDisk(stage), "filler");

function fill(stage: Stage): void {
  for (const size of [4096, 1]) {
    try {
      for (;;) appendFileSync(filler(stage), Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

const noRoom: Fault = {
  ...disk("full", "There is no room left on the disk of the sessions."),
  // More than what is left of the last block of a file that has it already.
  broken: (begun) => ({ steps: [...begun, { type: "text", text: "on ".repeat(4000) }] }),
  felt: isNoticed(/ENOSPC|EFBIG/),
};

const FULL: Fault = CAN_MOUNT
  ? {
      ...noRoom,
      prepare(stage) {
        mkdirSync(smallDisk(stage));
        run("mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", smallDisk(stage));
      },
      strike: fill,
      lift: (stage) => rmSync(filler(stage)),
      clear: (stage) => run("umount", "-l", smallDisk(stage)),
    }
  : {
      ...noRoom,
      strike: (stage) => limitFileSize(stage, existsSync(stage.path) ? statSync(stage.path).size : 0),
      lift: (stage) => limitFileSize(stage, "unlimited"),
    };

export const DISK_FAULTS: readonly Fault[] = [
  FULL,
  injected("read-only", "Whatever would change something in the agent folder fails with EROFS.", "EROFS", {
    felt: isNoticed(/EROFS/),
  }),
  injected("slow", "Whatever changes something in the agent folder takes 150 ms, also to sync it.", "slow", {
    felt: haveMet("write", "fdatasync"),
  }),
  injected(
    "torn write",
    "Every write gets half of its bytes to the disk and fails; nothing else can be changed.",
    "torn",
    { felt: isNoticed(/EIO/) },
  ),
  injected(
    "failing sync",
    "Everything is written, and each sync of it fails with EIO.",
    "sync",
    // Nobody waits for it: it is told when the prompt may have its result.
    { felt: haveMet("fdatasync"), feltWithNext: isNoticed(/written anew \(EIO/) },
  ),
  {
    ...disk("file removed", "The session file and its folder are deleted."),
    strike: ({ path }) => rmSync(dirname(path), { recursive: true }),
    felt: isNoticed(/was deleted or moved from outside/),
    leftOut: ({ isFirst }) => (isFirst ? "no file is there yet" : undefined),
  },
  {
    ...disk("power cut", "The process is killed, and the last line on disk is cut in half."),
    async strike(stage) {
      const { rpc, path } = stage;
      rpc.kill("SIGKILL");
      await rpc.waitExit();
      const bytes = readFileSync(path);
      const start = bytes.lastIndexOf("\n", -2) + 1;
      stage.lost = JSON.parse(bytes.toString("utf8", start)).message;
      truncateSync(path, Math.floor((start + bytes.length) / 2));
    },
    after: "killed",
    leftOut: ({ isFirst }) => (isFirst ? "no line is on disk yet" : undefined),
  },
];
