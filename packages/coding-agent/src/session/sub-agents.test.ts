import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { Usage } from "@tiller/protocol/message";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "./session-event.ts";
import { beginSession } from "./store/begin-session.ts";
import { createSessionStore } from "./store/session-store.ts";
import { createSubAgents, MOST_SUB_AGENTS, type NewSubAgent } from "./sub-agents.ts";

let count = 0;
const ids = { uuid: () => "u", short: () => `id${count++}` } as unknown as IdSource;

function desk() {
  let now = 0;
  const clock: Clock = { now: () => now, after: () => () => undefined };
  const told: SessionEvent[] = [];
  const emit = (event: SessionEvent) => {
    // As it is on the wire at this moment.
    told.push(JSON.parse(JSON.stringify(event)));
    return undefined;
  };
  const all = createSubAgents({ clock, emit, isSubAgentFile: (path) => path === "/agents/old.jsonl" });
  const store = createSessionStore({ clock, ids, first: beginSession({ clock, ids, cwd: "/" }, {}) });
  const add = (wantedId = "a", fields: Partial<NewSubAgent> = {}) =>
    all.add({
      wantedId,
      index: 0,
      agent: "task",
      agentSource: "bundled",
      task: "long text",
      assignment: "text",
      onChange: () => undefined,
      ...fields,
    });
  return { all, add, store, told, wait: (ms: number) => (now += ms) };
}

const usage = { totalTokens: 7, cost: { total: 0.5 } } as Usage;
const kinds = (told: SessionEvent[]) => told.map(({ type }) => type);

describe("the subscription", () => {
  test("nothing is told before anybody wants to hear it", () => {
    const { add, store, told } = desk();
    const one = add();
    one.begin(store.log);
    one.spent(usage, true);
    one.take({ type: "turn_start" });
    one.end({ status: "completed" });
    expect(told).toEqual([]);
  });

  test("progress: how it begins, gets on and ends; long texts only with the beginning and the end", () => {
    const { all, add, store, told, wait } = desk();
    expect(all.subscribe("progress")).toEqual({ level: "progress" });
    const one = add();
    one.begin(store.log);
    wait(5);
    one.take({ type: "tool_execution_start", toolCallId: "c", toolName: "grep", args: {} });
    one.take({ type: "turn_start" });
    one.spent(usage, true);
    one.end({ status: "failed", error: "no" });
    expect(told).toMatchObject([
      { type: "subagent_lifecycle", payload: { id: "a", status: "running", task: "long text" } },
      { type: "subagent_progress", payload: { progress: { currentTool: "grep", turns: 0, durationMs: 5 } } },
      { type: "subagent_progress", payload: { progress: { turns: 1, tokens: 7, cost: 0.5 } } },
      { type: "subagent_lifecycle", payload: { status: "failed", error: "no", lastUpdate: 5 } },
    ]);
    expect(told[1]).not.toHaveProperty("payload.task");
    expect(told[3]).not.toHaveProperty("payload.progress.currentTool");
  });

  test("events: what is said in its run too, growing messages in small pieces, its own endings not", () => {
    const { all, add, store, told } = desk();
    all.subscribe("events");
    const one = add("a", { parentToolCallId: "call_1" });
    one.begin(store.log);
    one.take({ type: "turn_start" });
    const snapshot = () => {
      throw new Error("nobody asks for the whole message");
    };
    one.take({ type: "message_update", event: { type: "text_delta", contentIndex: 0, delta: "hi" }, snapshot });
    one.take({ type: "session_settled" });
    const thin = { role: "assistant", content: [] };
    const about = { id: "a", index: 0, agent: "task", agentSource: "bundled", parentToolCallId: "call_1" };
    expect(told.slice(1)).toEqual([
      { type: "subagent_event", payload: { ...about, event: { type: "turn_start" } } },
      {
        type: "subagent_event",
        payload: {
          ...about,
          event: {
            type: "message_update",
            message: thin,
            assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "hi", partial: thin },
          },
        },
      },
    ]);
  });

  test("a slow reader slows it down: what is told is waited for", () => {
    const taken = Promise.resolve();
    const clock: Clock = { now: () => 0, after: () => () => undefined };
    const all = createSubAgents({ clock, emit: () => taken, isSubAgentFile: () => false });
    all.subscribe("events");
    const one = all.add({ wantedId: "a", index: 0, agent: "task", agentSource: "bundled", onChange: () => undefined });
    expect(one.take({ type: "turn_start" })).toBe(taken);
  });

  test.each<[level: unknown, shown: string]>([
    ["all", "all"],
    ["", ""],
    [7, "7"],
    [null, "null"],
    [{ a: 1 }, '{"a":1}'],
  ])("%j is no level, and changes nothing", (level, shown) => {
    const { all, add, store, told } = desk();
    all.subscribe("progress");
    expect(all.subscribe(level)).toEqual({ refused: `Invalid subagent subscription level: ${shown}` });
    add().begin(store.log);
    expect(kinds(told)).toEqual(["subagent_lifecycle"]);
  });

  test("another session forgets them, and keeps the level", () => {
    const { all, add, store, told } = desk();
    all.subscribe("progress");
    add();
    all.forget();
    expect(all.list()).toEqual([]);
    add().begin(store.log);
    expect(kinds(told)).toEqual(["subagent_lifecycle"]);
  });
});

describe("their names", () => {
  test("each has its own, also beside files of another process", () => {
    const { add } = desk();
    const fileOf = (id: string) => ({ path: `/f/${id}.jsonl`, isFree: id !== "b" });
    expect([add("a").id, add("a").id, add("a").id]).toEqual(["a", "a-2", "a-3"]);
    expect(add("b", { fileOf }).about).toMatchObject({ id: "b-2", sessionFile: "/f/b-2.jsonl" });
  });

  test("a copy of the list does not change with them", () => {
    const { all, add, store } = desk();
    const one = add();
    const before = all.list();
    one.begin(store.log);
    one.spent(usage, true);
    expect(before).toMatchObject([{ status: "pending", progress: { turns: 0 } }]);
  });

  test("many are not kept for ever; those that are at work are", () => {
    const { all, add, store } = desk();
    const first = add("first");
    first.begin(store.log);
    for (let at = 0; at < MOST_SUB_AGENTS + 20; at++) add("x").end({ status: "completed" });
    const names = all.list().map(({ id }) => id);
    expect([names.length, names[0], names[1]]).toEqual([MOST_SUB_AGENTS, "first", "x-22"]);
  });
});

describe("their conversations", () => {
  const message = (text: string) => ({ role: "user" as const, content: text, timestamp: 1 });

  test("can be followed while they grow, and read when they have ended", () => {
    const { all, add, store } = desk();
    const one = add();
    expect(all.messages({ subagentId: "a" })).toMatchObject({ nextByte: 0, messages: [] });
    one.begin(store.log);
    store.appendMessage(message("one"));
    const first = all.messages({ subagentId: "a" });
    expect(first).toMatchObject({ fromByte: 0, reset: false, messages: [{ content: "one" }] });
    expect(first).not.toHaveProperty("sessionFile");
    store.appendMessage(message("two"));
    const { nextByte: fromByte } = first as { nextByte: number };
    expect(all.messages({ subagentId: "a", fromByte })).toMatchObject({ messages: [{ content: "two" }] });
    one.end({ status: "completed" });
    const whole = all.messages({ subagentId: "a", fromByte: 1e9 });
    expect(whole).toMatchObject({ reset: true, entries: [{ type: "message" }, { type: "message" }] });
  });

  test("that no file holds are kept up to a size, the newest longest", () => {
    const { all, add } = desk();
    for (const id of ["a", "b", "c"]) {
      const one = add(id);
      const { store } = desk();
      one.begin(store.log);
      store.appendMessage(message("x".repeat(7 * 1024 * 1024)));
      one.spent(usage, true);
      one.end({ status: "completed" });
    }
    expect(all.messages({ subagentId: "a" })).toEqual({
      refused: "The conversation of subagent a is no longer in memory",
    });
    // One answer is not larger than it must be: here the first line, and then the next.
    const { nextByte: fromByte } = all.messages({ subagentId: "c" }) as { nextByte: number };
    expect(all.messages({ subagentId: "c", fromByte })).toMatchObject({ messages: [{ role: "user" }] });
    expect(all.list()).toHaveLength(3);
  });

  test.each<[request: object, refused: string]>([
    [{ subagentId: "z" }, "Unknown subagent: z"],
    [{}, "subagentId or sessionFile is required"],
    [{ sessionFile: "/etc/passwd" }, "Unknown subagent session file: /etc/passwd"],
    [{ subagentId: "a", fromByte: "0" }, "fromByte must be a finite number"],
    [{ subagentId: "a", fromByte: Number.POSITIVE_INFINITY }, "fromByte must be a finite number"],
  ])("%j is refused", (request, refused) => {
    const { all, add } = desk();
    add();
    expect(all.messages(request)).toEqual({ refused });
  });

  test("a file of one that another process has started can be named", () => {
    const { all } = desk();
    expect(all.messages({ sessionFile: "/agents/old.jsonl" })).toMatchObject({
      sessionFile: "/agents/old.jsonl",
      nextByte: 0,
    });
  });
});
