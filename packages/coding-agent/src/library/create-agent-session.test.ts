import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { killAllProcesses } from "../exec/run-process.ts";
import { createAgentSession } from "./create-agent-session.ts";
import type { AgentSession, AgentSessionEvent, AgentSessionOptions, CustomTool } from "./types.ts";

const folders: string[] = [];
const sessions: AgentSession[] = [];
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.dispose()));
  killAllProcesses();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A session that plays these turns and writes nothing, in an empty folder. */
async function open(turns: readonly unknown[], options: AgentSessionOptions = {}) {
  const cwd = mkdtempSync(join(tmpdir(), "tiller-library-"));
  folders.push(cwd);
  const script = join(cwd, "script.json");
  writeFileSync(script, JSON.stringify({ turns }));
  const given = { cwd, agentDir: join(cwd, "agent"), env: { PATH: process.env.PATH }, session: false, script } as const;
  const created = await createAgentSession({ ...given, ...options });
  sessions.push(created.session);
  const events: AgentSessionEvent[] = [];
  created.session.subscribe((event) => void events.push(event));
  return { ...created, events, cwd };
}

const typesOf = (events: readonly AgentSessionEvent[]): string[] => events.map(({ type }) => type);
const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const tool = (execute: CustomTool["execute"], name = "twice"): CustomTool => ({
  name,
  description: "Doubles a number",
  parameters: schema,
  execute,
});
const callOf = (name: string, args: object) => [{ toolCall: { name, arguments: args } }];

describe("a session in this process", () => {
  test("answers a prompt, and its events are those of the protocol", async () => {
    const { session, events } = await open([[{ text: ["One ", "two"] }]]);
    const deltas: string[] = [];
    session.subscribe((event) => {
      if (event.type !== "message_update" || event.assistantMessageEvent.type !== "text_delta") return;
      deltas.push(event.assistantMessageEvent.delta);
      // The message so far, here and in the sub-event.
      const [block] = event.message.content;
      expect(block).toEqual({ type: "text", text: deltas.join("") });
      expect(event.assistantMessageEvent.partial).toBe(event.message);
    });
    const result = await session.prompt("count");
    expect(result).toMatchObject({ type: "prompt_result", status: "completed", turns: 1, agentInvoked: true });
    expect(deltas.join("")).toBe("One two");
    expect(session.lastAssistantText).toBe("One two");
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(session.state).toMatchObject({ isStreaming: false, messageCount: 2 });
    await session.waitForIdle();
    expect(typesOf(events)[0]).toBe("agent_start");
    expect(typesOf(events).at(-1)).toBe("session_settled");
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(JSON.parse(JSON.stringify(events.find(({ type }) => type === "message_update")))).toMatchObject({
      message: { role: "assistant" },
      promptId: "prompt-1",
    });
  });

  test("calls tools that are plain objects, checks their arguments and takes texts, blocks and errors", async () => {
    const calls: unknown[] = [];
    const twice = tool((id, { n }, signal, onUpdate) => {
      calls.push([id, n, signal.aborted]);
      onUpdate({ content: [{ type: "text", text: "half way" }] });
      if (n === 1) return "two";
      if (n === 2) return { content: [{ type: "text", text: "four" }], details: { n } };
      throw new Error("too large");
    });
    const odd = tool((() => ({ content: "text" })) as unknown as CustomTool["execute"], "odd");
    const turns = [1, 2, 3, "x"].map((n) => callOf("twice", { n }));
    const { session, events } = await open([...turns, callOf("odd", { n: 1 }), "done"], { customTools: [twice, odd] });
    expect((await session.prompt("go")).toolCalls).toBe(4);
    expect(calls).toEqual([
      ["script_1", 1, false],
      ["script_2", 2, false],
      ["script_3", 3, false],
    ]);
    const ends = events.filter((event) => event.type === "tool_execution_end");
    const texts = ends.map(({ result, isError }) => [
      isError,
      result.content.map((block) => "text" in block && block.text),
    ]);
    expect(texts).toEqual([
      [false, ["two"]],
      [false, ["four"]],
      [true, ["too large"]],
      [true, [expect.stringContaining("n")]],
      [true, [expect.stringContaining('Tool "odd" answered badly')]],
    ]);
    expect(ends[1]!.result.details).toEqual({ n: 2 });
    expect(typesOf(events)).toContain("tool_execution_update");
  });

  test("details that cannot be kept are a failure of the tool, not of the run", async () => {
    const details: Record<string, unknown> = { n: 7n };
    const odd = tool(() => ({ content: [{ type: "text", text: "x" }], details }), "odd");
    // With a file: that is where they would be written.
    const { session } = await open([callOf("odd", { n: 1 }), "done"], { customTools: [odd], session: undefined });
    expect(await session.prompt("go")).toMatchObject({ status: "completed" });
    expect(session.messages[2]).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching("details cannot be written as JSON") }],
    });
  });

  test("is steered, refused and aborted while it runs", async () => {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const stuck = tool(() => {
      begin();
      return new Promise<never>(() => undefined);
    });
    const { session } = await open([callOf("twice", { n: 1 })], { customTools: [stuck] });
    const stop = new AbortController();
    const running = session.prompt("go", { signal: stop.signal });
    await begun;
    expect(session.isStreaming).toBe(true);
    await expect(session.prompt("me too")).rejects.toThrow(/already processing/i);
    const queued = session.prompt("and then", { streamingBehavior: "followUp" });
    await session.steer("left");
    await session.followUp("right");
    expect(session.state.pendingMessageCount).toBe(3);
    stop.abort();
    expect((await running).status).toBe("aborted");
    expect(await session.call("clear_queue")).toEqual({ steering: ["left"], followUp: ["and then", "right"] });
    expect((await queued).status).toBe("aborted");
    await expect(session.prompt("x", { signal: AbortSignal.abort(new Error("too late")) })).rejects.toThrow("too late");
  });

  test("has every command of the protocol, with the checks of the wire", async () => {
    const { session } = await open(["first answer", "second answer", "A summary."], { session: undefined });
    await session.prompt("one");
    await session.prompt("two");
    const { tree } = await session.call("get_tree");
    expect(tree).toHaveLength(1);
    const { messages } = await session.call("get_fork_messages");
    expect(messages.map(({ text }) => text)).toEqual(["one", "two"]);
    expect((await session.compact()).summary).toContain("A summary.");
    const before = session.sessionFile!;
    expect(readFileSync(before, "utf8")).toContain('"type":"compaction"');
    expect((await session.fork(messages[1]!.entryId)).text).toBe("two");
    expect(session.sessionFile).not.toBe(before);
    expect((await session.switchSession(before)).cancelled).toBe(false);
    expect((await session.newSession()).cancelled).toBe(false);
    expect(session.messages).toEqual([]);
    session.setThinkingLevel("off");
    expect(session.thinkingLevel).toBe("off");
    const [model] = await session.availableModels();
    expect(await session.setModel(model!)).toEqual(session.model);
    await expect(session.setModel({ provider: "acme", id: "m1" })).rejects.toThrow("Model not found: acme/m1");
    const odd = session.call as (command: string, params?: object) => Promise<unknown>;
    await expect(odd("set_model", { provider: 3 })).rejects.toThrow(/provider/);
    await expect(odd("fly")).rejects.toThrow("Unknown command: fly");
    await expect(odd("set_host_tools", { tools: [] })).rejects.toThrow(/setCustomTools/);
  });

  test("keeps two sessions and their processes apart, and nothing of the process is touched", async () => {
    const listeners = () => ["SIGINT", "SIGTERM", "uncaughtException"].map((name) => process.listenerCount(name));
    const [before, exit] = [listeners(), process.exit];
    const [one, two] = await Promise.all([open(["1"]), open(["2"])]);
    const sleeping = two.session.call("bash", { command: "echo up; sleep 60 & wait" });
    await expect.poll(() => typesOf(two.events)).toContain("bash_execution_update");
    const results = await Promise.all([one.session.prompt("a"), two.session.prompt("b")]);
    expect(results.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect([one, two].map(({ session }) => session.lastAssistantText)).toEqual(["1", "2"]);
    await one.session.call("bash", { command: "true" });
    await one.session.dispose();
    // The other one has heard nothing of it.
    expect(await Promise.race([sleeping, two.session.call("bash", { command: "echo here" })])).toMatchObject({
      output: "here\n",
    });
    await two.session.dispose();
    expect(await sleeping).toMatchObject({ cancelled: true });
    expect([listeners(), process.exit]).toEqual([before, exit]);
  });

  test("loads extensions on request only, and puts no guards around the process for them", async () => {
    const code = `export default (pi) => {
      pi.registerCommand("ahoy", { handler: async (args, ctx) => ctx.ui.notify("ahoy " + args) });
      pi.on("before_agent_start", () => ({ systemPrompt: "You are a ship." }));
    };`;
    const folder = mkdtempSync(join(tmpdir(), "tiller-library-"));
    folders.push(folder);
    mkdirSync(join(folder, "extensions"));
    const file = join(folder, "extensions/ship.ts");
    writeFileSync(file, code);
    const untouched = () => [process.exit, process.kill, Object.getOwnPropertyDescriptor(process, "stdin")?.get];
    const before = untouched();
    const commandsOf = async ({ session }: { session: AgentSession }) =>
      (await session.call("get_commands")).commands.map(({ name }) => name);
    expect(await commandsOf(await open(["x"], { agentDir: folder }))).toEqual([]);
    expect(await commandsOf(await open(["x"], { agentDir: folder, extensions: true }))).toEqual(["ahoy"]);
    const named = await open(["aye"], { extensions: [file] });
    expect(await named.session.prompt("/ahoy there")).toMatchObject({ status: "completed", agentInvoked: false });
    expect(named.events).toContainEqual(expect.objectContaining({ type: "notice", message: "ahoy there" }));
    expect((await named.session.prompt("go")).status).toBe("completed");
    expect(untouched()).toEqual(before);
  });

  test("a subscriber that fails is told to the others and costs nobody anything", async () => {
    const { session, events } = await open(["fine"]);
    session.subscribe(() => {
      throw new Error("my fault");
    });
    session.subscribe(async ({ type }) => {
      if (type === "agent_end") throw new Error("later fault");
    });
    expect((await session.prompt("go")).status).toBe("completed");
    await session.waitForIdle();
    const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
    expect(notices[0]).toContain("my fault");
    expect(notices.some((message) => message.includes("later fault"))).toBe(true);
  });

  test("is over when it is disposed, twice if you like, also in the middle of a prompt", async () => {
    const { session } = await open([[{ delay: 60_000 }]]);
    const running = session.prompt("go");
    await Promise.all([session.dispose(), session.dispose()]);
    expect(await running).toMatchObject({ status: "aborted" });
    for (const late of [() => session.prompt("x"), () => session.steer("x"), () => session.compact()]) {
      await expect(late()).rejects.toThrow("The session was disposed");
    }
  });
});

describe("what cannot be", () => {
  const bad: [options: object, says: RegExp][] = [
    [{ modle: "x" }, /has no option "modle"; it has: .*model/],
    [{ thinkingLevel: "hard" }, /defaultThinkingLevel cannot be "hard"; expected one of off/],
    [{ settings: { "retry.maxRetry": 1 } }, /did you mean retry.maxRetries/],
    [{ cwd: "/no/such/folder" }, /"\/no\/such\/folder" is not a folder/],
    [{ args: ["--help"] }, /no "help" here/],
    [{ args: ["--no-such"] }, /Unknown option: --no-such/],
    [{ tools: 3 }, /option "tools" .* cannot be 3/],
    [{ customTools: {} }, /customTools must be a list/],
    [{ customTools: [{ name: "a" }] }, /index 0 has no function "execute"/],
    [{ customTools: [{ name: " ", execute: () => "" }] }, /index 0 must provide a non-empty name/],
    [{ customTools: [{ execute: () => "" }] }, /index 0 has no text as its "name"/],
    [{ customTools: [tool(() => "", "read")] }, /"read" conflicts with an existing tool/],
  ];
  test.each(bad)("%j", async (options, says) => {
    await expect(open(["x"], options as AgentSessionOptions)).rejects.toThrow(says);
  });

  test("a prompt that is no text", async () => {
    const { session } = await open(["x"]);
    await expect(session.prompt(null as unknown as string)).rejects.toThrow("A prompt must be a text, got null");
  });

  test("a question, when nobody can be asked: the call is not made", async () => {
    const turns = [callOf("bash", { command: "echo yes > asked" }), "over"];
    const settings = { "approval.mode": "always" };
    const alone = await open(turns, { settings });
    await alone.session.prompt("go");
    expect(alone.session.messages.find(({ role }) => role === "toolResult")).toMatchObject({ isError: true });
    const select = vi.fn(async (_title: string, options: readonly (string | { label: string })[]) => {
      const [first] = options;
      return typeof first === "string" ? first : first?.label;
    });
    const asked = await open(turns, { settings, dialogs: { select } });
    await asked.session.prompt("go");
    expect(select).toHaveBeenCalledOnce();
    expect(asked.session.messages.find(({ role }) => role === "toolResult")).toMatchObject({ isError: false });
  });
});
