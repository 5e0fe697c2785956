import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { at, list } from "../../support/frame.ts";
import { say } from "../../support/mock-llm.ts";
import { type Checks, check, expectText, expectTrue, forTerminal } from "../check.ts";
import { gitEnv, repository, shell } from "../surroundings.ts";

/** Examples that listen: to prompts, tools, the provider, the session and the outside. */

const bash = (command: string): string[] => [`toolCall bash ${JSON.stringify({ command })}`, 'text "Done."'];

/** The path is the example's own. */
const TRIGGER_FILE = "/tmp/agent-trigger.txt";
const withTriggerFile = (): (() => void) => {
  if (existsSync(TRIGGER_FILE)) return () => undefined;
  writeFileSync(TRIGGER_FILE, "");
  return () => rmSync(TRIGGER_FILE, { force: true });
};

export const HOOK_EXAMPLES: Checks = {
  "permission-gate.ts": check(
    "a dangerous command is asked about: refused it is blocked, allowed it runs",
    { files: { "old/file": "" }, script: [...bash("rm -rf old"), ...bash("rm -rf old")] },
    async (host) => {
      host.send("prompt", { message: "clean up" });
      await host.answer("select", "Dangerous command", "No");
      await host.next("the end", (frame) => frame.type === "session_settled");
      expectText("bash", host.result("bash").text, "Blocked by user");
      expectTrue("the folder is there", existsSync(join(host.cwd, "old")), "");
      host.send("prompt", { message: "do clean up" });
      await host.answer("select", "Dangerous command", "Yes");
      await host.next("the end", (frame) => frame.type === "session_settled");
      expectTrue("the folder is gone", !existsSync(join(host.cwd, "old")), "");
    },
  ),
  "project-trust.ts": check(
    "whether the code of a project is trusted is asked: with a yes it is loaded, and the answer is remembered",
    {
      files: {
        ".pi/extensions/sail.ts": `export default (pi) => pi.registerCommand("sail", { handler: async (_, ctx) => ctx.ui.notify("under way") });`,
      },
    },
    async (host) => {
      await host.answer("select", /^Project trust for:/, "Trust with note and remember");
      await host.answer("input", "Project trust note", "mine");
      await host.notify("Recorded demo note: mine");
      await host.notify("project-trust example loaded after trust resolution");
      await host.prompt("/sail");
      await host.notify("under way");
      expectText("trust.json", readFileSync(join(host.agentDir, "trust.json"), "utf8"), `${host.cwd}": true`);
    },
  ),
  "protected-paths.ts": check(
    "a write to `.env` is blocked and told",
    { script: ['toolCall write {"path":".env","content":"X=1"}', 'text "Done."'] },
    async (host) => {
      await host.prompt("configure");
      await host.notify("Blocked write to protected path: .env");
      expectText("write", host.result("write").text, 'Path ".env" is protected');
      expectTrue("no file", !existsSync(join(host.cwd, ".env")), "");
    },
  ),
  "confirm-destructive.ts": check(
    "new_session and fork are asked about, and cancelled when the answer is no",
    {},
    async (host) => {
      await host.prompt("hello");
      host.send("new_session");
      await host.answer("confirm", "Clear session?", false);
      expectTrue("cancelled", (await host.answered("new_session")).cancelled === true, "");
      await host.notify("Clear cancelled");
      const { messages } = await host.call("get_fork_messages");
      host.send("fork", { entryId: at(messages, 0, "entryId") });
      await host.answer("select", /Fork from entry/, "No, stay in current session");
      expectTrue("cancelled", (await host.answered("fork")).cancelled === true, "");
    },
  ),
  "dirty-repo-guard.ts": check(
    "a new session is held back while files are not committed",
    { prepare: repository("echo two >> notes.txt"), env: gitEnv },
    async (host) => {
      host.send("new_session");
      await host.answer("select", "You have 1 uncommitted file(s). new session anyway?", "No, let me commit first");
      expectTrue("cancelled", (await host.answered("new_session")).cancelled === true, "");
      await host.notify("Commit your changes first");
    },
  ),
  "auto-commit-on-exit.ts": check(
    "what was changed is committed when the process ends, under the last answer",
    { prepare: repository("echo two >> notes.txt"), env: gitEnv, script: ['text "Wrote the second line."'] },
    async (host) => {
      await host.prompt("hello");
      host.rpc.closeStdin();
      await host.rpc.waitExit();
      expectText("git log", shell(host.cwd, "git log --format=%s -1"), "[pi] Wrote the second line.");
      await host.notify("Auto-committed: [pi] Wrote the second line.");
    },
  ),
  "git-checkpoint.ts": check(
    "every turn leaves a checkpoint of the changed files in the repository",
    { prepare: repository("echo two >> notes.txt"), env: gitEnv, script: bash("true") },
    async (host) => {
      await host.prompt("go");
      expectText("git fsck", shell(host.cwd, "git fsck --unreachable --no-reflogs 2>/dev/null"), "unreachable commit");
    },
  ),
  "git-merge-and-resolve.ts": check(
    "after a run in a repository with a conflict, the model is asked to resolve it",
    {
      prepare: repository(`git checkout --quiet -b other; echo theirs > notes.txt; git commit --quiet -am theirs
        git checkout --quiet main; echo ours > notes.txt; git commit --quiet -am ours
        git merge other >/dev/null || true`),
      env: gitEnv,
      replies: [say("Hello."), say("I will."), say("Done.")],
    },
    async (host) => {
      host.send("prompt", { message: "hello" });
      await host.seen("the second request", () => (host.mock?.requests.length ?? 0) > 1);
      expectText("the request", host.request(1), "Merged MERGE_HEAD with conflicts");
      // It would go on for ever: the conflict is still there after each run.
      shell(host.cwd, "git merge --abort");
      await host.call("abort");
    },
  ),
  "inline-bash.ts": check(
    "`!{command}` in a prompt becomes its output before the model sees it",
    { replies: [say("Four.")] },
    async (host) => {
      await host.prompt("What is !{echo 2+2}?");
      await host.notify('!{echo 2+2} -> "2+2"');
      expectText("the request", host.request(0), "What is 2+2?");
    },
  ),
  "input-transform.ts": check(
    "`ping` is answered without the model, `?quick` is put into other words",
    { replies: [say("Yes.")] },
    async (host) => {
      await host.prompt("ping");
      await host.notify("pong");
      expectTrue("no request", host.mock?.requests.length === 0, host.mock?.requests.length);
      await host.prompt("?quick is it late");
      expectText("the request", host.request(0), "Respond briefly in 1-2 sentences: is it late");
    },
  ),
  "input-transform-streaming.ts": check(
    "a prompt about changes gets the diff with it",
    { prepare: repository("echo two >> notes.txt"), env: gitEnv, replies: [say("I see.")] },
    async (host) => {
      await host.prompt("look at the changes");
      expectText("the request", host.request(0), "Current uncommitted changes:");
      expectText("the request", host.request(0), "notes.txt | 1 +");
    },
  ),
  "claude-rules.ts": check(
    "rules of the project are counted and named in the system prompt",
    { files: { ".claude/rules/deck/clean.md": "Keep it clean." }, replies: [say("Aye.")] },
    async (host) => {
      await host.notify("Found 1 rule(s) in .claude/rules/");
      await host.prompt("hello");
      expectText("the system prompt", host.request(0), "- .claude/rules/deck/clean.md");
    },
  ),
  "prompt-customizer.ts": check(
    "the system prompt gets a part that depends on the active tools",
    { replies: [say("Aye.")] },
    async (host) => {
      await host.prompt("hello");
      // As a whole prompt, or (later) as a part with a name.
      expectText("the system prompt", host.request(0), /## Tool Guidance|<tool_guidance>/);
      expectText("the system prompt", host.request(0), /Use (the )?`read`( tool)? for file contents/);
    },
  ),
  "system-prompt-header.ts": check("the length of the system prompt is a status", {}, async (host) => {
    await host.prompt("hello");
    await host.status(/System: \d{3,} chars/);
  }),
  "provider-payload.ts": check(
    "the request to the provider and the head of its answer are in a log",
    { replies: [say("Aye.")] },
    async (host) => {
      await host.prompt("hello there");
      const [log] = [".pi", ".tiller"]
        .map((folder) => join(host.cwd, folder, "provider-payload.log"))
        .filter(existsSync);
      const text = readFileSync(log ?? "missing", "utf8");
      expectText("the request", text, "hello there");
      expectText("the answer", text, /\[200\] \{.*text\/event-stream/);
    },
  ),
  "model-status.ts": check("the model that is chosen is notified and a status", { replies: [] }, async (host) => {
    await host.call("set_model", { provider: "mock-openai-completions", modelId: "mock-1" });
    await host.notify("Model: mock-openai-completions/mock-1");
    await host.status("mock-1");
  }),
  "status-line.ts": check("each turn is a status, in the colours of the theme", {}, async (host) => {
    await host.status("Ready");
    await host.prompt("hello");
    await host.status("Turn 1 complete");
  }),
  "titlebar-spinner.ts": check(
    "the title moves while the model answers, and stands still afterwards",
    { settings: { "rpc.emitTitle": true }, script: ['text "tick " times 20 pace 25'] },
    async (host) => {
      await host.prompt("hello");
      await host.ui("setTitle", /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] π - cwd$/);
      await host.ui("setTitle", "π - cwd");
    },
  ),
  "widget-placement.ts": check("two widgets, one above the editor and one below", {}, async (host) => {
    await host.widget("Above editor widget");
    const below = await host.widget("Below editor widget");
    expectTrue("the place", below.widgetPlacement === "belowEditor", below);
  }),
  "notify.ts": check("its signal for the terminal goes to stderr and leaves the protocol alone", {}, async (host) => {
    await host.prompt("hello");
    host.rpc.closeStdin();
    await host.rpc.waitExit();
    expectText("stderr", host.rpc.stderr, "\u001b]777;notify;Pi;Ready for input");
  }),
  "file-trigger.ts": check(
    "what is written into a file that it watches starts a run",
    { around: withTriggerFile, replies: [say("On my way.")] },
    async (host) => {
      await host.notify(`Watching ${TRIGGER_FILE}`);
      writeFileSync(TRIGGER_FILE, "come here");
      await host.seen("the answer", (frame) => frame.type === "agent_end");
      expectText("the request", host.request(0), "External trigger: come here");
    },
  ),
  "custom-compaction.ts": check(
    "`compact` takes the summary that the extension gets from another provider's model",
    {
      replies: [say("A long story. ".repeat(40)), say("Another one. ".repeat(40)), say("They told stories.")],
      insteadOf: { google: "google-generative-ai" },
      settings: { compaction: { keepRecentTokens: 1 } },
    },
    async (host) => {
      await host.prompt("tell");
      await host.prompt("again");
      const { summary } = await host.call("compact");
      await host.notify("Custom compaction extension triggered");
      expectText("the summary", String(summary), "They told stories.");
      expectText("the path", host.mock?.requests.at(2)?.path ?? "", "gemini-2.5-flash");
    },
  ),
  "interactive-shell.ts": forTerminal(
    "a command for a terminal is not run, and the answer says so",
    {},
    async (host) => {
      const { output } = await host.call("bash", { command: "vim notes.txt" });
      expectText("the output", String(output), /interactive command/);
      expectText("others run", String((await host.call("bash", { command: "echo plain" })).output), "plain");
    },
  ),
  "dynamic-resources": check(
    "the skill and the template it names are commands, and the template is expanded",
    { replies: [say("Aye."), say("Aye.")] },
    async (host) => {
      const names = await host.commandNames();
      expectTrue("both", names.includes("dynamic") && names.includes("skill:dynamic-resources"), names);
      await host.prompt("/dynamic");
      expectTrue("expanded", !JSON.stringify(list(host.mock?.requests[0]?.body.messages)).includes('"/dynamic"'), "");
    },
  ),
  "mac-system-theme.ts": forTerminal(
    "the system is asked whether it is dark; themes themselves need a terminal",
    { programs: { osascript: 'echo asked >> "$HOME/asked"; echo true' } },
    async (host) => {
      // The session may have started before the question was asked.
      const command = 'while [ ! -s "$HOME/asked" ]; do sleep 0.05; done; cat "$HOME/asked"';
      expectText("what was asked", String((await host.call("bash", { command })).output), "asked");
    },
  ),
};
