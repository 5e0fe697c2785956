import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPrograms } from "../../../../../test/support/small-programs.ts";

let programs: Awaited<ReturnType<typeof createPrograms>>;
beforeAll(async () => {
  programs = await createPrograms();
});
afterAll(() => programs.dispose());

/** A program with a watchdog of small limits; `enter` and `spin` are there. */
const watched = (body: string, options = "limitMs: 200, blockedMs: 60000, graceMs: 5000"): string => `
  const { createWatchdog } = require("./watchdog.js");
  const exit = process.exit;
  const watchdog = createWatchdog({ exit: (code) => exit(code), ${options} });
  const { enter } = watchdog;
  function spin() { for (;;); }
  const spinFor = (ms) => { for (const until = performance.now() + ms; performance.now() < until; ); };
  process.on("exit", (code) => process.stderr.write("left in order with " + code + "\\n"));
  ${body}`;

describe("an extension that never gives the thread back", () => {
  const loops: [what: string, body: string, names: string[]][] = [
    [
      "in a handler",
      'enter("/x/bad.ts (tool_call)"); spin();',
      ["extension /x/bad.ts (tool_call) has kept", "in spin (/", "/a loop é-0.js:6)"],
    ],
    [
      "in what comes after an await",
      'const leave = enter("/x/bad.ts (input)"); setTimeout(spin, 30); leave();',
      ["the process has been busy", "the extension last called is /x/bad.ts (input)", "in spin ("],
    ],
    [
      "among more of them than names are kept of",
      'for (let i = 0; i < 1e5; i++) enter("/x/bad.ts (tool " + i + " \u00e9)")(); enter("/x/bad.ts (tool 7 \u00e9)"); spin();',
      ["extension /x/bad.ts (tool 7 \u00e9) has kept"],
    ],
    [
      "in promises that follow each other for ever",
      'const leave = enter("/x/bad.ts (input)"); (async () => { for (;;) await 1; })(); leave();',
      ["the extension last called is /x/bad.ts (input)"],
    ],
    [
      "that catches everything",
      'enter("/x/bad.ts (input)"); for (;;) { try { spin(); } catch {} }',
      ["/x/bad.ts (input)"],
    ],
    [
      "in a regular expression",
      'enter("/x/bad.ts (input)"); /^(a+)+$/.test("a".repeat(60) + "b");',
      ["/x/bad.ts (input)"],
    ],
    [
      "called by another one that is called again afterwards",
      'const outer = enter("/x/outer.ts (input)"); enter("/x/inner.ts (events)")(); spin();',
      ["extension /x/outer.ts (input) has kept"],
    ],
  ];
  it.each(loops)("%s is named, and the process ends in order", async (_what, body, names) => {
    const { code, stderr } = await programs.start(
      `a loop é-${loops.findIndex((loop) => loop[1] === body)}.js`,
      watched(body),
    ).done;
    for (const name of names) expect(stderr).toContain(name);
    expect(stderr.trim().split("\n")).toHaveLength(2);
    expect(stderr).toMatch(/left in order with 124\n$/);
    expect(code).toBe(124);
  });

  it("is killed when not even that ends it", async () => {
    const body = 'process.on("exit", spin); enter("/x/bad.ts (input)"); spin();';
    const { signal, stderr } = await programs.start("exit.js", watched(body, "limitMs: 300, graceMs: 500")).done;
    expect(stderr).toContain("extension /x/bad.ts (input)");
    expect(signal).toBe("SIGKILL");
  });

  it("takes the processes with it that were started for tools", async () => {
    const body = `
      const { runProcess } = require("./run-process.js");
      const clock = { now: Date.now, after: (ms, fn) => { const timer = setTimeout(fn, ms); return () => clearTimeout(timer); } };
      const request = { file: "/bin/sh", args: ["-c", "echo $$ > tool.pid; echo started; exec sleep 600"], cwd: __dirname,
        env: { PATH: process.env.PATH }, clock, onOutput: () => { enter("/x/bad.ts (tool_result)"); spin(); } };
      runProcess(request, new AbortController().signal);`;
    const { code } = await programs.start("children.js", watched(body)).done;
    expect(code).toBe(124);
    const pid = Number(readFileSync(join(programs.folder, "tool.pid"), "utf8"));
    expect(isRunning(pid)).toBe(false);
  });
});

describe("who is left alone", () => {
  it("an extension that computes for long but gives way between", async () => {
    const body = `
      (async () => {
        for (let i = 0; i < 12; i++) {
          const leave = enter("/x/busy.ts (input)");
          spinFor(60);
          leave();
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      })();`;
    expect(await programs.start("busy.js", watched(body)).done).toMatchObject({ code: 0 });
  });

  it("one that waits for a child process, though that is said", async () => {
    const body = 'enter("/x/waits.ts (input)"); require("child_process").execSync("sleep 1"); exit(5)';
    const { code, stderr } = await programs.start("waits.js", watched(body)).done;
    expect(stderr).toContain("extension /x/waits.ts (input) has kept the process waiting");
    expect(code).toBe(5);
  });

  it("until it has waited for too long", async () => {
    const body = 'enter("/x/waits.ts (input)"); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';
    const options = "limitMs: 200, blockedMs: 400, graceMs: 1000";
    const { stderr } = await programs.start("hangs.js", watched(body, options)).done;
    expect(stderr).toContain("extension /x/waits.ts (input) has kept the process waiting");
  });

  it("a process that was stopped for longer than the limit and goes on", async () => {
    const body =
      'const leave = enter("/x/ok.ts (input)"); spinFor(50); console.error("now"); spinFor(50); leave(); setTimeout(() => exit(7), 300);';
    const { child, done, said } = programs.start("stopped.js", watched(body));
    await said("now");
    child.kill("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 800));
    child.kill("SIGCONT");
    expect(await done).toMatchObject({ code: 7 });
  });

  it("a process that has nothing left to do: nobody keeps it", async () => {
    const { code, stderr } = await programs.start("idle.js", watched('enter("/x/ok.ts (input)")();')).done;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "left in order with 0\n" });
  });

  it("everybody, once the watch is over", async () => {
    const body = 'enter("/x/ok.ts (input)")(); watchdog.close(); spinFor(600); exit(3);';
    expect(await programs.start("closed.js", watched(body)).done).toMatchObject({ code: 3 });
  });
});

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
