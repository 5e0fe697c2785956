import { describe, expect, it } from "vitest";
import type { Compactor, ManualOutcome } from "./compactor.ts";
import { lateCompactor } from "./late-compactor.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** A compactor that does what it is told, and a loader that is done when the test says so. */
function desk() {
  const notes: string[] = [];
  let present: Compactor | undefined;
  let finish = (): void => undefined;
  let fail = (_error: Error): void => undefined;
  const loading = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  const waiting: ((outcome: ManualOutcome) => void)[] = [];
  const real: Compactor = {
    get isCompacting() {
      return waiting.length > 0;
    },
    manual(focus) {
      notes.push(`manual ${focus}`);
      return new Promise((resolve) => waiting.push(resolve));
    },
    async abort() {
      notes.push(`abort ${waiting.length}`);
      for (const resolve of waiting.splice(0)) resolve({ refused: "Compaction cancelled" });
    },
    async settled() {
      notes.push("settled");
    },
    reset: () => void notes.push("reset"),
    isOn: true,
    isDue: () => true,
    autoContinue: false,
    automatic: async (reason) => {
      notes.push(`automatic ${reason}`);
      return "done";
    },
    tellSecondOverflow: () => void notes.push("second overflow"),
  };
  const subject = lateCompactor(
    () =>
      loading.then(() => {
        present = real;
        return real;
      }),
    () => present,
  );
  return { subject, notes, load: () => finish(), fail: () => fail(new Error("no such file")), waiting };
}

describe("a compactor that is not loaded yet", () => {
  it("is compacting from the moment it is asked", async () => {
    const { subject, notes, load, waiting } = desk();
    expect(subject.isCompacting).toBe(false);
    const outcome = subject.manual("the tests");
    expect(subject.isCompacting).toBe(true);
    load();
    await tick();
    expect(notes).toEqual(["manual the tests"]);
    waiting.shift()?.({ refused: "nothing to do" });
    expect(await outcome).toEqual({ refused: "nothing to do" });
    await tick();
    expect(subject.isCompacting).toBe(false);
  });

  it("can be aborted: what was asked for before is begun, and ended at once", async () => {
    const { subject, notes, load } = desk();
    const outcome = subject.manual("x");
    const aborted = subject.abort();
    load();
    await aborted;
    expect(await outcome).toEqual({ refused: "Compaction cancelled" });
    expect(notes).toEqual(["manual x", "abort 1"]);
  });

  it("is not loaded for the sake of ending nothing", async () => {
    const { subject, notes } = desk();
    await subject.abort();
    await subject.settled();
    subject.reset();
    expect(notes).toEqual([]);
  });

  it("is settled when all that was asked for is over", async () => {
    const { subject, load, waiting, notes } = desk();
    void subject.manual("one");
    let isSettled = false;
    const settled = subject.settled().then(() => {
      isSettled = true;
    });
    load();
    await tick();
    void subject.manual("two");
    await tick();
    waiting.shift()?.({ refused: "" });
    await tick();
    expect(isSettled).toBe(false);
    waiting.shift()?.({ refused: "" });
    await settled;
    expect(notes).toEqual(["manual one", "manual two", "settled"]);
  });

  it("that cannot be loaded fails to those who asked, and is not compacting any more", async () => {
    const { subject, fail } = desk();
    const outcome = subject.manual();
    const settled = subject.settled();
    fail();
    await expect(outcome).rejects.toThrow("no such file");
    await settled;
    expect(subject.isCompacting).toBe(false);
  });

  it("has nothing to say about compacting by itself", () => {
    const { subject } = desk();
    for (const ask of [() => subject.isOn, () => subject.isDue(), () => subject.autoContinue]) {
      expect(ask).toThrow("A run without its compactor");
    }
  });
});

it("once it is there, the compactor answers itself", async () => {
  const { subject, notes, load, waiting } = desk();
  load();
  void subject.manual("x");
  await tick();
  expect([subject.isCompacting, subject.isOn, subject.isDue(), subject.autoContinue]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(await subject.automatic("overflow", true, new AbortController().signal)).toBe("done");
  subject.tellSecondOverflow();
  subject.reset();
  waiting.shift()?.({ refused: "" });
  await subject.settled();
  expect(notes).toEqual(["manual x", "automatic overflow", "second overflow", "reset", "settled"]);
});
