import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseScriptLine } from "@tiller/ai/providers/script-notation";
import { afterEach, describe, expect, it } from "vitest";
import type { ClientOptions } from "../../packages/coding-agent/src/client/client-options.ts";
import { RpcClient } from "../../packages/coding-agent/src/client/rpc-client.ts";
import { cliPath, repoRoot } from "../support/rpc-process.ts";
import { createSandbox, type Sandbox } from "../support/sandbox.ts";

/** The client and the real program. What can go wrong in between is told beside the client, with agents made for that. */

const cleanup: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

/** More than one frame may have: it comes in pieces. */
const LONG = "ä".repeat(600_000);

function sandboxed(script: string[] = []): Sandbox {
  const turns = script.map((line) => (line === "long" ? [{ text: LONG }] : parseScriptLine(line)));
  const sandbox = createSandbox({
    agentFiles: { "script.json": JSON.stringify({ turns }) },
    files: { "treasure.txt": "gold" },
  });
  cleanup.push(() => sandbox.remove());
  return sandbox;
}

async function clientOf(script: string[], options: ClientOptions = {}): Promise<RpcClient> {
  const sandbox = sandboxed(script);
  const args = ["--script", join(sandbox.agentDir, "script.json"), ...(options.args ?? [])];
  const client = new RpcClient({ cliPath: cliPath(), cwd: sandbox.cwd, env: sandbox.env, ...options, args });
  cleanup.push(() => client.stop());
  await client.start();
  return client;
}

describe("the client drives the real program", () => {
  it("tools, streaming, leaving early, a kill and going on with the session", async () => {
    const calls: unknown[] = [];
    const resumed: unknown[] = [];
    const dies = 'toolCall bash {"command":"kill -9 $PPID; sleep 1"}';
    const client = await clientOf(['toolCall echo_host {"message":"hi"}', 'text "all done"', "long", "hang", dies], {
      restarts: 1,
      resume: (about) => resumed.push(about),
      tools: [
        {
          name: "echo_host",
          description: "Gives back what it gets",
          parameters: { type: "object", properties: { message: { type: "string" } } },
          execute: (args) => {
            calls.push(args);
            return "heard";
          },
        },
      ],
    });
    expect(client.greeting).toMatchObject({ hasResults: true, capabilities: { dialect: "union" } });

    let grown: unknown;
    const types = new Set<string>();
    const run = client.run("go");
    for await (const event of run) {
      types.add(event.type);
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_end")
        grown = event.message.content;
    }
    expect(calls).toEqual([{ message: "hi" }]);
    expect(grown).toEqual([{ type: "text", text: "all done" }]);
    expect([...types]).toContain("tool_execution_end");
    expect(await run.result).toMatchObject({ status: "completed", text: "all done", turns: 2, toolCalls: 1 });
    expect(await client.getLastAssistantText()).toBe("all done");

    expect((await client.ask("tell me everything")).text).toBe(LONG);
    expect((await client.getMessages()).at(-1)).toMatchObject({ content: [{ type: "text", text: LONG }] });

    const left = client.run("and now hang");
    for await (const event of left) if (event.type === "turn_start") break;
    expect(await left.result).toMatchObject({ status: "aborted" });
    await client.waitForSettled();
    const { messageCount } = await client.getState();

    const results: unknown[] = [];
    client.on("message_end", ({ message }) => void (message.role === "toolResult" && results.push(message)));
    await expect(client.ask("and now die")).rejects.toThrow("Agent process was ended by SIGKILL");
    expect(results).toEqual([]);
    const state = await client.getState();
    expect(state.messageCount).toBeGreaterThanOrEqual(messageCount);
    expect(state.lastRunInterrupted).toBe(true);
    // The next process has closed the call that was cut off, and the client hears of it.
    expect(results).toMatchObject([{ role: "toolResult", isError: true }]);
    expect(resumed).toMatchObject([{ missed: false }]);
    await client.whenIdle();
    expect((await client.getMessages())[0]).toMatchObject({ role: "user" });
  });

  it("also as an agent that has no results for prompts", async () => {
    const client = await clientOf(['text "as ever"', 'error 400 "bad"'], { args: ["--dialect", "pi", "--no-session"] });
    expect(client.greeting.hasResults).toBe(false);
    const events = await client.promptAndWait("go");
    expect(events.map(({ type }) => type)).toContain("agent_end");
    expect(await client.ask("go")).toMatchObject({ status: "error", agentInvoked: true });
  });
});

describe("docs/client.md", () => {
  it("has a program that works", () => {
    const example = readFileSync(join(repoRoot, "docs/examples/client.mjs"), "utf8");
    expect(readFileSync(join(repoRoot, "docs/client.md"), "utf8")).toContain(`\`\`\`js\n${example}\`\`\``);
    const sandbox = sandboxed();
    const modules = join(sandbox.root, "node_modules");
    mkdirSync(modules);
    symlinkSync(join(repoRoot, "packages/coding-agent"), join(modules, "tiller"));
    const program = join(sandbox.root, "host.mjs");
    writeFileSync(program, example);
    const { stdout, stderr, status } = spawnSync(process.execPath, [program], {
      cwd: sandbox.cwd,
      env: sandbox.env,
      encoding: "utf8",
      timeout: 15_000,
    });
    expect(stderr).toBe("");
    expect(stdout).toContain("[ls]");
    expect(stdout).toContain("treasure.txt");
    expect(stdout).toContain("Listing `.`.\n");
    expect(stdout).toMatch(/\ncompleted after 2 calls of the model\n.+\n$/);
    expect(status).toBe(0);
  });
});
