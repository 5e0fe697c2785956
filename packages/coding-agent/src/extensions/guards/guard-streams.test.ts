import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPrograms } from "../../../../../test/support/small-programs.ts";
import { quietStdio } from "./child-stdio.ts";

let programs: Awaited<ReturnType<typeof createPrograms>>;
beforeAll(async () => {
  programs = await createPrograms();
});
afterAll(() => programs.dispose());

let count = 0;
/** Runs the text behind the guard, as an extension, with a command of the host waiting on stdin. */
const behindGuard = (body: string) =>
  programs.start(
    `streams-${count++}.js`,
    `const { complete, release } = require("./guard-streams.js").guardStreams(); complete();
     const fs = require("fs"); const { spawn, spawnSync, execSync, execFileSync, exec, fork } = require("child_process");
     const say = (value) => fs.writeSync(2, "got " + JSON.stringify(value) + "\\n");
     (async () => { ${body} })();`,
    '{"type":"abort"}\n',
  ).done;

describe("who writes to stdout by its number", () => {
  const ways: [what: string, body: string][] = [
    ["at once", 'fs.writeSync(1, "stray\\n")'],
    ["with a callback", 'fs.write(1, "stray\\n", () => {})'],
    ["as a file", 'fs.writeFileSync(1, "stray\\n")'],
    ["as a file, later", 'fs.writeFile(1, Buffer.from("stray\\n"), () => {})'],
    ["several pieces", 'fs.writevSync(1, [Buffer.from("stray"), Buffer.from("\\n")])'],
    ["as a stream", 'fs.createWriteStream("", { fd: 1, autoClose: false }).write("stray\\n")'],
    ["as an ES module", '(await import("node:fs")).writeSync(1, "stray\\n")'],
    ["through a child", 'spawn("echo", ["stray"], { stdio: "inherit" })'],
    ["through a child with a list", 'spawn("echo", ["stray"], { stdio: ["inherit", 1, "inherit"] })'],
    ["through a child that is waited for", 'spawnSync("echo", ["stray"], { stdio: "inherit" })'],
    ["through a shell", 'execSync("echo stray", { stdio: [0, "inherit", 2] })'],
    ["through a program", 'execFileSync("echo", ["stray"], { stdio: "inherit" })'],
    ["through a child of Node", 'spawn(process.execPath, ["-e", "console.log(\'stray\')"], { stdio: "inherit" })'],
    [
      "through a fork",
      "fs.writeFileSync('forked.js', 'console.log(`stray`)'); fork(require('path').resolve('forked.js'))",
    ],
  ];
  it.concurrent.each(ways)("%s: it is on stderr", async (_what, body) => {
    expect(await behindGuard(body)).toMatchObject({ stdout: "", stderr: "stray\n", code: 0 });
  });
});

describe("what takes long to load is guarded when somebody asks for it", () => {
  const ways: [what: string, body: string][] = [
    [
      "a module by its name",
      'process.getBuiltinModule("child_process").spawnSync("echo", ["stray"], { stdio: "inherit" })',
    ],
    [
      "through the main module",
      'process.mainModule.require("child_process").spawnSync("echo", ["stray"], { stdio: "inherit" })',
    ],
    [
      "promises of files",
      // A socket cannot be opened by its path; the error tells which was meant.
      `require("fs").promises.writeFile("/dev/stdout", "").catch(({ path }) => path === "/dev/stderr" && console.error("stray"))`,
    ],
  ];
  it.concurrent.each(ways)("%s: it is on stderr", async (what, body) => {
    const text = `require("./guard-streams.js").guardStreams();
      const isLoaded = (name) => process.moduleLoadList.includes("NativeModule " + name);
      if (isLoaded("child_process") || isLoaded("internal/fs/promises")) process.exitCode = 1;
      ${body}`;
    const program = programs.start(`late-${what.replaceAll(" ", "-")}.js`, text);
    expect(await program.done).toMatchObject({ stdout: "", stderr: "stray\n", code: 0 });
  });
});

it("what is guarded when it is asked for can be assigned to, as before, by code that is strict", async () => {
  const text = `"use strict"; require("./guard-streams.js").guardStreams();
    const mine = () => "mine";
    process.getBuiltinModule = mine;
    process.mainModule = undefined;
    require("fs").writeSync(2, [process.getBuiltinModule === mine, process.mainModule].join());
    require("child_process").spawnSync("echo", ["stray"], { stdio: "inherit" });
    require("fs").promises = {};`;
  const { stdout, stderr } = await programs.start("assigned.js", text).done;
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^true,stray\n/);
  // Node itself has only a getter there.
  expect(stderr).toContain("TypeError: Cannot set property promises");
});

describe("who reads stdin", () => {
  const ways: [what: string, body: string, got: string][] = [
    ["as a stream", 'let text = ""; for await (const chunk of process.stdin) text += chunk; say(text)', '""'],
    [
      "by lines",
      'for await (const line of require("readline").createInterface({ input: process.stdin })) say(line); say("end")',
      '"end"',
    ],
    [
      "as a terminal",
      'process.stdin.setRawMode(true); process.stdin.resume(); process.stdin.on("end", () => say("end"))',
      '"end"',
    ],
    ["as a file", "say(fs.readFileSync(0, 'utf8'))", '""'],
    ["as a file of bytes", "say(fs.readFileSync(0).length)", "0"],
    ["as a file, later", 'fs.readFile(0, "utf8", (error, text) => say([error, text]))', '[null,""]'],
    ["by its path", 'say(fs.readFileSync("/dev/stdin", "utf8"))', '""'],
    ["by its path, later", 'fs.readFile("/dev/fd/0", "utf8", (error, text) => say([error, text]))', '[null,""]'],
    ["by its address, promised", 'say(await fs.promises.readFile(new URL("file:///dev/stdin"), "utf8"))', '""'],
    ["by its path, piece by piece", 'say((await fs.createReadStream("/proc/self/fd/0").toArray()).length)', "0"],
    ["at once", "say(fs.readSync(0, Buffer.alloc(10)))", "0"],
    ["with a callback", "fs.read(0, Buffer.alloc(10), 0, 10, null, (error, bytes) => say([error, bytes]))", "[null,0]"],
    ["through a child", 'say(String(spawnSync("cat", [], { stdio: ["inherit", "pipe", "pipe"] }).stdout))', '""'],
  ];
  it.concurrent.each(ways)("%s: finds nothing there", async (_what, body, got) => {
    expect(await behindGuard(body)).toMatchObject({ stdout: "", stderr: `got ${got}\n`, code: 0 });
  });
});

describe("what still works", () => {
  const ways: [what: string, body: string, got: string][] = [
    ["other files", 'fs.writeFileSync("a.txt", "text"); say(fs.readFileSync("a.txt", "utf8"))', '"text"'],
    ["children with pipes", 'say(String(execSync("echo a")))', '"a\\n"'],
    ["programs with the options left out", 'exec("echo a", (error, out) => say(out))', '"a\\n"'],
    ["promises made of them", 'say((await require("util").promisify(exec)("echo a")).stdout)', '"a\\n"'],
  ];
  it.concurrent.each(ways)("%s", async (_what, body, got) => {
    expect(await behindGuard(body)).toMatchObject({ stderr: `got ${got}\n`, code: 0 });
  });

  it("our own reader and writer, which took their functions before", async () => {
    const text = `
      const fs = require("fs");
      const { open, close, write, writev, read } = fs;
      const stdin = Object.getOwnPropertyDescriptor(process, "stdin");
      require("./guard-streams.js").guardStreams();
      fs.createWriteStream("", { fd: 1, autoClose: false, fs: { open, close, write, writev } }).write("frame\\n");
      stdin.get.call(process).on("data", (chunk) => write(1, "read " + chunk, () => {}));`;
    expect(await programs.start("own.js", text, "command\n").done).toMatchObject({
      stdout: "frame\nread command\n",
      stderr: "",
    });
  });

  it("the guard, for modules that were loaded before it", async () => {
    const text = `import("node:fs").then((early) => {
      require("./guard-streams.js").guardStreams().complete();
      early.writeSync(1, "stray\\n");
    });`;
    expect(await programs.start("early.js", text).done).toMatchObject({ stdout: "", stderr: "stray\n" });
  });

  it("everything, once the guard is gone", async () => {
    const result = await behindGuard('release(); fs.writeSync(1, fs.readFileSync(0, "utf8"))');
    expect(result).toMatchObject({ stdout: '{"type":"abort"}\n', stderr: "" });
  });
});

describe("stdio of a child", () => {
  const stream = { fd: 1 };
  const cases: [given: unknown, becomes: unknown][] = [
    ["inherit", ["ignore", 2, 2]],
    ["pipe", "pipe"],
    [undefined, undefined],
    [
      ["inherit", "inherit", "inherit"],
      ["ignore", 2, "inherit"],
    ],
    [
      [0, 1, 2, 3, "ipc"],
      ["ignore", 2, 2, 3, "ipc"],
    ],
    [
      ["pipe", stream, stream],
      ["pipe", 2, 2],
    ],
    [
      ["ignore", "pipe", null, undefined],
      ["ignore", "pipe", null, undefined],
    ],
  ];
  it.each(cases)("%j becomes %j", (given, becomes) => {
    expect(quietStdio(given)).toEqual(becomes);
  });
});
