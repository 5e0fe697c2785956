import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { cliPath } from "../support/rpc-process.ts";
import { createSandbox } from "../support/sandbox.ts";
import { command, errorsOf, extension, pathOf, tool, useBad, useBadChoices, worksStill } from "./bad-support.ts";

/** What belongs to the process: its streams, its end, its one thread. Extensions take it, and do not get it. */

const start = useBad();
const FOREVER = "for (;;) {}";
const child = `import { spawn, spawnSync, execSync, fork } from "node:child_process";`;

test.each<[string, string, string]>([
  ["at the top of its module", extension("", FOREVER), "bad.ts"],
  ["in its factory", extension(FOREVER), "bad.ts"],
  ["in its factory, after an await", extension(`await 0; ${FOREVER}`), "bad.ts"],
  ["in a handler", extension(`pi.on("agent_start", () => { ${FOREVER} });`), "agent_start"],
  [
    "in a handler, after an await",
    extension(`pi.on("agent_start", async () => { await new Promise((r) => setTimeout(r, 20)); ${FOREVER} });`),
    "bad.ts",
  ],
  ["in a tool", extension(tool("loop", FOREVER)), "tool loop"],
  ["in a tool, after an await", extension(tool("loop", `await 0; ${FOREVER}`)), "bad.ts"],
  ["in a command", extension(command("loop", FOREVER)), "command loop"],
  // The line of the source, not that of the code that it became.
  ["below a type", extension(command("loop", FOREVER), "interface Wind {\n  speed: number;\n}\n"), "bad.ts:6)"],
  ["in a timer", extension(`pi.on("agent_start", () => { setTimeout(() => { ${FOREVER} }, 5); });`), "bad.ts"],
  [
    "in a promise job that begets another one",
    extension(`pi.on("agent_start", () => { const on = () => Promise.resolve().then(on); on(); });`),
    "bad.ts",
  ],
  [
    "in a regular expression",
    extension(`pi.on("agent_start", () => { /^(a+)+$/.test("a".repeat(60) + "b"); });`),
    "agent_start",
  ],
  ["in a handler of session_start", extension(`pi.on("session_start", () => { ${FOREVER} });`), "session_start"],
  [
    "in a handler of session_shutdown",
    extension(`pi.on("session_shutdown", () => { ${FOREVER} });`),
    "session_shutdown",
  ],
  [
    "in a getter of what it gives back",
    extension(`pi.on("input", () => ({ get action() { ${FOREVER} } }));`),
    "bad.ts",
  ],
])("an endless loop %s ends the process with 124 and names the extension", async (_, code, named) => {
  const rpc = start(code, {
    script: ["toolCall loop {}", 'text "never"'],
    settings: { "extensionLimits.stuckMs": 300 },
    check: { grammar: false },
  });
  rpc.send({ id: "p", type: "prompt", message: code.includes("registerCommand") ? "/loop" : "go" });
  if (code.includes("session_shutdown")) rpc.closeStdin();
  expect(await rpc.waitExit()).toEqual({ code: 124, signal: null });
  expect(rpc.stderr).toContain(pathOf(rpc));
  expect(rpc.stderr).toContain(named);
});

test("a hard computation that gives way now and then is no endless loop", async () => {
  const code = extension(
    tool(
      "work",
      `for (let i = 0; i < 12; i++) { const end = Date.now() + 50; while (Date.now() < end); await new Promise((r) => setTimeout(r, 1)); } return "done"`,
    ),
  );
  const rpc = start(code, {
    script: ["toolCall work {}", 'expect toolResult "done" + text "aye"'],
    settings: { "extensionLimits.stuckMs": 300 },
  });
  await worksStill(rpc);
});

const SPOILERS: readonly (readonly [string, string])[] = [
  ["console.log", `console.log("SPOILED");`],
  ["console.info, console.table and console.dir", `console.info("SPOILED"); console.table([1]); console.dir({});`],
  ["process.stdout.write", `process.stdout.write("SPOILED\\n");`],
  ["fs.writeSync(1)", `fs.writeSync(1, "SPOILED\\n");`],
  ["a named import of writeSync", `writeSync(1, "SPOILED\\n");`],
  ["fs.write(1)", `allOfFs.write(1, "SPOILED\\n", () => {});`],
  ["fs.writeFileSync(1)", `allOfFs.writeFileSync(1, "SPOILED\\n");`],
  [
    "fs.createWriteStream with fd 1",
    `allOfFs.createWriteStream(null, { fd: 1, autoClose: false }).write("SPOILED\\n");`,
  ],
  ["fs.closeSync(1)", "allOfFs.closeSync(1);"],
  [
    "a child with stdio inherit",
    `await new Promise((r) => spawn("sh", ["-c", "echo SPOILED"], { stdio: "inherit" }).on("close", r));`,
  ],
  ["spawnSync with stdio inherit", `spawnSync("sh", ["-c", "echo SPOILED"], { stdio: "inherit" });`],
  ["execSync with stdio inherit", `execSync("echo SPOILED", { stdio: "inherit" });`],
  [
    "a child with stdio [0, 1, 2]",
    `await new Promise((r) => spawn("sh", ["-c", "echo SPOILED"], { stdio: [0, 1, 2] }).on("close", r));`,
  ],
  [
    "a child that gets process.stdout",
    `await new Promise((r) => spawn("sh", ["-c", "echo SPOILED"], { stdio: ["ignore", process.stdout, 2] }).on("close", r));`,
  ],
  [
    "a worker thread that prints",
    `await new Promise((r) => new Worker("console.log('SPOILED')", { eval: true }).on("exit", r));`,
  ],
];

describe("stdout stays the protocol's, whatever is done to it", () => {
  const choose = useBadChoices(
    SPOILERS.map(
      ([, code]) => `${code}\npi.on("agent_start", async () => { ${code} });\n${tool("say", `${code}; return "said"`)}`,
    ),
    {
      top: `${child}
        import fs from "node:fs"; import * as allOfFs from "node:fs"; import { writeSync } from "node:fs";
        import { Worker } from "node:worker_threads";`,
      script: ["toolCall say {}", 'expect toolResult "said" + text "aye"', 'text "aye"'],
    },
  );
  test.each(SPOILERS.map(([what], at) => [what, at] as const))("%s", async (_, at) => {
    const { rpc, since } = await choose(at);
    expect(errorsOf(rpc, since)).toEqual([]);
    await worksStill(rpc);
    await worksStill(rpc);
    expect(rpc.frames.some((frame) => JSON.stringify(frame).includes("SPOILED"))).toBe(false);
  });
});

test.each([`process.stdout.end("SPOILED\\n");`, "process.stdout.destroy();"])(
  "stdout stays the protocol's after %s",
  async (code) => {
    const rpc = start(extension(`${code}\npi.on("agent_start", () => { ${code} });`), {
      script: ['text "aye"', 'text "aye"'],
    });
    await worksStill(rpc);
    await worksStill(rpc);
    expect(rpc.frames.some((frame) => JSON.stringify(frame).includes("SPOILED"))).toBe(false);
  },
);

const READERS: readonly (readonly [string, string])[] = [
  [
    "process.stdin.on('data')",
    `let got = ""; process.stdin.on("data", (d) => (got += d)); await new Promise((r) => process.stdin.on("end", r)); return "got:" + got;`,
  ],
  ["for await over process.stdin", `let got = ""; for await (const d of process.stdin) got += d; return "got:" + got;`],
  ["fs.readFileSync(0)", `return "got:" + fs.readFileSync(0, "utf8");`],
  ["fs.readSync(0)", `return "got:" + (fs.readSync(0, Buffer.alloc(10)) || "");`],
  [
    "readline",
    `const rl = readline.createInterface({ input: process.stdin }); let got = ""; for await (const l of rl) got += l; return "got:" + got;`,
  ],
  ["a child that reads stdin", `return "got:" + spawnSync("cat", [], { stdio: ["inherit", "pipe", "pipe"] }).stdout;`],
];

// Each has its own process: what has been read to its end once stays so.
test.each(READERS)("%s reads nothing from stdin, and no command is lost", async (_, code) => {
  const top = `${child}\nimport * as fs from "node:fs"; import * as readline from "node:readline";`;
  const rpc = start(extension(tool("read_it", code), top), {
    script: ["toolCall read_it {}", 'expect toolResult {"equals":"got:"} + text "aye"', 'text "aye"'],
  });
  const before = rpc.prompt("go");
  for (let i = 0; i < 20; i++) expect((await rpc.call({ type: "get_state" })).success).toBe(true);
  expect((await before).result.status).toBe("completed");
  await worksStill(rpc);
});

test.each<[string, string]>([
  ["/dev/stdout", `fs.writeFileSync("/dev/stdout", "SPOILED\\n");`],
  ["/proc/self/fd/1", `fs.appendFileSync("/proc/self/fd/1", "SPOILED\\n");`],
  ["/dev/stdout, opened", `fs.writeSync(fs.openSync("/dev/stdout", "a"), "SPOILED\\n");`],
  ["/dev/stdout as a stream", `fs.createWriteStream("/dev/stdout", { flags: "a" }).write("SPOILED\\n");`],
  ["/dev/stdout, in the background", `await fs.promises.writeFile("/dev/stdout", "SPOILED\\n");`],
])("a pipe of a shell is not spoiled by way of %s", (_, code) => {
  const sandbox = createSandbox({ agentFiles: { "extensions/bad.ts": extension(code, `import fs from "node:fs";`) } });
  const line = `echo '{"id":"1","type":"get_state"}' | "$0" "$1" --mode rpc 2>&1 >"$2/pipe" & cat "$2/pipe" >&3; wait`;
  // Where stdout is a socket, as it is for a child of Node, the file cannot be opened at all.
  const script = `mkfifo "$2/pipe" && { ${line}; } 3>&1 >/dev/null`;
  const run = spawnSync("sh", ["-c", script, process.execPath, cliPath(), sandbox.root], {
    cwd: sandbox.cwd,
    env: sandbox.env,
    encoding: "utf8",
  });
  sandbox.remove();
  const lines = run.stdout.split("\n").filter((text) => text !== "");
  const types = lines.map((text) => (JSON.parse(text) as { type: string }).type);
  expect(types).toContain("response");
  expect(run.stdout).not.toContain("SPOILED");
});

test("process.exit in session_start ends the process with that code", async () => {
  const rpc = start(extension(`pi.on("session_start", () => { process.exit(8); });`));
  expect(await rpc.waitExit()).toEqual({ code: 8, signal: null });
});

test("process.exit in session_shutdown ends the process with that code", async () => {
  const rpc = start(extension(`pi.on("session_shutdown", () => { process.exit(9); });`));
  rpc.closeStdin();
  expect(await rpc.waitExit()).toEqual({ code: 9, signal: null });
});

test("process.exit while it is loaded ends the process with that code", async () => {
  const rpc = start(extension("process.exit(7);"));
  expect(await rpc.waitExit()).toEqual({ code: 7, signal: null });
});

test.each<[string, string, number]>([
  ["in a handler", `pi.on("agent_start", () => { process.exit(3); });`, 3],
  ["in a timer", `pi.on("agent_start", () => { setTimeout(() => process.exit(4), 5); });`, 4],
  ["in a tool", tool("leave", "process.exit(5);"), 5],
  ["in a tool, caught by itself", tool("leave", `try { process.exit(5); } catch {} return "x";`), 5],
  ["in a command", command("leave", "process.exit(6);"), 6],
  ["in a command, with code 0", command("leave", "process.exit();"), 0],
  ["by process.kill", `pi.on("agent_start", () => { process.kill(process.pid, "SIGKILL"); });`, 137],
  ["by process.abort", `pi.on("agent_start", () => { process.abort(); });`, 134],
  ["by a signal to itself", `pi.on("agent_start", () => { process.kill(process.pid, "SIGTERM"); });`, 143],
])("process.exit %s: what was asked is answered, then the process ends with that code", async (_, code, exitCode) => {
  const rpc = start(extension(code), { script: ["toolCall leave {}", 'endless "x" pace 20'] });
  rpc.send({ id: "p", type: "prompt", message: code.includes("registerCommand") ? "/leave" : "go" });
  expect(await rpc.waitExit()).toEqual({ code: exitCode, signal: null });
  expect(rpc.frames.filter(({ type, id }) => type === "prompt_result" && id === "p")).toHaveLength(1);
  // What was asked for is told; the exception that stands for it is nobody's mistake.
  expect(rpc.frames.filter(({ event }) => event === "uncaught_exception")).toEqual([]);
});

const ADRIFT: readonly (readonly [string, string, string, RegExp])[] = [
  [
    "leaves a rejected promise in a handler",
    `pi.on("agent_start", () => { Promise.reject(new Error("adrift")); });`,
    "unhandled_rejection",
    /adrift/,
  ],
  [
    "leaves a rejected promise with a text",
    `pi.on("agent_start", () => { Promise.reject("adrift"); });`,
    "unhandled_rejection",
    /adrift/,
  ],
  [
    "leaves a rejected promise with nothing",
    `pi.on("agent_start", () => { Promise.reject(); });`,
    "unhandled_rejection",
    /undefined/,
  ],
  [
    "leaves a rejected promise with something strange",
    `pi.on("agent_start", () => { Promise.reject(new Proxy({}, { get() { throw new Error("x") } })); });`,
    "unhandled_rejection",
    /./,
  ],
  [
    "forgets who listens to such errors, and then leaves a rejected promise",
    `pi.on("agent_start", () => { process.removeAllListeners(); Promise.reject(new Error("adrift")); });`,
    "unhandled_rejection",
    /adrift/,
  ],
  [
    "takes every listener away, and then throws in a timer",
    `pi.on("agent_start", () => {
      for (const one of process.listeners("uncaughtException")) process.off("uncaughtException", one);
      setTimeout(() => { throw new Error("adrift"); }, 1);
    });`,
    "uncaught_exception",
    /adrift/,
  ],
  [
    "throws in a timer",
    `pi.on("agent_start", () => { setTimeout(() => { throw new Error("adrift"); }, 1); });`,
    "uncaught_exception",
    /adrift/,
  ],
  [
    "throws in a microtask",
    `pi.on("agent_start", () => { queueMicrotask(() => { throw new Error("adrift"); }); });`,
    "uncaught_exception",
    /adrift/,
  ],
  [
    "has an emitter without a listener for errors",
    `pi.on("agent_start", () => { setTimeout(() => new EventEmitter().emit("error", new Error("adrift")), 1); });`,
    "uncaught_exception",
    /adrift/,
  ],
  [
    "starts a program that is not there",
    `pi.on("agent_start", () => { spawn("/no/such/program"); });`,
    "uncaught_exception",
    /ENOENT/,
  ],
];

describe("an error that nobody catches", () => {
  const choose = useBadChoices(
    ADRIFT.map(([, code]) => code),
    {
      top: `${child}\nimport { EventEmitter } from "node:events";`,
      script: ['delay 60 + text "aye"', 'text "aye"'],
    },
  );
  test.each(ADRIFT.map(([what, , event, error], at) => [what, at, event, error] as const))(
    "an extension that %s is named, and the run goes on",
    async (_, at, event, error) => {
      const { rpc, since } = await choose(at);
      await worksStill(rpc);
      const [first] = errorsOf(rpc, since);
      expect(first).toMatchObject({ event, error: expect.stringMatching(error) });
      await worksStill(rpc);
    },
  );
});
