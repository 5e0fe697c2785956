import type { HostToolCall, HostToolCancel } from "@tiller/protocol/host-tools";
import type { ToolResult } from "@tiller/protocol/tool";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeClock } from "../../../../../test/support/fake-clock.ts";
import { createHostToolBridge } from "./host-tool-bridge.ts";

const text = (said: string): ToolResult => ({ content: [{ type: "text", text: said }] });

function desk() {
  const clock = new FakeClock();
  let count = 0;
  const ids = { uuid: () => "", short: () => "", lot: () => 0, count: (prefix: string) => `${prefix}-${++count}` };
  const frames: (HostToolCall | HostToolCancel)[] = [];
  const bridge = createHostToolBridge({ write: (frame) => frames.push(frame), ids, clock });
  const call = (how: { controller?: AbortController; timeoutMs?: number } = {}) => {
    const updates: ToolResult[] = [];
    const controller = how.controller ?? new AbortController();
    const outcome = bridge
      .run({
        toolName: "ask",
        toolCallId: "c1",
        args: { q: 1 },
        signal: controller.signal,
        onUpdate: (partial) => updates.push(partial),
        timeoutMs: how.timeoutMs,
      })
      .catch((error: Error) => error.message);
    return { outcome, updates, controller };
  };
  return { bridge, frames, call, clock };
}

test("asks the host, passes its progress on, and gives back its result", async () => {
  const { bridge, frames, call } = desk();
  const { outcome, updates } = call();
  expect(frames).toEqual([
    { type: "host_tool_call", id: "host-1", toolCallId: "c1", toolName: "ask", arguments: { q: 1 } },
  ]);
  expect(bridge.update({ id: "host-1", partialResult: text("half") })).toBeUndefined();
  const image = { type: "image" as const, data: "AA==", mimeType: "image/png" };
  const result = { content: [...text("all").content, image], details: { n: 1 } };
  expect(bridge.result({ id: "host-1", result })).toBeUndefined();
  expect([await outcome, updates]).toEqual([result, [text("half")]]);
});

test.each<[story: string, frame: Record<string, unknown>, outcome: string]>([
  ["its words", { result: text(" no permission \n"), isError: true }, "no permission"],
  ["a text of ours when it has none", { result: { content: [] }, isError: true }, "Host tool execution failed"],
])("a failure is told to the model with %s", async (_story, frame, expected) => {
  const { bridge, call } = desk();
  const { outcome } = call();
  bridge.result({ id: "host-1", ...frame });
  expect(await outcome).toBe(expected);
});

test.each<[story: string, result: unknown, problem: string]>([
  ["no result", undefined, '"result" must be an object with "content"'],
  ["no content", {}, '"result" has no "content", which must be a list of text and image blocks'],
  [
    "another kind of block",
    { content: [{ type: "text", text: "a" }, { type: "sound" }] },
    '"result" has something else than a text or image block at content[1]',
  ],
  [
    "an image that would fail every request from then on",
    { content: [{ type: "image", data: "AA==", mimeType: "image/bmp" }] },
    '"result" has an image at content[0] that no model can see: "mimeType" is "image/bmp", it must be one of image/png, image/jpeg, image/gif, image/webp',
  ],
  [
    "an image that is none",
    { content: [{ type: "image", data: "a picture", mimeType: "image/png" }] },
    '"result" has an image at content[0] that no model can see: "data" is not base64',
  ],
])("a result that cannot be used ends the call and is told to the host: %s", async (_story, result, problem) => {
  const { bridge, call } = desk();
  const { outcome } = call();
  expect(bridge.result({ id: "host-1", result })).toBe(problem);
  expect(await outcome).toBe(`Host tool "ask" answered badly: ${problem}`);
});

test.each<[isError: unknown, shown: string]>([
  ["yes", '"yes"'],
  [1, "1"],
  [{}, "an object"],
])("whether a call has failed is not guessed: isError %j ends it, and is told to the host", async (isError, shown) => {
  const { bridge, call } = desk();
  const { outcome } = call();
  const problem = `"isError" must be true or false, got ${shown}`;
  expect(bridge.result({ id: "host-1", result: text("done"), isError })).toBe(problem);
  expect(await outcome).toBe(`Host tool "ask" answered badly: ${problem}`);
});

test.each([null, 0, "", "false"])("%j as isError means no", async (isError) => {
  const { bridge, call } = desk();
  const { outcome } = call();
  expect(bridge.result({ id: "host-1", result: text("done"), isError })).toBeUndefined();
  expect(await outcome).toEqual(text("done"));
});

test("progress that cannot be used is told to the host; the call goes on", async () => {
  const { bridge, call } = desk();
  const { outcome, updates } = call();
  expect(bridge.update({ id: "host-1", partialResult: {} })).toMatch(/^"partialResult" has no "content"/);
  bridge.result({ id: "host-1", result: text("well") });
  expect([await outcome, updates]).toEqual([text("well"), []]);
});

test("an abort withdraws the call, and what comes later is ignored", async () => {
  const { bridge, frames, call } = desk();
  const { outcome, controller } = call();
  controller.abort();
  expect(await outcome).toBe('Host tool "ask" was aborted');
  expect(frames.at(-1)).toEqual({ type: "host_tool_cancel", id: "host-2", targetId: "host-1" });
  expect([bridge.result({ id: "host-1", result: {} }), bridge.update({ id: "host-1" })]).toEqual([
    undefined,
    undefined,
  ]);
});

test("after an abort the host is not even asked", async () => {
  const { frames, call } = desk();
  const controller = new AbortController();
  controller.abort();
  expect([await call({ controller }).outcome, frames]).toEqual(['Host tool "ask" was aborted', []]);
});

test("a host that takes longer than it said is given up", async () => {
  const { frames, call, clock } = desk();
  const { outcome } = call({ timeoutMs: 50 });
  await clock.advance(50);
  expect(await outcome).toBe('Host tool "ask" did not answer within 50 ms');
  expect(frames.at(-1)).toMatchObject({ type: "host_tool_cancel", targetId: "host-1" });
});

test("a host that is gone leaves nobody waiting, then or later", async () => {
  const { bridge, frames, call } = desk();
  const { outcome } = call();
  bridge.close();
  const gone = "RPC client disconnected before host tool execution completed";
  expect([await outcome, await call().outcome, frames.length]).toEqual([gone, gone, 1]);
});

test("what comes in the same breath as the end of a call is ignored, however bad it is", async () => {
  const { bridge, call } = desk();
  const [answered, aborted] = [call(), call()];
  bridge.result({ id: "host-1", result: text("all") });
  aborted.controller.abort();
  for (const id of ["host-1", "host-2"]) {
    expect([bridge.result({ id, result: 7 }), bridge.update({ id, partialResult: 7 })]).toEqual([undefined, undefined]);
  }
  expect([await answered.outcome, await aborted.outcome]).toEqual([text("all"), 'Host tool "ask" was aborted']);
});

test("a frame without an id is told", () => {
  const { bridge } = desk();
  const problem = '"id" must be the id of a host_tool_call';
  expect([bridge.result({}), bridge.update({ id: 7 })]).toEqual([problem, problem]);
});

test("any order of answers and aborts ends each call once, with what came first", async () => {
  const step = fc.record({ call: fc.nat(3), what: fc.constantFrom("result", "error", "update", "abort", "bad") });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { bridge, call } = desk();
      const calls = Array.from({ length: 4 }, () => call());
      const first = new Map<number, string>();
      for (const { call: at, what } of steps) {
        const id = `host-${at + 1}`;
        if (what !== "update" && !first.has(at)) first.set(at, what);
        if (what === "abort") calls[at]!.controller.abort();
        else if (what === "update") bridge.update({ id, partialResult: text("more") });
        else if (what === "bad") bridge.result({ id, result: 7 });
        else bridge.result({ id, result: text(what), isError: what === "error" });
      }
      bridge.close();
      for (const [at, { outcome }] of calls.entries()) {
        const ended = await outcome;
        const said = typeof ended === "string" ? ended : "a result";
        const expected = { result: "a result", error: "error", abort: "aborted", bad: "answered badly" } as const;
        expect(said).toContain(expected[first.get(at) as keyof typeof expected] ?? "disconnected");
      }
    }),
  );
});
