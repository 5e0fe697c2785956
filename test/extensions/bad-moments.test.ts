import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Frame } from "../support/frame.ts";
import type { RpcProcess } from "../support/rpc-process.ts";
import { command, errorsOf, extension, resultsOf, tool, toolResultOf, useBad, worksStill } from "./bad-support.ts";

/** The right thing at the wrong moment. Whatever it is: every prompt gets one result, and the process goes on. */

const start = useBad();
const HANG = "await new Promise(() => {});";
const ENDLESS = 'endless "x " pace 10';
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const isDialog = (frame: Frame): boolean => frame.type === "extension_ui_request" && frame.method === "confirm";

const result = (rpc: RpcProcess, id: string): Promise<Frame> =>
  rpc.waitFor((frame) => frame.type === "prompt_result" && frame.id === id);

test("a prompt that comes before session_start is over waits for it", async () => {
  const rpc = start(
    extension(
      `pi.on("session_start", async () => { await new Promise((r) => setTimeout(r, 200)); ${tool("late", `return "late"`)} });`,
    ),
    { script: ["toolCall late {}", 'expect toolResult "late" + text "aye"'] },
  );
  await worksStill(rpc);
});

test("a session_start that waits for a person does not keep abort, get_state and the end of the process waiting", async () => {
  const rpc = start(extension(`pi.on("session_start", async (e, ctx) => { await ctx.ui.confirm("Sure?", "?"); });`), {
    script: ['text "aye"'],
  });
  await rpc.waitFor(isDialog);
  rpc.send({ id: "p", type: "prompt", message: "go" });
  expect((await rpc.call({ type: "get_state" })).success).toBe(true);
  expect((await rpc.call({ type: "abort" })).success).toBe(true);
  expect((await result(rpc, "p")).status).toBe("aborted");
});

test("a session_start that hangs keeps a prompt waiting, but not an abort nor the end of the process", async () => {
  const rpc = start(extension(`pi.on("session_start", async () => { ${HANG} });`), { script: ['text "aye"'] });
  for (const [id, message] of [
    ["p", "go"],
    ["q", "/nothing of that name"],
  ]) {
    rpc.send({ id, type: "prompt", message });
    await pause(100);
    expect((await rpc.call({ type: "abort" }, 3000)).success).toBe(true);
    expect(resultsOf(rpc, String(id))).toMatchObject([{ status: "aborted" }]);
  }
  rpc.send({ id: "last", type: "prompt", message: "go" });
  rpc.closeStdin();
  expect(await rpc.waitExit(9000)).toEqual({ code: 0, signal: null });
  expect(resultsOf(rpc, "last")).toHaveLength(1);
});

const LEAVING: readonly [string, (rpc: RpcProcess, entryId: string) => Record<string, unknown> & { type: string }][] = [
  ["new_session", () => ({ type: "new_session" })],
  ["fork", (_, entryId) => ({ type: "fork", entryId })],
  ["switch_session", (rpc) => ({ type: "switch_session", sessionPath: fileOf(rpc) })],
];

const files = new WeakMap<RpcProcess, string>();
const fileOf = (rpc: RpcProcess): string => files.get(rpc) ?? "";

/** One exchange, so that there is something to fork and a file to come back to. */
async function begun(rpc: RpcProcess): Promise<string> {
  await worksStill(rpc, "first");
  const { data } = await rpc.call({ type: "get_fork_messages" });
  const state = await rpc.call({ type: "get_state" });
  files.set(rpc, (state.data as { sessionFile: string }).sessionFile);
  return (data as { messages: { entryId: string }[] }).messages[0]?.entryId ?? "";
}

const BUSY = extension(
  `pi.on("session_start", () => {}); pi.on("agent_end", async () => { await 0; }); pi.on("message_update", () => {});
   ${tool("ask", `return String(await ctx.ui.confirm("Sure?", "?"));`)}
   ${command("ask", `const yes = await ctx.ui.confirm("Sure?", "?"); ctx.ui.notify("answer " + yes);`)}
   ${command("slow", "await new Promise((r) => setTimeout(r, 300));")}`,
);

test.each(LEAVING)("%s while a run streams ends the run, and the next prompt works", async (_, make) => {
  const rpc = start(BUSY, { script: ['text "one"', ENDLESS, 'text "aye"'] });
  const entryId = await begun(rpc);
  const since = rpc.mark();
  rpc.send({ id: "p", type: "prompt", message: "go" });
  await rpc.waitFor("message_update", { since });
  expect((await rpc.call(make(rpc, entryId))).success).toBe(true);
  expect(resultsOf(rpc, "p")).toMatchObject([{ status: "aborted" }]);
  await worksStill(rpc);
});

test.each(LEAVING)("%s while a tool waits for a person", async (_, make) => {
  const rpc = start(BUSY, { script: ['text "one"', "toolCall ask {}", 'text "aye"'] });
  const entryId = await begun(rpc);
  rpc.send({ id: "p", type: "prompt", message: "go" });
  const dialog = await rpc.waitFor(isDialog);
  expect((await rpc.call(make(rpc, entryId))).success).toBe(true);
  expect(resultsOf(rpc, "p")).toMatchObject([{ status: "aborted" }]);
  rpc.send({ type: "extension_ui_response", id: dialog.id, confirmed: true });
  await worksStill(rpc);
});

test.each(LEAVING)(
  "%s while a command waits for a person: the dialog is withdrawn, the command ends",
  async (_, make) => {
    const rpc = start(BUSY, { script: ['text "one"', 'text "aye"'] });
    const entryId = await begun(rpc);
    rpc.send({ id: "p", type: "prompt", message: "/ask" });
    await rpc.waitFor(isDialog);
    expect((await rpc.call(make(rpc, entryId))).success).toBe(true);
    expect((await result(rpc, "p")).agentInvoked).toBe(false);
    await worksStill(rpc);
    expect(resultsOf(rpc, "p")).toHaveLength(1);
  },
);

test.each(LEAVING)("%s twice at once, while a command runs", async (_, make) => {
  const rpc = start(BUSY, { script: ['text "one"', 'text "aye"'] });
  const entryId = await begun(rpc);
  rpc.send({ id: "p", type: "prompt", message: "/slow" });
  const both = await Promise.all([rpc.call(make(rpc, entryId)), rpc.call(make(rpc, entryId))]);
  expect(both[0]?.success).toBe(true);
  await result(rpc, "p");
  await worksStill(rpc);
});

/** What becomes of a run during which it is called, and what the host hears of it each time, if anything. */
test.each<[name: string, code: string, run: "aborted" | "completed", error?: string]>([
  ["newSession", "await ctx.newSession();", "aborted"],
  ["newSession, twice at once", "await Promise.allSettled([ctx.newSession(), ctx.newSession()]);", "aborted"],
  ["newSession, without waiting", "void ctx.newSession();", "aborted"],
  ["fork", "await ctx.fork(ctx.sessionManager.getBranch().find((e) => e.message?.role === 'user').id);", "aborted"],
  ["fork of nothing", "await ctx.fork('nowhere');", "completed", "command: Invalid entry ID for forking"],
  ["switchSession to itself", "await ctx.switchSession(ctx.sessionManager.getSessionFile());", "aborted"],
  [
    "switchSession to what is no session",
    "await ctx.switchSession(ctx.cwd);",
    "completed",
    "command: .* is a folder, not a session file",
  ],
  ["reload", "await ctx.reload();", "completed"],
  ["reload, twice at once", "await Promise.allSettled([ctx.reload(), ctx.reload()]);", "completed"],
  ["reload and newSession at once", "await Promise.allSettled([ctx.reload(), ctx.newSession()]);", "aborted"],
  [
    "newSession with a setup that throws",
    "await ctx.newSession({ setup() { throw new Error('no'); } });",
    "aborted",
    "command: no",
  ],
  [
    "newSession with a setup that hangs",
    "void ctx.newSession({ setup: () => new Promise(() => {}) }); await new Promise((r) => setTimeout(r, 300));",
    "aborted",
    "unhandled_rejection: the setup of a new session did not finish within 0.1 s",
  ],
  [
    "newSession with a setup of nonsense",
    "await ctx.newSession({ setup(sm) { sm.appendMessage(42); sm.appendMessage({ role: 'user', content: 42n }); } });",
    "aborted",
    "command: appendMessage: a message is an object with a role",
  ],
  [
    "newSession with a withSession that throws",
    "await ctx.newSession({ withSession() { throw new Error('no'); } });",
    "aborted",
    "command: no",
  ],
  ["shutdown and newSession", "ctx.newSession().catch(() => {}); await ctx.newSession();", "aborted"],
  ["waitForIdle", "await ctx.waitForIdle();", "completed"],
  ["navigateTree to nothing", "await ctx.navigateTree('nowhere');", "completed", "command: Entry not found: nowhere"],
])("a command that calls %s, idle and during a run", async (_, code, status, error) => {
  const rpc = start(extension(`pi.on("agent_end", () => {}); ${command("act", code)}`), {
    script: ['text "one"', 'text "two"', 'delay 1500 + text "three"', ...Array<string>(6).fill('text "aye"')],
    settings: { "extensionLimits.hookMs": 100 },
  });
  await worksStill(rpc);
  await worksStill(rpc);
  const heard = (): string[] => errorsOf(rpc).map((told) => `${told.event}: ${told.error}`);
  expect((await rpc.prompt("/act")).result).toMatchObject({ status: "completed", agentInvoked: false });
  if (error) await rpc.waitFor("extension_error");
  const idle = heard();
  rpc.send({ id: "run", type: "prompt", message: "go" });
  await rpc.waitFor((frame) => frame.type === "response" && frame.id === "run");
  rpc.send({ id: "act", type: "prompt", message: "/act" });
  await Promise.all([result(rpc, "act"), result(rpc, "run")]);
  await pause(50);
  await worksStill(rpc);
  expect([resultsOf(rpc, "act"), resultsOf(rpc, "run")]).toMatchObject([[{ status: "completed" }], [{ status }]]);
  // The same each time, and nothing else.
  const expected = error === undefined ? [] : [expect.stringMatching(new RegExp(`^${error}`))];
  expect([idle, heard().slice(idle.length)]).toEqual([expected, expected]);
});

test("a reload while a tool is at work lets it end; who sends a prompt and waits waits for its run", async () => {
  const rpc = start(
    extension(
      `${tool("slow", `await new Promise((r) => setTimeout(r, 400)); pi.appendEntry("x"); return "still " + ctx.hasUI;`)}
       ${command("reload", "await ctx.reload();")}
       ${command("send", `pi.sendUserMessage("go on"); await ctx.waitForIdle(); ctx.ui.notify("over");`)}`,
    ),
    {
      check: { runsWithoutPrompt: true },
      script: ["toolCall slow {}", 'expect toolResult "still true" + text "aye"', 'text "aye"'],
    },
  );
  rpc.send({ id: "p", type: "prompt", message: "go" });
  await rpc.waitFor("tool_execution_start");
  rpc.send({ id: "r", type: "prompt", message: "/reload" });
  expect([(await result(rpc, "r")).status, (await result(rpc, "p")).status]).toEqual(["completed", "completed"]);
  expect(errorsOf(rpc)).toEqual([]);
  const since = rpc.mark();
  rpc.send({ id: "s", type: "prompt", message: "/send" });
  await result(rpc, "s");
  const told = rpc.frames.slice(since).flatMap(({ type, method }) => (type === "agent_end" ? ["end"] : (method ?? [])));
  expect(told).toEqual(["end", "notify"]);
});

test("ctx.compact() with functions that throw, and with none: the host hears of it, and the process goes on", async () => {
  const throws = "() => { throw new Error('no'); }";
  const code = `ctx.compact(); ctx.compact({ onComplete: ${throws}, onError: ${throws} });`;
  const rpc = start(extension(command("act", code)), { script: Array<string>(8).fill('text "aye"') });
  await worksStill(rpc);
  await worksStill(rpc);
  expect((await rpc.prompt("/act")).result).toMatchObject({ status: "completed" });
  expect(await rpc.waitFor("extension_error")).toMatchObject({ event: "compact", error: "no" });
  await worksStill(rpc);
});

test("messages that an extension sends at the end of each run do not starve the host: abort ends it", async () => {
  const rpc = start(
    extension(`pi.on("agent_end", () => { pi.sendUserMessage("again", { deliverAs: "followUp" }); });`),
    {
      // Runs that nobody has asked for are in no grammar.
      check: { grammar: false },
      script: Array<string>(2000).fill('delay 2 + text "x"'),
    },
  );
  rpc.send({ id: "p", type: "prompt", message: "go" });
  await result(rpc, "p");
  for (let i = 0; i < 5; i++) expect((await rpc.call({ type: "get_state" })).success).toBe(true);
  expect((await rpc.call({ type: "abort" })).success).toBe(true);
  rpc.closeStdin();
  expect(await rpc.waitExit(5000)).toEqual({ code: 0, signal: null });
});

test.each<[string, string, readonly string[]]>([
  ["input", `pi.on("input", async () => { ${HANG} });`, ['text "x"']],
  ["before_agent_start", `pi.on("before_agent_start", async () => { ${HANG} });`, ['text "x"']],
  ["context", `pi.on("context", async () => { ${HANG} });`, ['text "x"']],
  ["agent_start", `pi.on("agent_start", async () => { ${HANG} });`, ['text "x"']],
  ["turn_start", `pi.on("turn_start", async () => { ${HANG} });`, ['text "x"']],
  ["message_start", `pi.on("message_start", async () => { ${HANG} });`, ['text "x"']],
  ["message_update", `pi.on("message_update", async () => { ${HANG} });`, ['text "x"']],
  ["message_end", `pi.on("message_end", async () => { ${HANG} });`, ['text "x"']],
  ["turn_end", `pi.on("turn_end", async () => { ${HANG} });`, ['text "x"']],
  ["agent_end", `pi.on("agent_end", async () => { ${HANG} });`, ['text "x"']],
  ["tool_call", `pi.on("tool_call", async () => { ${HANG} });`, ['toolCall read {"path":"a.txt"}', 'text "x"']],
  ["tool_result", `pi.on("tool_result", async () => { ${HANG} });`, ['toolCall read {"path":"a.txt"}', 'text "x"']],
  [
    "tool_call with a dialog",
    `pi.on("tool_call", async (e, ctx) => { await ctx.ui.confirm("Sure?", "?"); });`,
    ['toolCall read {"path":"a.txt"}', 'text "x"'],
  ],
  ["a tool", tool("ls", HANG), ['toolCall ls {"path":"."}', 'text "x"']],
  [
    "a tool with a dialog",
    tool("ls", `await ctx.ui.confirm("Sure?", "?"); return "x";`),
    ['toolCall ls {"path":"."}', 'text "x"'],
  ],
])("abort while a handler hangs in %s ends the prompt long before its limit", async (what, code, script) => {
  // The model has answered by then; only those who hear of it are still waited for.
  const isAnswered = what === "turn_start" || what === "agent_end";
  const rpc = start(extension(code), { files: { "a.txt": "a" }, script: [...script, ...script] });
  rpc.send({ id: "p", type: "prompt", message: "go" });
  await rpc.waitFor((frame) => frame.type === "response" && frame.id === "p");
  if (what.includes("dialog")) await rpc.waitFor(isDialog);
  await (isAnswered ? rpc.waitFor("agent_end") : pause(150));
  expect((await rpc.call({ type: "abort" }, 3000)).success).toBe(true);
  expect((await result(rpc, "p")).status).toBe(isAnswered ? "completed" : "aborted");
  expect(resultsOf(rpc, "p")).toHaveLength(1);
  const { data } = await rpc.call({ type: "get_state" });
  expect(data).toMatchObject({ isStreaming: false });
  expect((data as { pendingDialogs?: unknown[] }).pendingDialogs ?? []).toEqual([]);
});

test.each(LEAVING)("abort, or the end of stdin, while a handler hangs that is asked before %s", async (_, make) => {
  const rpc = start(
    extension(`for (const hook of ["switch", "fork"]) pi.on("session_before_" + hook, async () => { ${HANG} });`),
    { script: ['text "one"', 'text "aye"'] },
  );
  const entryId = await begun(rpc);
  rpc.send({ id: "leave", ...make(rpc, entryId) });
  await pause(100);
  expect((await rpc.call({ type: "abort" }, 3000)).success).toBe(true);
  expect(rpc.frames).toContainEqual(
    expect.objectContaining({ id: "leave", data: expect.objectContaining({ cancelled: true }) }),
  );
  await worksStill(rpc);
  rpc.send({ id: "last", ...make(rpc, entryId) });
  rpc.send({ id: "state", type: "get_state" });
  await pause(100);
  rpc.closeStdin();
  expect(await rpc.waitExit(9000)).toEqual({ code: 0, signal: null });
  expect(rpc.frames.filter(({ id }) => id === "last" || id === "state")).toHaveLength(2);
});

test.each(LEAVING)(
  "abort, or the end of stdin, while a handler of the session that was entered by %s hangs",
  async (_, make) => {
    const rpc = start(
      extension(`pi.on("session_start", async ({ reason }) => { if (reason !== "startup") { ${HANG} } });`),
      { script: ['text "one"', 'text "aye"'] },
    );
    const entryId = await begun(rpc);
    rpc.send({ id: "enter", ...make(rpc, entryId) });
    await pause(200);
    expect((await rpc.call({ type: "abort" }, 3000)).success).toBe(true);
    expect(rpc.frames).toContainEqual(expect.objectContaining({ id: "enter", success: true }));
    rpc.send({ id: "p", type: "prompt", message: "waits" });
    await pause(100);
    expect((await rpc.call({ type: "abort" }, 3000)).success).toBe(true);
    expect(resultsOf(rpc, "p")).toMatchObject([{ status: "aborted" }]);
    rpc.send({ id: "state", type: "get_state" });
    rpc.closeStdin();
    expect(await rpc.waitExit(9000)).toEqual({ code: 0, signal: null });
    expect(rpc.frames.filter(({ id }) => id === "state")).toHaveLength(1);
  },
);

test("a slow handler of message_update loses no delta", async () => {
  const rpc = start(
    extension(
      `let seen = ""; pi.on("message_update", async ({ assistantMessageEvent: e }) => { await new Promise((r) => setTimeout(r, 5)); if (e.type === "text_delta") seen += e.delta; });
       pi.on("message_end", ({ message }, ctx) => { if (message.role === "assistant") ctx.ui.notify(seen); });`,
    ),
    { script: ['text "abcdefghijklmnopqrstuvwxyz" chunk 1'] },
  );
  await worksStill(rpc);
  expect(rpc.frames.find(({ method }) => method === "notify")?.message).toBe("abcdefghijklmnopqrstuvwxyz");
});

test.each<[string, string, string]>([
  ["in the middle of a run", `pi.on("turn_start", (e, ctx) => { ctx.shutdown(); });`, "go"],
  ["in a command", command("bye", "ctx.shutdown();"), "/bye"],
  ["twice in a command", command("bye", "ctx.shutdown(); ctx.shutdown();"), "/bye"],
  ["in session_start", `pi.on("session_start", (e, ctx) => { ctx.shutdown(); });`, ""],
  [
    "in session_shutdown",
    `pi.on("session_shutdown", (e, ctx) => { ctx.shutdown(); }); pi.on("turn_end", (e, ctx) => { ctx.shutdown(); });`,
    "go",
  ],
  ["in a tool", tool("bye", `ctx.shutdown(); return "bye";`), "go"],
])("ctx.shutdown() %s ends the process with 0, after the answer", async (_, code, message) => {
  const rpc = start(extension(code), {
    script: [code.includes("registerTool") ? "toolCall bye {}" : 'text "x"', 'text "y"'],
  });
  if (message) rpc.send({ id: "p", type: "prompt", message });
  expect(await rpc.waitExit(9000)).toEqual({ code: 0, signal: null });
  if (message) expect(resultsOf(rpc, "p")).toHaveLength(1);
});

const ENDS: readonly [string, string[], (rpc: RpcProcess) => void, number][] = [
  ["EOF", [], (rpc) => rpc.closeStdin(), 0],
  ["EOF with --finish-on-eof", ["--finish-on-eof"], (rpc) => rpc.closeStdin(), 0],
  ["SIGTERM", [], (rpc) => rpc.kill("SIGTERM"), 143],
];
const OPEN: readonly [string, string, string][] = [
  ["a command asks", command("x", `await ctx.ui.confirm("Sure?", "?");`), "/x"],
  ["a tool asks", tool("ls", `return String(await ctx.ui.confirm("Sure?", "?"));`), "go"],
  [
    "a command asks again and again",
    command("x", `for (let i = 0; i < 1000; i++) await ctx.ui.confirm("Sure?", "?");`),
    "/x",
  ],
];
test.each(
  ENDS.flatMap(([end, args, act, code]) =>
    OPEN.map(([open, source, message]) => ({ end, open, args, act, code, source, message })),
  ),
)(
  "$end while $open: the prompt gets its result, and the process ends",
  async ({ args, act, code, source, message }) => {
    const rpc = start(extension(source), { args, script: ["toolCall ls {}", 'text "x"'] });
    rpc.send({ id: "p", type: "prompt", message });
    await rpc.waitFor(isDialog);
    act(rpc);
    expect(await rpc.waitExit(9000)).toEqual({ code, signal: null });
    expect(resultsOf(rpc, "p")).toHaveLength(1);
  },
);

test.each(ENDS.filter(([end]) => !end.includes("finish")))("%s while a command hangs", async (_, args, act, code) => {
  const rpc = start(extension(command("x", `ctx.ui.notify("here"); ${HANG}`)), { args });
  rpc.send({ id: "p", type: "prompt", message: "/x" });
  await rpc.waitFor("extension_ui_request");
  act(rpc);
  expect(await rpc.waitExit(9000)).toEqual({ code, signal: null });
  expect(resultsOf(rpc, "p")).toHaveLength(1);
});

test("a session_shutdown that hangs keeps the process only for its limit", async () => {
  const rpc = start(extension(`pi.on("session_shutdown", async () => { ${HANG} });`));
  await rpc.call({ type: "get_state" });
  rpc.closeStdin();
  expect(await rpc.waitExit(8000)).toEqual({ code: 0, signal: null });
});

test("entries that an extension writes during a run stand where they were written", async () => {
  const rpc = start(
    extension(
      `pi.on("turn_start", () => { pi.appendEntry("a"); }); pi.on("tool_call", () => { pi.appendEntry("b"); }); pi.on("message_update", () => { pi.appendEntry("c"); }); ${tool("fine", `pi.appendEntry("d"); return "fine"`)}`,
    ),
    { script: ["toolCall fine {}", 'expect toolResult "fine" + text "aye"', 'expect user "again" + text "aye"'] },
  );
  await worksStill(rpc);
  await worksStill(rpc, "again");
  const { data } = await rpc.call({ type: "get_messages" });
  const roles = (data as { messages: { role: string }[] }).messages.map(({ role }) => role);
  expect(roles).toEqual(["user", "assistant", "toolResult", "assistant", "user", "assistant"]);
  const state = (await rpc.call({ type: "get_state" })).data as { sessionFile: string };
  rpc.closeStdin();
  await rpc.waitExit();
  const entries = readFileSync(state.sessionFile, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string; parentId: string | null });
  // One line of descent: nobody was left out.
  for (let i = 2; i < entries.length; i++) expect(entries[i]?.parentId).toBe(entries[i - 1]?.id);
});

test("an extension that deletes the session file in the middle of a run: it is told or written anew, the run goes on", async () => {
  const rpc = start(
    extension(
      `pi.on("turn_end", (e, ctx) => { rmSync(ctx.sessionManager.getSessionFile(), { force: true }); });`,
      `import { rmSync } from "node:fs";`,
    ),
    { script: ['text "one"', 'text "two"'] },
  );
  await worksStill(rpc);
  await worksStill(rpc);
  const state = (await rpc.call({ type: "get_state" })).data as { sessionFile: string };
  rpc.closeStdin();
  await rpc.waitExit();
  if (existsSync(state.sessionFile)) {
    for (const line of readFileSync(state.sessionFile, "utf8").trimEnd().split("\n")) JSON.parse(line);
  }
});

test("setActiveTools([]) in the middle of a run: the next turn has none", async () => {
  const rpc = start(extension(`pi.on("tool_result", () => { pi.setActiveTools([]); });`), {
    files: { "a.txt": "a" },
    script: ['toolCall read {"path":"a.txt"}', 'toolCall read {"path":"a.txt"}', 'expect isError true + text "aye"'],
  });
  await worksStill(rpc);
});

test.each<[call: string, result: string]>([
  ["pi.setModel({ provider: 'no', id: 'no' })", "fine"],
  ["pi.setModel()", "setModel: a model is an object with provider and id"],
  ["pi.setModel(null)", "setModel: a model is an object with provider and id"],
  ["pi.setThinkingLevel('no')", 'setThinkingLevel: "no" is no level: off, minimal, low, medium, high, xhigh'],
  ["pi.setThinkingLevel()", 'setThinkingLevel: "undefined" is no level: off, minimal, low, medium, high, xhigh'],
  ["pi.setLabel()", "Entry not found: undefined"],
  ["pi.setSessionName()", "setSessionName: name must be a text"],
  ["pi.setSessionName('')", "Session name cannot be empty"],
  ["pi.appendEntry()", "appendEntry: customType must be a text"],
  ["pi.sendMessage()", "sendMessage: message must be an object"],
  ["pi.sendUserMessage()", "sendUserMessage: content must be a text, or text and image blocks"],
  ["pi.sendUserMessage({})", "sendUserMessage: content must be a text, or text and image blocks"],
  ["pi.exec()", "fine"],
  ["pi.exec('/no/such/thing', null)", "fine"],
  ["pi.exec('sh', 42)", "fine"],
  ["pi.setActiveTools()", "setActiveTools: names must be a list of tool names"],
  ["pi.setActiveTools([null, 42, 'nothing'])", "fine"],
  ["pi.getFlag()", "fine"],
  ["pi.events.emit()", "fine"],
  ["pi.events.on()", 'events.on("undefined"): the handler must be a function'],
  ["pi.registerTool()", "fine"],
  ["pi.unregisterProvider()", "fine"],
  ["ctx.ui.select()", "ctx.ui.select(): options must be an array, got undefined"],
  ["ctx.ui.select('x', 42)", "ctx.ui.select(): options must be an array, got a number"],
  ["ctx.ui.confirm()", "fine"],
  ["ctx.ui.notify()", "fine"],
  ["ctx.ui.notify({})", "ctx.ui.notify(): message must be a string, got an object"],
  ["ctx.ui.setWidget()", "ctx.ui.setWidget(): key must be a string, got undefined"],
  ["ctx.ui.setWidget('x', 42)", "ctx.ui.setWidget(): content must be an array, got a number"],
  ["ctx.ui.setWidget('x', () => 42)", "fine"],
  ["ctx.ui.setStatus()", "ctx.ui.setStatus(): key must be a string, got undefined"],
  ["ctx.ui.setTitle()", "fine"],
  ["ctx.ui.custom()", "fine"],
  ["ctx.ui.nothing()", "ctx.ui.nothing is not a function"],
  ["ctx.sessionManager.getEntry()", "fine"],
  ["ctx.sessionManager.getBranch('no')", "fine"],
  ["ctx.modelRegistry.find()", "fine"],
  ["ctx.abort()", "fine"],
  ["ctx.getContextUsage()", "fine"],
  ["ctx.compact(42)", "fine"],
])("%s in a tool, without its arguments or with the wrong ones", async (call, expected) => {
  const rpc = start(
    extension(
      tool(
        "ls",
        `const left = setTimeout(() => {}, 1); try { await Promise.race([${call}, new Promise((r) => setTimeout(r, 100))]); } finally { clearTimeout(left); } return "fine";`,
      ),
    ),
    {
      script: ["toolCall ls {}", 'text "aye"', 'text "aye"'],
    },
  );
  rpc.send({ id: "p", type: "prompt", message: "go" });
  await result(rpc, "p");
  // A clear sentence, or an answer: never nothing.
  expect(toolResultOf(rpc.frames)).toEqual({ text: expected, isError: expected !== "fine" });
  await rpc.call({ type: "get_state" });
  await worksStill(rpc);
});

test("a tool with a text of ten megabytes is too much for the model, and for nobody else", async () => {
  const rpc = start(extension(tool("big", `return "x".repeat(10_000_000);`)), {
    script: ["toolCall big {}", 'text "aye"', 'text "a summary"', 'text "aye"'],
  });
  const { frames, result: ended } = await rpc.prompt("go");
  expect(ended).toMatchObject({ status: "error", error: { kind: "overflow" } });
  expect(toolResultOf(frames).text).toHaveLength(10_000_000);
  expect((await rpc.call({ type: "new_session" })).success).toBe(true);
  await worksStill(rpc);
});

test("a dialog with ten megabytes of choices, and two hundred dialogs at once", async () => {
  const rpc = start(
    extension(
      `${command("big", `const got = await ctx.ui.select("?", Array.from({ length: 100 }, (_, i) => i + "x".repeat(100_000))); ctx.ui.notify(String(got?.length));`)}
       ${command("many", `const all = await Promise.all(Array.from({ length: 200 }, (_, i) => ctx.ui.confirm("?", String(i)))); ctx.ui.notify(String(all.filter(Boolean).length));`)}`,
    ),
  );
  rpc.send({ id: "b", type: "prompt", message: "/big" });
  const big = await rpc.waitFor("extension_ui_request");
  rpc.send({ type: "extension_ui_response", id: big.id, value: "short" });
  await result(rpc, "b");
  rpc.send({ id: "m", type: "prompt", message: "/many" });
  let count = 0;
  await rpc.waitFor((frame) => isDialog(frame) && ++count === 200);
  expect(((await rpc.call({ type: "get_state" })).data as { pendingDialogs: unknown[] }).pendingDialogs).toHaveLength(
    200,
  );
  for (const frame of rpc.frames.filter(isDialog))
    rpc.send({ type: "extension_ui_response", id: frame.id, confirmed: true });
  await result(rpc, "m");
  expect(rpc.frames.filter(({ method }) => method === "notify").map(({ message }) => message)).toEqual(["5", "200"]);
});

test("a command that waits until the run is over, called during a run", async () => {
  const rpc = start(extension(command("wait", `await ctx.waitForIdle(); ctx.ui.notify("idle " + ctx.isIdle());`)), {
    script: ['delay 200 + text "x"', 'text "aye"'],
  });
  rpc.send({ id: "p", type: "prompt", message: "go" });
  await rpc.waitFor("agent_start");
  rpc.send({ id: "w", type: "prompt", message: "/wait" });
  await Promise.all([result(rpc, "p"), result(rpc, "w")]);
  expect(rpc.frames.find(({ method }) => method === "notify")?.message).toBe("idle true");
  await worksStill(rpc);
});

test("without a session file and in pi's dialect everything works as well", async () => {
  const rpc = start(
    extension(
      `pi.on("turn_end", () => { pi.appendEntry("x", { a: 1 }); throw new Error("no"); }); ${command("renew", "await ctx.newSession();")}`,
    ),
    { args: ["--no-session", "--dialect", "pi"], script: ['text "one"', 'text "two"'] },
  );
  rpc.send({ id: "1", type: "prompt", message: "go" });
  await rpc.waitFor("agent_end");
  rpc.send({ id: "2", type: "prompt", message: "/renew" });
  await rpc.waitFor((frame) => frame.type === "response" && frame.id === "2");
  await rpc.call({ type: "get_state" });
  expect(errorsOf(rpc)).toMatchObject([{ event: "turn_end" }]);
});
