import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { systemClock } from "../lib/clock.ts";
import { findByToken } from "./kill-tree.ts";
import { killAllProcesses, type ProcessRequest, runProcess, startLasting } from "./run-process.ts";
import { shellInvocation } from "./shell.ts";

let folder: string;
const env = { PATH: "/usr/bin:/bin" };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tiller-run-"));
});
afterEach(() => {
  killAllProcesses();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command line; gives the outcome and what it printed. */
function run(command: string, options: Partial<ProcessRequest> = {}, signal = new AbortController().signal) {
  const chunks: Buffer[] = [];
  let firstOutput: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    firstOutput = resolve;
  });
  const onOutput = (chunk: Buffer) => {
    chunks.push(Buffer.from(chunk));
    firstOutput();
  };
  const request = { ...shellInvocation(command), cwd: folder, env, clock: systemClock, onOutput, ...options };
  return { outcome: runProcess(request, signal), text: () => Buffer.concat(chunks).toString(), begun };
}

function isRunning(pid: number): boolean {
  try {
    // A zombie still has a pid but is no longer running.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The process whose pid stands in that file ends soon, if it has not yet. */
const expectGone = (name: string): Promise<void> => expect.poll(() => isRunning(pidIn(name))).toBe(false);

const pidIn = (name: string) => Number(readFileSync(join(folder, name), "utf8"));

describe("a command that ends by itself", () => {
  it("tells its exit code and both its outputs in the order they were written", async () => {
    const { outcome, text } = run("for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 7");
    expect(await outcome).toEqual({ ended: "exited", exitCode: 7, signal: null });
    expect(text()).toBe("out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
  });

  it("tells the signal that ended it", async () => {
    expect(await run("kill -KILL $$").outcome).toEqual({ ended: "exited", exitCode: null, signal: "SIGKILL" });
  });

  it("reads nothing from our stdin", async () => {
    const { outcome, text } = run("cat; echo done");
    await outcome;
    expect(text()).toBe("done\n");
  });

  it("keeps everything of a large output", async () => {
    const { outcome, text } = run("head -c 3000000 /dev/zero | tr '\\0' x");
    await outcome;
    expect(text()).toBe("x".repeat(3_000_000));
  });

  it("shows the shell's own complaint about bad syntax", async () => {
    const { outcome, text } = run("if (");
    expect((await outcome).exitCode).toBe(2);
    expect(text()).toContain("syntax error");
  });
});

describe("background children", () => {
  it("that finish in the time the clock allows are heard to the end", async () => {
    const { outcome, text } = run("(sleep 0.2; echo late) & echo early", { clock: new FakeClock() });
    await outcome;
    expect(text()).toBe("early\nlate\n");
  });

  it("do not keep the command from ending, and live on although nobody listens", async () => {
    const { outcome, text } = run("(while :; do sleep 0.05; echo tick; done) & echo $! > pid; echo started");
    expect(await outcome).toMatchObject({ ended: "exited", exitCode: 0 });
    expect(text()).toMatch(/^started\n/);
    // Long enough for it to have written to a pipe that must not be closed.
    await run("sleep 0.3").outcome;
    expect(isRunning(pidIn("pid"))).toBe(true);
    killAllProcesses();
    await expectGone("pid");
  });
});

describe("abort", () => {
  it("ends the whole tree, those included that left the process group", async () => {
    const stop = new AbortController();
    const { outcome, begun } = run(
      "sleep 100 & echo $! > child; setsid sh -c 'echo $$ > escaped; echo ready; sleep 100' & wait",
      {},
      stop.signal,
    );
    await begun;
    stop.abort();
    expect(await outcome).toEqual({ ended: "aborted", exitCode: null, signal: "SIGTERM" });
    for (const name of ["child", "escaped"]) await expectGone(name);
  });

  it("before the start starts nothing", async () => {
    const { outcome } = run("echo x > ran", {}, AbortSignal.abort());
    expect(await outcome).toEqual({ ended: "aborted", exitCode: null, signal: null });
    expect(() => readFileSync(join(folder, "ran"))).toThrow("ENOENT");
  });

  it("keeps what was printed before", async () => {
    const stop = new AbortController();
    const { outcome, text, begun } = run("echo before; sleep 100", {}, stop.signal);
    await begun;
    stop.abort();
    await outcome;
    expect(text()).toBe("before\n");
  });

  it("lets the command tidy up, and kills what does not want to", async () => {
    const stop = new AbortController();
    const { outcome, text, begun } = run(
      "trap 'echo tidy; exit 0' TERM; sh -c 'trap \"\" TERM; echo $$ > stubborn; sleep 100' & echo ready; wait",
      { killGraceMs: 1000 },
      stop.signal,
    );
    await begun;
    await run("until [ -s stubborn ]; do sleep 0.01; done").outcome;
    stop.abort();
    expect(await outcome).toMatchObject({ ended: "aborted", exitCode: 0 });
    expect(text()).toBe("ready\ntidy\n");
    await expectGone("stubborn");
  });

  it("is not waited for longer than the caller wants, and goes on by itself", async () => {
    const stop = new AbortController();
    const command =
      "trap 'sleep 1; echo tidy > tidied; exit 0' TERM; echo $$ > slow; echo ready; sleep 100 & wait; wait";
    const { outcome, text, begun } = run(command, { leavesOnAbort: true, killGraceMs: 5000 }, stop.signal);
    await begun;
    stop.abort();
    expect(await outcome).toEqual({ ended: "aborted", exitCode: null, signal: null });
    expect(text()).toBe("ready\n");
    expect(isRunning(pidIn("slow"))).toBe(true);
    await run("until [ -s tidied ]; do sleep 0.01; done").outcome;
    await expectGone("slow");
  });

  it("kills a stubborn command also when nobody waits any more", async () => {
    const stop = new AbortController();
    const command = "trap '' TERM; echo $$ > stubborn; echo ready; while :; do sleep 1; done";
    const { outcome, begun } = run(command, { leavesOnAbort: true, killGraceMs: 50 }, stop.signal);
    await begun;
    stop.abort();
    await outcome;
    await expectGone("stubborn");
  });
});

describe("timeout", () => {
  it("ends the command when the clock says so, and not before", async () => {
    const clock = new FakeClock();
    const { outcome, begun } = run("echo $$; sleep 100", { clock, timeoutMs: 3000 });
    await begun;
    clock.advanceSync(2999);
    expect(clock.pending).toBe(1);
    clock.advanceSync(1);
    expect(await outcome).toMatchObject({ ended: "timedOut", exitCode: null });
    // What is left is the look for children that ran away.
    expect(clock.pending).toBe(1);
  });
});

describe("a program that cannot be started", () => {
  it.each([
    ["does not exist", { file: "/no/such/program", args: [] }, "/no/such/program does not exist (ENOENT)"],
    ["is none", { file: "/etc/passwd", args: [] }, "/etc/passwd may not be executed (EACCES)"],
    [
      "has no folder",
      { cwd: "/no/such/folder" },
      "its working folder /no/such/folder does not exist any more (ENOENT)",
    ],
    ["gets too much", { args: ["-c", "x".repeat(300_000)] }, "the command is longer than the system allows"],
  ])("%s: the error says so", async (_what, options, says) => {
    await expect(run("true", options).outcome).rejects.toThrow(says);
  });

  it("leaves nothing open: the next one runs as always", async () => {
    for (let i = 0; i < 20; i++) await run("", { file: "/no/such/program" }).outcome.catch(() => undefined);
    const { outcome, text } = run("echo fine");
    await outcome;
    expect(text()).toBe("fine\n");
  });
});

describe("both outputs in one stream", () => {
  it("is one of its own for each of many at once, and for those behind a background child", async () => {
    const busy = run("(sleep 0.4; echo late) & echo early");
    await busy.outcome;
    const many = Array.from({ length: 12 }, (_, index) => run(`sleep 0.1; echo ${index}`));
    await Promise.all(many.map(({ outcome }) => outcome));
    expect(many.map(({ text }) => text())).toEqual(many.map((_, index) => `${index}\n`));
    expect(busy.text()).toBe("early\n");
    const again = run("echo again");
    await again.outcome;
    expect(again.text()).toBe("again\n");
  });
});

it("passes the mark of an outer agent on, so that both find the process", async () => {
  const { outcome, text } = run("echo $TILLER_PROCESS_TOKEN", { env: { ...env, TILLER_PROCESS_TOKEN: "outer.1;" } });
  await outcome;
  expect(text()).toMatch(/^outer\.1;[0-9a-f]{24}\.\d+;\n$/);
});

it("finds processes by their mark only while they live", async () => {
  const stop = new AbortController();
  const { outcome, text, begun } = run("echo $TILLER_PROCESS_TOKEN; sleep 100", {}, stop.signal);
  await begun;
  const token = text().trim();
  expect(findByToken(token).length).toBeGreaterThan(0);
  stop.abort();
  await outcome;
  await expect.poll(() => findByToken(token)).toEqual([]);
});

describe("a process that lasts", () => {
  const start = (command: string) => {
    let text = "";
    const onOutput = (chunk: Buffer) => {
      text += chunk;
    };
    // Not bash: it reads the user's start-up file when its stdin is a socket.
    const child = startLasting({
      file: "/bin/sh",
      args: ["-c", command],
      cwd: folder,
      env,
      clock: systemClock,
      onOutput,
    });
    const until = async (wanted: string) => {
      while (!text.includes(wanted)) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    return { child, until, text: () => text };
  };

  it("is spoken to, outlives the others, and takes its children with it", async () => {
    const { child, until } = start("setsid sleep 100 & echo $! >pid; while read -r line; do echo heard $line; done");
    child.write("one\n");
    await until("heard one");
    killAllProcesses();
    child.write("two\n");
    await until("heard two");
    const pid = pidIn("pid");
    expect(isRunning(pid)).toBe(true);
    child.end();
    child.write("lost\n");
    await child.exited;
    while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("is killed when it does not want to end", async () => {
    const { child, until } = start("trap '' TERM; echo up; while :; do read -r line || sleep 0.05; done");
    await until("up");
    child.end();
    expect(await child.exited).toEqual({ exitCode: null, signal: "SIGKILL" });
  });

  it("is ended when it does not listen", async () => {
    const { child } = start("sleep 100");
    const megabyte = "x".repeat(1024 * 1024);
    for (let i = 0; i < 66; i++) child.write(megabyte);
    expect(await child.exited).toEqual({ exitCode: null, signal: "SIGTERM" });
  });

  it("says what it has said when it ends by itself, and why it cannot be started", async () => {
    const { child, text } = start("echo bye; exit 4");
    expect(await child.exited).toEqual({ exitCode: 4, signal: null });
    expect(text()).toBe("bye\n");
    const request = {
      file: "no-such-program",
      args: [],
      cwd: folder,
      env,
      clock: systemClock,
      onOutput: () => undefined,
    };
    await expect(startLasting(request).exited).rejects.toThrow("no-such-program does not exist (ENOENT)");
  });
});
