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

  it("stops the timer when it is answered", async () => {
    const { requests, ask, isTicking } = desk();
    const asked = ask({ timeoutMs: 100 });
    requests.settle("ask-1", "yes");
    await asked;
    expect(isTicking()).toBe(false);
  });

  it("settles on an abort, and sends nothing when it was aborted before", async () => {
    const { ask, abort, sent } = desk();
    const asked = ask();
    abort();
    expect(await asked).toBe("ask-1 aborted");
    expect(await ask()).toBe("ask-2 aborted");
    expect(sent).toEqual(["ask-1"]);
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
