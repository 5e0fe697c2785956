import { describe, expect, it } from "vitest";
import { type EndableProcess, guardProcess, isProcessExit, ProcessExitError } from "./guard-process.ts";

/** Stands for `process`, and notes what reaches the real functions. */
function fakeProcess(listening: readonly string[] = []) {
  const reached: string[] = [];
  const atExit: (() => void)[] = [];
  const host = {
    pid: 4711,
    exitCode: undefined as number | undefined,
    exit: (code?: number) => reached.push(`exit ${code}`),
    abort: () => reached.push("abort"),
    kill: (pid: number, signal?: string | number) => reached.push(`kill ${pid} ${signal}`),
    once: (_event: string, fn: () => void) => atExit.push(fn),
    off: () => undefined,
    listenerCount: (name: string) => (listening.includes(name) ? 1 : 0),
  };
  return { host: host as unknown as EndableProcess & { exitCode?: number }, reached, atExit };
}

function guarded(listening: readonly string[] = []) {
  const fake = fakeProcess(listening);
  const asked: [code: number, owner: string, call: string][] = [];
  const guard = guardProcess({
    process: fake.host,
    ownerOf: () => "/x/bad.ts",
    onExit: (...given) => asked.push(given),
  });
  return { ...fake, asked, guard };
}

describe("an extension that wants to end the process", () => {
  const calls: [what: string, call: (host: EndableProcess) => unknown, code: number, shown: string][] = [
    ["exit with a code", (host) => host.exit(3), 3, "process.exit(3)"],
    ["exit without one", (host) => host.exit(), 0, "process.exit()"],
    ["exit with a text", (host) => host.exit("4"), 4, "process.exit(4)"],
    ["exit with nonsense", (host) => host.exit(Number.NaN), 1, "process.exit(NaN)"],
    ["abort", (host) => host.abort(), 134, "process.abort()"],
    ["a signal that nobody can catch", (host) => host.kill(host.pid, "SIGKILL"), 137, 'process.kill(4711, "SIGKILL")'],
    ["the same by its number", (host) => host.kill(host.pid, 9), 137, 'process.kill(4711, "SIGKILL")'],
    ["the usual signal, without a listener", (host) => host.kill(host.pid), 143, 'process.kill(4711, "SIGTERM")'],
    ["its own process group", (host) => host.kill(0, "SIGHUP"), 129, 'process.kill(0, "SIGHUP")'],
  ];
  it.each(calls)("%s: gets an orderly end, and its call never returns", (_what, call, code, shown) => {
    const { host, reached, asked } = guarded();
    expect(() => call(host)).toThrow(ProcessExitError);
    expect(asked).toEqual([[code, "/x/bad.ts", shown]]);
    expect(reached).toEqual([]);
  });

  it("is told what happens", () => {
    const { host } = guarded();
    let thrown: unknown;
    try {
      host.exit(1);
    } catch (error) {
      thrown = error;
    }
    expect(isProcessExit(thrown) && thrown.message).toBe(
      "process.exit(1) was called by /x/bad.ts; Tiller shuts down with code 1",
    );
  });

  it("means the code that was set before when it gives none", () => {
    const { host, asked } = guarded();
    host.exitCode = 9;
    expect(() => host.exit()).toThrow(ProcessExitError);
    expect(asked[0]?.[0]).toBe(9);
  });
});

describe("what still works", () => {
  const calls: [what: string, call: (host: EndableProcess) => unknown, reached: string][] = [
    ["signals for others", (host) => host.kill(12, "SIGKILL"), "kill 12 SIGKILL"],
    ["a look whether we live", (host) => host.kill(host.pid, 0), "kill 4711 0"],
    ["a signal somebody listens for", (host) => host.kill(host.pid, "SIGTERM"), "kill 4711 SIGTERM"],
    ["a signal that ends nobody", (host) => host.kill(host.pid, "SIGWINCH"), "kill 4711 SIGWINCH"],
  ];
  it.each(calls)("%s", (_what, call, expected) => {
    const { host, reached, asked } = guarded(["SIGTERM"]);
    call(host);
    expect(reached).toEqual([expected]);
    expect(asked).toEqual([]);
  });

  it("our own end", () => {
    const { guard, reached, asked } = guarded();
    guard.exit(2);
    expect(reached).toEqual(["exit 2"]);
    expect(asked).toEqual([]);
  });

  it("everything, once the guard is gone or the process ends anyway", () => {
    const released = guarded();
    released.guard.release();
    released.host.exit(5);
    expect(released.reached).toEqual(["exit 5"]);

    const ending = guarded();
    for (const fn of ending.atExit) fn();
    ending.host.exit(6);
    expect(ending.reached).toEqual(["exit 6"]);
  });

  it("what somebody else has put in the place of ours since", () => {
    const { guard, host, reached } = guarded();
    const theirs = (() => reached.push("theirs")) as unknown as typeof host.exit;
    host.exit = theirs;
    guard.release();
    host.exit(1);
    expect(reached).toEqual(["theirs"]);
  });
});
