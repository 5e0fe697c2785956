import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FRAMES } from "@tiller/protocol/frames";
import { at, type Frame } from "../support/frame.ts";
import type { RpcProcess } from "../support/rpc-process.ts";
import type { ExamplePlayer } from "./player.ts";

/** The moments that the examples need, one after the other in one process. What the model says to each stands in `MODEL`. */

type Step = (rpc: RpcProcess, player: ExamplePlayer) => Promise<void>;

const TASK = { agent: "explore", tasks: [{ id: "parser", description: "Find the parser", assignment: "find it" }] };
const LONG_USAGE = (input: number) => `usage {"input":${input},"output":10}`;

export const MODEL = [
  // prompts
  `text "Let me look." + toolCall bash {"command":"echo README.md"} + toolCall read {"path":"src/a.ts"}`,
  `text "A small repo."`,
  `text "A picture."`,
  // whileARunIsActive
  `endless "tick " pace 5`,
  `endless "tick " pace 5`,
  `text "Started over."`,
  // whatTheHostLends
  `toolCall open_ticket {"title":"Build is red"}`,
  `toolCall open_ticket {"title":"Once more"}`,
  `toolCall read {"path":"db://orders/7"}`,
  `toolCall write {"path":"db://orders/7","content":"paid"}`,
  `toolCall read {"path":"db://orders/8"}`,
  `text "All tried."`,
  `toolCall open_ticket {"title":"Never mind"}`,
  `toolCall read {"path":"db://orders/9"}`,
  // thePlan
  `text "Stopping too early."`,
  `toolCall todo {"updates":[{"id":"task-1","status":"completed"}]}`,
  `text "So it is."`,
  // subAgents
  `toolCall task ${JSON.stringify(TASK)}`,
  `toolCall grep {"pattern":"parse"}`,
  `text "It is in src."`,
  `text "The parser is in src."`,
  // failuresAndRepairs
  `text "let x: any = 1;" chunk 3 + endless " let y"`,
  `text "let x: number = 1;"`,
  `error 529 "overloaded"`,
  `text "Better now."`,
  `error 529 "overloaded"`,
  `text "Summary: it was read."`,
  `text "A long story." + ${LONG_USAGE(190000)}`,
  `text "Summary: a long story."`,
  `text "Summary: and its beginning."`,
  `text "An even longer one." + ${LONG_USAGE(195000)}`,
  // sessions
  `text "In another session."`,
  `text "## Goal\\nRepair the build."`,
];

/** A sub-agent searches until somebody has looked at it, or it might be done before. */
const LOOKED_AT = "looked-at";

export const EXTENSION = `
import { existsSync } from "node:fs";
export default function (pi) {
  pi.on("tool_call", async ({ toolName }) => {
    while (toolName === "grep" && !existsSync("${LOOKED_AT}")) await new Promise((done) => setTimeout(done, 20));
  });
  pi.registerCommand("review", { description: "Reviews", handler: async () => {} });
  pi.registerCommand("fail", { description: "Fails", handler: async () => { throw new Error("no luck"); } });
  pi.registerCommand("bookmark", { description: "Keeps a place", handler: async () => pi.appendEntry("bookmark", {}) });
  pi.registerProvider("harbour", {
    baseUrl: "http://127.0.0.1:1", api: "openai-completions",
    models: [{
      id: "pilot", name: "Pilot", reasoning: false, input: ["text"], contextWindow: 9000, maxTokens: 1000,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    }],
    oauth: {
      name: "Harbour pass",
      login: async (callbacks) => ({ access: await callbacks.onPrompt({ message: "The code?" }), refresh: "r", expires: 4e12 }),
      refreshToken: async (pass) => pass,
      getApiKey: ({ access }) => access,
    },
  });
}
`;

/** Its own: the result of the prompt before it may still be under way. */
const resultOf = (rpc: RpcProcess, { id }: Frame): Promise<Frame> =>
  rpc.waitFor((frame) => frame.type === "prompt_result" && frame.id === id);

/** Waits until a prompt, and what it brings about, is over. */
async function settled(rpc: RpcProcess, answer: Frame): Promise<void> {
  const result = await resultOf(rpc, answer);
  await rpc.waitFor("session_settled", { since: rpc.frames.indexOf(result) });
}

const beforeTheFirstAnswer: Step = async (rpc, player) => {
  await player.play(rpc, "get_last_assistant_text", 1);
  rpc.send("null\n");
  await rpc.waitFor((frame) => frame.command === "parse");
};

const prompts: Step = async (rpc, player) => {
  await settled(rpc, await player.play(rpc, "prompt", 0));
  await settled(rpc, await player.play(rpc, "prompt", 1));
  const entries = await player.play(rpc, "get_entries");
  await player.play(rpc, "get_entries", 1, { since: at(entries, "data", "leafId") });
  for (const type of ["get_messages", "get_messages_page", "get_last_assistant_text", "get_session_stats"] as const) {
    await player.play(rpc, type);
  }
  await player.play(rpc, "export_html", 0, { outputPath: join(rpc.sandbox.cwd, "session.html") });
};

const whileARunIsActive: Step = async (rpc, player) => {
  await rpc.call({ type: "prompt", message: "tick" });
  await player.play(rpc, "prompt", 2);
  await player.play(rpc, "steer");
  await player.play(rpc, "follow_up");
  await player.play(rpc, "clear_queue");
  await player.play(rpc, "handoff", 1);
  await player.play(rpc, "abort");
  await rpc.call({ type: "prompt", message: "tick" });
  await settled(rpc, await player.play(rpc, "abort_and_prompt"));
};

/** Asks through the extension, and answers with the example of that number. */
async function dialog(rpc: RpcProcess, player: ExamplePlayer, ask: string, answer?: number): Promise<void> {
  const since = rpc.mark();
  const prompt = await rpc.call({ type: "prompt", message: `/ui ${ask}` });
  if (answer !== undefined) {
    const { id } = await rpc.waitFor("extension_ui_request", { since });
    if (ask.startsWith("confirm")) await player.play(rpc, "get_state", 1);
    rpc.send({ ...(FRAMES.extension_ui_response.examples[answer] as object), id });
  }
  await resultOf(rpc, prompt);
}

const whatExtensionsDo: Step = async (rpc, player) => {
  await settled(rpc, await player.play(rpc, "prompt", 3));
  await dialog(rpc, player, 'select ["Which branch?", ["main", "next"], {"timeout": 10000}]', 0);
  await dialog(rpc, player, 'select ["Which?", [{"label":"unit","description":"a few seconds"}, {"label":"all"}]]', 0);
  await dialog(rpc, player, 'confirm ["Delete the folder?", "It is not empty.", {"timeout": 5000}]', 1);
  await dialog(rpc, player, 'input ["Name", "feature/..."]', 2);
  await dialog(rpc, player, 'editor ["Commit message", "fix: "]', 3);
  await dialog(rpc, player, 'setStatus ["format", "formatting"]');
  await dialog(rpc, player, 'setWidget ["plan", ["1. build"], {"placement": "aboveEditor"}]');
  await dialog(rpc, player, 'setEditorText ["Explain "]');
  await dialog(rpc, player, 'setTitle ["repair the build"]');
  await dialog(rpc, player, 'notify ["Formatted 3 files", "info"]');
  // Nobody answers it in time, so it is withdrawn.
  await dialog(rpc, player, 'confirm ["Quick!", "", {"timeout": 1}]');
  for (const message of ["/fail", "/bookmark"]) await rpc.prompt(message);
};

const whatTheHostLends: Step = async (rpc, player) => {
  await player.play(rpc, "set_host_tools");
  await player.play(rpc, "set_host_uri_schemes");
  let since = rpc.mark();
  /** Waits for the next request and answers it with examples. */
  const answer = async (asked: string, type: "host_tool_result" | "host_uri_result", index: number) => {
    const { id } = await rpc.waitFor(asked, { since });
    since = rpc.mark();
    if (index === 0 && asked === "host_tool_call") rpc.send({ ...FRAMES.host_tool_update.examples[0], id });
    rpc.send({ ...FRAMES[type].examples[index], id });
  };
  const prompt = await rpc.call({ type: "prompt", message: "use them" });
  await answer("host_tool_call", "host_tool_result", 0);
  await answer("host_tool_call", "host_tool_result", 1);
  for (const index of [0, 1, 2]) await answer("host_uri_request", "host_uri_result", index);
  await settled(rpc, prompt);
  for (const asked of ["host_tool_call", "host_uri_request"]) {
    since = rpc.mark();
    await rpc.call({ type: "prompt", message: "use them" });
    await rpc.waitFor(asked, { since });
    await rpc.call({ type: "abort" });
  }
};

const thePlan: Step = async (rpc, player) => {
  await player.play(rpc, "set_todos");
  await rpc.prompt("work on it");
  await rpc.waitFor("todo_auto_clear");
};

const subAgents: Step = async (rpc, player) => {
  await player.play(rpc, "set_subagent_subscription");
  await rpc.call({ type: "set_subagent_subscription", level: "events" });
  const prompt = await rpc.call({ type: "prompt", message: "find the parser" });
  await rpc.waitFor(
    (frame) => frame.type === "subagent_progress" && at(frame, "payload", "progress", "currentTool") !== undefined,
  );
  await player.play(rpc, "get_subagents");
  writeFileSync(join(rpc.sandbox.cwd, LOOKED_AT), "");
  await settled(rpc, prompt);
  const whole = await rpc.call({ type: "get_subagent_messages", subagentId: "parser" });
  await player.play(rpc, "get_subagent_messages", 0, { fromByte: at(whole, "data", "fromByte") });
};

const failuresAndRepairs: Step = async (rpc, player) => {
  await rpc.prompt("declare x");
  await rpc.prompt("try twice");
  await player.play(rpc, "set_auto_retry");
  await rpc.prompt("try once");
  await player.play(rpc, "compact");
  await player.play(rpc, "compact", 1);
  await player.play(rpc, "set_auto_compaction");
  await rpc.prompt(`tell me all about the build ${"and more ".repeat(100)}`);
  await rpc.prompt(`tell me even more about the build ${"and more ".repeat(100)}`);
};

const shellCommands: Step = async (rpc, player) => {
  await player.play(rpc, "bash");
  const since = rpc.mark();
  const endless = player.play(rpc, "bash", 1);
  await rpc.waitFor((frame) => frame.type === "bash_execution_update" && frame.delta === "begun\n", { since });
  await player.play(rpc, "abort_bash");
  await endless;
};

const sessions: Step = async (rpc, player) => {
  const messages = await player.play(rpc, "get_fork_messages");
  await player.play(rpc, "get_branch_messages");
  const entryId = at(messages, "data", "messages", 0, "entryId");
  await player.play(rpc, "set_session_name");
  await player.play(rpc, "set_label", 0, { entryId });
  await player.play(rpc, "get_tree");
  const first = await rpc.call({ type: "get_state" });
  const sessionPath = at(first, "data", "sessionFile");
  await player.play(rpc, "navigate_tree", 0, { entryId });
  await player.play(rpc, "fork", 0, { entryId });
  await player.play(rpc, "switch_session", 0, { sessionPath });
  await player.play(rpc, "branch", 0, { entryId });
  await player.play(rpc, "switch_session", 0, { sessionPath });
  await player.play(rpc, "clone");
  await player.play(rpc, "list_sessions");
  await player.play(rpc, "new_session");
  await rpc.prompt("hello");
  await player.play(rpc, "handoff");
  await player.play(rpc, "open_session", 0, { sessionDir: dirname(String(sessionPath)) });
  await player.play(rpc, "new_session");
  await player.play(rpc, "delete_session", 0, { sessionPath });
};

const logins: Step = async (rpc, player) => {
  await player.play(rpc, "get_login_providers");
  const since = rpc.mark();
  const login = player.play(rpc, "login");
  const { id } = await rpc.waitFor(({ method }) => method === "input", { since });
  rpc.send({ type: "extension_ui_response", id, value: "1234" });
  await login;
};

const models: Step = async (rpc, player) => {
  await player.play(rpc, "negotiate_protocol");
  await player.play(rpc, "set_model");
  await player.play(rpc, "set_thinking_level");
  await player.play(rpc, "cycle_thinking_level");
  await player.play(rpc, "cycle_model");
};

/** From here on long frames come in chunks. */
const versionTwo: Step = async (rpc, player) => {
  await player.play(rpc, "negotiate_protocol");
  await rpc.call({ type: "set_session_name", name: "long" });
  await rpc.prompt("x".repeat(1_100_000));
  await player.play(rpc, "set_event_filter");
  await rpc.call({ type: "set_event_filter", events: null });
};

/** A process with one model and without session files. */
export const POOR_STORY: Step = async (rpc, player) => {
  await player.play(rpc, "cycle_model", 1);
  await player.play(rpc, "cycle_thinking_level", 1);
  await player.play(rpc, "open_session", 1);
  await versionTwo(rpc, player);
};

export const STORY: readonly Step[] = [
  beforeTheFirstAnswer,
  prompts,
  whileARunIsActive,
  whatExtensionsDo,
  whatTheHostLends,
  thePlan,
  subAgents,
  failuresAndRepairs,
  shellCommands,
  sessions,
  models,
  logins,
];
