import type { AgentHooks } from "@tiller/agent/types";
import type { AgentMessage } from "@tiller/protocol/message";
import { describe, expect, test } from "vitest";
import type { HookName } from "../session/ports.ts";
import type { SessionEvent } from "../session/session-event.ts";
import type { ExtensionActions } from "./actions.ts";
import { HOOKS } from "./hooks.ts";
import type { Runner } from "./runner.ts";
import { createSessionHooks } from "./session-hooks.ts";

const ids = new Map<AgentMessage, string>();

type Answer = (event: Record<string, unknown>) => unknown;

/** A runner with one handler a hook, which notes what it is asked. */
function setUp(answers: Partial<Record<HookName, Answer>>) {
  const notes: string[] = [];
  const runner: Runner = {
    listens: (hook) => answers[hook] !== undefined,
    async run(hook, event) {
      const { message, ...rest } = event as { message?: AgentMessage };
      notes.push(`${hook} ${message?.role ?? JSON.stringify(rest)}`);
      const result = HOOKS[hook].nothing(event);
      const given = await answers[hook]?.(event as Record<string, unknown>);
      return given === undefined ? result : ({ ...(result as object), ...(given as object) } as never);
    },
  };
  const state = { session: 1 };
  const entries: ExtensionActions["entries"] = {
    idOf: (message) => ids.get(message),
    keep(drafts, by) {
      notes.push(`${by} keeps ${drafts.map(({ type }) => type)}`);
      return [user("kept")];
    },
  };
  return {
    hooks: createSessionHooks(
      runner,
      () => 1000,
      () => state.session,
      () => entries,
    ),
    notes,
    state,
  };
}

const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });
const assistant = { role: "assistant", content: [], timestamp: 2 } as unknown as AgentMessage;
const { signal } = new AbortController();
const call = { toolName: "read", toolCallId: "1", args: { path: "a" }, signal };
const result = { content: [{ type: "text" as const, text: "A" }] };
const say = (text: string) => [{ type: "text" as const, text }];
const silent = (): undefined => undefined;

describe("events", () => {
  test("nobody listens to: nothing is prepared, nothing is waited for", () => {
    const { hooks, notes } = setUp({});
    expect(hooks.observe({ type: "agent_start" }, undefined)).toBeUndefined();
    expect(notes).toEqual([]);
  });

  test("are told one after the other, also when nobody waits", async () => {
    const order: string[] = [];
    const slow = (name: string) => async () => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
    };
    const { hooks } = setUp({ agent_start: slow("agent_start"), turn_start: slow("turn_start") });
    void hooks.observe({ type: "agent_start" }, undefined);
    void hooks.observe({ type: "turn_start" }, undefined);
    await hooks.settled();
    expect(order).toEqual(["agent_start", "turn_start"].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  test("that were not told in their session are not told in the next one", async () => {
    let go = (): void => undefined;
    const slow = (): Promise<void> => new Promise((resolve) => (go = resolve));
    const { hooks, notes, state } = setUp({ agent_start: slow, turn_start: silent, agent_end: silent });
    void hooks.observe({ type: "agent_start" }, undefined);
    void hooks.observe({ type: "turn_start" }, undefined);
    await Promise.resolve();
    state.session = 2;
    void hooks.observe({ type: "agent_end", messages: [] } as never, undefined);
    go();
    await hooks.settled();
    expect(notes.map((note) => note.split(" ")[0])).toEqual(["agent_start", "agent_end"]);
  });

  test("of messages that are whole are not told: their handlers are asked before", () => {
    const { hooks, notes } = setUp({ message_start: silent, message_end: silent });
    const whole: SessionEvent[] = [
      { type: "message_start", message: user("hi") },
      { type: "message_end", message: user("hi") },
      { type: "message_end", message: assistant },
    ];
    expect(whole.map((event) => hooks.observe(event, undefined))).toEqual([undefined, undefined, undefined]);
    expect(notes).toEqual([]);
  });

  test("that are no business of extensions stay inside, whoever calls a hook by their name", () => {
    const { hooks } = setUp({});
    expect(hooks.observe({ type: "session_settled" }, undefined)).toBeUndefined();
  });
});

describe("the loop", () => {
  const cases: [listens: HookName[], has: (keyof AgentHooks)[]][] = [
    [[], []],
    [["agent_start", "context"], []],
    [["message_start"], ["settle"]],
    [["message_end"], ["settle"]],
    [["tool_call"], ["beforeTool"]],
    [["tool_result"], ["afterTool"]],
    [["turn_end"], ["endTurn"]],
    [
      ["message_end", "tool_call", "tool_result"],
      ["settle", "beforeTool", "afterTool"],
    ],
  ];
  test.each(cases)("with handlers of %j has %j to ask", (listens, has) => {
    const { hooks } = setUp(Object.fromEntries(listens.map((hook) => [hook, silent])));
    expect(Object.keys(hooks.forAgent() ?? {})).toEqual(has);
  });

  test("a message of the user's: its beginning is told, then its end may change it", async () => {
    const { hooks, notes } = setUp({ message_start: silent, message_end: () => ({ message: user("ho") }) });
    expect(await hooks.forAgent()?.settle?.(user("hi"))).toEqual(user("ho"));
    expect(notes).toEqual(["message_start user", "message_end user"]);
  });

  test("an answer of the model's has begun long ago", async () => {
    const { hooks, notes } = setUp({ message_start: silent, message_end: silent });
    expect(await hooks.forAgent()?.settle?.(assistant)).toBe(assistant);
    expect(notes).toEqual(["message_end assistant"]);
  });

  test("who has a say knows all that was told before", async () => {
    const { hooks, notes } = setUp({
      turn_start: () => new Promise((resolve) => setImmediate(() => resolve(undefined))),
      message_end: silent,
      tool_call: silent,
    });
    const agent = hooks.forAgent();
    void hooks.observe({ type: "turn_start" }, { promptId: "p", turnIndex: 0 });
    const settled = agent?.settle?.(user("hi"));
    void hooks.observe({ type: "turn_start" }, { promptId: "p", turnIndex: 1 });
    await Promise.all([settled, agent?.beforeTool?.(call)]);
    expect(notes.map((note) => note.split(" ")[0])).toEqual(["turn_start", "message_end", "turn_start", "tool_call"]);
  });

  test("a tool that may run, with the arguments that handlers can change", async () => {
    const args = { path: "a" };
    const { hooks } = setUp({ tool_call: ({ input }) => void Object.assign(input as object, { path: "b" }) });
    expect(await hooks.forAgent()?.beforeTool?.({ ...call, args })).toEqual({});
    expect(args).toEqual({ path: "b" });
  });

  const blocked: [answer: object, expected: object | undefined][] = [
    [{ block: "no" }, { block: "no" }],
    [
      { block: "no", terminate: true },
      { block: "no", terminate: true },
    ],
    [{ block: "" }, { block: "" }],
    [{ terminate: true }, { terminate: true }],
  ];
  test.each(blocked)("a tool of which is said %j", async (answer, expected) => {
    const { hooks } = setUp({ tool_call: () => answer });
    expect(await hooks.forAgent()?.beforeTool?.(call)).toEqual(expected);
  });

  const changes: [answer: object, expected: object][] = [
    [{}, { result, isError: false }],
    [{ content: say("B") }, { result: { content: say("B") }, isError: false }],
    [{ details: 7 }, { result: { ...result, details: 7 }, isError: false }],
    [{ isError: true }, { result, isError: true }],
  ];
  test.each(changes)("a result of which is said %j", async (answer, expected) => {
    const { hooks, notes } = setUp({ tool_result: () => answer });
    expect(await hooks.forAgent()?.afterTool?.({ ...call, result, isError: false })).toEqual(expected);
    expect(notes).toEqual([
      'tool_result {"toolName":"read","toolCallId":"1","input":{"path":"a"},"isError":false,"content":[{"type":"text","text":"A"}]}',
    ]);
  });

  const spoil = (value: unknown): undefined => {
    const { message, content } = value as { message?: { content: unknown }; content?: unknown[] };
    if (message) message.content = "spoilt";
    content?.push("spoilt");
    return undefined;
  };
  test("handlers have copies: only what they give back counts", async () => {
    const { hooks } = setUp({ message_start: spoil, message_end: spoil, tool_result: spoil });
    const agent = hooks.forAgent();
    const message = user("hi");
    expect(await agent?.settle?.(message)).toBe(message);
    expect(message).toEqual(user("hi"));
    const given = { content: say("A") };
    expect(await agent?.afterTool?.({ ...call, result: given, isError: false })).toEqual({
      result: { content: say("A") },
      isError: false,
    });
  });

  test("what ends the run still does when a handler changes the result", async () => {
    const { hooks } = setUp({ tool_result: () => ({ content: say("B") }) });
    const changed = await hooks
      .forAgent()
      ?.afterTool?.({ ...call, result: { ...result, terminate: true }, isError: false });
    expect(changed?.result).toMatchObject({ content: say("B"), terminate: true });
  });
});

describe("the ends", () => {
  const toolResult = { role: "toolResult", toolCallId: "1", content: [], timestamp: 3 } as unknown as AgentMessage;
  const turn = { message: assistant, toolResults: [toolResult], signal } as never;

  test("a turn: handlers see which entries hold it, what was told before has been heard, and nothing follows by itself", async () => {
    ids.set(assistant, "e1").set(toolResult, "e2");
    const { hooks, notes } = setUp({ turn_start: silent, turn_end: silent });
    void hooks.observe({ type: "turn_start" }, { promptId: "p", turnIndex: 4 });
    expect(await hooks.forAgent()?.endTurn?.(turn)).toEqual({ messages: [], continue: false });
    expect(notes.map((note) => note.split(" ")[0])).toEqual(["turn_start", "turn_end"]);
  });

  test("a turn: the event", async () => {
    const seen: object[] = [];
    const { hooks } = setUp({ turn_end: (event) => void seen.push(event) });
    const event = { type: "turn_end", message: assistant, toolResults: [] } as never;
    expect(hooks.observe(event, { promptId: "p", turnIndex: 2 })).toBeUndefined();
    await hooks.forAgent()?.endTurn?.(turn);
    const ofEntries = { messageEntryId: "e1", toolResultEntryIds: ["e2"], entries: [], continue: false };
    expect(seen).toEqual([{ turnIndex: 2, message: assistant, toolResults: [toolResult], ...ofEntries }]);
  });

  test("a turn: what is wanted is kept, and the model is asked once more", async () => {
    const draft = { type: "custom", customType: "note" };
    const { hooks, notes } = setUp({ turn_end: () => ({ entries: [draft], continue: true }) });
    expect(await hooks.forAgent()?.endTurn?.(turn)).toEqual({ messages: [user("kept")], continue: true });
    expect(notes.at(-1)).toBe("turn_end keeps custom");
  });

  test("a run: nobody listens, nobody is asked", async () => {
    const { hooks, notes } = setUp({});
    const nothing = { messages: [], continue: false };
    expect(await hooks.beforeSettle({ messages: [], aborted: false }, signal)).toEqual(nothing);
    expect(notes).toEqual([]);
  });

  test("a run: handlers see how it ended, in a copy, and may want it to go on", async () => {
    const seen: object[] = [];
    const messages = [user("hi")];
    const { hooks } = setUp({
      agent_before_settle(event) {
        seen.push(structuredClone(event));
        (event.messages as unknown[]).length = 0;
        return { continue: true };
      },
    });
    const said = await hooks.beforeSettle({ messages, aborted: false }, signal);
    expect(said).toEqual({ messages: [], continue: true });
    expect([seen, messages]).toEqual([[{ messages, aborted: false, entries: [], continue: false }], [user("hi")]]);
  });
});
