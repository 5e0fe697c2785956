import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { cliPath } from "../support/rpc-process.ts";
import { createSandbox, type Sandbox } from "../support/sandbox.ts";

/** The real chat on a real terminal, which Python lends: what is written goes to it as keys, what it shows comes back. */
const TERMINAL = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

function onTerminal(sandbox: Sandbox, args: string[]) {
  const command = ["-c", TERMINAL, process.execPath, cliPath(), "chat", ...args];
  const child = spawn("python3", command, { cwd: sandbox.cwd, env: { ...sandbox.env, TERM: "xterm", NO_COLOR: "1" } });
  let shown = "";
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  open.push(async () => {
    child.stdin.end();
    if (child.exitCode === null) child.kill("SIGKILL");
    await code;
    for (const { pid } of sandbox.processes()) process.kill(pid, "SIGKILL");
    sandbox.remove();
  });
  return {
    code,
    type: (keys: string) => child.stdin.write(keys),
    /** Waits until it is shown, after what was waited for before. */
    async sees(text: string) {
      // The rest is given to be looked at when it does not come.
      await expect.poll(() => shown.slice(seen), { timeout: 10_000 }).toContain(text);
      seen = shown.indexOf(text, seen) + text.length;
    },
  };
}

it("a conversation: streaming, a tool, steering, an abort, a question, and the way out", async () => {
  const turns = [
    [{ text: "Let me look." }, { toolCall: { name: "ls", arguments: { path: "." } } }],
    "There is treasure.",
    [{ text: "I will " }, { endless: "count " }],
    "As you like.",
  ];
  const sandbox = createSandbox({
    files: { "treasure.txt": "gold" },
    agentFiles: { "script.json": JSON.stringify({ turns }) },
  });
  const script = join(sandbox.agentDir, "script.json");
  const chat = onTerminal(sandbox, [
    "--script",
    script,
    "--tools",
    "read,bash,ls",
    "--approval-mode",
    "always",
    "--no-session",
  ]);
  await chat.sees("/quit leaves.");
  chat.type("look around\r");
  await chat.sees("> look around");
  await chat.sees("Let me look.");
  await chat.sees("* ls .");
  await chat.sees("? Allow tool: ls");
  chat.type("1\r");
  await chat.sees("treasure.txt");
  await chat.sees("There is treasure.");
  await chat.sees("> ");

  chat.type("count\r");
  await chat.sees("count count ");
  chat.type("stop that");
  await chat.sees("> stop that");
  chat.type("\r");
  await chat.sees("count ");
  chat.type("\u0003");
  await chat.sees("(aborted)");
  await chat.sees("> stop that");
  chat.type("\r");
  await chat.sees("As you like.");
  await chat.sees("> ");
  chat.type("/quit\r");
  expect(await chat.code).toBe(0);
  expect(sandbox.processes()).toEqual([]);
});
