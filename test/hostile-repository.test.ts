import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useCli } from "./modes/cli-process.ts";
import { cliPath } from "./support/rpc-process.ts";
import { createSandbox } from "./support/sandbox.ts";

/** The program in a folder that somebody else has filled: what lies there must lead nowhere, and stop nothing. See SECURITY.md. */

const run = useCli();

const BAD_LINE = "touch /tmp/OWNED; #";
const OWN = "# mine\n";

/** A sandbox with a session in the working folder, and a file of the user's. */
function prepared(files: Record<string, string> = {}) {
  const sandbox = createSandbox({ files });
  const { cwd, home } = sandbox;
  const bashrc = join(home, ".bashrc");
  writeFileSync(bashrc, OWN);
  const time = "2026-01-01T00:00:00.000Z";
  const lines = [
    JSON.stringify({ type: "session", version: 3, id: "s1", timestamp: time, cwd }),
    JSON.stringify({
      type: "message",
      id: "a",
      parentId: null,
      timestamp: time,
      message: { role: "user", content: "hi" },
    }),
  ];
  const path = join(cwd, "s.jsonl");
  const write = (...more: string[]): void => writeFileSync(path, `${[...lines, ...more].join("\n")}\n`);
  return { sandbox, cwd, bashrc, path, write };
}

describe.runIf(process.platform !== "win32")("a session file that needs repair, beside which", () => {
  const open = (path: string) => ["--mode", "rpc", "--session", path];
  const repair = (path: string) => ["sessions", "repair", path];

  it.each([
    ["opening", open],
    ["tiller sessions repair", repair],
  ])("a link to a file of the user's lies, is kept out of it by %s", async (_, args) => {
    const { sandbox, cwd, bashrc, path, write } = prepared();
    write(BAD_LINE);
    symlinkSync("../home/.bashrc", `${path}.damaged`);
    const { code, stdout } = await run({ sandbox, args: args(path), stdin: "" }).ended;
    expect([code, readFileSync(bashrc, "utf8")]).toEqual([0, OWN]);
    const aside = readdirSync(cwd).find((name) => /^s\.jsonl\.damaged-[0-9a-f]+$/.test(name)) ?? "none";
    expect(stdout).toContain(join(cwd, aside));
    expect(readFileSync(join(cwd, aside), "utf8")).toContain(BAD_LINE);
  });

  it.each([
    ["opening", open],
    ["tiller sessions repair", repair],
  ])("a pipe lies, is repaired by %s", async (_, args) => {
    const { sandbox, path, write } = prepared();
    write(BAD_LINE);
    execFileSync("mkfifo", [`${path}.damaged`]);
    const { code } = await run({ sandbox, args: args(path), stdin: "" }).ended;
    expect([code, readFileSync(path, "utf8").includes(BAD_LINE)]).toEqual([0, false]);
  });

  it("switch_session leaves the target of a dangling link alone", async () => {
    const { sandbox, path, write } = prepared();
    write(BAD_LINE);
    symlinkSync("../home/.zshrc", `${path}.damaged`);
    const stdin = `${JSON.stringify({ type: "switch_session", sessionPath: path })}\n`;
    const { stdout } = await run({ sandbox, args: ["--mode", "rpc"], stdin }).ended;
    expect(stdout).toContain('"command":"switch_session","success":true');
    expect(existsSync(join(sandbox.home, ".zshrc"))).toBe(false);
  });
});

describe.runIf(process.platform !== "win32")("a pipe instead of a session file is refused by", () => {
  it.each<[what: string, args: (path: string) => string[], stdin?: (path: string) => object]>([
    ["--session", (path) => ["--mode", "rpc", "--session", path]],
    ["--fork", (path) => ["--mode", "rpc", "--fork", path]],
    ["switch_session", () => ["--mode", "rpc"], (sessionPath) => ({ type: "switch_session", sessionPath })],
    ["sessions show", (path) => ["sessions", "show", path]],
    ["sessions verify", (path) => ["sessions", "verify", path]],
    ["sessions repair", (path) => ["sessions", "repair", path]],
    ["export", (path) => ["export", path]],
  ])("%s", async (_, args, stdin) => {
    const { sandbox, path } = prepared();
    execFileSync("mkfifo", [path]);
    const sent = stdin ? `${JSON.stringify(stdin(path))}\n` : "";
    const { code, stdout, stderr } = await run({ sandbox, args: args(path), stdin: sent }).ended;
    if (stdin) expect(stdout).toContain('"success":false');
    else expect(code).not.toBe(0);
    expect(stdout + stderr).toContain("s.jsonl");
  });
});

it.runIf(process.platform !== "win32")("export_html without a path does not write through a link", async () => {
  const { sandbox, cwd, bashrc, path, write } = prepared();
  write();
  symlinkSync(bashrc, join(cwd, "tiller-session-s.html"));
  const args = ["--mode", "rpc", "--session", path];
  const { stdout } = await run({ sandbox, args, stdin: `${JSON.stringify({ type: "export_html" })}\n` }).ended;
  expect(stdout).toContain("a link lies there");
  expect(readFileSync(bashrc, "utf8")).toBe(OWN);
});

describe("text of a repository on a terminal", () => {
  const HOSTILE = "\u001b]52;c;cHduZWQ=\u0007\u001b[2J\u202e\u009b1A";
  const FORGED = "a\ntiller: forged line";
  const files = {
    ".tiller/settings.json": JSON.stringify({
      [HOSTILE]: 1,
      [FORGED]: 2,
      defaultModel: `${HOSTILE}${FORGED}`,
      enabledModels: [`${HOSTILE}${FORGED}`],
      approval: { deny: [`${HOSTILE}${FORGED}(`] },
    }),
  };
  const STEERS = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u;
  /** Nothing steers, and no line begins with words of the repository. */
  const check = (text: string): void => {
    expect(text).toContain("\\u{1b}");
    expect(text).not.toMatch(STEERS);
    expect(text).not.toMatch(/^tiller: forged/m);
  };

  it.each<[args: string[]]>([
    [["-p", "hi"]],
    [["--mode", "rpc"]],
    [["doctor", "--offline"]],
    [["config"]],
    [["models", "--offline"]],
    [["sessions", "list"]],
    [["export", "s.jsonl"]],
  ])("does not steer it through %s", async (args) => {
    const { sandbox, write } = prepared(files);
    write();
    const { stdout, stderr } = await run({ sandbox, args, stdin: "" }).ended;
    check(args.includes("rpc") ? stderr : stderr + stdout);
  });

  it("nor does the folder that a session names", async () => {
    const { sandbox, cwd, path } = prepared();
    const header = { type: "session", version: 3, id: "s1", cwd: join(cwd, `no${HOSTILE}${FORGED}`) };
    writeFileSync(path, `${JSON.stringify(header)}\n`);
    check((await run({ sandbox, args: ["--mode", "rpc", "--session", path], stdin: "" }).ended).stderr);
    const { stdout } = await run({ sandbox, args: ["sessions", "show", path], stdin: "" }).ended;
    expect(stdout).toMatch(/^folder .*no/m);
    expect(stdout).not.toMatch(STEERS);
  });
});

describe.runIf(existsSync("/usr/bin/script"))("the answer of -p", () => {
  const said = "a \u001b]0;title\u0007b\u202e";
  const script = [`text ${JSON.stringify(said)}`];

  it("is shown on a terminal without what steers it, and is as it was said in a pipe", async () => {
    const { stdout, ended } = await answer();
    expect(stdout).toContain(said);
    expect(ended).toContain("a \\u{1b}]0;title\\u{7}b\\u{202e}");
  });

  async function answer() {
    const { stdout, code } = await run({ args: ["-p", "hi"], script, stdin: "" }).ended;
    expect(code).toBe(0);
    const cli = run({ args: ["-p", "hi"], script, stdin: "" });
    await cli.ended;
    const { sandbox } = cli;
    const command = [process.execPath, cliPath(), "--script", join(sandbox.agentDir, "model-script.json"), "-p", "hi"];
    const ended = execFileSync("script", ["-qec", command.join(" "), "/dev/null"], {
      cwd: sandbox.cwd,
      env: sandbox.env,
      input: "",
      encoding: "utf8",
    });
    return { stdout, ended };
  }
});
