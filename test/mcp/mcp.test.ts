import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Frame } from "../support/frame.ts";
import { repoRoot, useRpc } from "../support/rpc-process.ts";

/** Users' MCP servers and the real program: called, aborted, dying, misspelt, of a project that nobody has approved. */

const start = useRpc();
const SERVER = join(repoRoot, "test/support/mcp-server.mjs");
const deck = { command: process.execPath, args: [SERVER], env: { PORT: "$HARBOUR" } };
const files = (servers: object) => ({ "mcp.json": JSON.stringify({ mcpServers: servers }, null, 1) });
const noticesIn = (frames: readonly Frame[]) =>
  frames.flatMap(({ type, message }) => (type === "notice" ? [message] : []));
const resultIn = (frames: readonly Frame[]) =>
  frames.flatMap(({ type, result, isError }) =>
    type === "tool_execution_end" ? [[(result as { content: { text: string }[] }).content[0]?.text, isError]] : [],
  );

test("a server of the user's: called, aborted, dead, started again; what is wrong in the file is told", async () => {
  const agent = start({
    args: ["--no-session"],
    env: { HARBOUR: "Bergen", ANTHROPIC_API_KEY: "sk-ant-secret" },
    agentFiles: files({ deck, typo: { comand: "x" }, ashore: { command: "no-such-program" } }),
    script: [
      'toolCall mcp__deck__environment {"name":"PORT"} + toolCall mcp__deck__environment {"name":"ANTHROPIC_API_KEY"} + toolCall mcp__deck__environment {"name":"cwd"}',
      'text "Aye."',
      "toolCall mcp__deck__wait {}",
      "toolCall mcp__deck__heard {}",
      'text "Aye."',
      "toolCall mcp__deck__die {}",
      'toolCall mcp__deck__hail {"ship":"Swallow"} + toolCall mcp__deck__environment {"name":"pid"}',
      'text "Aye."',
      'toolCall mcp__deck__environment {"name":"pid"}',
      'text "Aye."',
    ],
  });
  const file = join(agent.sandbox.agentDir, "mcp.json");
  const first = await agent.prompt("Where are we?");
  expect(resultIn(first.frames)).toEqual([
    ["PORT=Bergen", false],
    ["ANTHROPIC_API_KEY=undefined", false],
    // Nobody trusts the project.
    [`cwd=${realpathSync(agent.sandbox.agentDir)}`, false],
  ]);
  expect(noticesIn(agent.frames).toSorted()).toEqual([
    `${file}:12:3: mcpServers.typo needs either "command" or "url"`,
    `MCP server "ashore": could not be started, so its tools are missing (${file} names it, and may say "disabled": true): Cannot start the command: no-such-program does not exist (ENOENT)`,
    'MCP server "deck": its tool "broken" is left out: its inputSchema cannot be used: "type" is "strnig"',
  ]);
  const context = await agent.call({ type: "get_context" });
  expect(JSON.stringify(context)).toContain('{"name":"mcp__deck__hail","path":"<mcp:deck>"');

  const waiting = agent.prompt("Wait");
  await agent.waitFor((frame) => frame.type === "tool_execution_update" && JSON.stringify(frame).includes("half way"));
  agent.send({ type: "abort" });
  expect((await waiting).result.status).toBe("aborted");
  const heard = await agent.prompt("What has it heard?");
  expect(resultIn(heard.frames)).toEqual([["notifications/initialized, notifications/cancelled", false]]);

  const third = await agent.prompt("Die and hail");
  const why = "it has ended (exit code 3). On stderr it said:\nman overboard";
  expect(resultIn(third.frames)).toEqual([
    [`MCP server "deck": ${why}`, true],
    ["Ahoy, Swallow!", false],
    [expect.stringMatching(/^pid=\d+$/), false],
  ]);
  expect(noticesIn(third.frames)).toContain(
    `MCP server "deck": has ended, and is started again when it is needed: ${why}`,
  );

  // The same server goes on in another session.
  await agent.call({ type: "new_session" });
  const last = await agent.prompt("Still there?");
  expect(resultIn(last.frames)).toEqual(resultIn(third.frames).slice(-1));
});

test("no key of a provider reaches a server, unless its own entry names the variable", async () => {
  const env = {
    CORP2_LLM_KEY: "key-of-corp",
    HDR_SECRET: "value-of-header",
    STORED_LLM: "key-in-auth",
    NAMED_LLM: "key-for-the-server",
    ANTHROPIC_AUTH_TOKEN: "token-1",
    AWS_SECRET_ACCESS_KEY: "token-2",
    GOOGLE_GENERATIVE_AI_API_KEY: "token-3",
    EDITOR_OF_CHOICE: "ed",
  };
  const corp2 = {
    baseUrl: "http://127.0.0.1:9/v1",
    api: "openai-completions",
    apiKey: "$CORP2_LLM_KEY",
    headers: { "x-h": "$HDR_SECRET", "x-n": `Bearer \${NAMED_LLM}` },
    models: [{ id: "m" }],
  };
  const calls = Object.keys(env).map((name) => `toolCall mcp__deck__environment ${JSON.stringify({ name })}`);
  const agent = start({
    args: ["--no-session"],
    env,
    agentFiles: {
      ...files({ deck: { ...deck, env: { NAMED_LLM: "$NAMED_LLM" } } }),
      "models.json": JSON.stringify({ providers: { corp2 } }),
      "auth.json": JSON.stringify({ groq: { type: "api_key", key: "$STORED_LLM" } }),
    },
    script: [calls.join(" + "), 'text "Aye."'],
  });
  const { frames } = await agent.prompt("What do you know?");
  const kept: Record<string, string> = { NAMED_LLM: "key-for-the-server", EDITOR_OF_CHOICE: "ed" };
  expect(resultIn(frames)).toEqual(Object.keys(env).map((name) => [`${name}=${kept[name]}`, false]));
});

test("no key of a provider that an extension registers reaches a server, and a later one no server that starts after it", async () => {
  const env = { CORP_KEY: "k-1", CORP_HEADER: "k-2", BEGUN_KEY: "k-3", LATE_KEY: "k-4", EDITOR_OF_CHOICE: "ed" };
  const extension = `export default (pi) => {
    const provider = (apiKey, headers) =>
      ({ baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", apiKey, headers, models: [{ id: "m" }] });
    pi.registerProvider("corp", provider("CORP_KEY", { "x-h": "Bearer \${CORP_HEADER}" }));
    pi.on("session_start", () => pi.registerProvider("begun", provider("$BEGUN_KEY")));
    pi.registerCommand("late", { handler: async () => pi.registerProvider("late", provider("$LATE_KEY")) });
  };`;
  const asks = Object.keys(env)
    .map((name) => `toolCall mcp__deck__environment ${JSON.stringify({ name })}`)
    .join(" + ");
  const agent = start({
    args: ["--no-session"],
    env,
    agentFiles: { ...files({ deck: { ...deck, env: {} } }), "extensions/corp.js": extension },
    script: [asks, 'text "Aye."', "toolCall mcp__deck__die {}", asks, 'text "Aye."'],
  });
  const before = await agent.prompt("What do you know?");
  const seen = (kept: Record<string, string>) => Object.keys(env).map((name) => [`${name}=${kept[name]}`, false]);
  expect(resultIn(before.frames)).toEqual(seen({ LATE_KEY: "k-4", EDITOR_OF_CHOICE: "ed" }));
  await agent.prompt("/late");
  const after = await agent.prompt("Die, and say it again");
  expect(resultIn(after.frames).slice(1)).toEqual(seen({ EDITOR_OF_CHOICE: "ed" }));
});

test("servers of a project need a yes; --no-mcp means none at all", async () => {
  const mark = (cwd: string) => join(cwd, "started");
  const touching = { command: process.execPath, args: ["-e", "require('fs').writeFileSync('started', '')"] };
  const inProject = { ".tiller/mcp.json": JSON.stringify({ mcpServers: { touching } }) };
  const say = { script: ['text "Aye."'], files: inProject };
  const untrusted = start({ ...say, args: ["--no-session"] });
  const none = start({ ...say, args: ["--no-session", "--approve", "--no-mcp"], agentFiles: files({ touching }) });
  const approved = start({ ...say, args: ["--no-session", "--approve"] });
  await Promise.all([untrusted, none, approved].map((agent) => agent.prompt("Ahoy")));
  const path = join(untrusted.sandbox.cwd, ".tiller/mcp.json");
  expect(noticesIn(untrusted.frames)).toEqual([
    `MCP servers of this project were not started, because nobody has said that it is trusted: ${path}. Start with --approve to start them.`,
  ]);
  expect(noticesIn(none.frames)).toEqual([]);
  expect([untrusted, none, approved].map(({ sandbox }) => existsSync(mark(sandbox.cwd)))).toEqual([false, false, true]);
});
