import type { HostUriCancel, HostUriRequest } from "@tiller/protocol/host-uris";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeClock } from "../../../../../test/support/fake-clock.ts";
import { createHostUriBridge } from "./host-uri-bridge.ts";

function desk() {
  const clock = new FakeClock();
  let count = 0;
  const ids = { uuid: () => "", short: () => "", lot: () => 0, count: (prefix: string) => `${prefix}-${++count}` };
  const frames: (HostUriRequest | HostUriCancel)[] = [];
  const bridge = createHostUriBridge({ write: (frame) => frames.push(frame), ids, clock });
  const ask = (how: { controller?: AbortController; timeoutMs?: number; content?: string } = {}) => {
    const { controller = new AbortController(), timeoutMs, content } = how;
    const operation = content === undefined ? "read" : "write";
    const outcome = bridge
      .ask({ operation, url: "db://x", content, signal: controller.signal, timeoutMs })
      .catch((error: Error) => error.message);
    return { outcome, controller };
  };
  return { bridge, frames, ask, clock };
}

test("asks the host to read and to write, and gives back what it says", async () => {
  const { bridge, frames, ask } = desk();
  const [read, write] = [ask(), ask({ content: "new" })];
  expect(frames).toEqual([
    { type: "host_uri_request", id: "host-1", operation: "read", url: "db://x" },
    { type: "host_uri_request", id: "host-2", operation: "write", url: "db://x", content: "new" },
  ]);
  expect(bridge.result({ id: "host-2" })).toBeUndefined();
  const said = { content: "old", contentType: "text/markdown", notes: "stale", immutable: true };
  expect(bridge.result({ id: "host-1", ...said })).toBeUndefined();
  expect(await read.outcome).toEqual({ content: "old", contentType: "text/markdown", notes: ["stale"] });
  expect(await write.outcome).toEqual({ content: "", contentType: "text/plain", notes: [] });
});

test.each<[frame: object, failure: string]>([
  [{ error: " no such row " }, "no such row"],
  [{ content: "gone" }, "gone"],
  [{}, "Host URI read failed for db://x"],
  [{ error: null, content: "" }, "Host URI read failed for db://x"],
])("a failure %j is told to the model", async (frame, failure) => {
  const { bridge, ask } = desk();
  const { outcome } = ask();
  expect(bridge.result({ id: "host-1", isError: true, ...frame })).toBeUndefined();
  expect(await outcome).toBe(failure);
});

test.each<[frame: object, problem: string]>([
  [{}, '"content" must be a string: the text, or an image in base64'],
  [{ content: { a: 1 } }, '"content" must be a string: the text, or an image in base64'],
  [{ content: "x", contentType: 7 }, '"contentType" must be a string such as "text/plain" or "image/png"'],
  [{ content: "x", notes: [1] }, '"notes" must be a text or a list of texts'],
  [{ content: "x", isError: "yes" }, '"isError" must be true or false, got "yes"'],
  [{ content: "x", isError: true, error: 7 }, '"error" must be a string, got 7'],
  [{ content: "x", immutable: 7 }, '"immutable" must be true or false, got 7'],
])("a result %j that cannot be used ends the request and is told to the host", async (frame, problem) => {
  const { bridge, ask } = desk();
  const { outcome } = ask();
  expect(bridge.result({ id: "host-1", ...frame })).toBe(problem);
  expect(await outcome).toBe(`Host URI read for db://x was answered badly: ${problem}`);
});

test("an abort withdraws the request, and what comes later is ignored; after it the host is not even asked", async () => {
  const { bridge, frames, ask } = desk();
  const { outcome, controller } = ask();
  controller.abort();
  expect(await outcome).toBe("Host URI read for db://x was aborted");
  expect(frames.at(-1)).toEqual({ type: "host_uri_cancel", id: "host-2", targetId: "host-1" });
  expect(bridge.result({ id: "host-1", content: 7 })).toBeUndefined();
  expect([await ask({ controller, content: "x" }).outcome, frames.length]).toEqual([
    "Host URI write for db://x was aborted",
    2,
  ]);
});

test("what comes in the same breath as the answer is ignored, however bad it is", async () => {
  const { bridge, ask } = desk();
  const { outcome } = ask();
  bridge.result({ id: "host-1", content: "all" });
  expect(bridge.result({ id: "host-1", content: 7 })).toBeUndefined();
  expect(await outcome).toMatchObject({ content: "all" });
});

test("a host that takes longer than it said is given up", async () => {
  const { frames, ask, clock } = desk();
  const { outcome } = ask({ timeoutMs: 50 });
  await clock.advance(50);
  expect(await outcome).toBe("Host URI read for db://x was not answered within 50 ms");
  expect(frames.at(-1)).toMatchObject({ type: "host_uri_cancel", targetId: "host-1" });
});

test("a host that is gone leaves nobody waiting, then or later", async () => {
  const { bridge, frames, ask } = desk();
  const { outcome } = ask();
  bridge.close();
  const gone = "RPC client disconnected before host URI request completed";
  expect([await outcome, await ask().outcome, frames.length]).toEqual([gone, gone, 1]);
});

test("a frame without an id is told, one of an unknown id ignored", () => {
  const { bridge } = desk();
  const problem = '"id" must be the id of a host_uri_request';
  expect([bridge.result({}), bridge.result({ id: 7 }), bridge.result({ id: "host-9" })]).toEqual([
    problem,
    problem,
    undefined,
  ]);
});

test("any order of answers and aborts ends each request once, with what came first", async () => {
  const step = fc.record({ at: fc.nat(3), what: fc.constantFrom("result", "error", "abort", "bad") });
  const says = { result: "a result", error: "no row", abort: "aborted", bad: "answered badly" } as const;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { bridge, frames, ask } = desk();
      const asked = Array.from({ length: 4 }, () => ask());
      const first = new Map<number, keyof typeof says>();
      for (const { at, what } of steps) {
        const id = `host-${at + 1}`;
        if (!first.has(at)) first.set(at, what);
        if (what === "abort") asked[at]?.controller.abort();
        else if (what === "bad") bridge.result({ id, content: 7 });
        else bridge.result({ id, content: "x", ...(what === "error" && { isError: true, error: "no row" }) });
      }
      bridge.close();
      for (const [at, { outcome }] of asked.entries()) {
        const ended = await outcome;
        const kind = first.get(at);
        expect(typeof ended === "string" ? ended : "a result").toContain(kind ? says[kind] : "disconnected");
      }
      const aborted = [...first.values()].filter((what) => what === "abort").length;
      expect(frames.filter(({ type }) => type === "host_uri_cancel").length).toBe(aborted);
    }),
  );
});
