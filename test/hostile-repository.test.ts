import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useCli } from "./modes/cli-process.ts";
import { createSandbox } from "./support/sandbox.ts";

/** The program in a folder that somebody else has filled: what lies there must lead nowhere, and stop nothing. See SECURITY.md. */

const run = useCli();

const BAD_LINE = "touch /tmp/OWNED; #";
const OWN = "# mine\n";

/** A sandbox with a session in the working folder, and a file of the user's. */
function prepared() {
  const sandbox = createSandbox({});
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
