import type { AgentMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { describe, expect, test } from "vitest";
import { FakeClock, fakeIds } from "../../../test/support/fake-clock.ts";
import { type ActionParts, createExtensionActions, type PendingSetup } from "./extension-actions.ts";
import { loadedLog, messageEntry, storeOf, user } from "./session/store/test-sessions.ts";
import { testHooks } from "./session/test-hooks.ts";

interface Facts {
  isStreaming?: boolean;
  /** A prompt is still being looked at. */
  isUndecided?: boolean;
  unusable?: string;
  /** What an `input` handler says. */
  input?: { handled: boolean; text: string; images?: object[] } | "unchanged";
  /** What leaving the session comes to. */
  outcome?: { cancelled: boolean } | { refused: string };
}

const UNTIMED = { role: "custom", customType: "flag", content: "red", display: true } as const;

/** The actions on a session of one message, and what they lead to. */
function desk(facts: Facts = {}) {
  const notes: unknown[] = [];
  const note =
    <R>(name: string, result?: R) =>
    (...given: unknown[]): R => {
      notes.push([name, ...given]);
      return result as R;
    };
  const leaving = (name: string) => note(name, Promise.resolve(facts.outcome ?? { cancelled: false }));
  const clock = new FakeClock(1000);
  const store = storeOf(loadedLog([messageEntry("a", null, user("hello"))]));
  const nextTurn: AgentMessage[] = [];
  const pending: PendingSetup = { run: undefined };
  const read = { name: "read", description: "Another way to read", parameters: {} };
  const files = {
    // The session fills it while it is entered, as the real one does.
    async newSession(parentSession?: string) {
      const done = await leaving("newSession")(parentSession);
      await pending.run?.();
      return done;
    },
    fork: leaving("fork"),
    copyUpTo: leaving("copyUpTo"),
    switchTo: leaving("switchTo"),
  };
  const asked: object[] = [];
  const input = (event: { text?: string; images?: object[] }): object | undefined => {
    asked.push(event);
    return facts.input === "unchanged" ? { handled: false, text: event.text, images: event.images } : facts.input;
  };
  const parts = {
    ground: {
      models: { unusable: () => facts.unusable, scope: [{ id: "m" }] },
      settings: { get: () => undefined },
      run: { dialect: { busyText: "busy" }, projectTrust: "code" },
      env: {},
      agentDir: "/agent",
    },
    extensions: {
      host: {
        hooks: testHooks(facts.input ? { input } : {}, []),
        generation: { tools: () => new Map([["read", { extension: { source: { path: "/a.ts" } } }]]) },
        command: (text: string) =>
          text.startsWith("/berth")
            ? { name: "berth", run: async () => void notes.push(["command", text]) }
            : undefined,
      },
    },
    store,
    pipeline: { emit: ({ type, ...event }: { type: string }) => notes.push([type, event]) },
    models: {
      model: { id: "m", provider: "p" } as Model,
      thinkingLevel: "low",
      set: async (_provider: string, id: string) => (id === "known" ? { id } : undefined),
    },
    queue: { isEmpty: true, add: note("queue") },
    run: {
      isStreaming: facts.isStreaming === true || facts.isUndecided === true,
      isUndecided: facts.isUndecided === true,
      accept: (message: AgentMessage) => async () => void notes.push(["run", message]),
      settled: note("settled"),
    },
    toolbox: {
      active: { names: () => ["read"], set: note("set"), add: note("add") },
      other: (name: string) => (name === "read" ? read : { ...read, name, description: "Lent", source: "mcp:deck" }),
      lent: () => ["open_ticket"],
      hasBuiltIn: (name: string) => name !== "poll",
    },
    mcp: {
      tools: { names: () => ["mcp__deck__hail", "read"] },
      list: () => [{ name: "deck", status: "connected", tools: ["mcp__deck__hail"] }],
      register: note("server"),
    },
    clock,
    ids: fakeIds(),
    session: () => ({ history: async () => ({ files }), navigate: leaving("navigate") }),
    openDisk: async () => undefined,
    reload: note("reload"),
    providers: { register: note("register"), unregister: note("unregister") },
    virtualModels: { register: note("virtual") },
    systemPromptOptions: () => ({ cwd: "/" }),
    expand: async (text: string) => (text === "/broken" ? { error: "cannot be read" } : { text: `what ${text} says` }),
    host: () => undefined,
    nextTurn,
  } as unknown as ActionParts;
  return { actions: createExtensionActions(parts, pending), notes, asked, clock, store, nextTurn, pending };
}

describe("a message of an extension", () => {
  const message = { ...UNTIMED, timestamp: 1000 };
  test.each<[story: string, facts: Facts, how: object, notes: unknown[]]>([
    [
      "is told when nothing runs",
      {},
      {},
      [
        ["message_start", { message }],
        ["message_end", { message }],
      ],
    ],
    ["starts a run if it shall", {}, { triggerTurn: true }, [["run", message]]],
    [
      "waits for no prompt that somebody may still take",
      { isUndecided: true },
      {},
      [
        ["message_start", { message }],
        ["message_end", { message }],
      ],
    ],
    ["starts a run behind such a prompt", { isUndecided: true }, { triggerTurn: true }, [["run", message]]],
    ["steers a run", { isStreaming: true }, {}, [["queue", "steering", message]]],
    [
      "steers a run though it shall start one",
      { isStreaming: true },
      { triggerTurn: true },
      [["queue", "steering", message]],
    ],
    ["waits for the end of a run", { isStreaming: true }, { deliverAs: "followUp" }, [["queue", "followUp", message]]],
    ["is kept for the next prompt", { isStreaming: true }, { deliverAs: "nextTurn" }, []],
  ])("%s", async (_story, facts, how, expected) => {
    const { actions, notes, clock, nextTurn } = desk(facts);
    await actions.sendMessage(UNTIMED, how);
    await clock.advance(0);
    expect(notes).toEqual(expected);
    expect(nextTurn).toEqual(expected.length === 0 ? [message] : []);
  });

  test("starts nothing with a model that cannot be used", async () => {
    const { actions } = desk({ unusable: "No API key found for p." });
    await expect(actions.sendMessage(UNTIMED, { triggerTurn: true })).rejects.toThrow("No API key found for p.");
  });
});

describe("a message as the user's", () => {
  const said = (text: string): object => ({ role: "user", content: [{ type: "text", text }], timestamp: 1000 });

  test.each([
    ["", /is empty/],
    ["  ", /is empty/],
    [[{ type: "image" as const, data: "!", mimeType: "image/png" }], /not base64/],
  ])("that cannot be sent is refused: %j", async (content, words) => {
    const { actions, notes } = desk();
    await expect(actions.sendUserMessage(content, {})).rejects.toThrow(words);
    expect(notes).toEqual([]);
  });

  test("is waited for by who waits for the end of it, also before it has begun", async () => {
    const { actions, notes } = desk({ isStreaming: true, input: "unchanged" });
    const sent = actions.sendUserMessage("hi", { deliverAs: "steer" });
    await actions.waitForIdle();
    expect(notes.map((note) => (note as unknown[])[0])).toEqual(["queue", "settled"]);
    await sent;
  });

  test("starts a run, in a turn of its own", async () => {
    const { actions, notes, clock } = desk();
    await actions.sendUserMessage("hi", {});
    expect(notes).toEqual([]);
    await clock.advance(0);
    expect(notes).toEqual([["run", said("hi")]]);
  });

  test("starts one behind a prompt that somebody may still take", async () => {
    const { actions, notes, clock } = desk({ isUndecided: true });
    expect(actions.isIdle()).toBe(true);
    await actions.sendUserMessage("hi", {});
    await clock.advance(0);
    expect(notes).toEqual([["run", said("hi")]]);
  });

  test("during a run has to say how", async () => {
    const { actions, notes } = desk({ isStreaming: true });
    await expect(actions.sendUserMessage("hi", {})).rejects.toThrow("busy");
    await actions.sendUserMessage("left", { deliverAs: "steer" });
    await actions.sendUserMessage("rest", { deliverAs: "followUp" });
    expect(notes).toEqual([
      ["queue", "steering", said("left")],
      ["queue", "followUp", said("rest")],
    ]);
  });

  test("is seen by other extensions first", async () => {
    const changed = desk({ input: { handled: false, text: "ahoy" } });
    await changed.actions.sendUserMessage("hi", {});
    await changed.clock.advance(0);
    expect(changed.notes).toEqual([["run", said("ahoy")]]);
    const taken = desk({ input: { handled: true, text: "" } });
    await taken.actions.sendUserMessage("hi", {});
    await taken.clock.advance(0);
    expect(taken.notes).toEqual([]);
  });
});

describe("a message of several blocks", () => {
  const text = (words: string) => ({ type: "text" as const, text: words });
  const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
  const blocks = [text("look"), image, text("here")];
  const sent = async (input: Facts["input"]) => {
    const { actions, notes, clock, asked } = desk({ input });
    await actions.sendUserMessage(blocks, {});
    await clock.advance(0);
    return { notes, asked };
  };
  const run = (content: object[]): unknown[] => [["run", { role: "user", content, timestamp: 1000 }]];

  test("is seen by other extensions as text and images", async () => {
    const { notes, asked } = await sent({ handled: true, text: "" });
    expect([notes, asked]).toEqual([[], [{ text: "look\nhere", images: [image], source: "extension" }]]);
  });

  test("is what they make of it", async () => {
    expect((await sent({ handled: false, text: "ahoy", images: [image] })).notes).toEqual(run([text("ahoy"), image]));
  });

  test("stays as it came when nobody changes it", async () => {
    expect((await sent("unchanged")).notes).toEqual(run(blocks));
  });
});

describe("a message that may call something by its name", () => {
  const how = { expandPromptTemplates: true };
  test("calls commands, skills and templates if it shall", async () => {
    const { actions, notes, clock } = desk();
    await actions.sendUserMessage("/berth 7", how);
    await actions.sendUserMessage("/greet", how);
    await clock.advance(0);
    expect(notes[0]).toEqual(["command", "/berth 7"]);
    expect(notes[1]).toMatchObject(["run", { content: [{ text: "what /greet says" }] }]);
    await expect(actions.sendUserMessage("/broken", how)).rejects.toThrow("cannot be read");
  });

  test("is taken at its word otherwise", async () => {
    const { actions, notes, clock } = desk();
    await actions.sendUserMessage("/berth 7", {});
    await clock.advance(0);
    expect(notes).toMatchObject([["run", { content: [{ text: "/berth 7" }] }]]);
  });
});

describe("what is kept in the session", () => {
  test("an entry holds what a file can hold, and is told", () => {
    const { actions, notes, store } = desk();
    const id = actions.appendEntry("log", { at: 1, when: undefined, call: () => 7 });
    const entry = expect.objectContaining({ type: "custom", id, parentId: "a", customType: "log", data: { at: 1 } });
    expect(notes).toEqual([["entry_appended", { entry }]]);
    expect(store.leafId).toBe(id);
  });

  test("a name without the blanks around it; none is no name", () => {
    const { actions, notes } = desk();
    actions.setSessionName("  Aurora ");
    expect([actions.sessionName(), notes]).toEqual(["Aurora", [["session_info_changed", { name: "Aurora" }]]]);
    expect(() => actions.setSessionName("  ")).toThrow("Session name cannot be empty");
  });

  test("labels of entries that are there", () => {
    const { actions } = desk();
    actions.setLabel("a", " home ");
    expect(actions.view.getLabel("a")).toBe("home");
    actions.setLabel("a", "");
    expect(actions.view.getLabel("a")).toBeUndefined();
    expect(() => actions.setLabel("nowhere", "x")).toThrow("Entry not found: nowhere");
  });

  test("and read again", () => {
    const { actions } = desk();
    actions.appendEntry("log", 1);
    const types = actions.view.getEntries().map(({ type }) => type);
    expect([types, actions.view.getBranch().length]).toEqual([["message", "custom"], 2]);
    expect(actions.view.buildSessionContext()).toMatchObject({ messages: [{ role: "user" }], thinkingLevel: "low" });
  });
});

test("all tools are listed, with where they come from, but for those that are switched off", () => {
  const listed = desk().actions.allTools();
  expect(listed.some(({ name }) => name === "poll")).toBe(false);
  expect(listed.find(({ name }) => name === "bash")?.sourceInfo).toMatchObject({ source: "builtin" });
  const read = listed.filter(({ name }) => name === "read");
  expect(read).toEqual([
    { name: "read", description: "Another way to read", parameters: {}, sourceInfo: { path: "/a.ts" } },
  ]);
  const sourceInfo = { path: "<host:open_ticket>", source: "host", scope: "temporary", origin: "top-level" };
  expect(listed.at(-1)).toEqual({ name: "open_ticket", description: "Lent", parameters: {}, sourceInfo });
  const served = { path: "<mcp:deck>", source: "mcp", scope: "temporary", origin: "top-level" };
  expect(listed.at(-2)).toMatchObject({ name: "mcp__deck__hail", sourceInfo: served });
});

test("a model that cannot be chosen is no exception", async () => {
  const { actions } = desk();
  expect(await actions.setModel({ provider: "p", id: "known" })).toBe(true);
  expect(await actions.setModel({ provider: "p", id: "unknown" })).toBe(false);
});

describe("another session", () => {
  test("a copy ends before an entry or with it", async () => {
    const { actions, notes } = desk();
    await actions.fork("a", "before");
    await actions.fork("a", "at");
    await actions.switchSession("b.jsonl");
    await actions.navigateTree("a", { summarize: true });
    expect(notes).toEqual([
      ["fork", "a"],
      ["copyUpTo", "a"],
      ["switchTo", "b.jsonl"],
      ["navigate", { entryId: "a", summarize: true }],
    ]);
  });

  test("that is refused throws, one that is cancelled does not", async () => {
    await expect(desk({ outcome: { refused: "no such file" } }).actions.switchSession("x")).rejects.toThrow(
      "no such file",
    );
    expect(await desk({ outcome: { cancelled: true } }).actions.switchSession("x")).toEqual({ cancelled: true });
  });

  test("that is begun gets its past before anybody sees it", async () => {
    const { actions, notes } = desk();
    await actions.newSession({
      parentSession: "old.jsonl",
      setup(session) {
        const editor = session as typeof session & Record<string, (...given: unknown[]) => string>;
        editor.appendSessionInfo?.("Lisbon");
        const id = editor.appendMessage?.({ role: "user", content: "We go", timestamp: 0 });
        editor.appendCustomMessageEntry?.("cargo", "rum", true, { tons: 3 });
        editor.appendLabelChange?.(String(id), "start");
      },
    });
    expect(notes).toEqual([["newSession", "old.jsonl"]]);
    const types = actions.view.getEntries().map(({ type }) => type);
    expect(types).toEqual(["message", "session_info", "message", "custom_message", "label"]);
    expect([actions.sessionName(), actions.view.buildSessionContext().messages.length]).toEqual(["Lisbon", 3]);
  });
});

test("nothing can be shown before there is somebody to show it to", () => {
  expect(() => desk().actions.ui).toThrow("wait for session_start");
});
