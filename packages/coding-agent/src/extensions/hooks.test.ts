import type { Model } from "@tiller/protocol/model";
import { describe, expect, test } from "vitest";
import type { HookEvent, HookName, HookResult } from "../session/ports.ts";
import { HOOKS, type HookRow, isHookName } from "./hooks.ts";

/** What becomes of the answers of handlers, one after the other, as the runner takes them. */
function take<K extends HookName>(hook: K, event: HookEvent<K>, ...answers: unknown[]) {
  const row: HookRow<K> = HOOKS[hook];
  const result: HookResult<K> = row.nothing(event);
  const said = answers.map((answer) =>
    row.take?.(answer as Record<string, unknown>, { event, result, extensionPath: "/x.ts" }),
  );
  return { event, result, said };
}

const text = (words: string) => ({ type: "text" as const, text: words });
const user = (words: string) => ({ role: "user" as const, content: [text(words)], timestamp: 1 });
const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };

const input = () => ({ text: "hi", source: "rpc" as const });
const call = () => ({ toolName: "read", toolCallId: "1", input: {} });
const ran = () => ({ ...call(), isError: false, content: [text("A")], details: { lines: 1 } });
const preparation = {} as HookEvent<"session_before_compact">["preparation"];
const compact = () => ({
  preparation,
  branchEntries: [],
  signal: new AbortController().signal,
  reason: "manual" as const,
  willRetry: false,
});
const tree = () => ({
  preparation: {} as HookEvent<"session_before_tree">["preparation"],
  signal: new AbortController().signal,
});
const begin = () => ({ prompt: "hi", systemPrompt: "be kind", systemPromptOptions: {} });
const bash = () => ({ command: "ls", excludeFromContext: false, cwd: "/" });

type Row = [name: string, taken: ReturnType<typeof take>, result: unknown, said: unknown[]];
const row = <K extends HookName>(
  name: string,
  hook: K,
  event: HookEvent<K>,
  answers: unknown[],
  result: unknown,
  said: unknown[] = answers.map(() => undefined),
): Row => [`${hook}: ${name}`, take(hook, event, ...answers) as Row[1], result, said];
const problem = (words: string) => [{ problem: words }];

const here = (path: string) => ({ path, extensionPath: "/x.ts" });
const NO_TEXTS = { skillPaths: [], promptPaths: [] };
const LISTS = "skillPaths and promptPaths must be lists of paths";
const summary = { summary: "short" };

const turn = () => ({
  turnIndex: 0,
  message: user("hi"),
  toolResults: [],
  messageEntryId: "a",
  toolResultEntryIds: [],
  entries: [],
  continue: false,
});
const settle = () => ({ messages: [], aborted: false, entries: [], continue: false });
const warming = () => ({
  ...{ model: {} as Model, retention: "short" as const, cachedTokens: 1, estimatedCost: 0, missCost: 0 },
  ...{ idleMs: 0, expiresInMs: 1, count: 0, maxCount: 1, action: "stop" as const },
});
const custom = { type: "custom", customType: "note", data: { a: 1 } };
const note = { type: "custom_message", customType: "note", content: "more", display: true };
const edit = { type: "context_edit", targetId: "a", replacement: null };
const cut = { type: "compaction", summary: "short", firstKeptEntryId: null, tokensBefore: 0 };
const system = (content: unknown) => ({ role: "system" as const, content: content as string, timestamp: 0 });
const FIRST = "the first of the messages must be the system message, with a text as its content";

const rows: Row[] = [
  row("nothing is said", "turn_end", turn(), [{}], { entries: [], continue: false }),
  row("the last word counts: yes", "turn_end", turn(), [{ continue: false }, { continue: true }, {}], {
    entries: [],
    continue: true,
  }),
  row("the last word counts: no", "agent_before_settle", settle(), [{ continue: true }, { continue: false }], {
    entries: [],
    continue: false,
  }),
  row("only yes and no are words", "turn_end", turn(), [{ continue: true }, { continue: null }], {
    entries: [],
    continue: true,
  }),
  row("nobody says anything about the cache", "cache_warming_decision", warming(), [{}], { action: "stop" }),
  row(
    "the cache: the last word counts",
    "cache_warming_decision",
    warming(),
    [{ action: "stop" }, { warm: true }, {}, { other: 1 }],
    { action: "warm" },
  ),
  row("the cache: no", "cache_warming_decision", warming(), [{ action: "warm" }, { warm: false }], { action: "stop" }),
  row(
    "the cache: nonsense",
    "cache_warming_decision",
    warming(),
    [{ action: "hot" }],
    { action: "stop" },
    problem('action must be "warm" or "stop"'),
  ),
  row(
    "all kinds of entries; the last list counts",
    "agent_before_settle",
    settle(),
    [{ entries: [custom] }, { entries: [custom, { ...note, display: undefined }, edit, cut] }],
    { entries: [custom, note, edit, cut], continue: false },
  ),
  row("what a compaction does not say", "turn_end", turn(), [{ entries: [{ type: "compaction", summary: "short" }] }], {
    entries: [cut],
    continue: false,
  }),
  ...(
    [
      ["no list", { entries: custom }, "entries must be a list"],
      ["nothing", { entries: [null] }, "entries[0]: must be an object"],
      [
        "of a kind that is not for extensions",
        { entries: [custom, { type: "label" }] },
        'entries[1]: type is "label", it must be one of custom, custom_message, context_edit, compaction',
      ],
      ["without a type of its own", { entries: [{ type: "custom" }] }, "entries[0]: customType must be a text"],
      [
        "a message without content",
        { entries: [{ ...note, content: 7 }] },
        "entries[0]: message.content must be a text, or a list of text and image blocks",
      ],
      [
        "an edit of nothing",
        { entries: [{ ...edit, targetId: "" }] },
        "entries[0]: targetId must be the id of an entry",
      ],
      [
        "an edit without words",
        { entries: [{ ...edit, replacement: 7 }] },
        "entries[0]: replacement must be null, a text, or text and image blocks",
      ],
      ["no summary", { entries: [{ ...cut, summary: "" }] }, "entries[0]: summary must be a text"],
      [
        "a cut at no entry",
        { entries: [{ ...cut, firstKeptEntryId: 7 }] },
        "entries[0]: firstKeptEntryId must be the id of an entry, or null",
      ],
    ] as const
  ).map(([name, answer, words]) =>
    row(`entries: ${name}`, "turn_end", turn(), [answer], { entries: [], continue: false }, problem(words)),
  ),
  row(
    "headers add up; null takes one away",
    "before_provider_headers",
    { headers: { a: "1" } },
    [{ headers: { b: "2" } }, { a: null }],
    {
      headers: { a: null, b: "2" },
    },
  ),
  row(
    "headers that are none",
    "before_provider_headers",
    { headers: {} },
    [{ headers: { a: 7 } }],
    { headers: {} },
    problem("headers must be texts, or null"),
  ),
  row(
    "the last transcript counts",
    "context_with_system",
    { messages: [system("a"), user("hi")] },
    [{ messages: [system("b")] }, {}],
    { messages: [system("b")] },
  ),
  ...(
    [
      [[user("hi")], FIRST],
      [[], FIRST],
      [[system(7), user("hi")], "messages[0]: content must be a text"],
      [[{ ...system("a"), toolsAdded: [null] }], "messages[0]: toolsAdded must be a list of tools"],
      [[system("a"), "hi"], "messages[1]: must be an object"],
      [[system("a"), { role: "user" }], "messages[1]: content must be a text, or a list of blocks"],
    ] as const
  ).map(([messages, words]) =>
    row(
      `${JSON.stringify(messages)} is no transcript`,
      "context_with_system",
      { messages: [system("a")] },
      [{ messages }],
      { messages: [system("a")] },
      problem(words),
    ),
  ),
  row("undecided", "project_trust", { cwd: "/" }, [{}, { trusted: "undecided", remember: true }], { remember: false }),
  row("yes", "project_trust", { cwd: "/" }, [{ trusted: "yes" }], { trusted: true, remember: false }, ["stop"]),
  row(
    "no, for ever",
    "project_trust",
    { cwd: "/" },
    [{ trusted: "no", remember: true }],
    { trusted: false, remember: true },
    ["stop"],
  ),
  row(
    "something else",
    "project_trust",
    { cwd: "/" },
    [{ trusted: true }],
    { remember: false },
    problem('trusted must be "yes", "no" or "undecided"'),
  ),
  row("nobody answers", "resources_discover", { cwd: "/", reason: "startup" }, [], NO_TEXTS),
  row(
    "places add up, and it is known whose they are",
    "resources_discover",
    { cwd: "/", reason: "startup" },
    [{ skillPaths: ["a"] }, { skillPaths: ["b"], promptPaths: ["c"], themePaths: ["d"] }, {}],
    { skillPaths: [here("a"), here("b")], promptPaths: [here("c")] },
  ),
  row("no list", "resources_discover", { cwd: "/", reason: "reload" }, [{ skillPaths: "a" }], NO_TEXTS, problem(LISTS)),
  row(
    "no text",
    "resources_discover",
    { cwd: "/", reason: "reload" },
    [{ promptPaths: [7] }],
    NO_TEXTS,
    problem(LISTS),
  ),

  ...(["session_before_switch", "session_before_fork", "session_before_branch"] as const).flatMap((hook) => [
    row("nobody answers", hook, {} as never, [], { cancel: false }),
    row("no says nobody else is asked", hook, {} as never, [{ cancel: true }], { cancel: true }, ["stop"]),
    row("other answers are no no", hook, {} as never, [{ cancel: false }, {}, { cancel: 1 }], { cancel: false }),
  ]),

  row("cancelled", "session_before_compact", compact(), [{ cancel: true }], { cancel: true }, ["stop"]),
  row("nothing to say", "session_before_compact", compact(), [{}], { cancel: false }),
  row(
    "a summary; of two the last counts",
    "session_before_compact",
    compact(),
    [
      { compaction: { summary: "first" } },
      { compaction: { summary: "short", firstKeptEntryId: "a1", tokensBefore: 7, details: { own: 1 } } },
    ],
    {
      cancel: false,
      compaction: { summary: "short", firstKeptEntryId: "a1", tokensBefore: 7, details: { own: 1 } },
    },
  ),
  row(
    "what is no id and no number is left out",
    "session_before_compact",
    compact(),
    [{ compaction: { summary: "short", firstKeptEntryId: 7, tokensBefore: "many" } }],
    { cancel: false, compaction: { summary: "short", details: undefined } },
  ),
  ...[{ compaction: "short" }, { compaction: { text: "short" } }, { compaction: { summary: 7 } }].map((answer) =>
    row(
      `${JSON.stringify(answer)} is no summary`,
      "session_before_compact",
      compact(),
      [answer],
      { cancel: false },
      problem("compaction must be an object with a summary"),
    ),
  ),

  row(
    "contexts add up, the last prompt counts",
    "session.compacting",
    { sessionId: "s", messages: [] },
    [{ context: ["a"], prompt: "one" }, { context: ["b"], prompt: "two", preserveData: { n: 1 } }, { prompt: 7 }],
    { context: ["a", "b"], prompt: "two", preserveData: { n: 1 } },
  ),
  row(
    "a context that is no list",
    "session.compacting",
    { sessionId: "s", messages: [] },
    [{ context: "a", prompt: "one" }],
    { context: [] },
    problem("context must be a list of texts"),
  ),

  row("cancelled", "session_before_tree", tree(), [{ cancel: true }], { cancel: true }, ["stop"]),
  row(
    "notes, and what others add",
    "session_before_tree",
    tree(),
    [{ summary }, { customInstructions: "be brief", replaceInstructions: true, label: "here" }],
    {
      cancel: false,
      summary: { summary: "short", details: undefined },
      customInstructions: "be brief",
      replaceInstructions: true,
      label: "here",
    },
  ),
  row("values of other types", "session_before_tree", tree(), [{ customInstructions: 1, label: 2 }], { cancel: false }),
  row(
    "a summary that is a text",
    "session_before_tree",
    tree(),
    [{ summary: "short", label: "x" }],
    { cancel: false },
    problem("summary must be an object with a summary"),
  ),

  row("nobody answers", "input", input(), [], { handled: false, text: "hi", images: undefined }),
  row("continue", "input", input(), [{ action: "continue" }, {}], { handled: false, text: "hi", images: undefined }),
  row(
    "transformed twice",
    "input",
    input(),
    [
      { action: "transform", text: "ho" },
      { action: "transform", text: "ha", images: [image] },
    ],
    { handled: false, text: "ha", images: [image] },
  ),
  row(
    "handled: nobody else is asked",
    "input",
    input(),
    [{ action: "handled" }],
    { handled: true, text: "hi", images: undefined },
    ["stop"],
  ),
  row(
    "an unknown action",
    "input",
    input(),
    [{ action: "shout", text: "HI" }],
    { handled: false, text: "hi", images: undefined },
    problem('action must be "continue", "transform" or "handled"'),
  ),
  row(
    "a transform without text",
    "input",
    input(),
    [{ action: "transform" }],
    { handled: false, text: "hi", images: undefined },
    problem('a "transform" needs a text'),
  ),

  row("nobody answers", "before_agent_start", begin(), [], { messages: [], systemPrompt: "be kind" }),
  row(
    "messages add up, the last system prompt counts",
    "before_agent_start",
    begin(),
    [
      { message: { customType: "a", content: "one" }, systemPrompt: "be brief" },
      { message: { customType: "b", content: "two", display: false }, systemPrompt: "be very brief" },
    ],
    {
      messages: [
        { role: "custom", customType: "a", content: "one", display: true },
        { role: "custom", customType: "b", content: "two", display: false },
      ],
      systemPrompt: "be very brief",
    },
  ),
  row(
    "a message that is none: the system prompt still counts",
    "before_agent_start",
    begin(),
    [{ message: { content: "one" }, systemPrompt: "be brief" }],
    { messages: [], systemPrompt: "be brief" },
    problem("message.customType must be a text"),
  ),

  row("nobody answers", "message_end", { message: user("hi") }, [{}], { message: user("hi") }),
  row(
    "what is given takes the place of what was there",
    "message_end",
    { message: user("hi") },
    [{ message: { role: "user", content: "ho" } }],
    { message: { role: "user", content: "ho", timestamp: 1 } },
  ),
  ...[{ role: "assistant", content: [] }, "ho", {}].map((message) =>
    row(
      `${JSON.stringify(message)} is no user's message`,
      "message_end",
      { message: user("hi") },
      [{ message }],
      { message: user("hi") },
      problem("message_end handlers must return a message with the same role"),
    ),
  ),

  row("other messages", "context", { messages: [user("hi")] }, [{ messages: [user("ho")] }], {
    messages: [user("ho")],
  }),
  row("none at all", "context", { messages: [user("hi")] }, [{ messages: [] }], { messages: [] }),
  row("nothing to say", "context", { messages: [user("hi")] }, [{}], { messages: [user("hi")] }),
  ...(
    [
      ["all", "messages must be a list of messages"],
      [[7], "messages[0]: must be an object"],
      [[{ content: "hi" }], 'messages[0]: the role "undefined" is none of a message'],
      [[user("hi"), { role: "system", content: "hi" }], 'messages[1]: the role "system" is none of a message'],
      [[{ role: "user", content: [{ type: "text" }] }], "messages[0]: content must be a text, or a list of blocks"],
      [[{ role: "assistant", content: "hi" }], "messages[0]: content must be a list of blocks"],
      [[{ role: "compactionSummary" }], "messages[0]: summary must be a text"],
    ] as const
  ).map(([messages, words]) =>
    row(
      `${JSON.stringify(messages)} are no messages`,
      "context",
      { messages: [user("hi")] },
      [{ messages }],
      { messages: [user("hi")] },
      problem(words),
    ),
  ),

  row("nobody answers", "before_provider_request", { payload: 1 }, [], { payload: 1, isReplaced: false }),
  row("anything is sent instead", "before_provider_request", { payload: 1 }, [false], {
    payload: false,
    isReplaced: true,
  }),
  row("the last one counts", "before_provider_request", { payload: 1 }, [{ a: 1 }, "b"], {
    payload: "b",
    isReplaced: true,
  }),

  row("nothing to say", "tool_call", call(), [{}, { block: false, reason: "no" }], {}),
  row("blocked", "tool_call", call(), [{ block: true, reason: "no" }], { block: "no" }, ["stop"]),
  row("blocked without a reason", "tool_call", call(), [{ block: true }], { block: "Tool execution was blocked" }, [
    "stop",
  ]),
  row(
    "an empty reason is none",
    "tool_call",
    call(),
    [{ block: true, reason: "", terminate: true }],
    { block: "Tool execution was blocked", terminate: true },
    ["stop"],
  ),

  row("nobody answers", "tool_result", ran(), [], { content: [text("A")], details: { lines: 1 }, isError: false }),
  row(
    "each part by itself",
    "tool_result",
    ran(),
    [{ content: [text("B"), image] }, { details: undefined }, { isError: true }],
    { content: [text("B"), image], details: undefined, isError: true },
  ),
  row("a text is a block", "tool_result", ran(), [{ content: "B" }], {
    content: [text("B")],
    details: { lines: 1 },
    isError: false,
  }),
  row(
    "blocks of another kind",
    "tool_result",
    ran(),
    [{ content: [{ type: "video" }], isError: true }],
    { content: [text("A")], details: { lines: 1 }, isError: false },
    problem("content must be a list of text and image blocks"),
  ),

  row("nothing to say", "user_bash", bash(), [{}], {}),
  row(
    "answered",
    "user_bash",
    bash(),
    [{ result: { output: "a\nb", exitCode: 1, cancelled: false, truncated: false } }],
    {
      result: {
        output: "a\nb",
        exitCode: 1,
        cancelled: false,
        truncated: false,
        totalLines: 2,
        totalBytes: 3,
        outputLines: 2,
        outputBytes: 3,
      },
    },
    ["stop"],
  ),
  row(
    "an answer without output",
    "user_bash",
    bash(),
    [{ result: "a" }],
    {},
    problem("result must be an object with output"),
  ),
  row(
    "operations that do nothing",
    "user_bash",
    bash(),
    [{ operations: {} }],
    {},
    problem("operations must have a function exec"),
  ),
];

test.each(rows)("%s", (_name, taken, result, said) => {
  expect(taken.result).toEqual(result);
  expect(taken.said).toEqual(said);
});

test("somebody else runs the command: the operations are handed on as they are", () => {
  const operations = { exec: async () => ({ exitCode: 0 }) };
  const taken = take("user_bash", bash(), { operations });
  expect(taken.result.operations).toBe(operations);
  expect(taken.said).toEqual(["stop"]);
});

describe("the next handler sees what those before it have made of it", () => {
  const chained: [hook: HookName, event: object, expected: object][] = [
    [
      "input",
      take("input", input(), { action: "transform", text: "ho", images: [image] }).event,
      { text: "ho", images: [image] },
    ],
    [
      "before_agent_start",
      take("before_agent_start", begin(), { systemPrompt: "be brief" }).event,
      { systemPrompt: "be brief" },
    ],
    [
      "message_end",
      take("message_end", { message: user("hi") }, { message: user("ho") }).event,
      { message: user("ho") },
    ],
    ["context", take("context", { messages: [] }, { messages: [user("ho")] }).event, { messages: [user("ho")] }],
    ["before_provider_request", take("before_provider_request", { payload: 1 }, 2).event, { payload: 2 }],
    [
      "tool_result",
      take("tool_result", ran(), { content: "B", details: 1, isError: true }).event,
      { content: [text("B")], details: 1, isError: true },
    ],
  ];
  test.each(chained)("%s", (_hook, event, expected) => {
    expect(event).toMatchObject(expected);
  });
});

describe("who decides and fails", () => {
  const failing: [hook: HookName, result: object][] = [
    ["tool_call", { block: "broken" }],
    ["user_bash", { refused: "broken" }],
  ];
  test.each(failing)("%s does not happen", (hook, expected) => {
    const result = {};
    const state = { event: {}, result, extensionPath: "/x.ts" } as never;
    expect(HOOKS[hook].failed?.("broken", state)).toBe("stop");
    expect(result).toEqual(expected);
  });

  test("everywhere else it is as if nothing had been said", () => {
    const named = new Set(failing.map(([hook]) => hook));
    const others = Object.entries(HOOKS).filter(([name]) => !named.has(name as HookName));
    expect(others.filter(([, row]) => row.failed !== undefined)).toEqual([]);
  });
});

describe("the table", () => {
  test.each(Object.entries(HOOKS))("%s has a summary and a limit, and says what it takes", (_name, row) => {
    expect(row.summary).toMatch(/^[A-Z].*\.$/);
    expect(row.limitMs).toBeGreaterThanOrEqual(3000);
    expect(row.limitMs).toBeLessThanOrEqual(300_000);
    expect(row.take !== undefined).toBe(row.answer !== undefined);
  });

  test("where an answer counts, the table says what may be given back, and how several combine", () => {
    const rows = Object.entries<{ take?: unknown; answer?: string; combines?: string }>(HOOKS);
    const incomplete = rows.filter(([, row]) => new Set([!row.take, !row.answer, !row.combines]).size !== 1);
    expect(incomplete.map(([name]) => name)).toEqual([]);
  });
  test("what is in it is a hook, what every object has is none", () => {
    expect(isHookName("session.compacting")).toBe(true);
    expect(["toString", "__proto__", "session_compacting", ""].filter(isHookName)).toEqual([]);
  });
});
