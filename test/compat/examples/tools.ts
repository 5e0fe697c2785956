import { readFileSync } from "node:fs";
import { join } from "node:path";
import { say, useTool } from "../../support/mock-llm.ts";
import { type Checks, check, expectText, expectTrue, forTerminal, part } from "../check.ts";
import { gitEnv } from "../surroundings.ts";

/** Examples that bring tools, or change those that are there. */

const calls = (...tools: [name: string, args: object][]): string[] => [
  ...tools.map(([name, args]) => `toolCall ${name} ${JSON.stringify(args)}`),
  'text "Done."',
];

/** An extension of ours, loaded beside: tells whose the tools are. */
const WITNESS = `export default function (pi) {
  pi.registerCommand("whose", {
    handler: async (name, ctx) => {
      const tool = pi.getAllTools().find((one) => one.name === name);
      ctx.ui.notify(name + " is of " + tool.sourceInfo.path);
    },
  });
}`;

export const TOOL_EXAMPLES: Checks = {
  "hello.ts": check(
    "the model calls `hello`, which greets",
    { script: calls(["hello", { name: "you" }]) },
    async (host) => {
      await host.prompt("greet");
      expectText("hello", host.result("hello").text, "Hello, you!");
    },
  ),
  gondolin: part(
    "with a stand-in for the virtual machine, which needs QEMU: bash, read, write, edit and ls work in its `/workspace`, and so does the host's own command; the model is told",
    {
      files: { "notes.txt": "low tide\n" },
      replies: [
        useTool("bash", { command: "echo $IN_THE_MACHINE $(cat notes.txt)" }),
        useTool("read", { path: "/workspace/notes.txt" }),
        useTool("write", { path: "log.txt", content: "one\n" }),
        useTool("edit", { path: "log.txt", edits: [{ oldText: "one", newText: "two" }] }),
        useTool("ls", { path: "." }),
        say("Done."),
      ],
    },
    async (host) => {
      await host.notify("Gondolin VM ready");
      await host.prompt("look around");
      expectText("the system prompt", host.request(0), "/workspace (Gondolin VM");
      expectText("bash", host.result("bash").text, "yes low tide");
      expectText("read", host.result("read").text, "low tide");
      expectText("ls", host.result("ls").text, "log.txt");
      expectText("log.txt", readFileSync(join(host.cwd, "log.txt"), "utf8"), "two");
      const { output } = await host.call("bash", { command: "echo $IN_THE_MACHINE" });
      expectText("the host's command", String(output), "yes");
    },
  ),
  "with-deps": check(
    "`parse_duration` works with a package of its own from npm",
    { script: calls(["parse_duration", { duration: "2 days" }]) },
    async (host) => {
      await host.prompt("how long");
      expectText("parse_duration", host.result("parse_duration").text, "2 days = 172800000 milliseconds");
    },
  ),
  "todo.ts": check(
    "`todo` adds and completes, and knows its list again when the session is opened again",
    {
      script: [
        ...calls(["todo", { action: "add", text: "sail" }], ["todo", { action: "toggle", id: 1 }]),
        ...calls(["todo", { action: "list" }]),
      ],
    },
    async (host) => {
      await host.prompt("plan");
      expectText("todo", host.result("todo").text, "Todo #1 completed");
      const { sessionFile } = await host.call("get_state");
      await host.call("new_session");
      await host.call("switch_session", { sessionPath: sessionFile });
      await host.prompt("what is left");
      expectText("todo", host.result("todo").text, "[x] #1: sail");
      await host.prompt("/todos");
      await host.told(/needs a terminal|requires/);
    },
  ),
  "tic-tac-toe.ts": check(
    "three calls of `tic_tac_toe` in one answer run one after the other; each writes an entry",
    {
      script: [
        'toolCall tic_tac_toe {"action":"move_down"} + toolCall tic_tac_toe {"action":"move_right"} + toolCall tic_tac_toe_see_board {}',
        'text "Done."',
      ],
    },
    async (host) => {
      await host.prompt("your turn");
      expectText("move", host.result("tic_tac_toe").text, "Moved right. Cursor: (1, 1)");
      const saved = (await host.entries()).filter((entry) => entry.customType === "tic-tac-toe-save");
      expectTrue("two saves", saved.length === 2, saved);
    },
  ),
  "structured-output.ts": check(
    "`structured_output` ends the run: the model is not asked again",
    {
      replies: [
        useTool("structured_output", { headline: "Ahoy", summary: "All well.", actionItems: ["sail"] }),
        say("never"),
      ],
    },
    async (host) => {
      await host.prompt("sum up");
      expectText("structured_output", host.result("structured_output").text, "Saved structured output: Ahoy");
      expectTrue("one request", host.mock?.requests.length === 1, host.mock?.requests.length);
    },
  ),
  "dynamic-tools.ts": check(
    "a tool registered at the start of the session and one registered by a command are called",
    { script: calls(["echo_session", { message: "one" }], ["echo_again", { message: "two" }]) },
    async (host) => {
      await host.notify("Registered dynamic tool: echo_session");
      await host.prompt("/add-echo-tool echo_again");
      await host.notify("Registered dynamic tool: echo_again");
      await host.prompt("echo");
      expectText("echo_session", host.result("echo_session").text, "[session] one");
      expectText("echo_again", host.result("echo_again").text, "[echo_again] two");
    },
  ),
  "truncated-tool.ts": check(
    "`rg` finds, and says how much of a long result was left out",
    {
      files: { "long.txt": "needle in a line\n".repeat(3000) },
      // The program itself need not be installed.
      programs: { rg: "exec grep -rn needle long.txt" },
      script: calls(["rg", { pattern: "needle" }]),
    },
    async (host) => {
      await host.prompt("search");
      expectText("rg", host.result("rg").text, /\[Output truncated: showing 2000 of 300[01] lines/);
    },
  ),
  "tool-override.ts": check(
    "its `read` replaces ours: `.env` is denied, the access is logged, `/read-log` shows it",
    {
      files: { ".env": "SECRET=1", "notes.txt": "one" },
      script: calls(["read", { path: "notes.txt" }], ["read", { path: ".env" }]),
    },
    async (host) => {
      await host.prompt("read");
      expectText("read", host.result("read").text, 'Access denied: ".env"');
      await host.prompt("/read-log");
      await host.notify(/ALLOWED: .*notes\.txt\n.*BLOCKED: .*\.env/);
    },
  ),
  "bash-spawn-hook.ts": check(
    "its `bash` changes command and environment before the shell starts",
    { script: calls(["bash", { command: 'echo "hook $PI_SPAWN_HOOK"' }]) },
    async (host) => {
      await host.prompt("run");
      expectText("bash", host.result("bash").text, "hook 1");
    },
  ),
  "built-in-tool-renderer.ts": check(
    "read, bash, edit and write, wrapped from our own, take their place and do their work",
    {
      files: { "notes.txt": "one\n", "witness.js": WITNESS },
      args: ["-e", "witness.js"],
      script: calls(
        ["write", { path: "new.txt", content: "new" }],
        ["edit", { path: "notes.txt", edits: [{ oldText: "one", newText: "two" }] }],
        ["bash", { command: "cat new.txt" }],
        ["read", { path: "notes.txt" }],
      ),
    },
    async (host) => {
      await host.prompt("work");
      expectText("bash", host.result("bash").text, "new");
      expectText("edit", host.result("edit").text, "Successfully replaced 1 block");
      expectText("read", host.result("read").text, "two");
      for (const tool of ["read", "bash", "edit", "write"]) {
        await host.prompt(`/whose ${tool}`);
        await host.notify(new RegExp(`^${tool} is of .*built-in-tool-renderer\\.ts$`));
      }
    },
  ),
  "minimal-mode.ts": check(
    "find and grep, which are not active by default, are when an extension brings them",
    {
      files: { "notes.txt": "one\n" },
      script: calls(["find", { pattern: "*.txt" }], ["grep", { pattern: "one" }], ["ls", {}]),
    },
    async (host) => {
      await host.prompt("look");
      expectText("find", host.result("find").text, "notes.txt");
      expectText("grep", host.result("grep").text, "notes.txt:1: one");
    },
  ),
  "ssh.ts": check(
    "with `--ssh`, read, bash and the user's own shell command go through `ssh`, and the model is told",
    {
      args: ["--ssh", "me@ship:/deck"],
      // What the other machine does is done here.
      programs: {
        ssh: 'echo "over $1: $2" >> "$HOME/ssh.log"; cmd=$(printf %s "$2" | sed "s#/deck#.#g"); exec sh -c "$cmd"',
      },
      files: { "notes.txt": "one\n" },
      replies: [useTool("read", { path: "notes.txt" }), useTool("bash", { command: "echo aboard" }), say("Done.")],
    },
    async (host) => {
      await host.notify("SSH mode: me@ship:/deck");
      await host.prompt("look");
      expectText("read", host.result("read").text, "one");
      expectText("bash", host.result("bash").text, "aboard");
      expectText("the system prompt", host.request(0), "/deck (via SSH: me@ship)");
      expectText("bash command", String((await host.call("bash", { command: "echo mine" })).output), "mine");
      const log = readFileSync(join(host.rpc.sandbox.home, "ssh.log"), "utf8");
      expectText("what went over", log, /over me@ship: cat ".*notes\.txt"[\s\S]*echo aboard[\s\S]*echo mine/);
    },
  ),
  sandbox: part(
    "with `--no-sandbox` (a sandbox needs bubblewrap) its `bash` runs and `/sandbox` says that it is off",
    { args: ["--no-sandbox"], script: calls(["bash", { command: "echo here" }]) },
    async (host) => {
      await host.notify("Sandbox disabled via --no-sandbox");
      await host.prompt("run");
      expectText("bash", host.result("bash").text, "here");
      await host.prompt("/sandbox");
      await host.notify("Sandbox is disabled");
    },
  ),
  subagent: check(
    "`subagent` starts this program again in JSON mode with an agent of the user's and gives its answer back",
    {
      agentFiles: {
        "agents/scout.md": "---\nname: scout\ndescription: looks around\nmodel: mock/mock-1\n---\nYou look around.",
      },
      replies: [
        useTool("subagent", { agent: "scout", task: "find the harbour" }),
        say("The harbour is in the north."),
        say("Done."),
      ],
    },
    async (host) => {
      await host.prompt("where is the harbour");
      expectText("subagent", host.result("subagent").text, "The harbour is in the north.");
      expectText("what the agent is told", host.request(1), "You look around.");
      expectText("what the agent is asked", host.request(1), "Task: find the harbour");
    },
  ),
  "question.ts": forTerminal(
    "`question` wants a dialog of its own making: the host is told, the model hears that nobody answered",
    { script: calls(["question", { question: "Which way?", options: [{ label: "left" }, { label: "right" }] }]) },
    async (host) => {
      await host.prompt("ask me");
      expectText("question", host.result("question").text, /User cancelled the selection|UI not available/);
    },
  ),
  "questionnaire.ts": forTerminal(
    "`questionnaire` wants a dialog of its own making: the host is told, the model hears that nobody answered",
    {
      script: calls([
        "questionnaire",
        { questions: [{ id: "way", prompt: "Which way?", options: [{ value: "l", label: "left" }] }] },
      ]),
    },
    async (host) => {
      await host.prompt("ask me");
      expectText("questionnaire", host.result("questionnaire").text, /cancelled|UI not available/);
    },
  ),
  "shutdown-command.ts": check(
    "`deploy_and_exit` reports its progress; the process ends with 0 when the run is over",
    { script: calls(["deploy_and_exit", { environment: "staging" }]), env: gitEnv },
    async (host) => {
      host.send("prompt", { message: "deploy" });
      const { code } = await host.rpc.waitExit(15_000);
      expectText("deploy_and_exit", host.result("deploy_and_exit").text, "Done! Shutdown requested.");
      expectTrue("exit code 0", code === 0, code);
      const isUpdate = (frame: { type?: string }): boolean => frame.type === "tool_execution_update";
      expectTrue("two updates", host.rpc.frames.filter(isUpdate).length === 2, host.rpc.types());
    },
  ),
};
