import { type ChildProcess, spawn } from "node:child_process";
import fs, { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate } from "node:timers/promises";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { systemClock } from "../lib/clock.ts";
import { findByToken, killByToken } from "./kill-tree.ts";
import { killAllProcesses, runProcess } from "./run-process.ts";
import { shellInvocation } from "./shell.ts";

afterEach(() => killAllProcesses());

function run(command: string, clock = systemClock, signal = new AbortController().signal) {
  let output = "";
  let isBegun: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    isBegun = resolve;
  });
  const onOutput = (chunk: Buffer) => {
    output += chunk;
    isBegun();
  };
  const request = { ...shellInvocation(command), cwd: "/", env: { PATH: "/usr/bin:/bin" }, clock, onOutput };
  return { outcome: runProcess({ ...request, killGraceMs: 0 }, signal), begun, output: () => output };
}

it.runIf(process.platform === "linux")(
  "the look for who ran away after an abort takes turns with everybody else",
  async () => {
    await run("for i in $(seq 100); do sleep 100 > /dev/null & done; echo ready").outcome;
    const [clock, stop] = [new FakeClock(), new AbortController()];
    const aborted = run("setsid sh -c 'echo $TILLER_PROCESS_TOKEN; exec sleep 100' & wait", clock, stop.signal);
    await aborted.begun;
    stop.abort();
    await aborted.outcome;
    const token = aborted.output().trim();
    expect(findByToken(token)).toHaveLength(1);

    clock.advanceSync(20);
    // The clock is asked for the next look only when all have been looked at, and there are more than a hundred.
    let turns = 0;
    for (; clock.pending === 0; turns++) await setImmediate();
    expect(turns).toBeGreaterThan(3);
    while (clock.pending > 0) {
      clock.advanceSync(1);
      await setImmediate();
    }
    // A killed process takes as long to go as the machine lets it, whatever our clock says.
    await vi.waitFor(() => expect(findByToken(token)).toEqual([]), 10_000);
  },
);

/** Calls `act` whenever all processes have been listed, and before the first of them is looked at. */
function behindEachListing(act: () => void): void {
  const real = fs.readdirSync;
  const restore = (): void => {
    fs.readdirSync = real;
    syncBuiltinESMExports();
  };
  onTestFinished(restore);
  fs.readdirSync = ((...args: Parameters<typeof real>) => {
    const listed = real(...args);
    if (args[0] === "/proc") act();
    return listed;
  }) as typeof real;
  syncBuiltinESMExports();
}

it.runIf(process.platform === "linux")(
  "who passes a chain on between the listing and the look is found, also when it does so several times",
  () => {
    const token = "tiller-test-chain;";
    const chain: ChildProcess[] = [];
    const addLink = (): void => {
      chain.push(spawn("/bin/sleep", ["100"], { env: { CHAIN: token }, stdio: "ignore", detached: true }));
    };
    onTestFinished(() => {
      for (const link of chain) link.kill("SIGKILL");
    });
    // The dead stay zombies here, because nothing gives the event loop a turn.
    const isDead = (link: ChildProcess | undefined) => / Z /.test(readFileSync(`/proc/${link?.pid}/stat`, "latin1"));
    addLink();
    behindEachListing(() => {
      if (chain.length > 5) return;
      const last = chain.at(-1);
      addLink();
      last?.kill("SIGKILL");
      while (!isDead(last));
    });
    killByToken(token);
    expect(chain).toHaveLength(6);
    // Who is killed has no memory any more a moment before it is a zombie.
    const isGone = (link: ChildProcess) => isDead(link) || readFileSync(`/proc/${link.pid}/environ`).length === 0;
    expect(chain.filter((link) => !isGone(link))).toEqual([]);
  },
);
