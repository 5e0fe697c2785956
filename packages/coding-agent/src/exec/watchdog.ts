import type { ChildProcess, spawn as Spawn } from "node:child_process";
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomHex } from "../lib/clock.ts";

/**
 * Ends what we started when we are ended in a way that leaves no time for it (SIGKILL, out of memory). A small shell waits
 * for the end of a pipe that only we hold open. It runs from the first child on, in a session of its own, and knows the
 * process groups from a file without a name that both have open: writing them down wakes nobody.
 */
export interface Watchdog {
  /** Starts it, if it does not run, and tells it which process groups there are. */
  watch(groups: Iterable<number>): void;
  /** We end in order and have tidied up ourselves. */
  stop(): void;
}

/**
 * Linux: the groups, then whoever has the token in its environment, with its group, until ten looks in a row find nobody: a process that
 * replaces its program has no environment for a moment, and on a busy machine that takes its time.
 * Where there is no /proc only the groups are ended. A process chooses its own name, which stands in its `stat` before its group
 * and may hold anything, line breaks too: the group is taken from behind the last bracket of the last line.
 */
const SCRIPT = `trap '' HUP INT TERM
read -r _
read -r groups <&3
for group in $groups; do kill -KILL "-$group"; done
clean=0 looks=0
while [ $clean -lt 10 ] && [ $looks -lt 500 ] && [ -r /proc/self/environ ]; do
  looks=$((looks + 1)) clean=$((clean + 1))
  for file in $(grep -alsF "$1" /proc/[0-9]*/environ); do
    clean=0 pid=\${file#/proc/} pid=\${pid%/environ}
    stat=
    while read -r line; do stat=$line; done <"/proc/$pid/stat"
    set -- "$1" \${stat##*) }
    case \${4-} in '' | 0 | 1 | *[!0-9]*) ;; *) kill -KILL "-$4" ;; esac
    kill -KILL "$pid"
  done
  [ $clean -eq 0 ] || sleep 0.02
done`;

const SHELL = "/bin/sh";
const MOST_RESTARTS = 5;

export function createWatchdog(spawn: typeof Spawn, token: string): Watchdog {
  let child: ChildProcess | undefined;
  let list: GroupList | undefined;
  let watched = "";
  let restarts = 0;

  const start = (): void => {
    list?.close();
    list = openGroupList();
    child = spawn(SHELL, ["-c", SCRIPT, "tiller-watchdog", token], {
      // Nothing that a host or a user waits for: not our output, not our folder, not our terminal.
      stdio: ["pipe", "ignore", "ignore", list?.forReading ?? "ignore"],
      cwd: "/",
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
      detached: true,
    });
    list?.closeForReading();
    const forget = () => {
      child = undefined;
    };
    child.on("error", forget);
    child.on("exit", () => {
      forget();
      // Somebody has killed it, while there is something to watch: a few times it comes back.
      if (watched === "" || restarts >= MOST_RESTARTS) return;
      restarts += 1;
      start();
      list?.write(watched);
    });
    child.stdin?.on("error", forget);
    child.unref();
    // Bun's has no such method, and does not keep the process alive.
    (child.stdin as Partial<Socket> | null)?.unref?.();
  };

  return {
    watch(groups) {
      if (!child) start();
      const line = `${[...groups].join(" ")}\n`;
      watched = line === "\n" ? "" : line;
      list?.write(line);
    },
    stop() {
      watched = "";
      child?.kill("SIGKILL");
    },
  };
}

interface GroupList {
  forReading: number;
  closeForReading(): void;
  write(line: string): void;
  close(): void;
}

/** Undefined when the disk has no room for it: the token is the only net then. */
function openGroupList(): GroupList | undefined {
  const path = join(tmpdir(), `tiller-groups-${randomHex(24)}`);
  try {
    const fd = openSync(path, "wx", 0o600);
    const forReading = openOrForget(path, fd);
    return {
      forReading,
      closeForReading: () => closeSync(forReading),
      write: (line) => overwrite(fd, line),
      close: () => closeSync(fd),
    };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}

/** A second time, for reading. In every case the file has no name afterwards. */
function openOrForget(path: string, fd: number): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    closeSync(fd);
    throw error;
  } finally {
    unlinkSync(path);
  }
}

function overwrite(fd: number, line: string): void {
  try {
    // What is left of a longer list stands behind the newline, and only the first line is read.
    writeSync(fd, line, 0);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}
