import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sessionFiles } from "../modes/cli-process.ts";
import type { Frame } from "../support/frame.ts";
import { partly } from "../support/part-of.ts";
import {
  command,
  errorsOf,
  extension,
  pathOf,
  tool,
  toolResultOf,
  useBad,
  useBadChoices,
  worksStill,
} from "./bad-support.ts";

/** Handlers and tools that give back what nobody can use, or never come back. The run goes on as if they had said nothing. */

/** Each a run of its own. */
const testSome = partly(6);
const start = useBad();

/** The cases with their place, for those who choose one of them. */
const counted = <T extends readonly unknown[]>(cases: readonly T[]) =>
  cases.map(([name], at) => [name as string, at] as const);
const FINE = tool("fine", `return "fine"`);

/** Everything that a function can give back and no type allows. */
const NONSENSE: readonly [string, string][] = [
  ["a number", "42"],
  ["a text", `"nonsense"`],
  ["a list", "[1, 2]"],
  ["a function", "() => {}"],
  ["a symbol", `Symbol("x")`],
  ["a BigInt", "10n"],
  ["a date", "new Date(NaN)"],
  ["a map", "new Map([[1, 2]])"],
  ["an object without a prototype", "Object.create(null)"],
  ["a circle", "(() => { const a = {}; a.a = a; return a; })()"],
  [
    "a frozen object of nonsense",
    "Object.freeze({ action: 7, message: 7, messages: 7, content: 7, block: 7, cancel: 7, systemPrompt: 7, compaction: 7, summary: 7, result: 7, skillPaths: 7, context: 7, operations: 7 })",
  ],
  [
    "an object of nulls",
    "({ action: null, message: null, messages: null, content: null, block: null, cancel: null, systemPrompt: null, compaction: null, summary: null, result: null, skillPaths: null, context: null })",
  ],
  ["lists of holes", "({ message: [,], messages: [,null], content: [,null], skillPaths: [,null], context: [,] })"],
  [
    "getters that throw",
    "new Proxy({}, { get(_, key) { if (key === 'then') return undefined; throw new Error('no'); }, has() { throw new Error('no'); }, ownKeys() { throw new Error('no'); } })",
  ],
  [
    "a proxy that throws at everything",
    "new Proxy({}, { get() { throw new Error('no'); }, has() { throw new Error('no'); }, ownKeys() { throw new Error('no'); }, getPrototypeOf() { throw new Error('no'); } })",
  ],
  [
    "a proxy that was revoked",
    "(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()",
  ],
  ["something that resolves to itself for ever", "({ then(done) { done(1); done(2); throw new Error('late'); } })"],
  ["something whose then throws", "({ then() { throw new Error('no'); } })"],
];

const HOOKS_OF_A_RUN = [
  "input",
  "before_agent_start",
  "context",
  "message_start",
  "message_update",
  "message_end",
  "turn_start",
  "turn_end",
  "tool_call",
  "tool_result",
  "tool_execution_start",
  "tool_execution_end",
  "agent_start",
  "agent_end",
  "agent_settled",
  "session_start",
  "resources_discover",
  "before_provider_request",
  "before_provider_headers",
  "after_provider_response",
  "context_with_system",
  "agent_before_settle",
] as const;

describe("in a run", () => {
  const choose = useBadChoices(
    NONSENSE.map(([, value]) => HOOKS_OF_A_RUN.map((hook) => `pi.on("${hook}", () => (${value}));`).join("\n")),
    { common: FINE, script: ["toolCall fine {}", 'text "aye"', 'text "aye"'] },
  );
  testSome.each(counted(NONSENSE))("handlers that give back %s do no harm", async (_, at) => {
    const { rpc, since } = await choose(at);
    const { frames } = await rpc.prompt("go");
    // Whoever guards a tool and fails must not let it pass; whoever merely talks nonsense has not guarded it.
    const { text, isError } = toolResultOf(frames);
    expect(isError ? text : "fine").toMatch(isError ? /cannot be used|revoked|^no$/ : /fine/);
    await worksStill(rpc);
    for (const { extensionPath } of errorsOf(rpc, since)) expect(extensionPath).toBe(pathOf(rpc));
  });
});

describe("around sessions", () => {
  const hooks = [
    "session_before_switch",
    "session_before_fork",
    "session_before_compact",
    "session_before_tree",
    "session.compacting",
    "session_shutdown",
    "session_compact",
    "session_tree",
    "session_info_changed",
    "user_bash",
    "model_select",
    "thinking_level_select",
  ];
  const choose = useBadChoices(
    NONSENSE.map(([, value]) => hooks.map((hook) => `pi.on("${hook}", () => (${value}));`).join("\n")),
    { script: ['text "one"', 'text "two"', 'text "aye"'] },
  );
  testSome.each(counted(NONSENSE))("handlers that give back %s do no harm", async (_, at) => {
    const { rpc } = await choose(at);
    await worksStill(rpc);
    await worksStill(rpc);
    const shell = await rpc.call({ type: "bash", command: "echo hi" });
    if (shell.success) expect(shell.data).toMatchObject({ output: "hi\n" });
    else expect(shell.error).toMatch(/cannot be used|revoked|^no$/);
    await rpc.call({ type: "set_session_name", name: "x" });
    await rpc.call({ type: "set_thinking_level", level: "high" });
    const { data } = await rpc.call({ type: "get_fork_messages" });
    const [first] = (data as { messages: { entryId: string }[] }).messages;
    expect((await rpc.call({ type: "fork", entryId: first?.entryId })).success).toBe(true);
    expect(await rpc.call({ type: "new_session" })).toMatchObject({ success: true, data: { cancelled: false } });
    await worksStill(rpc);
  });
});

test("tools that give back nonsense fail or not, and the run goes on", async () => {
  const tools = NONSENSE.map(([, value], at) => tool(`odd_${at}`, `onUpdate?.(${value}); return ${value};`));
  const rpc = start(extension(tools.join("\n")), {
    script: NONSENSE.flatMap((_, at) => [`toolCall odd_${at} {}`, 'text "aye"']),
  });
  for (const [what] of NONSENSE) await worksStill(rpc, what);
});

describe("details of a tool, of an update, of a message, of an entry", () => {
  const DETAILS = [
    ["a circle", "const a = {}; a.a = a; const value = a;"],
    ["a BigInt", "const value = { n: 10n };"],
    ["a getter that throws", "const value = { get a() { throw new Error('no'); } };"],
    ["toJSON that throws", "const value = { toJSON() { throw new Error('no'); } };"],
    ["functions and symbols", "const value = { f() {}, [Symbol('x')]: 1, s: Symbol('y') };"],
    ["a revoked proxy", "const { proxy: value, revoke } = Proxy.revocable({}, {}); revoke();"],
    ["a frozen object", "const value = Object.freeze({ a: Object.freeze([1]) });"],
  ] as const;
  const choose = useBadChoices(
    DETAILS.map(
      ([, make]) =>
        `make = () => { ${make} return value; };
         pi.on("tool_result", () => { ${make} return { details: value }; });
         pi.on("before_agent_start", () => { ${make} return { message: { customType: "x", content: "x", details: value } }; });`,
    ),
    {
      common: `let make;
        ${tool("odd", `onUpdate({ content: [], details: make() }); return { content: [{ type: "text", text: "odd" }], details: make() };`)}
        ${command("entry", `pi.appendEntry("x", make());`)}
        ${command("message", `pi.sendMessage({ customType: "x", content: "y", details: make() });`)}`,
      script: ["toolCall odd {}", 'text "aye"', 'text "aye"'],
    },
  );
  test.each(counted(DETAILS))("with %s do no harm", async (_, at) => {
    const { rpc } = await choose(at);
    await worksStill(rpc);
    await rpc.prompt("/entry");
    await rpc.prompt("/message");
    await worksStill(rpc);
    await rpc.call({ type: "get_messages" });
    await rpc.call({ type: "get_tree" });
    await rpc.call({ type: "new_session" });
    const files = sessionFiles(rpc.sandbox);
    expect(files).toHaveLength(at + 1);
    for (const file of files) for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) JSON.parse(line);
  });
});

const HANG = "await new Promise(() => {});";

describe("in a run", () => {
  const ofProvider = ["before_provider_request", "after_provider_response"];
  const HOOKS = HOOKS_OF_A_RUN.filter((hook) => !ofProvider.includes(hook)).map((hook) => [hook] as const);
  const choose = useBadChoices(
    HOOKS.map(([hook]) => `pi.on("${hook}", async () => { ${HANG} });`),
    { common: FINE, script: ["toolCall fine {}", 'text "aye"'], settings: { "extensionLimits.hookMs": 50 } },
  );
  testSome.each(counted(HOOKS))(
    "a handler of %s that never ends is given up, and the prompt gets its result",
    async (hook, at) => {
      const { rpc, since } = await choose(at);
      await worksStill(rpc);
      const isTold = (frame: Frame): boolean => frame.type === "extension_error" && frame.event === hook;
      const told = await rpc.waitFor(isTold, { since });
      expect(told).toMatchObject({ extensionPath: pathOf(rpc), error: `${hook} did not finish within 0.05 s` });
    },
  );
});

test("what cannot be sent, and what is written into what others have handed out, harms nobody", async () => {
  const rpc = start(
    extension(
      `pi.on("input", ({ text }) => text === "hush" ? { action: "transform", text: "" } : undefined);
       const models = [{ id: "m", name: "M", input: ["text"], cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } }];
       pi.registerProvider("mine", { baseUrl: "http://localhost:1/v1", apiKey: "k", api: "openai-completions", models });
       ${command(
         "write",
         `for (const listed of pi.getCommands()) listed.sourceInfo.path = "elsewhere";
          ctx.modelRegistry.getAll();
          models[0].input.push("image");
          models[0].cost.input = 2;
          ctx.ui.notify("written");`,
       )}`,
    ),
    { script: ['expect messages 1 + text "aye"'] },
  );
  const { result } = await rpc.prompt("hush");
  expect(result).toMatchObject({ status: "error", error: { message: expect.stringContaining("is empty") } });
  await rpc.prompt("/write");
  await rpc.waitFor(({ method }) => method === "notify");
  const { data } = await rpc.call({ type: "get_commands" });
  expect(data).toMatchObject({ commands: [{ name: "write", sourceInfo: { path: pathOf(rpc) } }] });
  await worksStill(rpc);
});

test("a guard of tools that hangs does not let the tool pass", async () => {
  const rpc = start(extension(`pi.on("tool_call", async () => { ${HANG} });`), {
    files: { "a.txt": "secret" },
    script: ['toolCall read {"path":"a.txt"}', 'expect isError true + text "aye"'],
    settings: { "extensionLimits.hookMs": 50 },
  });
  const { frames } = await rpc.prompt("go");
  expect(toolResultOf(frames)).toEqual({ text: expect.stringContaining("did not finish"), isError: true });
});

describe("around sessions", () => {
  const HOOKS = ["session_before_switch", "session_before_fork", "session_shutdown", "session_before_compact"];
  const choose = useBadChoices(
    HOOKS.map((hook) => `pi.on("${hook}", async () => { ${HANG} });`),
    { script: ['text "one"', 'text "a summary"'], settings: { "extensionLimits.hookMs": 50 } },
  );
  test.each(HOOKS)("a handler of %s that hangs does not keep the host from doing it", async (hook) => {
    const { rpc } = await choose(HOOKS.indexOf(hook));
    await worksStill(rpc);
    const { data } = await rpc.call({ type: "get_fork_messages" });
    const [first] = (data as { messages: { entryId: string }[] }).messages;
    expect((await rpc.call({ type: "compact" })).command).toBe("compact");
    expect((await rpc.call({ type: "fork", entryId: first?.entryId })).success).toBe(true);
    expect((await rpc.call({ type: "new_session" })).success).toBe(true);
  });
});

test("a handler that registers another one while it runs: the new one is asked the next time", async () => {
  const rpc = start(
    extension(
      `let n = 0; pi.on("turn_start", function again(event, ctx) { n++; if (n < 50) pi.on("turn_start", again); ctx.ui.setStatus("n", String(n)); });`,
    ),
    { script: ['text "one"', 'text "two"'] },
  );
  await worksStill(rpc);
  await worksStill(rpc);
  expect(errorsOf(rpc)).toEqual([]);
  expect(rpc.frames.filter(({ method }) => method === "setStatus").map(({ statusText }) => statusText)).toEqual([
    "1",
    "2",
    "3",
  ]);
});

const MESSAGES = [
  ["a number as its content", "{ ...event.message, content: 42 }"],
  ["holes in its content", "{ ...event.message, content: [null, 42] }"],
  ["a BigInt in its content", `{ ...event.message, content: [{ type: "text", text: "x", n: 1n }] }`],
  ["a circle", "(() => { const m = { ...event.message }; m.me = m; return m; })()"],
  ["no usage", "{ ...event.message, usage: 7, stopReason: [], timestamp: 'now' }"],
  ["tool calls without arguments", `{ ...event.message, content: [{ type: "toolCall", id: "a", name: "fine" }] }`],
  ["images where there are none", `{ ...event.message, content: [{ type: "image", data: 7 }] }`],
] as const;
describe("message_end", () => {
  const choose = useBadChoices(
    MESSAGES.map(([, message]) => `pi.on("message_end", (event) => ({ message: ${message} }));`),
    {
      common: FINE,
      script: ["toolCall fine {}", 'expect toolResult "fine" + text "aye"', 'expect user "again" + text "aye"'],
    },
  );
  testSome.each(counted(MESSAGES))(
    "that gives back a message with %s is told, and the message stays",
    async (_, at) => {
      const { rpc, since } = await choose(at);
      await worksStill(rpc, "first");
      await worksStill(rpc, "again");
      expect(errorsOf(rpc, since).length).toBeGreaterThan(0);
      expect((await rpc.call({ type: "get_messages" })).success).toBe(true);
    },
  );
});

test("message_end may give the tool calls of an answer other ids: the results carry them", async () => {
  const rpc = start(
    extension(
      `pi.on("message_end", ({ message }) => message.role !== "assistant" ? undefined : ({ message: { ...message, content: message.content.map((b) => b.type === "toolCall" ? { ...b, id: "other" } : b) } }));\n${tool("fine", `return "fine " + id`)}`,
    ),
    { script: ["toolCall fine {} id mine", 'expect toolResult "fine other" + text "aye"'] },
  );
  await worksStill(rpc);
  const { data } = await rpc.call({ type: "get_messages" });
  const result = (data as { messages: { role: string; toolCallId?: string }[] }).messages.find(
    (m) => m.role === "toolResult",
  );
  expect(result?.toolCallId).toBe("other");
});

const CHANGES = [
  ["a message that has begun", `pi.on("message_start", ({ message }) => { message.content = 42; });`],
  [
    "a message that grows",
    `pi.on("message_update", ({ message, assistantMessageEvent }) => { message.content.length = 0; assistantMessageEvent.delta = 42; });`,
  ],
  ["a message that is over", `pi.on("message_end", ({ message }) => { message.content = 42; });`],
  ["a turn", `pi.on("turn_end", ({ message, toolResults }) => { message.content = 42; toolResults.length = 0; });`],
  [
    "a run",
    `pi.on("agent_end", ({ messages }) => { for (const m of messages) m.content = 42; messages.length = 0; });`,
  ],
  [
    "what is sent to the model",
    `pi.on("context", ({ messages }) => { for (const m of messages) { m.extra = "SPOILED"; for (const b of m.content) b.extra = "SPOILED"; } });`,
  ],
  ["the input of a tool", `pi.on("tool_call", (event) => { event.input.self = event.input; event.input.n = 1n; });`],
  ["the input of a tool, wholly", `pi.on("tool_call", (event) => { event.input = 42; });`],
  [
    "the result of a tool",
    `pi.on("tool_result", (event) => { event.content.length = 0; event.content.push(42); event.details = { n: 1n }; });`,
  ],
  ["the beginning of a call", `pi.on("tool_execution_start", (event) => { event.args.n = 1n; event.toolName = 42; });`],
  ["the end of a call", `pi.on("tool_execution_end", (event) => { event.result.content = 42; event.result.n = 1n; });`],
  [
    "itself, frozen",
    `for (const h of ["message_start", "message_update", "message_end", "turn_end", "agent_end", "context", "tool_call", "tool_result", "input", "before_agent_start"]) pi.on(h, (event) => { (function freeze(o) { if (o && typeof o === "object" && !Object.isFrozen(o)) { Object.freeze(o); Object.values(o).forEach(freeze); } })(event); });`,
  ],
] as const;
describe("a handler that changes in place", () => {
  const choose = useBadChoices(
    CHANGES.map(([, code]) => code),
    {
      common: FINE,
      script: ["toolCall fine {}", 'text "aye"', 'expect user "again" + text "aye, aye"'],
    },
  );
  testSome.each(counted(CHANGES))("%s spoils neither the run nor the session", async (_, at) => {
    const { rpc } = await choose(at);
    await worksStill(rpc, "first");
    await worksStill(rpc, "again");
    const { data } = await rpc.call({ type: "get_messages" });
    const messages = (data as { messages: { role: string; content: unknown }[] }).messages;
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(messages.every(({ content }) => Array.isArray(content) || typeof content === "string")).toBe(true);
    expect(JSON.stringify(messages)).not.toContain("SPOILED");
  });
});
