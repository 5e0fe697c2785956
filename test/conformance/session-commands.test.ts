import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { say, startMockLlm } from "../support/mock-llm.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { isIncrement, messagesOf, ofType, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";
import { assistant, fileOf, kindsOf, linesOf, STORY, sessionFiles, sessionText, user } from "./session-files.ts";

/** What is asked about a session, and what is done inside it: names, numbers, views, places, labels, lists. */

const start = useRpc();
const DIALECTS = ["union", "pi", "omp", "xcsh"] as const;
const call = (rpc: RpcProcess, type: string, fields: object = {}): Promise<Frame> => rpc.call({ type, ...fields });
const ask = async (rpc: RpcProcess, type: string, fields: object = {}): Promise<Frame> =>
  (await call(rpc, type, fields)).data as Frame;
const textsOf = async (rpc: RpcProcess): Promise<unknown[]> =>
  (await messagesOf(rpc)).map((message) => at(message, "content", 0, "text"));
const idsOf = (entries: unknown): unknown[] => list(entries).map((entry) => at(entry, "id"));
/** It fits into an address. */
const CURSOR = /^[\w-]+$/;
const refused = (error: unknown): object => ({ type: "response", success: false, error });

/** A process in a session that was written before, without what it adds when it opens it. */
async function opened(options: { entries?: typeof STORY; script?: string[]; dialect?: string } = {}) {
  const { entries = STORY, script = ['text "Yes."', 'text "Yes again."'], dialect = "union" } = options;
  const rpc = start({ script, args: ["--dialect", dialect] });
  const path = join(rpc.sandbox.cwd, "boats.jsonl");
  writeFileSync(path, sessionText(rpc.sandbox.cwd, entries));
  expect(await call(rpc, "switch_session", { sessionPath: path })).toMatchObject({ success: true });
  return { rpc, path };
}

describe.each(DIALECTS)("set_session_name in %s", (dialect) => {
  proves(
    ["pi.session-name.command", "pi.state.session-name", "omp.errors.empty-session-name"],
    "names the session, tells it, keeps it in the file, and wants a name",
    async () => {
      const { rpc, path } = await opened({ dialect });
      expect(await stateOf(rpc)).not.toHaveProperty("sessionName");
      const since = rpc.mark();
      expect(await call(rpc, "set_session_name", { id: "s", name: "  about boats " })).toEqual({
        id: "s",
        type: "response",
        command: "set_session_name",
        success: true,
      });
      expect(rpc.frames.slice(since)).toMatchObject([
        { type: "session_info_changed", name: "about boats" },
        { type: "response" },
      ]);
      expect(await stateOf(rpc)).toMatchObject({ sessionName: "about boats" });
      expect(linesOf(path).at(-1)).toMatchObject({ type: "session_info", name: "about boats" });
      for (const name of ["", "   ", "\n"]) {
        expect(await call(rpc, "set_session_name", { name })).toMatchObject(refused("Session name cannot be empty"));
      }
      expect(await stateOf(rpc)).toMatchObject({ sessionName: "about boats" });
      const again = start({ script: ['text "x"'], args: ["--session", path] });
      expect(await stateOf(again)).toMatchObject({ sessionName: "about boats" });
    },
  );
});

describe("get_session_stats", () => {
  proves(
    [
      "pi.stats.command",
      "pi.stats.session",
      "pi.stats.messages",
      "pi.stats.tools",
      "pi.stats.tokens",
      "pi.stats.tokens-total",
      "pi.stats.cost",
    ],
    "counts messages, calls, tokens and dollars",
    async () => {
      for (const dialect of DIALECTS) {
        const tools = 'toolCall read {"path":"a.txt"} + toolCall read {"path":"a.txt"} + usage {"input":10,"output":4}';
        const rpc = start({
          script: [tools, 'text "A." + usage {"input":20,"output":6,"cacheRead":8,"cacheWrite":2}'],
          files: { "a.txt": "A\n" },
          args: ["--dialect", dialect],
        });
        const since = rpc.mark();
        await call(rpc, "prompt", { message: "read it" });
        await rpc.waitFor("agent_settled", { since });
        const { sessionFile, sessionId } = await stateOf(rpc);
        expect(await ask(rpc, "get_session_stats")).toMatchObject({
          sessionFile,
          sessionId,
          userMessages: 1,
          assistantMessages: 2,
          toolCalls: 2,
          toolResults: 2,
          totalMessages: 5,
          tokens: { input: 30, output: 10, cacheRead: 8, cacheWrite: 2, total: 50 },
          cost: 0,
          premiumRequests: 0,
          contextUsage: { tokens: 36, contextWindow: 200_000, percent: expect.closeTo(0.018, 6) },
        });
      }
    },
  );

  it("knows what a real model costs", async () => {
    const llm = await startMockLlm();
    const usage = { input_tokens: 1000, output_tokens: 200, cache_read_tokens: 300, cache_write_tokens: 40 };
    llm.reply({ ...say("Hi."), usage }, { ...say("Hi again."), usage });
    const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    const models = JSON.parse(llm.modelsJson());
    for (const model of models.providers.mock.models) model.cost = cost;
    const agentFiles = { "models.json": JSON.stringify(models) };
    const rpc = start({ agentFiles, args: ["--model", "mock/mock-1"] });
    await rpc.prompt("one");
    await rpc.prompt("two");
    const stats = await ask(rpc, "get_session_stats");
    expect(stats.cost).toBeCloseTo(2 * 0.00624, 10);
    expect(stats.tokens).toEqual({ input: 2000, output: 400, cacheRead: 600, cacheWrite: 80, total: 3080 });
    expect(stats.contextUsage).toMatchObject({ tokens: 1540 });
    await llm.close();
  });

  it("counts every branch, failed attempts and summaries too: what was paid for is paid for", async () => {
    const { rpc } = await opened({
      entries: [
        ...STORY,
        user("u3", "And a mast?", { parentId: "a1" }),
        assistant("a3", "A pole."),
        { id: "c1", type: "compaction", summary: "Boats.", firstKeptEntryId: "u3", tokensBefore: 200 },
      ],
    });
    const stats = await ask(rpc, "get_session_stats");
    expect(stats).toMatchObject({ userMessages: 3, assistantMessages: 3, totalMessages: 6, cost: 1.5 });
    expect(stats.tokens).toEqual({ input: 300, output: 60, cacheRead: 15, cacheWrite: 9, total: 384 });
    expect(await messagesOf(rpc)).toHaveLength(3);
  });

  it("of a session in memory has no file, and of an empty one only zeros", async () => {
    const rpc = start({ script: ['text "x"'], args: ["--no-session"] });
    const stats = await ask(rpc, "get_session_stats");
    expect(stats).not.toHaveProperty("sessionFile");
    expect(stats).toMatchObject({ totalMessages: 0, tokens: { total: 0 }, cost: 0, contextUsage: { tokens: 0 } });
  });
});

describe("get_messages_page", () => {
  const page = (rpc: RpcProcess, fields: object = {}): Promise<Frame> => ask(rpc, "get_messages_page", fields);

  it("gives the messages in pieces that add up to get_messages", async () => {
    const { rpc } = await opened();
    const first = await page(rpc, { limit: 3 });
    expect(first).toMatchObject({ totalMessages: 4, nextCursor: expect.stringMatching(CURSOR) });
    const second = await page(rpc, { limit: 3, cursor: first.nextCursor });
    expect(second).not.toHaveProperty("nextCursor");
    expect([...list(first.messages), ...list(second.messages)]).toEqual(await messagesOf(rpc));
    expect(await page(rpc)).toMatchObject({ totalMessages: 4 });
  });

  it("refuses limits and cursors that are none, and cursors of a conversation that has gone on", async () => {
    const { rpc } = await opened();
    for (const limit of [0, 257, 1.5, -1]) {
      const error = "RPC message page limit must be between 1 and 256";
      expect(await call(rpc, "get_messages_page", { limit })).toMatchObject(refused(error));
    }
    expect(await call(rpc, "get_messages_page", { cursor: "nonsense" })).toMatchObject(
      refused("Invalid RPC message cursor"),
    );
    const { nextCursor } = await page(rpc, { limit: 1 });
    await rpc.prompt("more");
    expect(await call(rpc, "get_messages_page", { cursor: nextCursor })).toMatchObject(
      refused("RPC message cursor is stale"),
    );
  });

  it("has no more than 768 KiB, but always one message", async () => {
    const big = (id: string) => user(id, "x".repeat(500 * 1024));
    const { rpc } = await opened({ entries: [big("u1"), big("u2"), user("u3", "y".repeat(1024 * 1024))] });
    const sizes: number[] = [];
    for (let cursor: unknown; ; ) {
      const { messages, nextCursor } = await page(rpc, cursor === undefined ? {} : { cursor });
      sizes.push(list(messages).length);
      if (nextCursor === undefined) break;
      cursor = nextCursor;
    }
    expect(sizes).toEqual([1, 1, 1]);
  });
});

describe("an answer that is longer than the pipe", () => {
  it("keeps a host that does not read yet from nothing: what it writes is read, and an abort comes through", async () => {
    const { rpc } = await opened({ entries: [user("u1", "x".repeat(500 * 1024))] });
    rpc.send({ id: "b", type: "bash", command: "echo on; sleep 6543" });
    await rpc.waitFor("bash_execution_update");
    rpc.pauseReading();
    rpc.send(`{"id":"m","type":"get_messages"}\n${" ".repeat(500 * 1024)}\n{"id":"a","type":"abort_bash"}\n`);
    const isRunning = () => rpc.sandbox.processes().some(({ command }) => command.includes("6543"));
    await expect.poll(isRunning, { timeout: 10_000 }).toBe(false);
    rpc.resumeReading();
    const isLast = ({ type, id }: Frame): boolean => type === "response" && id === "b";
    expect(await rpc.waitFor(isLast)).toMatchObject({ data: { cancelled: true } });
    expect(ofType(rpc.frames, "response").map(({ id }) => id)).toEqual(expect.arrayContaining(["m", "a", "b"]));
  });
});

describe("get_entries and get_tree", () => {
  it("tell the whole file, what is new since an entry, and where the conversation ends", async () => {
    const { rpc, path } = await opened();
    const whole = await ask(rpc, "get_entries");
    expect(whole.entries).toEqual(linesOf(path).slice(1));
    expect(whole.leafId).toBe(idsOf(whole.entries).at(-1));
    expect(await ask(rpc, "get_entries", { since: whole.leafId })).toEqual({ entries: [], leafId: whole.leafId });
    await rpc.prompt("more");
    const news = await ask(rpc, "get_entries", { since: whole.leafId });
    expect(list(news.entries).map((entry) => at(entry, "message", "role"))).toEqual(["user", "assistant"]);
    expect(await call(rpc, "get_entries", { since: "nowhere" })).toMatchObject(refused("Entry not found: nowhere"));
  });

  it("of a session with branches gives a tree, with labels", async () => {
    const { rpc } = await opened({ entries: [...STORY, user("u3", "And a mast?", { parentId: "a1" })] });
    await call(rpc, "set_label", { entryId: "u2", label: "rudders" });
    const { tree, leafId } = await ask(rpc, "get_tree");
    const outline = (nodes: unknown): unknown[] =>
      list(nodes).map((node) => [at(node, "entry", "id"), outline(at(node, "children"))]);
    const [root] = outline(tree) as [[string, [string, unknown[]][]]];
    expect(root[0]).toBe("u1");
    const [[answer, branches]] = root[1] as [[string, [string, unknown[]][]]];
    expect(answer).toBe("a1");
    expect(branches.map(([id]) => id)).toEqual(["u2", "u3"]);
    expect(branches[0]?.[1]).toEqual([["a2", []]]);
    expect(at(tree, 0, "children", 0, "children", 0, "label")).toBe("rudders");
    expect(idsOf((await ask(rpc, "get_entries")).entries)).toContain(leafId);
  });

  it("of an empty session are empty", async () => {
    const rpc = start({ script: ['text "x"'], args: ["--no-session", "--no-offline-model"] });
    const { leafId } = await ask(rpc, "get_tree");
    expect(await ask(rpc, "get_entries", leafId ? { since: leafId } : {})).toEqual({ entries: [], leafId });
    expect(await messagesOf(rpc)).toEqual([]);
  });
});

describe("navigate_tree", () => {
  it("goes back to before a user message, and a process that opens the file later is there too", async () => {
    const { rpc, path } = await opened();
    const moved = await ask(rpc, "navigate_tree", { entryId: "u2" });
    expect(moved).toEqual({ cancelled: false, text: "And a rudder?", leafId: (await ask(rpc, "get_tree")).leafId });
    expect(ofType(rpc.frames, "entry_appended")).toMatchObject([{ entry: linesOf(path).at(-1) }]);
    expect(await textsOf(rpc)).toEqual(["What is a tiller?", "A lever that turns a rudder."]);
    await rpc.prompt("And a keel?");
    const now = await textsOf(rpc);
    expect(now).toEqual(["What is a tiller?", "A lever that turns a rudder.", "And a keel?", "Yes."]);
    await ask(rpc, "navigate_tree", { entryId: "a2" });
    expect((await textsOf(rpc)).at(-1)).toBe("A plate that turns the boat.");
    rpc.closeStdin();
    await rpc.waitExit();
    const later = start({ script: ['text "x"'], args: ["--session", path] });
    expect((await textsOf(later)).at(-1)).toBe("A plate that turns the boat.");
  });

  it("tells the model what happened on the branch that is left, when asked to", async () => {
    const { rpc, path } = await opened({ script: ['text "They talked about rudders."', 'text "Yes."'] });
    const moved = await ask(rpc, "navigate_tree", { entryId: "u2", summarize: true, customInstructions: "rudders" });
    expect(moved).toMatchObject({ cancelled: false, summary: expect.stringContaining("They talked about rudders.") });
    expect(kindsOf(path)).toContain("branch_summary");
    expect((await messagesOf(rpc)).at(-1)).toMatchObject({
      role: "branchSummary",
      summary: expect.stringContaining("They talked about rudders."),
    });
  });

  it("whose summary takes too long ends with abort, and nothing has moved", async () => {
    const { rpc, path } = await opened({ script: ["hang"] });
    const before = readFileSync(path, "utf8");
    rpc.send({ id: "n", type: "navigate_tree", entryId: "u2", summarize: true });
    await rpc.call({ type: "abort" });
    const answer = await rpc.waitFor(({ type, id }) => type === "response" && id === "n");
    expect(answer).toMatchObject(refused("Branch summary cancelled"));
    expect(await messagesOf(rpc)).toHaveLength(4);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  /** Two that wait for a summary for ever, and whatever waits for them. */
  const inLine = [
    { id: "n1", type: "navigate_tree", entryId: "u2", summarize: true },
    { id: "n2", type: "navigate_tree", entryId: "u1", summarize: true },
    { id: "p", type: "prompt", message: "go" },
  ];
  const given = ({ frames }: RpcProcess): unknown[] =>
    frames.filter(({ type }) => type === "response" || type === "prompt_result").flatMap(({ id }) => id ?? []);

  it("in line behind another one ends with the abort that comes behind both", async () => {
    const { rpc } = await opened({ script: ["hang", "hang", "hang"] });
    rpc.send([...inLine, { id: "a", type: "abort" }].map((command) => `${JSON.stringify(command)}\n`).join(""));
    await rpc.waitFor(({ type, id }) => type === "response" && id === "a");
    expect(given(rpc).slice(1)).toEqual(["n1", "n2", "p", "p", "a"]);
  });

  it("does not hold up the end: what was read behind it is answered, and the lock is gone", async () => {
    const { rpc } = await opened({ script: ["hang", "hang", "hang"] });
    rpc.send(inLine.map((command) => `${JSON.stringify(command)}\n`).join(""));
    rpc.closeStdin();
    expect(await rpc.waitExit()).toMatchObject({ code: 0 });
    expect(given(rpc).slice(1)).toEqual(["n1", "n2", "p", "p"]);
    expect(readdirSync(join(rpc.sandbox.agentDir, "locks"))).toEqual([]);
  });

  it("counts what its summary cost", async () => {
    const { rpc } = await opened({ script: ['text "Rudders." + usage {"input":700,"output":30}'] });
    const before = at(await ask(rpc, "get_session_stats"), "tokens", "input") as number;
    await ask(rpc, "navigate_tree", { entryId: "u2", summarize: true });
    expect(at(await ask(rpc, "get_session_stats"), "tokens", "input")).toBe(before + 700);
  });

  it("ends a run that is active, and tells it before it answers", async () => {
    const { rpc } = await opened({ script: ['text "half" + hang'] });
    await call(rpc, "prompt", { id: "p", message: "go" });
    await rpc.waitFor(isIncrement("text_delta"));
    const since = rpc.mark();
    expect(await call(rpc, "navigate_tree", { entryId: "u1" })).toMatchObject({ success: true });
    const told = rpc.frames.slice(since).filter(({ type }) => /prompt_result|response/.test(String(type)));
    expect(told).toMatchObject([{ id: "p", status: "aborted" }, { type: "response" }]);
    expect(await messagesOf(rpc)).toEqual([]);
  });

  it("to nowhere is refused, and to where it is changes nothing", async () => {
    const { rpc, path } = await opened();
    expect(await call(rpc, "navigate_tree", { entryId: "nowhere" })).toMatchObject(refused("Entry not found: nowhere"));
    const { leafId } = await ask(rpc, "get_tree");
    const before = readFileSync(path, "utf8");
    expect(await ask(rpc, "navigate_tree", { entryId: leafId })).toEqual({ cancelled: false, leafId });
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});

describe("set_label", () => {
  it("names an entry, renames it and takes the name away; the last word holds", async () => {
    const { rpc, path } = await opened();
    const label = async (): Promise<unknown> => at((await ask(rpc, "get_tree")).tree, 0, "label");
    await call(rpc, "set_label", { entryId: "u1", label: "start" });
    expect(ofType(rpc.frames, "entry_appended")).toMatchObject([{ entry: linesOf(path).at(-1) }]);
    expect(await label()).toBe("start");
    await call(rpc, "set_label", { entryId: "u1", label: "the beginning" });
    expect(await label()).toBe("the beginning");
    await call(rpc, "set_label", { entryId: "u1" });
    expect(await label()).toBeUndefined();
    expect(kindsOf(path).filter((kind) => kind === "label")).toHaveLength(3);
    expect(await messagesOf(rpc)).toHaveLength(4);
    expect(await call(rpc, "set_label", { entryId: "nowhere", label: "x" })).toMatchObject(
      refused("Entry not found: nowhere"),
    );
  });
});

describe("list_sessions and delete_session", () => {
  /** Three sessions of this folder, the last one open, and one of another folder. */
  async function shelf() {
    const rpc = start({ script: ['text "one"', 'text "two"', 'text "three"'] });
    await rpc.prompt("about apples");
    await call(rpc, "set_session_name", { name: "orchard" });
    const paths = [await fileOf(rpc)];
    for (const message of ["about bread", "about cheese"]) {
      await call(rpc, "new_session");
      await rpc.prompt(message);
      paths.push(await fileOf(rpc));
    }
    for (const [index, path] of paths.entries()) utimesSync(path, 1000 + index, 1000 + index);
    const folder = join(dirname(dirname(String(paths[0]))), "--elsewhere--");
    mkdirSync(folder);
    const other = join(folder, "2026-01-01T00-00-00-000Z_an-old-session.jsonl");
    writeFileSync(other, sessionText("/elsewhere", STORY));
    utimesSync(other, 500, 500);
    return { rpc, paths, other };
  }
  const listed = async (rpc: RpcProcess, fields: object = {}): Promise<unknown[]> =>
    list((await ask(rpc, "list_sessions", fields)).sessions).map((session) => at(session, "firstMessage"));

  it("lists those of this folder, the latest first, and finds by text, name and folder", async () => {
    const { rpc, paths } = await shelf();
    expect(await listed(rpc)).toEqual(["about cheese", "about bread", "about apples"]);
    expect(await listed(rpc, { scope: "all" })).toHaveLength(4);
    expect(await listed(rpc, { text: "bread" })).toEqual(["about bread"]);
    expect(await listed(rpc, { name: "orch" })).toEqual(["about apples"]);
    expect(await listed(rpc, { text: "nobody said this" })).toEqual([]);
    expect(list((await ask(rpc, "list_sessions", { name: "orchard" })).sessions)).toMatchObject([
      { sessionPath: paths[0], sessionName: "orchard", cwd: rpc.sandbox.cwd, messageCount: 2 },
    ]);
  });

  it("comes in pages, whose cursors belong to one search", async () => {
    const { rpc } = await shelf();
    const first = await ask(rpc, "list_sessions", { limit: 2 });
    expect(list(first.sessions)).toHaveLength(2);
    expect(first.nextCursor).toMatch(CURSOR);
    const second = await ask(rpc, "list_sessions", { limit: 2, cursor: first.nextCursor });
    expect(list(second.sessions)).toHaveLength(1);
    expect(second).not.toHaveProperty("nextCursor");
    const other = await call(rpc, "list_sessions", { text: "bread", cursor: first.nextCursor });
    expect(other).toMatchObject(refused(expect.stringContaining("stale")));
    expect(await call(rpc, "list_sessions", { cursor: "nonsense" })).toMatchObject(
      refused(expect.stringContaining("Invalid session cursor")),
    );
    expect(await call(rpc, "list_sessions", { limit: 201 })).toMatchObject(
      refused('"limit" must be an integer from 1 to 200, got 201'),
    );
  });

  it("moves a session to the trash, whole, but not the one that is open", async () => {
    const { rpc, paths } = await shelf();
    const [first, , last] = paths as [string, string, string];
    const content = readFileSync(first, "utf8");
    const { trashPath } = await ask(rpc, "delete_session", { sessionPath: first });
    expect(existsSync(first)).toBe(false);
    expect(readFileSync(String(trashPath), "utf8")).toBe(content);
    expect(await listed(rpc)).toEqual(["about cheese", "about bread"]);
    expect(await call(rpc, "delete_session", { sessionPath: last })).toMatchObject(
      refused(expect.stringContaining("is the session that is open")),
    );
    expect(existsSync(last)).toBe(true);
  });

  it("refuses to delete what is not there, what is no session and what another process has open", async () => {
    const { rpc, paths } = await shelf();
    const notes = join(rpc.sandbox.cwd, "notes.txt");
    writeFileSync(notes, "Dear diary,\n");
    const deleting = (sessionPath: string) => call(rpc, "delete_session", { sessionPath });
    expect(await deleting("/no/such.jsonl")).toMatchObject(refused("There is no session file /no/such.jsonl"));
    expect(await deleting(notes)).toMatchObject(refused(expect.stringContaining("is no session file")));
    expect(existsSync(notes)).toBe(true);
    const env = { TILLER_DIR: rpc.sandbox.agentDir };
    const other = start({ script: ['text "x"'], env, args: ["--session", String(paths[1])] });
    await stateOf(other);
    expect(await deleting(String(paths[1]))).toMatchObject(
      refused(expect.stringContaining(`in use by process ${other.pid}`)),
    );
    expect(sessionFiles(rpc)).toHaveLength(4);
  });
});

describe("a session that another process has open", () => {
  it("is read, and refuses prompts with the name of the owner until it lets go (decision 35)", async () => {
    const owner = start({ script: ['text "one"', 'text "two"'] });
    await owner.prompt("first");
    const path = await fileOf(owner);
    const env = { TILLER_DIR: owner.sandbox.agentDir };
    const second = start({ script: ['text "three"'], env, args: ["--session", path] });
    expect(await messagesOf(second)).toHaveLength(2);
    const entryId = at((await ask(second, "get_fork_messages")).messages, 0, "entryId");
    const since = second.mark();
    const error = expect.stringContaining(`in use by process ${owner.pid}`);
    expect(await call(second, "prompt", { message: "mine" })).toMatchObject(refused(error));
    expect(second.types(since)).toEqual(["response"]);
    for (const [type, fields] of [
      ["compact", {}],
      ["set_session_name", { name: "mine" }],
      ["set_label", { entryId, label: "mine" }],
      ["navigate_tree", { entryId }],
    ] as const) {
      expect(await call(second, type, fields)).toMatchObject(refused(error));
    }
    await owner.prompt("second");
    owner.closeStdin();
    await owner.waitExit();
    await second.prompt("third");
    expect(kindsOf(path).filter((kind) => kind === "user")).toHaveLength(3);
    expect((await messagesOf(second)).at(-1)).toMatchObject({ content: [{ text: "three" }] });
    expect(await messagesOf(second)).toHaveLength(6);
  });

  it("is there at once for a process that is started while the old one ends", async () => {
    const owner = start({ script: ['text "one"'] });
    await owner.prompt("first");
    const path = await fileOf(owner);
    const env = { TILLER_DIR: owner.sandbox.agentDir };
    const next = start({ script: ['text "two"'], env, args: ["--session", path] });
    await stateOf(next);
    next.send({ id: "p", type: "prompt", message: "second" });
    owner.closeStdin();
    await owner.waitExit();
    expect(await next.waitFor("prompt_result")).toMatchObject({ id: "p", status: "completed" });
  });
});

describe("fields that do not fit", () => {
  const BAD: [command: string, fields: object, error: string][] = [
    ["new_session", { parentSession: 7 }, '"parentSession" must be a string'],
    ["switch_session", {}, '"sessionPath" is missing'],
    ["switch_session", { sessionPath: ["a"] }, '"sessionPath" must be a string'],
    ["fork", {}, '"entryId" is missing'],
    ["branch", { entryId: 1 }, '"entryId" must be a string'],
    ["set_session_name", {}, '"name" is missing'],
    ["set_session_name", { name: null }, '"name" must be a string, got null'],
    ["get_entries", { since: {} }, '"since" must be a string'],
    ["navigate_tree", { entryId: "u1", summarize: "yes" }, '"summarize" must be'],
    ["set_label", { label: "x" }, '"entryId" is missing'],
    ["list_sessions", { limit: "many" }, '"limit" must be'],
    ["list_sessions", { scope: "world" }, '"scope" must be'],
    ["delete_session", {}, '"sessionPath" is missing'],
    ["compact", { customInstructions: false }, '"customInstructions" must be a string'],
    ["set_auto_compaction", {}, '"enabled" is missing'],
  ];

  it("are named, with what was expected, and nothing has happened", async () => {
    const { rpc, path } = await opened();
    const before = readFileSync(path, "utf8");
    for (const [command, fields, error] of BAD) {
      expect(await call(rpc, command, fields), command).toMatchObject({
        command,
        ...refused(expect.stringContaining(error)),
      });
    }
    expect(ofType(rpc.frames, "compaction_start")).toEqual([]);
    expect(await fileOf(rpc)).toBe(path);
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});
