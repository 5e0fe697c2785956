import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { createPeer, McpError, type Message } from "./json-rpc.ts";

/** A peer whose other side is the test. */
function desk() {
  const clock = new FakeClock();
  const sent: Message[] = [];
  const signals: AbortSignal[] = [];
  const heard: unknown[][] = [];
  const peer = createPeer({
    clock,
    words: (said) => said.replace("secret", "[hidden]"),
    async send(message, signal) {
      if (message.method === "lost") throw new Error("no way out");
      sent.push(message);
      signals.push(signal);
    },
    onNotification: (...about) => void heard.push(about),
  });
  return { peer, clock, sent, signals, heard };
}

const how = { timeoutMs: 1000 };
const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

describe("a request", () => {
  test("gets the answer with its id, whatever the order", async () => {
    const { peer, sent } = desk();
    const [first, second] = [peer.request("a", { x: 1 }, how), peer.request("b", {}, how)];
    expect(sent).toEqual([
      { jsonrpc: "2.0", id: 1, method: "a", params: { x: 1 } },
      { jsonrpc: "2.0", id: 2, method: "b", params: {} },
    ]);
    peer.receive([
      { jsonrpc: "2.0", id: 2, result: { at: 2 } },
      { jsonrpc: "2.0", id: 1, result: { at: 1 } },
    ]);
    expect([await first, await second]).toEqual([{ at: 1 }, { at: 2 }]);
  });

  test("fails with an error of the server, its code kept", async () => {
    const { peer } = desk();
    const asked = peer.request("a", {}, how);
    peer.receive({ jsonrpc: "2.0", id: 1, error: { code: -32601, message: "unknown secret" } });
    const error = await asked.catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(McpError);
    expect(error).toMatchObject({ message: "unknown [hidden]", code: -32601 });
  });

  test("fails with words of ours when the error has none that can be shown", async () => {
    const { peer } = desk();
    const asked = peer.request("a", {}, how);
    peer.receive({ jsonrpc: "2.0", id: 1, error: { message: nested(20_000) } });
    await expect(asked).rejects.toThrow("an error without words");
  });

  test.each([
    ["a text", "aye"],
    ["a list", []],
    ["nothing", null],
  ])("fails when its result is %s", async (_what, result) => {
    const { peer } = desk();
    const asked = peer.request("a", {}, how);
    peer.receive({ jsonrpc: "2.0", id: 1, result });
    await expect(asked).rejects.toThrow("no object");
  });

  test("that nobody answers fails in time and is cancelled; progress gives it more", async () => {
    const { peer, clock, sent, signals } = desk();
    const told: string[] = [];
    const asked = peer.request("tools/call", {}, { ...how, onProgress: (text) => told.push(text) });
    const failed = expect(asked).rejects.toThrow("it did not answer tools/call within 1 s");
    expect(sent[0]).toMatchObject({ params: { _meta: { progressToken: 1 } } });
    await clock.advance(900);
    for (const params of [
      { progressToken: 1, progress: 1, total: 4 },
      { progressToken: 1, progress: 2, message: "half" },
      { progressToken: 7, progress: 3 },
      { progressToken: 1, progress: { toString: 1, valueOf: 1 }, total: 4 },
    ]) {
      peer.receive({ jsonrpc: "2.0", method: "notifications/progress", params });
    }
    expect(told).toEqual(["1 of 4", "half", "? of 4"]);
    await clock.advance(900);
    expect(sent).toHaveLength(1);
    await clock.advance(200);
    await failed;
    expect(sent[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
    expect(signals[0]?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("that is aborted is cancelled, and its late answer is nobody's", async () => {
    const { peer, sent, clock } = desk();
    const controller = new AbortController();
    const asked = peer.request("tools/call", {}, { ...how, signal: controller.signal });
    controller.abort();
    await expect(asked).rejects.toThrow("aborted");
    expect(sent[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
    expect(peer.receive({ jsonrpc: "2.0", id: 1, result: {} })).toBe(true);
    expect(clock.pending).toBe(0);
    await expect(peer.request("x", {}, { ...how, signal: controller.signal })).rejects.toThrow("aborted");
  });

  test("that cannot be sent fails", async () => {
    await expect(desk().peer.request("lost", {}, how)).rejects.toThrow("no way out");
  });

  test("fails when the other side is gone, and so do those after it", async () => {
    const { peer } = desk();
    const asked = peer.request("a", {}, how);
    peer.close(new Error("it has ended"));
    await expect(asked).rejects.toThrow("it has ended");
    await expect(peer.request("b", {}, how)).rejects.toThrow("it has ended");
  });
});

describe("what comes in", () => {
  test.each<[string, unknown, boolean]>([
    ["no JSON", undefined, false],
    ["a number", 5, false],
    ["an empty list", [], false],
    ["lists in lists", nested(20_000), false],
    ["an error that cannot be written", { jsonrpc: "2.0", id: 99, error: { data: nested(20_000) } }, true],
    ["another version", { jsonrpc: "1.0", id: 1, result: {} }, false],
    ["no version", { id: 1, result: {} }, false],
    ["neither question nor answer", { jsonrpc: "2.0", id: 1 }, false],
    ["an answer to nothing", { jsonrpc: "2.0", id: 99, result: {} }, true],
    ["an answer with a text as id", { jsonrpc: "2.0", id: "1", result: {} }, true],
    ["an error without id", { jsonrpc: "2.0", id: null, error: { message: "?" } }, true],
  ])("%s disturbs nobody", async (_what, message, isMessage) => {
    const { peer } = desk();
    const asked = peer.request("a", {}, how);
    expect(peer.receive(message)).toBe(isMessage);
    peer.receive({ jsonrpc: "2.0", id: 1, result: { ok: true } });
    peer.receive({ jsonrpc: "2.0", id: 1, result: { ok: false } });
    expect(await asked).toEqual({ ok: true });
  });

  test("questions: a ping is answered, everything else is refused; notifications are passed on", () => {
    const { peer, sent, heard } = desk();
    peer.receive({ jsonrpc: "2.0", id: "p", method: "ping" });
    peer.receive({ jsonrpc: "2.0", id: 7, method: "sampling/createMessage", params: {} });
    peer.receive({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    expect(sent).toEqual([
      { jsonrpc: "2.0", id: "p", result: {} },
      { jsonrpc: "2.0", id: 7, error: { code: -32601, message: "Method not found: sampling/createMessage" } },
    ]);
    expect(heard).toEqual([["notifications/tools/list_changed", {}]]);
  });
});
