import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionFiles, useCli } from "./cli-process.ts";

/** `tiller -p`: prompts from the command line and stdin, one answer on stdout. */

const start = useCli();

const run = (options: Parameters<typeof start>[0]) => start({ stdin: "", ...options }).ended;

/** What the model must have been asked, or the answer is an error. */
const asked = (text: string): string => `expect user ${JSON.stringify({ equals: text })} + text "yes"`;

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

describe("the answer", () => {
  it.each([[["-p", "hi"]], [["--print", "hi"]], [["hi", "--mode", "text"]]])(
    "to %j is all that stands on stdout",
    async (args) => {
      expect(await run({ args, script: ['thinking "hm" + text "Good" + text " day"'] })).toEqual({
        code: 0,
        stdout: "Good day\n",
        stderr: "",
      });
    },
  );

  it("comes without the tools that somebody would have to approve", async () => {
    const script = [
      'toolCall bash {"command":"touch ran"}',
      'expect toolResult {"includes":"nobody who could be asked"} + text "No."',
    ];
    const cli = start({ args: ["-p", "go", "--approval-mode", "write"], script, stdin: "" });
    expect(await cli.ended).toEqual({ code: 0, stdout: "No.\n", stderr: "" });
    expect(readdirSync(cli.sandbox.cwd)).not.toContain("ran");
  });

  it("is the last one, after the tools and after all prompts", async () => {
    const script = [
      'text "I look" + toolCall read {"path":"a.txt"}',
      'expect toolResult "inside" + text "first"',
      'expect user "two" messages 5 + text "second\\u2028line"',
    ];
    const { code, stdout, stderr } = await run({ args: ["-p", "one", "two"], script, files: { "a.txt": "inside" } });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "second\u2028line\n", stderr: "" });
  });

  it("is kept in a session that can be gone on with", async () => {
    const first = start({ args: ["-p", "one"], script: ['text "1"'], stdin: "" });
    expect((await first.ended).stdout).toBe("1\n");
    const { sandbox } = first;
    expect(sessionFiles(sandbox)).toHaveLength(1);
    const script = join(sandbox.agentDir, "again.json");
    writeFileSync(script, JSON.stringify({ turns: [{ expect: { messages: 3 }, steps: [{ text: "2" }] }] }));
    const second = await run({ args: ["-p", "--continue", "--script", script, "two"], sandbox });
    expect(second).toMatchObject({ code: 0, stdout: "2\n" });
    expect(sessionFiles(sandbox)).toHaveLength(1);
  });

  it("leaves no file with --no-session, and no process", async () => {
    const script = ['toolCall bash {"command":"sleep 60 & echo hi"}', 'text "ok"'];
    const { sandbox, ended } = start({ args: ["-p", "--no-session", "go"], script, stdin: "" });
    expect(await ended).toMatchObject({ code: 0, stdout: "ok\n" });
    expect(readdirSync(sandbox.agentDir)).not.toContain("sessions");
    expect(sandbox.processes()).toEqual([]);
  });

  it("of the offline model comes with a word about it on stderr", async () => {
    const { code, stdout, stderr } = await run({ args: ["-p", "hi"] });
    expect([code, stdout, stderr]).toEqual([
      0,
      expect.stringContaining("offline model"),
      expect.stringContaining("not a language model"),
    ]);
  });

  it("of a megabyte arrives whole, also when its reader is slow", async () => {
    const cli = start({ args: ["-p", "go"], script: ['text "0123456789abcdef" times 65536'], stdin: "" });
    cli.child.stdout.pause();
    await new Promise((resolve) => setTimeout(resolve, 300));
    cli.child.stdout.resume();
    const { code, stdout } = await cli.ended;
    expect([code, stdout.length]).toEqual([0, 16 * 65536 + 1]);
  });
});

it("shows a model no images when the settings say so", async () => {
  const { code, stdout } = await run({
    args: ["-p", "--set", "images.blockImages=true", "@picture.png", "look"],
    files: { "picture.png": PNG },
    script: [`expect user ${JSON.stringify({ includes: "image left out: the setting" })} + text "seen"`],
  });
  expect([code, stdout]).toEqual([0, "seen\n"]);
});

it("tells once what it could not load, and names the file that it could not read", async () => {
  const { code, stderr } = await run({
    args: ["-p", "-e", "no-such.ts", "--system-prompt", "/dev/zero", "--thinking", "hard", "hi"],
    script: ['text "x"'],
  });
  expect([code, stderr.trim().split("\n")]).toEqual([
    1,
    [
      expect.stringContaining('Warning: --thinking is "hard" and is ignored'),
      expect.stringMatching(/^tiller: --extension names no-such.ts, but there is no file/),
      "Error: --system-prompt: /dev/zero: not a regular file, so it is not read",
    ],
  ]);
});

describe("what is asked", () => {
  it.each<[what: string, args: string[], stdin: string, message: string]>([
    ["text on stdin alone", ["-p"], "from the pipe\n", "from the pipe"],
    ["text on stdin, then the message", ["-p", "why?"], "log\n", "log\n\nwhy?"],
    ["a message behind --", ["-p", "--", "--model"], "", "--model"],
    ["a message that begins with a dash", ["-p", "- be short"], "", "- be short"],
  ])("is %s", async (_, args, stdin, message) => {
    expect(await start({ args, stdin, script: [asked(message)] }).ended).toMatchObject({ code: 0, stdout: "yes\n" });
  });

  it("holds the files behind @, images as images", async () => {
    const { sandbox, ended } = start({
      args: ["-p", "@notes.md", "look", "@picture.png"],
      stdin: "log",
      files: { "notes.md": "# Notes", "picture.png": PNG },
      script: ['text "seen"'],
    });
    expect(await ended).toMatchObject({ code: 0, stdout: "seen\n", stderr: "" });
    const entries = readFileSync(sessionFiles(sandbox)[0] ?? "", "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const { cwd } = sandbox;
    expect(entries.find(({ message }) => message?.role === "user").message.content).toEqual([
      {
        type: "text",
        text: `log\n\n<file name="${cwd}/notes.md">\n# Notes\n</file>\n<file name="${cwd}/picture.png"></file>\n\nlook`,
      },
      { type: "image", mimeType: "image/png", data: PNG.toString("base64") },
    ]);
  });

  it("waits for stdin to end, and says so after a while", async () => {
    const cli = start({ args: ["-p", "go"], script: [asked("late\n\ngo")] });
    await cli.seen("stderr", "waiting for the end of stdin");
    cli.child.stdin.end("late");
    expect(await cli.ended).toMatchObject({ code: 0, stdout: "yes\n" });
  });
});

describe("failing", () => {
  it.each<[what: string, args: string[], code: number, stderr: string]>([
    ["nothing to ask", ["-p"], 2, "Error: there is nothing to ask"],
    ["a file that is not there", ["-p", "@gone.txt", "x"], 1, "Error: @gone.txt: no such file"],
    ["no model", ["-p", "--no-offline-model", "x"], 1, "Error: No model selected"],
    ["a session that is not there", ["-p", "--session", "abcdef", "x"], 1, "abcdef"],
    ["an option nobody knows", ["-p", "--frobnicate", "x"], 2, "Unknown option: --frobnicate"],
  ])("%s", async (_, args, code, stderr) => {
    const end = await run({ args });
    expect([end.code, end.stdout]).toEqual([code, ""]);
    expect(end.stderr).toContain(stderr);
  });

  it("the model: its error on stderr, nothing on stdout", async () => {
    const script = ['text "half" + error 400 "bad request"'];
    const { code, stdout, stderr } = await run({ args: ["-p", "go"], script });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("Error: bad request");
  });

  it("before the last prompt is told; the last one decides", async () => {
    const script = ['error 400 "bad request"', 'text "fine"'];
    const { code, stdout, stderr } = await run({ args: ["-p", "one", "two"], script });
    expect([code, stdout]).toEqual([0, "fine\n"]);
    expect(stderr).toContain("Error: bad request");
  });

  it("for a moment is told as well", async () => {
    const script = ['error 503 "overloaded"', 'text "fine"'];
    const { code, stdout, stderr } = await run({ args: ["-p", "--set", "retry.baseDelayMs=1", "go"], script });
    expect([code, stdout]).toEqual([0, "fine\n"]);
    expect(stderr).toMatch(/overloaded; trying again in 0\.0 s \(1 of 3\)/);
  });

  it("by a limit gives what there is, and 1", async () => {
    const script = ['text "so far" + toolCall ls {}', 'text "never"'];
    const { code, stdout, stderr } = await run({ args: ["-p", "--max-turns", "1", "go"], script });
    expect([code, stdout]).toEqual([1, "so far\n"]);
    expect(stderr).toContain("Error: Stopped: ");
  });
});

describe("being told to go", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s during a run: children end, the session is written, the exit code is %i", async (signal, code) => {
    const script = ['toolCall bash {"command":"echo started > mark; sleep 60"}'];
    const { child, sandbox, ended } = start({ args: ["-p", "go"], script, stdin: "" });
    await expect.poll(() => readdirSync(sandbox.cwd), { timeout: 10_000 }).toContain("mark");
    child.kill(signal);
    expect(await ended).toMatchObject({ code, stdout: "" });
    expect(sandbox.processes()).toEqual([]);
    expect(readFileSync(sessionFiles(sandbox)[0] ?? "", "utf8")).toContain('"toolResult"');
  });

  it("SIGINT while it waits for stdin: 130", async () => {
    const cli = start({ args: ["--mode", "json", "go"], script: ['text "x"'] });
    await cli.seen("stdout", '"type":"session"');
    cli.child.kill("SIGINT");
    expect(await cli.ended).toMatchObject({ code: 130 });
  });
});
