import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { type MockLlm, say, startMockLlm } from "../support/mock-llm.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { isIncrement, messagesOf, ofType, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";
import { assistant, fileOf, kindsOf, linesOf, STORY, sessionFiles, sessionText, user } from "./session-files.ts";

/** From one session to another: new_session, switch_session, fork, branch and clone (decisions 4, 21, 23 and 35). */

const start = useRpc();
const DIALECTS = ["union", "pi", "omp", "xcsh"] as const;
const BEGIN = ["session", "model_change", "thinking_level_change"];

const call = (rpc: RpcProcess, type: string, fields: object = {}): Promise<Frame> => rpc.call({ type, ...fields });
const textsOf = async (rpc: RpcProcess): Promise<unknown[]> =>
  (await messagesOf(rpc)).map((message) => at(message, "content", 0, "text"));

/** Writes a session file into the working folder of a process. */
function writeSession(rpc: RpcProcess, name: string, entries = STORY, header: object = {}): string {
  const path = join(rpc.sandbox.cwd, name);
  writeFileSync(path, sessionText(rpc.sandbox.cwd, entries, header));
  return path;
}

/** A prompt that waits for the end in the words of its dialect. */
async function talk(rpc: RpcProcess, message: string): Promise<void> {
  const since = rpc.mark();
  await call(rpc, "prompt", { message });
  await rpc.waitFor("agent_settled", { since });
}

describe.each(DIALECTS)("new_session in %s", (dialect) => {
  proves(
    ["pi.new-session.command", "pi.new-session.parent", "pi.new-session.response"],
    "begins an empty session that remembers where it comes from; the old one stays as it is",
    async () => {
      const rpc = start({ script: ['text "one"', 'text "two"'], args: ["--dialect", dialect] });
      await talk(rpc, "first");
      const old = await stateOf(rpc);
      const before = readFileSync(String(old.sessionFile), "utf8");
      const answer = await call(rpc, "new_session", { id: "n", parentSession: "/some/where/old.jsonl" });
      expect(answer).toEqual({
        id: "n",
        type: "response",
        command: "new_session",
        success: true,
        data: { cancelled: false },
      });
      const now = await stateOf(rpc);
      expect(now).toMatchObject({ messageCount: 0, isStreaming: false });
      expect(now.sessionId).not.toBe(old.sessionId);
      expect(existsSync(String(now.sessionFile))).toBe(false);
      await talk(rpc, "second");
      const [header] = linesOf(String(now.sessionFile));
      expect(header).toMatchObject({ id: now.sessionId, parentSession: "/some/where/old.jsonl" });
      expect(kindsOf(String(now.sessionFile))).toEqual([...BEGIN, "user", "assistant"]);
      expect(readFileSync(String(old.sessionFile), "utf8")).toBe(before);
      expect(sessionFiles(rpc)).toHaveLength(2);
    },
  );
});

describe("new_session", () => {
  it("keeps the model, the level and the modes, and drops the name", async () => {
    const rpc = start({ script: ['text "one"'] });
    await call(rpc, "set_thinking_level", { level: "high" });
    await call(rpc, "set_steering_mode", { mode: "all" });
    await call(rpc, "set_session_name", { name: "boats" });
    await rpc.prompt("first");
    await call(rpc, "new_session");
    const state = await stateOf(rpc);
    expect(state).toMatchObject({ thinkingLevel: "high", steeringMode: "all", model: { provider: "script" } });
    expect(state).not.toHaveProperty("sessionName");
  });

  it("in the same write as a prompt takes the prompt into the new session", async () => {
    const rpc = start({ script: ['text "one"', 'text "two"'] });
    await rpc.prompt("first");
    rpc.send('{"id":"n","type":"new_session"}\n{"id":"p","type":"prompt","message":"second"}\n');
    await rpc.waitFor(({ type, id }) => type === "prompt_result" && id === "p");
    expect(await textsOf(rpc)).toEqual(["second", "two"]);
  });

  it("without session files stays in memory", async () => {
    const rpc = start({ script: ['text "one"', 'text "two"'], args: ["--no-session"] });
    await rpc.prompt("first");
    const { sessionId } = await stateOf(rpc);
    await call(rpc, "new_session");
    await rpc.prompt("second");
    const state = await stateOf(rpc);
    expect(state.sessionId).not.toBe(sessionId);
    expect(state).not.toHaveProperty("sessionFile");
    expect(sessionFiles(rpc)).toEqual([]);
    expect(await textsOf(rpc)).toEqual(["second", "two"]);
  });
});

/** How the old session is left, whichever command leaves it. */
const LEAVING: [command: string, fields: (rpc: RpcProcess) => object][] = [
  ["new_session", () => ({})],
  ["switch_session", (rpc) => ({ sessionPath: writeSession(rpc, "other.jsonl") })],
  ["fork", () => ({})],
  ["clone", () => ({})],
];

describe.each(LEAVING)("%s while a run is active", (command, fieldsFor) => {
  /** A run that streams, with one prompt in each queue and a plain message behind them. */
  async function busy(dialect: string): Promise<{ rpc: RpcProcess; fields: object; old: string }> {
    const rpc = start({ script: ['text "one"', 'text "half" + hang', 'text "after"'], args: ["--dialect", dialect] });
    await talk(rpc, "first");
    const { messages } = (await call(rpc, "get_fork_messages")).data as { messages: { entryId: string }[] };
    const since = rpc.mark();
    await call(rpc, "prompt", { id: "run", message: "second" });
    await rpc.waitFor(isIncrement("text_delta"), { since });
    await call(rpc, "prompt", { id: "steering", message: "third", streamingBehavior: "steer" });
    await call(rpc, "prompt", { id: "follower", message: "fourth", streamingBehavior: "followUp" });
    await call(rpc, "follow_up", { message: "fifth" });
    const fields = command === "fork" ? { entryId: messages[0]?.entryId } : fieldsFor(rpc);
    return { rpc, fields, old: await fileOf(rpc) };
  }

  it("aborts it, drops what waits, and tells all of that before it answers (decisions 4 and 23)", async () => {
    const { rpc, fields, old } = await busy("union");
    const since = rpc.mark();
    expect(await call(rpc, command, fields)).toMatchObject({ success: true, data: { cancelled: false } });
    const told = rpc.frames.slice(since);
    const endings = ["message_end", "agent_end", "agent_settled", "prompt_result", "response"];
    expect(told.map(({ type }) => String(type)).filter((type) => endings.includes(type))).toEqual([
      ...["message_end", "agent_end", "agent_settled"],
      ...["prompt_result", "prompt_result", "prompt_result", "response"],
    ]);
    expect(ofType(told, "agent_settled")).toMatchObject([{ aborted: true }]);
    const results = ofType(told, "prompt_result").map(({ id, status, error }) => [id, status, at(error, "message")]);
    const why = expect.stringContaining(command);
    expect(results).toEqual([
      ["run", "aborted", why],
      ["steering", "aborted", why],
      ["follower", "aborted", why],
    ]);
    expect(await stateOf(rpc)).toMatchObject({ isStreaming: false, isSettled: true, pendingMessageCount: 0 });
    // The old session ends with what was said until then.
    expect(linesOf(old).at(-1)).toMatchObject({ message: { stopReason: "aborted", content: [{ text: "half" }] } });
    expect(await fileOf(rpc)).not.toBe(old);
    await rpc.prompt("sixth");
    expect((await textsOf(rpc)).slice(-2)).toEqual(["sixth", "after"]);
    expect(linesOf(old).at(-1)).toMatchObject({ message: { stopReason: "aborted" } });
  });

  it("closes it in the words of pi too", async () => {
    const { rpc, fields } = await busy("pi");
    const since = rpc.mark();
    await call(rpc, command, fields);
    const told = rpc.types(since).filter((type) => /^(agent_end|agent_settled|prompt_result|response)$/.test(type));
    expect(told).toEqual(["agent_end", "agent_settled", "response"]);
  });
});

describe.each(LEAVING)("%s", (command, fieldsFor) => {
  it("ends what tools and shell commands have left running", async () => {
    const left = "sleep 6543 >/dev/null 2>&1 &";
    const rpc = start({ script: [`toolCall bash {"command":"${left} echo begun"}`, 'text "Left one."'] });
    await rpc.prompt("leave something");
    await call(rpc, "bash", { command: `${left} true` });
    const sleepers = (): number => rpc.sandbox.processes().filter((each) => each.command.includes("6543")).length;
    // The shell is gone before the last of its children has become another program.
    if (process.platform === "linux") await expect.poll(sleepers).toBe(2);
    const { messages } = (await call(rpc, "get_fork_messages")).data as { messages: { entryId: string }[] };
    const fields = command === "fork" ? { entryId: messages[0]?.entryId } : fieldsFor(rpc);
    expect(await call(rpc, command, fields)).toMatchObject({ success: true });
    expect(sleepers()).toBe(0);
  });

  it("ends a shell command of the host, which is answered as cancelled", async () => {
    const rpc = start({ script: ['text "one"'] });
    await rpc.prompt("first");
    const { messages } = (await call(rpc, "get_fork_messages")).data as { messages: { entryId: string }[] };
    rpc.send({ id: "b", type: "bash", command: "echo begun; sleep 600" });
    await rpc.waitFor("bash_execution_update");
    const fields = command === "fork" ? { entryId: messages[0]?.entryId } : fieldsFor(rpc);
    await call(rpc, command, fields);
    const answered = rpc.frames.find(({ type, id }) => type === "response" && id === "b");
    expect(answered).toMatchObject({ success: true, data: { cancelled: true } });
  });
});

describe("switch_session", () => {
  let llm: MockLlm;
  beforeEach(async () => {
    llm = await startMockLlm();
  });
  afterEach(() => llm.close());

  proves(
    "pi.switch.command",
    "loads the file: its messages are the conversation, and the model sees them",
    async () => {
      for (const dialect of DIALECTS) {
        llm.reply(say("Yes."));
        const rpc = start({
          agentFiles: { "models.json": llm.modelsJson() },
          args: ["--model", "mock/mock-1", "--dialect", dialect],
        });
        const path = writeSession(rpc, "boats.jsonl");
        expect(await call(rpc, "switch_session", { sessionPath: path })).toMatchObject({
          command: "switch_session",
          success: true,
          data: { cancelled: false },
        });
        expect(await stateOf(rpc)).toMatchObject({ sessionFile: path, sessionId: "an-old-session", messageCount: 4 });
        expect((await textsOf(rpc)).slice(0, 2)).toEqual(["What is a tiller?", "A lever that turns a rudder."]);
        await call(rpc, "set_model", { provider: "mock", modelId: "mock-1" });
        await talk(rpc, "Sure?");
        const seen = JSON.stringify(llm.requests.at(-1)?.body.messages);
        for (const text of ["What is a tiller?", "A plate that turns the boat.", "Sure?"]) expect(seen).toContain(text);
        expect(kindsOf(path).slice(-2)).toEqual(["user", "assistant"]);
      }
    },
  );

  it("goes on with the model and the level that the file was left with", async () => {
    const rpc = start({ agentFiles: { "models.json": llm.modelsJson() }, args: ["--model", "mock/mock-1"] });
    const path = writeSession(rpc, "boats.jsonl", [
      { id: "m1", type: "model_change", provider: "mock-openai-completions", modelId: "mock-1" },
      { id: "t1", type: "thinking_level_change", thinkingLevel: "low" },
      user("u1", "hi"),
    ]);
    await call(rpc, "switch_session", { sessionPath: path });
    expect(await stateOf(rpc)).toMatchObject({ model: { provider: "mock-openai-completions" }, thinkingLevel: "low" });
    expect(ofType(rpc.frames, "thinking_level_changed")).toMatchObject([{ level: "low" }]);
  });

  it("to a model that is not there keeps the one in use and says so", async () => {
    const rpc = start({ script: ['text "on"'] });
    const path = writeSession(rpc, "boats.jsonl", [
      { id: "m1", type: "model_change", provider: "nobody", modelId: "knows" },
      user("u1", "hi"),
    ]);
    await call(rpc, "switch_session", { sessionPath: path });
    expect((await stateOf(rpc)).model).toMatchObject({ provider: "script" });
    expect(ofType(rpc.frames, "notice")).toMatchObject([
      { level: "warning", message: expect.stringContaining("nobody/knows") },
    ]);
    await rpc.prompt("go on");
    expect((await textsOf(rpc)).at(-1)).toBe("on");
  });

  it("takes paths from the working folder and from home, and a path that is not there begins a session", async () => {
    const rpc = start({ script: ['text "one"', 'text "two"'] });
    const path = writeSession(rpc, "boats.jsonl");
    expect(await call(rpc, "switch_session", { sessionPath: "boats.jsonl" })).toMatchObject({ success: true });
    expect(await fileOf(rpc)).toBe(path);
    const fresh = join(rpc.sandbox.home, "new/place.jsonl");
    expect(await call(rpc, "switch_session", { sessionPath: "~/new/place.jsonl" })).toMatchObject({ success: true });
    expect(await stateOf(rpc)).toMatchObject({ sessionFile: fresh, messageCount: 0 });
    expect(existsSync(fresh)).toBe(false);
    await rpc.prompt("first");
    expect(kindsOf(fresh)).toEqual([...BEGIN, "user", "assistant"]);
  });

  it("there and back again finds both conversations", async () => {
    const rpc = start({ script: ['text "one"', 'text "two"', 'text "three"'] });
    await rpc.prompt("first");
    const first = await fileOf(rpc);
    await call(rpc, "new_session");
    await rpc.prompt("second");
    const second = await fileOf(rpc);
    await call(rpc, "switch_session", { sessionPath: first });
    expect(await textsOf(rpc)).toEqual(["first", "one"]);
    await rpc.prompt("third");
    await call(rpc, "switch_session", { sessionPath: second });
    expect(await textsOf(rpc)).toEqual(["second", "two"]);
    await call(rpc, "switch_session", { sessionPath: first });
    expect(await textsOf(rpc)).toEqual(["first", "one", "third", "three"]);
  });

  it("to the session that is open stays there and loses nothing", async () => {
    const rpc = start({ script: ['text "one"', 'text "two"'] });
    await rpc.prompt("first");
    const path = await fileOf(rpc);
    expect(await call(rpc, "switch_session", { sessionPath: path })).toMatchObject({ data: { cancelled: false } });
    await rpc.prompt("second");
    expect(await textsOf(rpc)).toEqual(["first", "one", "second", "two"]);
    expect(kindsOf(path).filter((kind) => kind === "user")).toHaveLength(2);
  });
});

/** Both names in all dialects; each seed asks for its own. */
const NAMES = [
  ["fork", "get_fork_messages", "forking"],
  ["branch", "get_branch_messages", "branching"],
] as const;

describe.each(NAMES)("%s", (command, listing, verb) => {
  proves(
    [
      "pi.fork.command",
      "pi.fork.text",
      "pi.fork.cancelled",
      "pi.fork.messages",
      "omp.branch.command",
      "omp.branch.messages",
    ],
    "goes on in a new session that ends before an earlier message, and gives its text back",
    async () => {
      for (const dialect of DIALECTS) {
        const rpc = start({ script: ['text "Yes."'], args: ["--dialect", dialect] });
        const path = writeSession(rpc, "boats.jsonl");
        await call(rpc, "switch_session", { sessionPath: path });
        const before = readFileSync(path, "utf8");
        expect((await call(rpc, listing)).data).toEqual({
          messages: [
            { entryId: "u1", text: "What is a tiller?" },
            { entryId: "u2", text: "And a rudder?" },
          ],
        });
        expect(await call(rpc, command, { id: "f", entryId: "u2" })).toEqual({
          id: "f",
          type: "response",
          command,
          success: true,
          data: { text: "And a rudder?", cancelled: false },
        });
        expect(await textsOf(rpc)).toEqual(["What is a tiller?", "A lever that turns a rudder."]);
        await talk(rpc, "And a keel?");
        const [header, ...entries] = linesOf(await fileOf(rpc));
        expect(header).toMatchObject({ version: 3, parentSession: path, cwd: rpc.sandbox.cwd });
        expect(header?.id).not.toBe("an-old-session");
        expect(entries.slice(0, 2).map(({ id }) => id)).toEqual(["u1", "a1"]);
        expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
      }
    },
  );

  it("from the first message is an empty session", async () => {
    const rpc = start({ script: ['text "Yes."'] });
    await call(rpc, "switch_session", { sessionPath: writeSession(rpc, "boats.jsonl") });
    expect(await call(rpc, command, { entryId: "u1" })).toMatchObject({ data: { text: "What is a tiller?" } });
    expect(await messagesOf(rpc)).toEqual([]);
    await rpc.prompt("Hello?");
    expect(await textsOf(rpc)).toEqual(["Hello?", "Yes."]);
  });

  it("refuses what is no message of the user's, in its own word, and nothing has happened", async () => {
    const rpc = start({ script: ['text "Yes."'] });
    const path = writeSession(rpc, "boats.jsonl");
    await call(rpc, "switch_session", { sessionPath: path });
    for (const entryId of ["nowhere", "a1", ""]) {
      expect(await call(rpc, command, { entryId })).toMatchObject({
        command,
        success: false,
        error: `Invalid entry ID for ${verb}`,
      });
    }
    expect(await fileOf(rpc)).toBe(path);
    expect(await messagesOf(rpc)).toHaveLength(4);
  });

  it("lists the messages of all branches that have a text", async () => {
    const picture = { type: "image", data: "AAAA", mimeType: "image/png" };
    const rpc = start({ script: ['text "Yes."'] });
    const entries = [
      ...STORY,
      user("u3", "", { message: { role: "user", content: [picture], timestamp: 1 } }),
      user("u4", "What is a mast?", { parentId: "a1" }),
      assistant("a4", "A pole."),
    ];
    await call(rpc, "switch_session", { sessionPath: writeSession(rpc, "boats.jsonl", entries) });
    const { messages } = (await call(rpc, listing)).data as { messages: Frame[] };
    expect(messages.map(({ entryId }) => entryId)).toEqual(["u1", "u2", "u4"]);
  });
});

describe("clone", () => {
  it("copies the conversation as it stands; both go on by themselves", async () => {
    const rpc = start({ script: ['text "one"', 'text "two"', 'text "three"'] });
    await rpc.prompt("first");
    const original = await fileOf(rpc);
    expect(await call(rpc, "clone", { id: "c" })).toEqual({
      id: "c",
      type: "response",
      command: "clone",
      success: true,
      data: { cancelled: false },
    });
    const copy = await fileOf(rpc);
    expect(copy).not.toBe(original);
    expect(linesOf(copy)[0]).toMatchObject({ parentSession: original });
    expect(linesOf(copy).slice(1)).toEqual(linesOf(original).slice(1));
    await rpc.prompt("second");
    expect(await textsOf(rpc)).toEqual(["first", "one", "second", "two"]);
    await call(rpc, "switch_session", { sessionPath: original });
    expect(await textsOf(rpc)).toEqual(["first", "one"]);
  });

  it("of a session in which nothing was said leaves no file", async () => {
    const rpc = start({ script: ['text "one"'] });
    const answer = await call(rpc, "clone");
    expect(answer.success === true || typeof answer.error === "string").toBe(true);
    expect(sessionFiles(rpc)).toEqual([]);
  });
});

describe("a session that cannot be opened", () => {
  const REFUSED: [what: string, prepare: (rpc: RpcProcess) => string, error: RegExp][] = [
    ["a folder", (rpc) => rpc.sandbox.cwd, /folder|directory|not a file/i],
    [
      "a file of something else",
      (rpc) => {
        writeFileSync(join(rpc.sandbox.cwd, "notes.txt"), "Dear diary,\n");
        return "notes.txt";
      },
      /notes\.txt is not a session file/,
    ],
    [
      "a path below a file",
      (rpc) => `${writeSession(rpc, "boats.jsonl")}/below.jsonl`,
      /^The session file .*boats\.jsonl\/below\.jsonl cannot be read: ENOTDIR: not a directory$/,
    ],
    [
      "a session of a folder below a file",
      (rpc) => writeSession(rpc, "gone.jsonl", STORY, { cwd: "/dev/null/folder" }),
      /^Stored session working directory does not exist: \/dev\/null\/folder\n/,
    ],
    [
      "a session of a folder that is gone",
      (rpc) => writeSession(rpc, "gone.jsonl", STORY, { cwd: "/no/such/folder" }),
      /^Stored session working directory does not exist: \/no\/such\/folder\nSession file: .*gone\.jsonl\nCurrent working directory: /,
    ],
    ["an empty path", () => "", /^"sessionPath" must be the path of a session file, got ""$/],
    ["a path with a NUL in it", () => "a\0b.jsonl", /NUL|null byte/i],
  ];

  it.each(REFUSED)("%s is refused, and the one that is open goes on", async (_what, prepare, error) => {
    const rpc = start({ script: ['text "one"', 'text "two"'] });
    await rpc.prompt("first");
    const path = await fileOf(rpc);
    const answer = await call(rpc, "switch_session", { sessionPath: prepare(rpc) });
    expect(answer).toMatchObject({ command: "switch_session", success: false, error: expect.stringMatching(error) });
    expect(await fileOf(rpc)).toBe(path);
    await rpc.prompt("second");
    expect(await textsOf(rpc)).toEqual(["first", "one", "second", "two"]);
  });

  it("leaves a run alone that is active", async () => {
    const rpc = start({ script: ['text "half" + delay 200 + text " and half"'] });
    mkdirSync(join(rpc.sandbox.cwd, "folder"));
    await call(rpc, "prompt", { id: "p", message: "go" });
    await rpc.waitFor(isIncrement("text_delta"));
    expect(await call(rpc, "switch_session", { sessionPath: "folder" })).toMatchObject({ success: false });
    expect(await call(rpc, "fork", { entryId: "nowhere" })).toMatchObject({ success: false });
    expect(await rpc.waitFor("prompt_result")).toMatchObject({ id: "p", status: "completed" });
  });
});
