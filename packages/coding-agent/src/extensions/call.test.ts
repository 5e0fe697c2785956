import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { type Called, callExtension } from "./call.ts";
import { newExtension } from "./extension.ts";

/** One call into an extension whose handler may take ten seconds. */
function setUp() {
  const clock = new FakeClock();
  const extension = newExtension({ path: "/x.ts", source: "cli", scope: "temporary", origin: "top-level" });
  const controller = new AbortController();
  const notes: string[] = [];
  const enter = (label: string) => {
    notes.push(`in ${label}`);
    return () => void notes.push("out");
  };
  const outcome: { called?: Called } = {};
  const call = (run: () => unknown, limitMs = 10_000): Promise<Called> => {
    const { signal } = controller;
    const done = callExtension(run, { extension, what: "turn_end", limitMs, clock, signal, enter });
    void done.then((called) => {
      outcome.called = called;
    });
    return done;
  };
  const open = (): void => {
    extension.dialogs += 1;
  };
  const close = (): void => {
    extension.dialogs -= 1;
    extension.dialogsOverAt = clock.now();
  };
  return { clock, controller, notes, outcome, call, open, close };
}

const broken = (): never => {
  throw new Error("broken");
};
const never = new Promise(() => undefined);
const TOO_LONG = { error: "turn_end did not finish within 10 s", isLate: true };

describe("what comes back", () => {
  const cases: [name: string, run: () => unknown, expected: Called][] = [
    ["a value", () => 7, { value: 7 }],
    ["nothing", () => undefined, { value: undefined }],
    ["a promise", async () => "later", { value: "later" }],
    // biome-ignore lint/suspicious/noThenProperty: that is what is tried
    ["what has a function then", () => ({ then: (done: (value: number) => void) => done(8) }), { value: 8 }],
    // biome-ignore lint/suspicious/noThenProperty: that is what is tried
    ["what has a function then that throws", () => ({ then: broken }), { error: "broken" }],
    ["an exception", broken, { error: "broken" }],
    ["a rejection", () => Promise.reject(new TypeError("broken later")), { error: "broken later" }],
    ["a rejection with a text", () => Promise.reject("just a text"), { error: "just a text" }],
  ];
  test.each(cases)("%s", async (_name, run, expected) => {
    const { call, clock } = setUp();
    expect(await call(run)).toEqual(expected);
    expect(clock.pending).toBe(0);
  });

  test("what is no promise is there without a timer", async () => {
    const { call, clock } = setUp();
    const done = call(() => 7);
    expect(clock.pending).toBe(0);
    await done;
  });
});

test("the watchdog knows who is at work, also when that one throws", async () => {
  const { call, notes } = setUp();
  await call(async () => void notes.push("working"));
  await call(broken);
  expect(notes).toEqual(["in /x.ts (turn_end)", "working", "out", "in /x.ts (turn_end)", "out"]);
});

describe("the time limit", () => {
  test("who hangs is given up", async () => {
    const { call, clock, outcome } = setUp();
    void call(() => never);
    await clock.advance(9_999);
    expect(outcome.called).toBeUndefined();
    await clock.advance(1);
    expect(outcome.called).toEqual(TOO_LONG);
    expect(clock.pending).toBe(0);
  });

  test("an open dialog does not count: the time begins anew when it is over", async () => {
    const { call, clock, outcome, open, close } = setUp();
    void call(() => never);
    await clock.advance(1000);
    open();
    await clock.advance(3_600_000);
    close();
    await clock.advance(9_999);
    expect(outcome.called).toBeUndefined();
    await clock.advance(10_000);
    expect(outcome.called).toEqual(TOO_LONG);
  });

  test("as long as one of two dialogs is open nobody is given up", async () => {
    const { call, clock, outcome, open, close } = setUp();
    void call(() => never);
    open();
    open();
    await clock.advance(5_000);
    close();
    await clock.advance(60_000);
    expect(outcome.called).toBeUndefined();
  });

  test("a dialog that was over before the call is no excuse", async () => {
    const { call, clock, outcome, open, close } = setUp();
    open();
    close();
    await clock.advance(60_000);
    void call(() => never);
    await clock.advance(10_000);
    expect(outcome.called).toEqual(TOO_LONG);
  });

  test("without a limit nobody is given up", async () => {
    const { call, clock, outcome } = setUp();
    void call(() => never, Number.POSITIVE_INFINITY);
    expect(clock.pending).toBe(0);
    await clock.advance(1e9);
    expect(outcome.called).toBeUndefined();
  });
});

describe("an abort", () => {
  test("nobody waits any longer, and no timer is left", async () => {
    const { call, clock, controller } = setUp();
    const done = call(() => never);
    controller.abort();
    expect(await done).toEqual({ aborted: true });
    expect(clock.pending).toBe(0);
  });

  test("that came before the call: what takes time is not waited for, what is there at once counts", async () => {
    const { call, controller } = setUp();
    controller.abort();
    expect(await call(() => never)).toEqual({ aborted: true });
    expect(await call(() => 7)).toEqual({ value: 7 });
  });
});
