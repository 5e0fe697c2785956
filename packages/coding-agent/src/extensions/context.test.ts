import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import type { ExtensionActions } from "./actions.ts";
import { callExtension, newCall } from "./call.ts";
import { contextFor, createCommandContext, createContext, inherit } from "./context.ts";
import { newExtension } from "./extension.ts";

type Context = Record<string, unknown> & Record<string, (...given: unknown[]) => unknown>;

/** A context and what it asks of the session; `facts` are what the session says. */
function desk(facts: Record<string, unknown> = {}) {
  const extension = newExtension({ path: "/a.ts", source: "cli", scope: "temporary", origin: "top-level" });
  const calls: unknown[][] = [];
  const state = { isStale: false };
  const FIELDS = ["ui", "mode", "view"];
  const actions = new Proxy({} as ExtensionActions, {
    get(_target, name: string) {
      if (FIELDS.includes(name)) return facts[name];
      return (...given: unknown[]): unknown => {
        calls.push([name, ...given]);
        return name === "questionSignals" ? (facts[name] ?? []) : facts[name];
      };
    },
  });
  const options = {
    extension,
    actions() {
      if (state.isStale) throw new Error("stale");
      return actions;
    },
    theme: { name: "plain" },
    notice: () => undefined,
    problem: (event: string, error: string) => void calls.push([event, error]),
    now: () => 1000,
    onPrompt: () => undefined,
    successor: () => ({ name: "the one that was entered" }),
  };
  const base = createContext(options) as Context;
  return { ctx: base, command: createCommandContext(options, base) as Context, options, calls, extension, state };
}

describe("what every handler gets", () => {
  test.each<[field: string, source: string, value: unknown]>([
    ["cwd", "cwd", "/sea"],
    ["modelRegistry", "modelRegistry", { find: 1 }],
    ["model", "model", { id: "m" }],
    ["thinkingLevel", "thinkingLevel", "low"],
    ["scopedModels", "scopedModels", []],
    ["signal", "signal", undefined],
    ["mode", "mode", "json"],
    ["sessionManager", "view", { getCwd: 1 }],
  ])("%s is looked up whenever it is asked for", (field, source, value) => {
    const { ctx, state } = desk({ [source]: value });
    expect(ctx[field]).toEqual(value);
    state.isStale = true;
    expect(() => ctx[field]).toThrow("stale");
  });

  test.each<[method: string, source: string, value: unknown]>([
    ["isIdle", "isIdle", true],
    ["isProjectTrusted", "isProjectTrusted", false],
    ["hasPendingMessages", "hasPendingMessages", true],
    ["getContextUsage", "contextUsage", { tokens: 5 }],
    ["getSystemPrompt", "systemPrompt", "You are a sailor."],
    ["abort", "abort", undefined],
    ["shutdown", "shutdown", undefined],
  ])("%s()", (method, source, value) => {
    const { ctx, calls, state } = desk({ [source]: value });
    expect([ctx[method]?.(), calls]).toEqual([value, [[source]]]);
    state.isStale = true;
    expect(() => ctx[method]?.()).toThrow("stale");
  });

  test("hasUI is what the host says, and an open dialog is counted until it is over", async () => {
    let answer = (_value: boolean): void => undefined;
    const confirm = (): Promise<boolean> => new Promise((resolve) => (answer = resolve));
    const { ctx, extension } = desk({ ui: { hasUI: true, confirm } });
    expect(ctx.hasUI).toBe(true);
    const ui = ctx.ui as unknown as { confirm(title: string, message: string): Promise<boolean> };
    expect(ctx.ui).toBe(ui);
    const asked = ui.confirm("Sure?", "");
    await Promise.resolve();
    expect(extension.dialogs).toBe(1);
    answer(true);
    expect(await asked).toBe(true);
    expect([extension.dialogs, extension.dialogsOverAt]).toEqual([0, 1000]);
  });

  test("a call has its own signal, the rest stays as it is", () => {
    const { ctx } = desk({ cwd: "/sea", signal: undefined });
    const { signal } = new AbortController();
    const called = contextFor(ctx, newCall(signal)) as Context;
    expect([called.signal, called.cwd]).toEqual([signal, "/sea"]);
  });

  test.each<[whose: string, of: "call" | "session"]>([
    ["the call", "call"],
    ["what goes on in the session", "session"],
  ])("a dialog is withdrawn with %s", async (_whose, of) => {
    const stop = new AbortController();
    const given: (AbortSignal | undefined)[] = [];
    const confirm = async (_title: string, _message: string, how: { signal?: AbortSignal }): Promise<boolean> => {
      given.push(how.signal);
      stop.abort();
      return how.signal?.aborted === true;
    };
    const questionSignals = of === "session" ? [stop.signal] : [];
    const { ctx } = desk({ ui: { hasUI: true, confirm }, questionSignals });
    const called = contextFor(ctx, newCall(of === "call" ? stop.signal : undefined)) as Context;
    const ui = called.ui as unknown as { confirm(title: string, message: string): Promise<boolean> };
    expect(await ui.confirm("Sure?", "")).toBe(true);
    expect(given).toHaveLength(1);
  });
});

describe("the time that a person takes", () => {
  type Ui = { confirm(title: string, message: string): Promise<boolean> };
  /** A handler that hangs, and what becomes of it while somebody asks a person who never answers. */
  const hangs = async (ask: (own: Context, command: Context, past: Context) => unknown) => {
    const clock = new FakeClock();
    const never = (): Promise<never> => new Promise(() => undefined);
    const { ctx, command, extension } = desk({ ui: { hasUI: true, confirm: never } });
    const over = newCall();
    over.isOver = true;
    const [call, beside] = [newCall(), newCall(undefined, true)];
    const contexts = [contextFor(ctx, call), contextFor(command, beside), contextFor(ctx, over)] as Context[];
    let outcome: unknown = "is waited for";
    const how = { extension, call, what: "context", limitMs: 1000, clock, enter: () => () => undefined };
    void callExtension(never, how).then((called) => {
      outcome = "error" in called ? called.error : called;
    });
    void ask(contexts[0]!, contexts[1]!, contexts[2]!);
    await clock.advance(60_000);
    return outcome;
  };
  const sure = (ctx: Context): unknown => (ctx.ui as unknown as Ui).confirm("Sure?", "");

  test.each<[who: string, ask: Parameters<typeof hangs>[0], outcome: string]>([
    ["nobody asks", () => undefined, "context did not finish within 1 s"],
    ["it asks itself", (own) => sure(own), "is waited for"],
    ["a command of the same extension asks", (_own, command) => sure(command), "context did not finish within 1 s"],
    // Who kept the context of an earlier call asks in nobody's name: it may be this handler.
    ["somebody asks through a context that was kept", (_own, _command, past) => sure(past), "is waited for"],
  ])("%s", async (_who, ask, outcome) => {
    expect(await hangs(ask)).toBe(outcome);
  });
});

describe("compact", () => {
  const told = async (made: object, how?: object): Promise<unknown[]> => {
    const seen: unknown[] = [];
    const { ctx, calls } = desk({ compact: made instanceof Error ? Promise.reject(made) : Promise.resolve(made) });
    const functions = {
      onComplete: (result: { summary: string }) => seen.push(`done: ${result.summary}`),
      onError: (error: Error) => seen.push(`failed: ${error.message}`),
    };
    expect(ctx.compact?.(how && { ...functions, ...how })).toBeUndefined();
    await new Promise((resolve) => setImmediate(resolve));
    return [...calls, ...seen];
  };

  test("tells how it went, to whoever wants to know", async () => {
    const done = { result: { summary: "short" } };
    expect(await told(done, { customInstructions: "keep it" })).toEqual([["compact", "keep it"], "done: short"]);
    expect(await told({ refused: "too small" }, {})).toEqual([["compact", undefined], "failed: too small"]);
  });

  test("what nobody wants to know is told to the host", async () => {
    const disk = new Error("no disk");
    const broken = {
      onComplete: () => {
        throw new Error("broken");
      },
    };
    expect(await told({ refused: "too small" })).toEqual([
      ["compact", undefined],
      ["compact", "too small"],
    ]);
    expect(await told(disk)).toEqual([
      ["compact", undefined],
      ["compact", "no disk"],
    ]);
    expect(await told(disk, {})).toEqual([["compact", undefined], "failed: no disk"]);
    expect(await told({ result: {} }, broken)).toEqual([
      ["compact", undefined],
      ["compact", "broken"],
    ]);
  });
});

describe("what a command has beside that", () => {
  const stay = Promise.resolve({ cancelled: true });
  const go = Promise.resolve({ cancelled: false, text: "not for extensions" });

  test.each<[method: string, given: unknown[], call: unknown[]]>([
    ["newSession", [{ parentSession: "a.jsonl" }], ["newSession", { parentSession: "a.jsonl", setup: undefined }]],
    ["newSession", [], ["newSession", { parentSession: undefined, setup: undefined }]],
    ["fork", ["e1"], ["fork", "e1", "before"]],
    ["fork", ["e1", { position: "at" }], ["fork", "e1", "at"]],
    ["branch", ["e1"], ["fork", "e1", "before"]],
    ["switchSession", ["b.jsonl"], ["switchSession", "b.jsonl"]],
    ["navigateTree", ["e1", { summarize: true }], ["navigateTree", "e1", { summarize: true }]],
  ])("%s(%j)", async (method, given, call) => {
    const { command, calls } = desk({ [String(call[0])]: go });
    expect(await command[method]?.(...given)).toEqual({ cancelled: false });
    expect(calls).toEqual([call]);
  });

  test.each(["newSession", "fork", "switchSession"])(
    "%s: withSession sees the session that was entered",
    async (name) => {
      const seen: unknown[] = [];
      const how = { withSession: (entered: unknown) => void seen.push(entered) };
      const given = name === "newSession" ? [how] : ["where", how];
      expect(await desk({ [name]: go }).command[name]?.(...given)).toEqual({ cancelled: false });
      expect(seen).toEqual([{ name: "the one that was entered" }]);
      expect(await desk({ [name]: stay }).command[name]?.(...given)).toEqual({ cancelled: true });
      expect(seen).toHaveLength(1);
    },
  );

  test("waiting and reloading", async () => {
    const { command, calls } = desk();
    await command.waitForIdle?.();
    await command.reload?.();
    expect(calls).toEqual([["waitForIdle"], ["reload"]]);
  });
});

test("what inherits sees what changes", () => {
  let wind = "south";
  const base = {
    get wind() {
      return wind;
    },
  };
  const both = inherit(base, { sea: "calm" }) as { wind: string; sea: string };
  wind = "west";
  expect([both.wind, both.sea]).toEqual(["west", "calm"]);
});
