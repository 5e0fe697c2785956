import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { linesOf, useCli } from "../modes/cli-process.ts";
import { RpcProcess } from "../support/rpc-process.ts";
import { command, extension, tool, useBad, worksStill } from "./bad-support.ts";

/** The other modes have nobody who could answer, and stdout is what somebody wants to have. */

const run = useCli();
const start = useBad();

const CASES: readonly [string, string, number][] = [
  [
    "asks",
    tool(
      "act",
      `return JSON.stringify([await ctx.ui.confirm("?", "?"), await ctx.ui.select("?", ["a"]), await ctx.ui.input("?"), await ctx.ui.editor("?"), ctx.hasUI].map(String));`,
    ),
    0,
  ],
  [
    "shows",
    tool(
      "act",
      `ctx.ui.notify("note"); ctx.ui.setStatus("a", "b"); ctx.ui.setWidget("a", ["b"]); ctx.ui.setTitle("t"); ctx.ui.setEditorText("x"); await ctx.ui.custom?.(() => {}); return "x";`,
    ),
    0,
  ],
  ["shuts down", tool("act", `ctx.shutdown(); return "x";`), 0],
  ["shuts down at the start", `pi.on("session_start", (e, ctx) => { ctx.shutdown(); });`, 0],
  [
    "throws everywhere",
    `for (const h of ["session_start", "input", "before_agent_start", "agent_start", "turn_start", "message_start", "message_update", "message_end", "turn_end", "agent_end", "agent_settled", "session_shutdown", "context"]) pi.on(h, () => { throw new Error("no"); });`,
    0,
  ],
  [
    "prints",
    `console.log("SPOILED"); process.stdout.write("SPOILED"); pi.on("turn_end", () => { console.log("SPOILED"); });`,
    0,
  ],
  ["cannot be loaded", `throw new Error("no");`, 0],
  ["leaves a rejected promise", `pi.on("turn_start", () => { Promise.reject(new Error("no")); });`, 0],
  ["throws in a timer", `pi.on("turn_start", () => { setTimeout(() => { throw new Error("no"); }, 0); });`, 0],
  ["exits in a handler", `pi.on("turn_start", () => { process.exit(7); });`, 7],
  ["exits at the start", `pi.on("session_start", () => { process.exit(7); });`, 7],
  ["exits while it is loaded", "process.exit(7);", 7],
  ["never ends", `pi.on("turn_start", () => { for (;;) {} });`, 124],
  ["hangs when it is to go", `pi.on("session_shutdown", async () => { await new Promise(() => {}); });`, 0],
  ["has a timer that never ends", "setInterval(() => {}, 1000);", 0],
];

test.each(CASES.flatMap(([what, code, exitCode]) => ["-p", "json"].map((mode) => ({ what, code, exitCode, mode }))))(
  "$mode: an extension that $what",
  async ({ code, exitCode, mode }) => {
    const args = mode === "-p" ? ["-p", "go"] : ["--mode", "json", "go"];
    const cli = run({
      args: [...args, "--set", "extensionLimits.stuckMs=300"],
      script: code.includes("registerTool")
        ? ["toolCall act {}", 'text "The answer."']
        : ['delay 20 + text "The answer."'],
      agentFiles: { "extensions/bad.ts": extension(code) },
      stdin: "",
    });
    const end = await cli.ended;
    expect(end.code).toBe(exitCode);
    expect(end.stdout).not.toContain("SPOILED");
    if (mode === "json") linesOf(end);
    if (exitCode === 0 && mode === "-p") expect(end.stdout).toBe("The answer.\n");
  },
);

test("a command in print mode prints nothing and ends with 0", async () => {
  const cli = run({
    args: ["-p", "/act"],
    script: ['text "never"'],
    agentFiles: { "extensions/bad.ts": extension(command("act", `ctx.ui.notify("done");`)) },
    stdin: "",
  });
  expect(await cli.ended).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("done") });
});

test("two processes with extensions on one session file: the second is told, and neither spoils it", async () => {
  const code = extension(`pi.on("turn_end", () => { pi.appendEntry("x", { a: 1 }); });`);
  const first = start(code, { script: ['text "one"', 'text "two"'] });
  await worksStill(first);
  const { data } = await first.call({ type: "get_state" });
  const { sessionFile } = data as { sessionFile: string };
  const second = new RpcProcess({
    mode: ["--mode", "rpc", "--session", sessionFile, "--cwd", first.sandbox.cwd],
    // The same user: locks and extensions are the same.
    env: { TILLER_DIR: first.sandbox.agentDir },
    script: ['text "three"'],
  });
  const answer = await second.call({ type: "prompt", message: "go" });
  expect(answer.success).toBe(false);
  await worksStill(first);
  await second.dispose();
  const lines = readFileSync(sessionFile, "utf8").trimEnd().split("\n");
  for (const line of lines) JSON.parse(line);
});
