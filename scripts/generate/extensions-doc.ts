import { readFileSync } from "node:fs";
import { HOOKS, NEVER } from "../../packages/coding-agent/src/extensions/hooks.ts";
import type { HookEvent, HookName } from "../../packages/coding-agent/src/session/ports.ts";
import { prose } from "./protocol-doc.ts";

const NOTE =
  "Written by `npm run generate` from the table in packages/coding-agent/src/extensions/hooks.ts. Do not edit. The prose comes from docs/prose/extensions-*.md.";

/** docs/extensions.md: the table of hooks, and what a table cannot say from docs/prose/extensions-*.md. */
export function renderExtensionsDoc(): string {
  const parts = [
    `<!-- ${NOTE} -->`,
    "# Extensions",
    prose("extensions-writing"),
    ["```ts", readFileSync("docs/examples/extension.ts", "utf8").trim(), "```"].join("\n"),
    prose("extensions-finding"),
    prose("extensions-importing"),
    prose("extensions-api"),
    prose("extensions-hooks"),
    hookTable(),
    prose("extensions-dialogs"),
    prose("extensions-limits"),
    prose("extensions-others"),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Beside `type`, which every event has. The compiler sees to it that no field is missing and none is made up. */
const FIELDS: { readonly [K in HookName]: Readonly<Record<keyof HookEvent<K>, string>> } = {
  resources_discover: { cwd: "", reason: "`startup` or `reload`" },
  session_start: { reason: "`startup`, `reload`, `new`, `resume` or `fork`", previousSessionFile: "" },
  session_switch: { reason: "`new` or `resume`", previousSessionFile: "" },
  session_branch: { previousSessionFile: "" },
  session_before_switch: { reason: "`new` or `resume`", targetSessionFile: "" },
  session_before_fork: { entryId: "", position: "`before` or `at`" },
  session_before_branch: { entryId: "" },
  session_before_compact: {
    preparation: "what would be summarised, and what kept",
    branchEntries: "",
    customInstructions: "",
    signal: "",
    reason: "`manual`, `threshold` or `overflow`",
    willRetry: "",
  },
  "session.compacting": { sessionId: "", messages: "" },
  session_compact: { compactionEntry: "", fromExtension: "", reason: "", willRetry: "" },
  session_compact_failed: { reason: "", willRetry: "", aborted: "", error: "", errorMessage: "the same" },
  session_before_tree: { preparation: "where from, where to, what would be summarised", signal: "" },
  session_tree: { newLeafId: "", oldLeafId: "", summaryEntry: "", fromExtension: "" },
  session_shutdown: { reason: "`quit`, `reload`, `new`, `resume` or `fork`", targetSessionFile: "" },
  session_info_changed: { name: "" },
  input: {
    text: "",
    images: "",
    source: "`rpc`, `interactive` (print and JSON mode) or `extension`",
    streamingBehavior: "during a run: `steer` or `followUp`",
  },
  before_agent_start: {
    prompt: "",
    images: "",
    systemPrompt: "",
    systemPromptOptions: "what it is made of",
  },
  agent_start: {},
  agent_end: { messages: "" },
  agent_before_settle: {
    messages: "",
    aborted: "",
    entries: "what those before want to have added",
    continue: "what they have said",
  },
  agent_settled: { aborted: "" },
  turn_start: { turnIndex: "", timestamp: "" },
  turn_end: {
    turnIndex: "",
    message: "",
    toolResults: "",
    messageEntryId: "",
    toolResultEntryIds: "",
    entries: "what those before want to have added",
    continue: "what they have said",
  },
  message_start: { message: "" },
  message_update: { message: "so far", assistantMessageEvent: "" },
  message_end: { message: "" },
  context: { messages: "" },
  context_with_system: { messages: "the first has the role `system`, a `content` and `toolsAdded`" },
  cache_warming_decision: {
    model: "",
    retention: "`short` or `long`",
    cachedTokens: "",
    estimatedCost: "dollars, of asking once",
    missCost: "dollars, what the next prompt costs more otherwise",
    idleMs: "",
    expiresInMs: "",
    count: "how often it was done since the last run",
    maxCount: "",
    action: "what happens unless somebody says otherwise",
  },
  before_provider_headers: { headers: "" },
  before_provider_request: { payload: "" },
  after_provider_response: { status: "", headers: "" },
  provider_stream_event: { data: "" },
  tool_call: { toolName: "", toolCallId: "", input: "" },
  tool_execution_start: { toolCallId: "", toolName: "", args: "" },
  tool_execution_update: { toolCallId: "", toolName: "", args: "", partialResult: "" },
  tool_execution_end: { toolCallId: "", toolName: "", result: "", isError: "" },
  tool_result: { toolName: "", toolCallId: "", input: "", content: "", details: "", isError: "" },
  model_select: { model: "", previousModel: "", source: "`set`, `cycle` or `restore`" },
  thinking_level_select: { level: "", previousLevel: "" },
  user_bash: { command: "", excludeFromContext: "", cwd: "" },
  auto_compaction_start: { reason: "", action: "" },
  auto_compaction_end: { aborted: "", willRetry: "", result: "", errorMessage: "" },
  auto_retry_start: { attempt: "", maxAttempts: "", delayMs: "", errorMessage: "" },
  auto_retry_end: { success: "", attempt: "", finalError: "" },
  ttsr_triggered: { rules: "" },
  todo_reminder: { todos: "the open ones", attempt: "", maxAttempts: "" },
  project_trust: { cwd: "" },
  mcp_servers_change: { servers: "all of them: `name`, `status`, `tools`, `error`" },
  ui_prompt_start: { id: "of the request", method: "" },
  ui_prompt_end: { id: "", method: "" },
};

function hookTable(): string {
  const names = Object.keys(HOOKS) as HookName[];
  const rows = names.map((name) => {
    const { summary, answer = "", combines = "", limitMs } = HOOKS[name];
    const fields = Object.entries<string>(FIELDS[name]).map(([field, note]) => `\`${field}\`${note && ` (${note})`}`);
    return `| \`${name}\` | ${summary} | ${fields.join(", ")} | ${cell(answer)} | ${cell(combines)} | ${limitMs / 1000} s |`;
  });
  const never = Object.entries(NEVER).map(([name, why]) => `| \`${name}\` | never: ${why} | | | | |`);
  return [
    "| event | when | it has | a handler may give back | of several | limit |",
    "|---|---|---|---|---|---|",
    ...rows,
    ...never,
  ].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
