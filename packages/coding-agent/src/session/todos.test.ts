import type { AgentMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import type { SessionEvent } from "./session-event.ts";
import { createSessionStore } from "./store/session-store.ts";
import {
  countingIds,
  loadedLog,
  messageEntry,
  type PlainEntry,
  plain,
  testHeader,
  user,
} from "./store/test-sessions.ts";
import { createTodos, type TodoOptions } from "./todos.ts";

const phase = (...tasks: object[]) => [{ id: "p", name: "Work", tasks: tasks as { content: string }[] }];
const open = { id: "a", content: "Rig", status: "pending" as const };
const going = { id: "g", content: "Sail", status: "in_progress" as const };
const done = { id: "d", content: "Load", status: "completed" as const };
const given = { id: "x", content: "Paint", status: "abandoned" as const };

interface Setting {
  lines?: PlainEntry[];
  settings?: Partial<TodoOptions["settings"]>;
  isToolActive?: boolean;
}

function desk({ lines = [], settings, isToolActive = true }: Setting = {}) {
  const clock = new FakeClock();
  const store = createSessionStore({ clock, ids: countingIds(), first: { log: loadedLog(lines) } });
  const events: SessionEvent[] = [];
  const todos = createTodos({
    store,
    clock,
    emit: (event) => events.push(event),
    settings: { clearDelay: 60, reminders: true, maxReminders: 3, eager: false, ...settings },
    isToolActive: () => isToolActive,
  });
  return { clock, store, events, todos, ids: () => todos.phases.flatMap(({ tasks }) => tasks.map(({ id }) => id)) };
}

const planEntry = (id: string, parentId: string | null, phases: unknown): PlainEntry =>
  plain(id, parentId, { type: "custom", customType: "tiller.todos", data: { phases } });

describe("the plan in the file", () => {
  it("is the last one on the way to the leaf", () => {
    const { todos, store } = desk();
    expect(todos.phases).toEqual([]);
    todos.set(phase(open), "host");
    todos.set(phase(going), "model");
    expect(store.branch().filter(({ type }) => type === "custom")).toMatchObject([
      { customType: "tiller.todos", data: { phases: phase(open) } },
      { customType: "tiller.todos", data: { phases: phase(going) } },
    ]);
    expect(
      desk({ lines: [planEntry("1", null, phase(open)), planEntry("2", "1", phase(going))] }).todos.phases,
    ).toEqual(phase(going));
    // A plan on another branch is not this one's.
    const branches = [
      planEntry("1", null, phase(open)),
      planEntry("2", "1", phase(going)),
      messageEntry("3", "1", user("instead")),
    ];
    expect(desk({ lines: branches }).todos.phases).toEqual(phase(open));
  });

  it.each<[story: string, data: unknown]>([
    ["no list", 7],
    ["phases of nothing", [null]],
    ["tasks that are none", [{ name: "A", tasks: 5 }]],
    ["a refused one", [{ name: "", tasks: [] }]],
  ])("that cannot be read is passed over: %s", (_story, phases) => {
    const lines = [planEntry("1", null, phase(open)), planEntry("2", "1", phases)];
    expect(desk({ lines }).todos.phases).toEqual(phase(open));
  });

  it("is not changed by one that is refused", () => {
    const { todos, events } = desk();
    todos.set(phase(open), "host");
    expect(todos.set(phase({ ...open, content: "" }), "host")).toHaveProperty("refused");
    expect([todos.phases, events]).toEqual([phase(open), []]);
  });
});

describe("what the model is told of the plan", () => {
  it("is what the host has set, once", () => {
    const { todos, store } = desk();
    expect(todos.takeNews()).toBeUndefined();
    todos.set(phase(open), "host");
    const news = todos.takeNews()!;
    expect(news).toMatchObject({ role: "custom", customType: "todo-plan", display: false });
    expect(news.content).toContain("- [ ] Rig (a)");
    store.appendMessage(news);
    expect(todos.takeNews()).toBeUndefined();
  });

  it("is also that the host has emptied it", () => {
    const { todos } = desk();
    todos.set([], "host");
    expect(todos.takeNews()?.content).toContain("The plan is empty.");
  });

  it("is not what it has written itself", () => {
    const { todos, store, clock } = desk();
    todos.set(phase(open), "model");
    store.appendMessage(result(clock.now()));
    expect(todos.takeNews()).toBeUndefined();
  });

  const told = (timestamp: number): AgentMessage => ({
    role: "custom",
    customType: "todo-plan",
    content: "The plan",
    display: false,
    timestamp,
  });
  function result(timestamp: number, isError = false): AgentMessage {
    return { role: "toolResult", toolCallId: "c", toolName: "todo", content: [], isError, timestamp };
  }
  const atStart = Date.parse(testHeader.timestamp);
  const rows: [story: string, after: AgentMessage[], plan: unknown, isNews: boolean][] = [
    ["that nobody has told", [user("hi")], phase(open), true],
    ["that was told", [told(atStart)], phase(open), false],
    ["that it has written", [result(atStart)], phase(open), false],
    ["that it has tried to write", [result(atStart, true)], phase(open), true],
    ["after another that was told", [told(atStart - 1)], phase(open), true],
    ["of which all is done", [user("hi")], phase(done), false],
    ["that is empty", [user("hi")], [], false],
  ];
  it.each(rows)("in a session that is opened: a plan %s", (_story, after, plan, isNews) => {
    const lines = [planEntry("e", null, plan)];
    for (const message of after) lines.push(messageEntry(`m${lines.length}`, lines.at(-1)!.id, message));
    const { todos } = desk({ lines });
    expect(todos.takeNews() !== undefined).toBe(isNews);
  });

  it("is told again when a compaction has taken it out of the conversation", () => {
    const lines = [
      planEntry("e", null, phase(open)),
      messageEntry("m", "e", told(atStart)),
      messageEntry("n", "m", user("go")),
      plain("c", "n", { type: "compaction", summary: "They went.", firstKeptEntryId: "n", tokensBefore: 10 }),
    ];
    const { todos } = desk({ lines });
    expect(todos.phases).toEqual(phase(open));
    expect(todos.takeNews()?.content).toBe("The plan of this session:\n\n## Work\n- [ ] Rig (a)");
  });

  it("is nothing of the session before", async () => {
    const { todos, store } = desk();
    todos.set(phase(open), "host");
    await store.replace({ log: loadedLog([planEntry("1", null, phase(done))]) });
    todos.adopt();
    expect([todos.phases, todos.takeNews()]).toEqual([phase(done), undefined]);
  });
});

describe("a reminder", () => {
  it("says what is open, by phase, and how often it was said", () => {
    const { todos } = desk();
    todos.set([...phase(open, done), { name: "Later", tasks: [going] }, { name: "Over", tasks: [given] }], "model");
    expect(todos.reminder(2)).toMatchObject({
      event: { type: "todo_reminder", todos: [open, going], attempt: 2, maxAttempts: 3 },
      message: {
        role: "custom",
        customType: "todo-reminder",
        content: `<system-reminder>
You stopped with 2 open tasks in the plan:

## Work
- [ ] Rig (a)

## Later
- [>] Sail (g)

Go on with them, or mark in the plan what is done or given up. (Reminder 2/3)
</system-reminder>`,
      },
    });
  });

  const rows: [story: string, setting: Setting, attempt: number, plan: object[], isMade: boolean][] = [
    ["a plan with open tasks", {}, 1, [open], true],
    ["the third time", {}, 3, [open], true],
    ["a fourth time", {}, 4, [open], false],
    ["nothing open", {}, 1, [done, given], false],
    ["no tool to change it", { isToolActive: false }, 1, [open], false],
    ["switched off", { settings: { reminders: false } }, 1, [open], false],
    ["another number allowed", { settings: { maxReminders: 5 } }, 5, [open], true],
    ["none allowed", { settings: { maxReminders: 0 } }, 1, [open], false],
  ];
  it.each(rows)("%s", (_story, setting, attempt, tasks, isMade) => {
    const { todos } = desk(setting);
    todos.set(phase(...tasks), "model");
    expect(todos.reminder(attempt) !== undefined).toBe(isMade);
  });
});

describe("finished tasks", () => {
  it("are taken out after a while, each on its own, with the phase that is then empty", async () => {
    const { todos, clock, events, ids, store } = desk();
    todos.set(phase(open, done), "host");
    await clock.advance(30_000);
    todos.set([...phase(open, done), { id: "q", name: "Over", tasks: [given] }], "model");
    await clock.advance(29_999);
    expect([ids(), events]).toEqual([["a", "d", "x"], []]);
    await clock.advance(1);
    expect([ids(), events]).toEqual([["a", "x"], [{ type: "todo_auto_clear" }]]);
    await clock.advance(30_000);
    expect([todos.phases, events.length]).toEqual([phase(open), 2]);
    expect(store.branch().at(-1)).toMatchObject({ data: { phases: phase(open) } });
    expect(clock.pending).toBe(0);
  });

  it("stay when they are opened again", async () => {
    const { todos, clock, ids, events } = desk();
    todos.set(phase(done), "model");
    todos.set(phase({ ...done, status: "pending" }), "model");
    await clock.advance(120_000);
    expect([ids(), events]).toEqual([["d"], []]);
  });

  it.each<[delay: number, pending: number]>([
    [0, 1],
    [-1, 0],
  ])("with a delay of %i", async (clearDelay, pending) => {
    const { todos, clock, ids } = desk({ settings: { clearDelay } });
    todos.set(phase(done), "host");
    expect([ids(), clock.pending]).toEqual([["d"], pending]);
    await clock.advance(0);
    expect(ids()).toEqual(pending ? [] : ["d"]);
  });

  it.each(["adopt", "close"] as const)("are left alone after %s", async (leave) => {
    const { todos, clock, events } = desk();
    todos.set(phase(done), "host");
    todos[leave]();
    await clock.advance(120_000);
    expect([events, clock.pending]).toEqual([[], 0]);
  });
});

describe("a plan before the work", () => {
  const eager = { settings: { eager: true } };

  it("is asked for once, before the first answer", () => {
    const { todos, store } = desk(eager);
    const asked = todos.takeNews();
    expect(asked).toMatchObject({ role: "custom", customType: "todo-eager", display: false });
    expect(asked?.content).toContain("write a plan of the work with the tool todo");
    if (asked) store.appendMessage(asked);
    expect(todos.takeNews()).toBeUndefined();
  });

  it.each<[why: string, setting: Setting, prepare?: (made: ReturnType<typeof desk>) => void]>([
    ["nobody wants it", {}],
    ["the model has no tool for it", { ...eager, isToolActive: false }],
    ["there is one", eager, ({ todos }) => todos.set(phase(open), "model")],
    [
      "the conversation has begun",
      eager,
      ({ store }) => store.appendMessage({ role: "assistant", content: [], timestamp: 0 } as unknown as AgentMessage),
    ],
  ])("is not asked for when %s", (_why, setting, prepare) => {
    const made = desk(setting);
    prepare?.(made);
    expect(made.todos.takeNews()?.customType).not.toBe("todo-eager");
  });

  it("is told, not asked for, when the host has set one", () => {
    const { todos } = desk(eager);
    todos.set(phase(open), "host");
    expect(todos.takeNews()).toMatchObject({ customType: "todo-plan" });
  });
});
