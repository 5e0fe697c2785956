import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HOOKS, NEVER } from "../../packages/coding-agent/src/extensions/hooks.ts";
import type { HookName } from "../../packages/coding-agent/src/session/ports.ts";
import { parseTranscript } from "../../packages/coding-agent/src/transcript/parse.ts";
import { at, list } from "../support/frame.ts";
import { fail, say, startMockLlm } from "../support/mock-llm.ts";
import { type RpcProcess, repoRoot, useRpc } from "../support/rpc-process.ts";
import { PROOFS } from "./hook-proofs.ts";

/** Nothing in the table of hooks is without an extension that listens to it, and none of those is without a story. */

const fixtures = join(repoRoot, "test/fixtures/extensions/hooks");
const stories = join(repoRoot, "test/transcripts/extensions");

/** Played by provider-hooks.test.ts. */
const OVER_HTTP = ["hooks/wire-tap.ts", "hooks/lamp-keeper.ts"];

const heardIn = (name: string): string[] =>
  [...readFileSync(join(fixtures, name), "utf8").matchAll(/\bon\("([\w.]+)"/g)].map((match) => String(match[1]));
const storyOf = (name: string) => parseTranscript(name, readFileSync(join(stories, name), "utf8"));
const toldIn = (name: string): string[] => {
  const { extensions, source } = storyOf(name);
  // A story that expects nothing proves nothing.
  return source.some((line) => /^<.*\w/.test(line)) ? extensions : [];
};

test("every hook has an extension that listens to it", () => {
  const heard = new Set(readdirSync(fixtures).flatMap(heardIn));
  expect(Object.keys(HOOKS).filter((hook) => !heard.has(hook))).toEqual([]);
});

test("every extension has a story, or a test of its own", () => {
  const told = new Set([...readdirSync(stories).flatMap(toldIn), ...OVER_HTTP]);
  expect(readdirSync(fixtures).filter((name) => !told.has(`hooks/${name}`))).toEqual([]);
});

/** What an answer has done: a story that is played, and what stands in it only because of the answer. */
const ACTS: Readonly<Record<string, readonly [story: string, ...effects: string[]]>> = {
  resources_discover: ["hooks-resources", '"name":"inspect"', "lore/skills/knots/SKILL.md"],
  session_before_switch: ["hooks-leaving", '"command":"new_session","success":true,"data":{"cancelled":true}'],
  session_before_fork: ["hooks-leaving", '"command":"fork","success":true,"data":{"cancelled":true}'],
  session_before_branch: ["hooks-branch", '"command":"branch","success":true,"data":{"cancelled":true}'],
  session_before_compact: ["hooks-own-summary", '"summary":"2 messages were here."', '"details":{"counted":true}'],
  "session.compacting": ["hooks-summary-advice", "Write the log of the ship", "The ship is called Albatross"],
  session_before_tree: [
    "hooks-tree",
    '"summary":"Left behind: user, assistant."',
    '"label":"visited"',
    '"cancelled":true',
  ],
  input: ["hooks-input", '"text":"What is a rudder, please"', '"agentInvoked":false'],
  before_agent_start: ["hooks-before-agent-start", '"customType":"weather"', "Rule one: the log is kept"],
  message_end: ["hooks-messages", '"content":[{"type":"text","text":"It is [secret]."}]'],
  context: ["hooks-context", 'expect messages 1 user "forgotten"'],
  context_with_system: ["hooks-whole-transcript", 'expect system {"equals":"Only look, touch nothing."}'],
  turn_end: ["hooks-ends", 'expect user "Check the ropes."', "entry_appended"],
  agent_before_settle: ["hooks-ends", 'expect user "Say good-bye."', '"willRetry":true'],
  project_trust: ["hooks-project-trust", "trusted: true", "from the hold"],
  tool_call: ["hooks-tool-call", "Nothing is thrown overboard.", '"text":"from the hold\\n"'],
  tool_result: ["hooks-tool-result", '"text":"code ####\\n"', '"details":{"judged":true}', '"isError":true'],
  user_bash: ["hooks-user-bash", "42 fathoms", "on land: uname"],
};

test("every hook that takes an answer has a story in which the answer acts", () => {
  // What goes to a provider needs one: provider-hooks.test.ts.
  const ofRequests = ["before_provider_headers", "before_provider_request", "cache_warming_decision"];
  const asked = Object.entries(HOOKS).filter(([hook, row]) => row.take && !ofRequests.includes(hook));
  expect(Object.keys(ACTS).sort()).toEqual(asked.map(([hook]) => hook).sort());
  for (const [hook, [story, ...effects]] of Object.entries(ACTS)) {
    const { extensions, source } = storyOf(`${story}.rpc.txt`);
    expect(extensions.flatMap((name) => heardIn(name.replace("hooks/", "")))).toContain(hook);
    const expected = source.filter((line) => /^(<|model)/.test(line)).join("\n");
    for (const effect of effects) expect(expected).toContain(effect);
  }
});

/** What each hook is told, over all of one long story; what is not always there has a question mark. */
const FIELDS: Readonly<Record<string, string>> = {
  resources_discover: "cwd:string reason:string",
  session_start: "previousSessionFile?:string reason:string",
  session_switch: "previousSessionFile:string reason:string",
  session_branch: "previousSessionFile:string",
  session_before_switch: "reason:string",
  session_before_fork: "entryId:string position:string",
  session_before_branch: "entryId:string",
  session_before_compact: "branchEntries:list preparation:object reason:string signal:signal willRetry:boolean",
  "session.compacting": "messages:list sessionId:string",
  session_compact: "compactionEntry:object fromExtension:boolean reason:string willRetry:boolean",
  session_compact_failed: "aborted:boolean error:string errorMessage:string reason:string willRetry:boolean",
  session_before_tree: "preparation:object signal:signal",
  session_tree: "fromExtension:boolean newLeafId:string oldLeafId:string summaryEntry:object",
  session_shutdown: "reason:string targetSessionFile?:string",
  session_info_changed: "name:string",
  input: "source:string text:string",
  before_agent_start: "images:list prompt:string systemPrompt:string systemPromptOptions:object",
  agent_start: "",
  agent_end: "messages:list",
  agent_before_settle: "aborted:boolean continue:boolean entries:list messages:list",
  agent_settled: "aborted:boolean",
  turn_start: "timestamp:number turnIndex:number",
  turn_end:
    "continue:boolean entries:list message:object messageEntryId:string toolResultEntryIds:list toolResults:list turnIndex:number",
  message_start: "message:object",
  message_update: "assistantMessageEvent:object message:object",
  message_end: "message:object",
  context: "messages:list",
  context_with_system: "messages:list",
  cache_warming_decision:
    "action:string cachedTokens:number count:number estimatedCost:number expiresInMs:number idleMs:number maxCount:number missCost:number model:object retention:string",
  before_provider_headers: "headers:object",
  before_provider_request: "payload:object",
  after_provider_response: "headers:object status:number",
  provider_stream_event: "data:object",
  tool_call: "input:object toolCallId:string toolName:string",
  tool_execution_start: "args:object toolCallId:string toolName:string",
  tool_execution_update: "args:object partialResult:object toolCallId:string toolName:string",
  tool_execution_end: "isError:boolean result:object toolCallId:string toolName:string",
  tool_result: "content:list details:object input:object isError:boolean toolCallId:string toolName:string",
  model_select: "model:object previousModel:object source:string",
  thinking_level_select: "level:string previousLevel:string",
  user_bash: "command:string cwd:string excludeFromContext:boolean",
  auto_compaction_start: "action:string reason:string",
  auto_compaction_end: "aborted:boolean action:string result:object willRetry:boolean",
  auto_retry_start: "attempt:number delayMs:number errorMessage:string maxAttempts:number",
  auto_retry_end: "attempt:number success:boolean",
  ttsr_triggered: "rules:list",
  project_trust: "cwd:string",
  todo_reminder: "attempt:number maxAttempts:number todos:list",
  mcp_servers_change: "servers:list",
  ui_prompt_start: "id:string method:string",
  ui_prompt_end: "id:string method:string",
};

/** Listens to everything, and notes the fields of what it is told. */
const LISTENER = `import { appendFileSync } from "node:fs";
const kind = (value) => (Array.isArray(value) ? "list" : value instanceof AbortSignal ? "signal" : value === null ? "null" : typeof value);
export default function (pi) {
  for (const hook of ${JSON.stringify(Object.keys(HOOKS))})
    pi.on(hook, ({ type, ...event }) => {
      const fields = Object.entries(event).filter(([, value]) => value !== undefined);
      appendFileSync("heard.jsonl", JSON.stringify([hook, type, fields.map(([name, value]) => [name, kind(value)])]) + "\\n");
    });
  pi.registerCommand("ask", { handler: async (_args, ctx) => void (await ctx.ui.confirm("Sure?", "?")) });
  pi.registerMcpServer("reef", { command: "no-such-program" });
  pi.registerTool({ name: "dive", description: "", parameters: { type: "object", properties: {} },
    async execute(_id, _args, _signal, onUpdate) { onUpdate({ content: "halfway" }); return { content: "deep", details: { fathoms: 9 } }; } });
}
`;

const start = useRpc();

test("every hook is called in a session that has everything, with its own name and the fields that belong to it", async () => {
  const llm = await startMockLlm();
  try {
    const set = [
      "cacheWarming=idle",
      "cacheWarmingTimes=1",
      "todo.reminders.max=1",
      "retry.baseDelayMs=1",
      "compaction.keepRecentTokens=1",
    ];
    const rpc = start({
      args: ["--dialect", "xcsh", ...set.flatMap((setting) => ["--set", setting])],
      agentFiles: { "extensions/all.ts": LISTENER, "models.json": keepsPrompts(llm.modelsJson()) },
      files: {
        ".tiller/extensions/stowaway.ts": "export default () => undefined;",
        ".omp/rules/no-rum.md": "---\ncondition: rum\n---\nNo rum.\n",
      },
      script: [
        ...[
          'error 529 "overloaded"',
          "toolCall dive {}",
          'text "Done."',
          'text "Really."',
          'text "More rum."',
          'text "More."',
        ],
        ...['text "Notes."', 'text "Notes."', 'text "A long story." + usage {"input":190000,"output":10}'],
        ...Array<string>(6).fill('text "Notes."'),
      ],
    });
    await playAll(rpc, () =>
      llm.reply(
        { ...say("Aye."), usage: { cache_write_tokens: 100_000 } },
        { ...say("A"), usage: { cache_read_tokens: 100_000 } },
        fail(400, "invalid_request_error", "no summaries today"),
      ),
    );
    const { seen, calls } = heardBy(rpc);
    expect(calls.filter(([hook, type]) => hook !== type)).toEqual([]);
    expect(Object.keys(HOOKS).filter((hook) => !seen.has(hook))).toEqual([]);
    expect(Object.fromEntries([...seen].map(([hook, fields]) => [hook, fields]))).toEqual(FIELDS);
  } finally {
    await llm.close();
  }
});

/** A provider that forgets soon, and for which that is dear. */
function keepsPrompts(modelsJson: string): string {
  const file = JSON.parse(modelsJson);
  const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  Object.assign(file.providers.mock.models[0], { promptCache: { short: 1 }, cost });
  return JSON.stringify(file);
}

/** Everything that a session has to tell, once. */
async function playAll(rpc: RpcProcess, prepareServer: () => void): Promise<void> {
  const succeeds = async (command: { type: string } & Record<string, unknown>) => {
    const answer = await rpc.call(command);
    expect(answer, JSON.stringify(answer)).toMatchObject({ success: true });
    return answer;
  };
  await succeeds({ type: "set_todos", phases: [{ name: "Build", tasks: [{ content: "Find the failing step" }] }] });
  await rpc.prompt("go");
  await succeeds({ type: "set_todos", phases: [] });
  await rpc.prompt("more");
  await succeeds({ type: "compact" });
  await rpc.prompt("tell me all about tillers ".repeat(12));
  await succeeds({ type: "bash", command: "true" });
  await succeeds({ type: "set_session_name", name: "Aurora" });
  await succeeds({ type: "set_thinking_level", level: "low" });
  const messages = list(at(await succeeds({ type: "get_fork_messages" }), "data", "messages"));
  const entryId = String(at(messages[0], "entryId"));
  await succeeds({ type: "navigate_tree", entryId: String(at(messages[1], "entryId")), summarize: true });
  prepareServer();
  await succeeds({ type: "set_model", provider: "mock", modelId: "mock-1" });
  await rpc.prompt("hello");
  await rpc.waitFor((frame) => frame.type === "entry_appended" && at(frame, "entry", "kind") === "cache_warm");
  expect(await rpc.call({ type: "compact" })).toMatchObject({ success: false });
  await succeeds({ type: "fork", entryId });
  rpc.send({ id: "ask", type: "prompt", message: "/ask" });
  const dialog = await rpc.waitFor("extension_ui_request");
  rpc.send({ type: "extension_ui_response", id: dialog.id, confirmed: true });
  await rpc.waitFor((frame) => frame.type === "prompt_result" && frame.id === "ask");
  await succeeds({ type: "new_session" });
  rpc.closeStdin();
  await rpc.waitExit();
}

type Heard = [hook: string, type: string, fields: [name: string, kind: string][]];

/** The fields of each hook, with a question mark where not every call had them. */
function heardBy(rpc: RpcProcess): { calls: Heard[]; seen: Map<string, string> } {
  const lines = readFileSync(join(rpc.sandbox.cwd, "heard.jsonl"), "utf8").trimEnd().split("\n");
  const calls = lines.map((line) => JSON.parse(line) as Heard);
  const seen = new Map<string, string>();
  for (const hook of new Set(calls.map(([name]) => name))) {
    const all = calls.filter(([name]) => name === hook).map(([, , fields]) => fields);
    const count = new Map<string, number>();
    const kinds = new Map(all.flat());
    for (const [name] of all.flat()) count.set(name, (count.get(name) ?? 0) + 1);
    const texts = [...count].map(([name, number]) => `${name}${number < all.length ? "?" : ""}:${kinds.get(name)}`);
    seen.set(hook, texts.sort().join(" "));
  }
  return { calls, seen };
}

const shownIn = (name: string): { extensions: string[]; expected: string } => {
  if (name.endsWith(".test.ts")) {
    const expected = readFileSync(join(repoRoot, "test/extensions", name), "utf8");
    return { extensions: OVER_HTTP, expected };
  }
  const { extensions, source } = parseTranscript(name, readFileSync(join(stories, `${name}.rpc.txt`), "utf8"));
  return { extensions, expected: source.filter((line) => line.startsWith("<")).join("\n") };
};
test.each(Object.keys(HOOKS) as HookName[])("%s is called: a story shows it", (hook) => {
  const [story, seen] = PROOFS[hook];
  const { extensions, expected } = shownIn(story);
  const listening = extensions.filter((name) => heardIn(name.replace(/^hooks\//, "")).includes(hook));
  expect(listening).not.toEqual([]);
  expect(expected).toContain(seen);
});

test.each(Object.keys(NEVER))("%s is never called, and the documentation says so", (name) => {
  expect(readFileSync(join(repoRoot, "docs/extensions.md"), "utf8")).toContain(`| \`${name}\` | never: ${NEVER[name]}`);
});
