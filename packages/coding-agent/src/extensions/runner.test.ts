import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import type { HookName } from "../session/ports.ts";
import { type Extension, type ExtensionError, type Handler, newExtension } from "./extension.ts";
import { createRunner } from "./runner.ts";

type Handlers = Partial<Record<HookName, Handler | Handler[]>>;

/** Extensions `/1.ts`, `/2.ts`, ... with these handlers. */
function setUp(given: Handlers[], longestMs = 0) {
  const clock = new FakeClock();
  const errors: ExtensionError[] = [];
  const extensions = given.map((handlers, index): Extension => {
    const path = `/${index + 1}.ts`;
    const extension = newExtension({ path, source: "cli", scope: "temporary", origin: "top-level" });
    for (const [hook, handler] of Object.entries(handlers)) extension.handlers.set(hook as HookName, [handler].flat());
    return extension;
  });
  const runner = createRunner({
    extensions: () => extensions,
    heard: () => new Set(extensions.flatMap(({ handlers }) => [...handlers.keys()])),
    context: ({ source }, { signal }) => ({ owner: source.path, signal }),
    report: (error) => errors.push(error),
    clock,
    longestMs,
    enter: () => () => undefined,
  });
  return { runner, clock, errors, extensions };
}

const never = () => new Promise(() => undefined);
const broken = (): never => {
  throw new Error("broken");
};
const input = () => ({ text: "hi", source: "rpc" as const });
const call = () => ({ toolName: "read", toolCallId: "1", input: {} });

describe("handlers", () => {
  test("are asked by extension, then in the order of registering, each after the one before", async () => {
    const order: string[] = [];
    const noting = (name: string) => async () => {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} ends`);
    };
    const { runner } = setUp([{ agent_start: [noting("1a"), noting("1b")] }, {}, { agent_start: noting("3") }]);
    await runner.run("agent_start", {});
    expect(order).toEqual(["1a", "1b", "3"].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  test("of session_shutdown are asked one after the other only within their extension", async () => {
    const order: string[] = [];
    const slow = (name: string) => async () => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
    };
    const { runner, clock, errors } = setUp([
      { session_shutdown: never },
      { session_shutdown: [slow("2a"), slow("2b")] },
      { session_shutdown: never },
      { session_shutdown: slow("4") },
    ]);
    const run = runner.run("session_shutdown", { reason: "quit" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(order).toEqual(["2a begins", "4 begins", "2a ends", "2b begins", "4 ends", "2b ends"]);
    // Both that hang are given up together, after the time of one.
    await clock.advance(3_000);
    await run;
    expect(errors.map(({ extensionPath }) => extensionPath)).toEqual(["/1.ts", "/3.ts"]);
  });

  test("get the event with its name, and the context of their own extension", async () => {
    const seen: unknown[] = [];
    const note: Handler = (event, ctx) => void seen.push(event, ctx);
    const { runner } = setUp([{ turn_start: note }, { turn_start: note }]);
    const { signal } = new AbortController();
    await runner.run("turn_start", { turnIndex: 2, timestamp: 5 }, signal);
    const event = { type: "turn_start", turnIndex: 2, timestamp: 5 };
    expect(seen).toEqual([event, { owner: "/1.ts", signal }, event, { owner: "/2.ts", signal }]);
  });

  test("that come while others are asked wait for the next time", async () => {
    const { runner, extensions } = setUp([{}]);
    const order: string[] = [];
    const late = () => void order.push("late");
    const first = () => {
      order.push("first");
      extensions[0]?.handlers.set("agent_start", [first, late]);
    };
    extensions[0]?.handlers.set("agent_start", [first]);
    await runner.run("agent_start", {});
    expect(order).toEqual(["first"]);
    await runner.run("agent_start", {});
    expect(order).toEqual(["first", "first", "late"]);
  });

  test("nobody listens", async () => {
    const { runner } = setUp([{ input: () => undefined }]);
    expect(runner.listens("input")).toBe(true);
    expect(runner.listens("context")).toBe(false);
    expect(await runner.run("context", { messages: [] })).toEqual({ messages: [] });
  });
});

describe("answers", () => {
  test("of several handlers combine as the row of the hook says", async () => {
    const { runner, errors } = setUp([
      { input: () => ({ action: "transform", text: "ho" }) },
      { input: (event) => ({ action: "transform", text: `${(event as { text: string }).text}!` }) },
    ]);
    expect(await runner.run("input", input())).toEqual({ handled: false, text: "ho!", images: undefined });
    expect(errors).toEqual([]);
  });

  test("that say stop: nobody else is asked", async () => {
    const asked: string[] = [];
    const { runner } = setUp([
      { input: [() => ({ action: "handled" }), () => void asked.push("same extension")] },
      { input: () => void asked.push("next extension") },
    ]);
    expect(await runner.run("input", input())).toMatchObject({ handled: true });
    expect(asked).toEqual([]);
  });

  test("undefined and null say nothing", async () => {
    const { runner, errors } = setUp([{ before_provider_request: [() => undefined, async () => null] }]);
    expect(await runner.run("before_provider_request", { payload: 1 })).toEqual({ payload: 1, isReplaced: false });
    expect(errors).toEqual([]);
  });

  test("that are no objects count where anything is taken", async () => {
    const { runner, errors } = setUp([{ before_provider_request: () => 0 }]);
    expect(await runner.run("before_provider_request", { payload: 1 })).toEqual({ payload: 0, isReplaced: true });
    expect(errors).toEqual([]);
  });

  const nonsense: [shown: string, answer: unknown][] = [
    ["the number 42", 42],
    ["the boolean true", true],
    ["a list", []],
    ["the string continue", "continue"],
    [`the string ${"x".repeat(60)}`, "x".repeat(100)],
  ];
  test.each(nonsense)("that are no objects are told elsewhere: %s", async (shown, answer) => {
    const { runner, errors } = setUp([{ input: () => answer }, { input: () => ({ action: "transform", text: "ho" }) }]);
    expect(await runner.run("input", input())).toMatchObject({ text: "ho" });
    const error = expect.stringContaining(
      `the handler gave back ${shown}. What it may give back: \`{action: "continue"}\``,
    );
    expect(errors).toEqual([{ extensionPath: "/1.ts", event: "input", error }]);
  });

  test("that are objects of another form are told, too, and the next one is asked", async () => {
    const { runner, errors } = setUp([
      { input: () => ({ action: "transform" }) },
      { input: () => ({ action: "handled" }) },
    ]);
    expect(await runner.run("input", input())).toMatchObject({ handled: true, text: "hi" });
    expect(errors).toEqual([{ extensionPath: "/1.ts", event: "input", error: 'a "transform" needs a text' }]);
  });

  const unreadable = () =>
    Object.defineProperty({}, "block", {
      get() {
        throw new Error("hands off");
      },
    });
  test("that cannot be looked at are told; of who guards a tool that is a no", async () => {
    const { runner, errors } = setUp([{ tool_call: unreadable }]);
    const error = "what the handler gave back cannot be used: hands off";
    expect(await runner.run("tool_call", call())).toEqual({ block: error });
    expect(errors).toEqual([{ extensionPath: "/1.ts", event: "tool_call", error }]);
  });

  test("to a hook that takes none are of no interest", async () => {
    const { runner, errors } = setUp([{ agent_end: () => 42 }]);
    expect(await runner.run("agent_end", { messages: [] })).toBeUndefined();
    expect(errors).toEqual([]);
  });
});

describe("a handler that throws", () => {
  test("is told, and the next one is asked", async () => {
    const { runner, errors } = setUp([{ input: broken }, { input: () => ({ action: "transform", text: "ho" }) }]);
    expect(await runner.run("input", input())).toMatchObject({ text: "ho" });
    expect(errors).toEqual([{ extensionPath: "/1.ts", event: "input", error: "broken" }]);
  });

  test("and guards a tool: it does not run, and nobody else is asked", async () => {
    const asked: string[] = [];
    const { runner, errors } = setUp([{ tool_call: broken }, { tool_call: () => void asked.push("2") }]);
    expect(await runner.run("tool_call", call())).toEqual({ block: "broken" });
    expect(errors).toEqual([{ extensionPath: "/1.ts", event: "tool_call", error: "broken" }]);
    expect(asked).toEqual([]);
  });

  test("and was to run a command elsewhere: it does not run", async () => {
    const { runner } = setUp([{ user_bash: broken }]);
    const event = { command: "ls", excludeFromContext: false, cwd: "/" };
    expect(await runner.run("user_bash", event)).toEqual({ refused: "broken" });
  });
});

describe("a handler that hangs", () => {
  const limits: [hook: HookName, ms: number][] = [
    ["agent_start", 10_000],
    ["session_start", 60_000],
    ["session_shutdown", 3_000],
    ["session_before_compact", 300_000],
  ];
  test.each(limits)("%s is given up after %i ms", async (hook, ms) => {
    const { runner, clock, errors } = setUp([{ [hook]: never }]);
    let isOver = false;
    void runner.run(hook, {} as never).then(() => {
      isOver = true;
    });
    await clock.advance(ms - 1);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(isOver).toBe(true);
    const error = `${hook} did not finish within ${ms / 1000} s`;
    expect(errors).toEqual([{ extensionPath: "/1.ts", event: hook, error }]);
  });

  test("is not told of more of its kind until it is through with the first", async () => {
    const told: number[] = [];
    const ends: (() => void)[] = [];
    const slow: Handler = (event) => {
      told.push((event as { turnIndex: number }).turnIndex);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const { runner, clock, errors } = setUp([{ turn_start: slow, agent_start: slow }]);
    const tell = (turnIndex: number) => runner.run("turn_start", { turnIndex, timestamp: 0 });
    const first = tell(1);
    await clock.advance(10_000);
    await first;
    // Nobody waits: no timer is set, and nothing is told of it again.
    await tell(2);
    await tell(3);
    expect([told, errors.length, clock.pending]).toEqual([[1], 1, 0]);
    ends[0]!();
    await clock.advance(0);
    const last = tell(4);
    ends[1]!();
    await last;
    expect([told, errors.length]).toEqual([[1, 4], 1]);
  });

  test("is asked again where it has a say", async () => {
    const { runner, clock, errors } = setUp([{ tool_call: never }]);
    for (let asked = 1; asked <= 2; asked++) {
      const verdict = runner.run("tool_call", call());
      await clock.advance(60_000);
      expect((await verdict).block).toContain("did not finish");
      expect(errors).toHaveLength(asked);
    }
  });

  test("is given up earlier where the settings say so, never later", async () => {
    const { runner, clock, errors } = setUp([{ session_start: never, session_shutdown: never }], 5_000);
    const started = runner.run("session_start", { reason: "startup" });
    await clock.advance(5_000);
    await started;
    const shutDown = runner.run("session_shutdown", { reason: "quit" });
    await clock.advance(3_000);
    await shutDown;
    expect(errors.map(({ error }) => error)).toEqual([
      "session_start did not finish within 5 s",
      "session_shutdown did not finish within 3 s",
    ]);
  });

  test("and guards a tool: it does not run", async () => {
    const { runner, clock } = setUp([{ tool_call: never }]);
    const done = runner.run("tool_call", call());
    await clock.advance(60_000);
    expect(await done).toEqual({ block: "tool_call did not finish within 60 s" });
  });

  test("while a dialog of its extension is open it may take its time", async () => {
    const { runner, clock, errors, extensions } = setUp([{ tool_call: never }]);
    const done = runner.run("tool_call", call());
    extensions[0]!.dialogs = 1;
    await clock.advance(3_600_000);
    expect(errors).toEqual([]);
    extensions[0]!.dialogs = 0;
    extensions[0]!.dialogsOverAt = clock.now();
    await clock.advance(120_000);
    expect(await done).toMatchObject({ block: expect.stringContaining("did not finish") });
  });

  test("is left alone after an abort, without a word, and nobody else is asked", async () => {
    const asked: string[] = [];
    const { runner, errors, clock } = setUp([{ context: never }, { context: () => void asked.push("2") }]);
    const controller = new AbortController();
    const done = runner.run("context", { messages: [] }, controller.signal);
    controller.abort();
    expect(await done).toEqual({ messages: [] });
    expect([errors, asked, clock.pending]).toEqual([[], [], 0]);
  });
});

test("what a handler makes of the messages in place is taken out where no model could be sent it, and told", async () => {
  const spoil: Handler = (event) => {
    const { messages } = event as { messages: unknown[] };
    messages.push(null, { role: "user" });
    throw new Error("and that");
  };
  const seen: unknown[] = [];
  const look: Handler = (event) => void seen.push(...(event as { messages: unknown[] }).messages);
  const { runner, errors } = setUp([{ context: spoil }, { context: look }]);
  const hi = { role: "user" as const, content: "hi", timestamp: 0 };
  expect(await runner.run("context", { messages: [hi] })).toEqual({ messages: [hi] });
  expect(seen).toEqual([hi]);
  expect(errors.map(({ error }) => error)).toEqual([
    "messages[1]: must be an object: changed in place, it is left out",
    "and that",
  ]);
});
