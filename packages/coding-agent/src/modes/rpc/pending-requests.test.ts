import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { createPendingRequests } from "./pending-requests.ts";

function desk() {
  let n = 0;
  let ring: (() => void) | undefined;
  const sent: string[] = [];
  const requests = createPendingRequests<string>(
    "ask",
    { uuid: () => "", short: () => "", lot: () => 0, count: (prefix) => `${prefix}-${++n}` },
    {
      now: () => 0,
      after(_ms, fn) {
        ring = fn;
        return () => {
          ring = undefined;
        };
      },
    },
  );
  const controller = new AbortController();
  const ask = (options: { timeoutMs?: number; onUpdate?: (p: unknown) => void } = {}) =>
    requests.open({
      send: (id) => sent.push(id),
      signal: controller.signal,
      onAbort: (id) => `${id} aborted`,
      onTimeout: (id) => `${id} timed out`,
      ...options,
    });
  return {
    requests,
    sent,
    ask,
    signal: controller.signal,
    abort: () => controller.abort(),
    ring: () => ring?.(),
    isTicking: () => ring !== undefined,
  };
}

describe("pending requests", () => {
  it("settles by its answer, once, and ignores what nobody asked for", async () => {
    const { requests, sent, ask } = desk();
    const asked = ask();
    expect(sent).toEqual(["ask-1"]);
    expect(requests.settle("nobody", "x")).toBe(false);
    expect(requests.settle("ask-1", "yes")).toBe(true);
    expect(requests.settle("ask-1", "no")).toBe(false);
    expect(await asked).toBe("yes");
    expect(requests.size).toBe(0);
  });

  it("keeps several apart", async () => {
    const { requests, ask } = desk();
    const [first, second] = [ask(), ask()];
    requests.settle("ask-2", "b");
    requests.settle("ask-1", "a");
    expect(await Promise.all([first, second])).toEqual(["a", "b"]);
  });

  it("settles to the default on a time-out; a late answer is ignored", async () => {
    const { requests, ask, ring } = desk();
    const asked = ask({ timeoutMs: 100 });
    ring();
    expect(await asked).toBe("ask-1 timed out");
    expect(requests.settle("ask-1", "late")).toBe(false);
  });

  it("stops the timer and leaves the signal alone when it is answered", async () => {
    const { requests, ask, isTicking, signal } = desk();
    const asked = ask({ timeoutMs: 100 });
    requests.settle("ask-1", "yes");
    await asked;
    expect([isTicking(), getEventListeners(signal, "abort")]).toEqual([false, []]);
  });

  it("settles on an abort, and sends nothing when it was aborted before", async () => {
    const { ask, abort, sent } = desk();
    const asked = ask();
    abort();
    expect(await asked).toBe("ask-1 aborted");
    expect(await ask()).toBe("ask-2 aborted");
    expect(sent).toEqual(["ask-1"]);
  });

  it("ends once, also when what it calls at its end aborts it", async () => {
    const { requests, sent, ring } = desk();
    const controller = new AbortController();
    const ends: string[] = [];
    const asked = requests.open({
      send: (id) => sent.push(id),
      signal: controller.signal,
      timeoutMs: 100,
      onTimeout(id) {
        controller.abort();
        requests.settle(id, "answered");
        ends.push("timed out");
        return "timed out";
      },
      onAbort() {
        ends.push("aborted");
        return "aborted";
      },
    });
    ring();
    expect([await asked, ends]).toEqual(["timed out", ["timed out"]]);
  });

  it("needs no signal; a request that cannot be sent fails and waits for nothing", async () => {
    const { requests, isTicking } = desk();
    const asked = requests.open({
      send() {
        throw new Error("too long to be sent");
      },
      onAbort: () => "aborted",
      timeoutMs: 5,
      onTimeout: () => "timed out",
    });
    await expect(asked).rejects.toThrow("too long to be sent");
    expect([requests.size, isTicking()]).toEqual([0, false]);
  });

  it("passes progress on while it waits, and not after", async () => {
    const { requests, ask } = desk();
    const seen: unknown[] = [];
    const asked = ask({ onUpdate: (progress) => seen.push(progress) });
    expect(requests.update("ask-1", "half")).toBe(true);
    requests.settle("ask-1", "done");
    await asked;
    expect(requests.update("ask-1", "too late")).toBe(false);
    expect(seen).toEqual(["half"]);
  });

  it("rejects all when the host is gone", async () => {
    const { requests, ask } = desk();
    const asked = [ask(), ask()];
    requests.rejectAll(new Error("gone"));
    expect((await Promise.allSettled(asked)).map((result) => result.status)).toEqual(["rejected", "rejected"]);
  });
});
