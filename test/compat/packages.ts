import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { at } from "../support/frame.ts";
import { say, useTool } from "../support/mock-llm.ts";
import { type Checks, check, expectText, expectTrue, part } from "./check.ts";
import { gitEnv, repository } from "./surroundings.ts";

/** Packages from the registry that many install, each at one version; they are loaded by the setting `packages`. */

/** A server of the Model Context Protocol with one tool, on stdio. */
const MCP_SERVER = `
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
const tool = { name: "hail", description: "Hails a ship", inputSchema: { type: "object", properties: { ship: { type: "string" } } } };
const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "deck", version: "1" } }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": ({ arguments: given }) => ({ content: [{ type: "text", text: "Ahoy, " + given.ship + "!" }] }),
  ping: () => ({}),
};
let rest = "";
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const line of lines.filter(Boolean)) {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) answer(id, methods[method]?.(params) ?? {});
  }
});
`;

export const PACKAGES: Checks = {
  "pi-mcp-adapter@2.36.0": check(
    "its tool `mcp` starts the server of `.mcp.json`, and calls its tool",
    {
      files: {
        "deck.mjs": MCP_SERVER,
        ".mcp.json": JSON.stringify({ mcpServers: { deck: { command: process.execPath, args: ["deck.mjs"] } } }),
      },
      script: [
        'toolCall mcp {"connect":"deck"}',
        'toolCall mcp {"tool":"deck_hail","args":{"ship":"Swallow"}}',
        'text "Done."',
      ],
    },
    async (host) => {
      await host.prompt("hail");
      expectText("mcp", host.result("mcp").text, "Ahoy, Swallow!");
    },
  ),
  "pi-web-access@0.28.0": part(
    "`fetch_content` is called and keeps its promise not to fetch from this machine; nothing outside is asked for",
    { script: ['toolCall fetch_content {"url":"http://127.0.0.1:9/"}', 'text "Done."'] },
    async (host) => {
      await host.prompt("fetch");
      expectText("fetch_content", host.result("fetch_content").text, /private|blocked|localhost|loopback|not allowed/i);
      expectTrue("its commands", (await host.commandNames()).includes("websearch"), await host.commandNames());
    },
  ),
  "pi-prompt-template-model@0.12.2": check(
    "a template with `model` is answered by that model; afterwards the one before is back",
    {
      files: {
        ".pi/prompts/quick.md": "---\ndescription: quick\nmodel: mock-openai-completions/mock-1\n---\nQuickly: $@",
      },
      args: ["--approve"],
      replies: [say("There.")],
    },
    async (host) => {
      await host.prompt("/quick find it");
      await host.seen("the answer", (frame) => frame.type === "agent_end");
      expectText("the path", host.mock?.requests[0]?.path ?? "", "/chat/completions");
      expectText("the request", host.request(0), "Quickly: find it");
      await host.seen("the model before", (frame) => frame.type === "session_settled");
      const { model } = await host.call("get_state");
      expectTrue("the model before", at(model, "provider") === "mock", model);
    },
  ),
  "@aliou/pi-processes@0.12.0": check(
    "`process` starts a command in the background and knows of it; when the session ends so does the command",
    {
      script: [
        'toolCall process {"action":"start","name":"clock","command":"echo tick; sleep 300"}',
        'toolCall process {"action":"list"}',
        'text "Done."',
      ],
    },
    async (host) => {
      await host.prompt("start");
      expectText("process", host.result("process").text, "clock");
      const isThere = (): boolean => host.rpc.sandbox.processes().some(({ command }) => command.includes("sleep 300"));
      expectTrue("the command runs", isThere(), host.rpc.sandbox.processes());
      host.rpc.closeStdin();
      await host.rpc.waitExit();
      expectTrue("the command has ended", !isThere(), host.rpc.sandbox.processes());
    },
  ),
  "@tintinweb/pi-subagents@0.14.1": part(
    "`/agents` shows its menu; its agents need `createAgentSession`, which is not offered, and the model is told",
    {
      script: [
        `toolCall Agent ${JSON.stringify({ subagent_type: "Explore", prompt: "find", description: "find" })}`,
        'text "Done."',
      ],
    },
    async (host) => {
      host.send("prompt", { message: "/agents" });
      await host.answer("select", "Agents", /^Agent types/);
      await host.told("ctx.ui.custom() needs a terminal");
      await host.answer("select", "Agents", null);
      await host.prompt("where is the harbour");
      expectText("Agent", host.result("Agent").text, "is not available inside an extension here");
    },
  ),
  "pi-subagents@0.67.0": part(
    "`subagent` lists its agents, `/subagents-doctor` reports; agents in the process need `createAgentSession`, which is not offered",
    { script: ['toolCall subagent {"action":"list"}', 'text "Done."'] },
    async (host) => {
      await host.prompt("list");
      expectText("subagent", host.result("subagent").text, "scout");
      await host.prompt("/subagents-doctor");
    },
  ),
  "@tmustier/pi-ralph-wiggum@0.2.3": check(
    "`ralph_start` writes the task and begins its loop; `ralph_done` goes on to the next round",
    {
      replies: [
        useTool("ralph_start", { name: "paint", taskContent: "# Paint the hull\n- [ ] port side" }),
        say("Started."),
        useTool("ralph_done", {}),
        say("On."),
        say("All done. <promise>COMPLETE</promise>"),
      ],
    },
    async (host) => {
      host.send("prompt", { message: "paint" });
      await host.seen("the fifth answer", () => (host.mock?.requests.length ?? 0) >= 5);
      expectText("the task", readFileSync(join(host.cwd, ".ralph/paint.md"), "utf8"), "port side");
      expectText("the loop", host.request(2), "paint");
      await host.call("abort");
    },
  ),
  "pi-btw@0.4.1": part(
    "`/btw:thinking` is kept in the session; `/btw` needs `createAgentSession`, which is not offered, and an extension_error says so",
    { replies: [], error: "is not available inside an extension here" },
    async (host) => {
      await host.prompt("/btw:thinking low");
      await host.notify("low");
      expectTrue(
        "an entry",
        (await host.entries()).some((entry) => String(entry.customType).startsWith("btw")),
        "",
      );
      await host.prompt("/btw what is that");
      expectText("the error", host.errors().join("\n"), "is not available inside an extension here");
    },
  ),
  "pi-caffeinate@2.0.0": check(
    "the machine is kept awake while the model answers, and no longer",
    {
      programs: {
        "systemd-inhibit":
          'echo awake >> "$HOME/awake"; trap \'echo asleep >> "$HOME/awake"; exit\' TERM; while :; do sleep 0.1; done',
        caffeinate: 'exec systemd-inhibit "$@"',
      },
      script: ['text "tick " times 20 pace 25'],
    },
    async (host) => {
      await host.prompt("hello");
      const file = join(host.rpc.sandbox.home, "awake");
      await host.call("bash", { command: "sleep 0.3" });
      expectText("what was done", existsSync(file) ? readFileSync(file, "utf8") : "", "awake\nasleep\n");
    },
  ),
  "pi-simplify@0.2.2": check(
    "`/simplify` finds the changed files and asks the model to simplify them",
    { prepare: repository("echo two >> notes.txt"), env: gitEnv, replies: [say("Nothing to simplify.")] },
    async (host) => {
      await host.prompt("/simplify");
      await host.seen("the answer", (frame) => frame.type === "agent_end");
      expectText("the request", host.request(0), "notes.txt");
    },
  ),
  "@juicesharp/rpiv-todo@2.11.0": check(
    "`todo` keeps a list, and `/todos` shows it, also after a reload",
    {
      script: [
        'toolCall todo {"action":"create","subject":"Paint the hull"}',
        'toolCall todo {"action":"update","id":1,"status":"in_progress"}',
        'text "Done."',
      ],
    },
    async (host) => {
      await host.prompt("/todos");
      await host.notify("No todos yet");
      await host.prompt("plan");
      expectText("todo", host.result("todo").text, "in_progress");
      await host.prompt("/todos");
      await host.notify("Paint the hull");
    },
  ),
  "pi-autoresearch@1.6.0": check(
    "an experiment is set up, run and measured, and its result is in the log and in a widget",
    {
      prepare: repository(),
      env: gitEnv,
      script: [
        'toolCall init_experiment {"name":"speed","metric_name":"seconds","metric_unit":"s","direction":"lower"}',
        'toolCall run_experiment {"command":"echo METRIC seconds=3"}',
        'toolCall log_experiment {"commit":"abc1234","metric":3,"status":"keep","description":"baseline"}',
        'text "Done."',
      ],
    },
    async (host) => {
      await host.prompt("/autoresearch make it faster");
      await host.seen("the end", (frame) => frame.type === "session_settled");
      expectText("run_experiment", host.result("run_experiment").text, "METRIC seconds=3");
      expectText("log_experiment", host.result("log_experiment").text, /baseline|keep/);
      expectText("the log", readFileSync(join(host.cwd, ".auto/log.jsonl"), "utf8"), "baseline");
    },
  ),
  "@gotgenes/pi-permission-system@20.7.3": check(
    "what its configuration denies is blocked, what it wants to be asked about is asked",
    {
      agentFiles: {
        "extensions/pi-permission-system/config.json": JSON.stringify({
          permission: { "*": "allow", bash: { "*": "ask", "rm -rf *": "deny" } },
        }),
      },
      script: [
        'toolCall bash {"command":"rm -rf nothing"}',
        'toolCall bash {"command":"echo allowed"}',
        'text "Done."',
      ],
    },
    async (host) => {
      host.send("prompt", { message: "clean up" });
      await host.next("the first call", (frame) => frame.type === "tool_execution_end");
      expectTrue("denied", host.result("bash").isError, host.result("bash"));
      await host.answer("select", /./, /yes|approve|allow|once/i);
      await host.next("the end", (frame) => frame.type === "session_settled");
      expectText("bash", host.result("bash").text, "allowed");
    },
  ),
};
