import { join } from "node:path";
import { expect, test } from "vitest";
import { RpcProcess, repoRoot, useRpc } from "./rpc-process.ts";

const cli = join(repoRoot, "test/support/fixtures/fake-server.mjs");
const start = useRpc({ cli });
const bad = (name: string): RpcProcess => new RpcProcess({ cli, args: ["--bad", name] });

test("a prompt resolves to its result and the frames on the way", async () => {
  const rpc = start();
  const { response, result, frames } = await rpc.prompt("hi");
  expect(response).toMatchObject({ command: "prompt", success: true });
  expect(result).toMatchObject({ status: "completed", id: response.id });
  expect(frames.at(-1)).toMatchObject({ type: "session_settled" });
  rpc.closeStdin();
  expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
  expect(rpc.stderr).toBe("fake server is up\n");
});

test("since looks only at what comes later", async () => {
  const rpc = start();
  await rpc.prompt("one");
  const since = rpc.mark();
  await rpc.prompt("two");
  const message = await rpc.waitFor("message_start", { since });
  expect(message).toMatchObject({ message: { content: [{ text: "two" }] } });
});

test("raw input goes out as it is", async () => {
  const rpc = start();
  rpc.send('{"type":"abort","id":"a"}\n{"type":"dance"}\n');
  await rpc.waitFor((frame) => frame.command === "dance");
  expect(rpc.types()).toEqual(["ready", "response", "response"]);
});

test("the environment has no home, no key and no folder of the user", () => {
  const { sandbox } = start();
  expect(Object.keys(sandbox.env).filter((name) => /KEY|TOKEN|NODE_|PROXY/i.test(name))).toEqual([]);
  expect(sandbox.env.HOME).toBe(sandbox.home);
});

test("waiting in vain says what was seen instead", async () => {
  const rpc = start();
  await rpc.waitFor("ready");
  await expect(rpc.waitFor("agent_end", { timeoutMs: 30 })).rejects.toThrow(/30 ms passed.*[\s\S]*"type":"ready"/);
});

test("waiting for a process that is gone ends at once", async () => {
  const rpc = start();
  await rpc.waitFor("ready");
  rpc.closeStdin();
  await expect(rpc.waitFor("agent_end")).rejects.toThrow(/exited with 0/);
});

test("a character that is cut between two writes is whole again", async () => {
  const rpc = start({ args: ["--bad", "split"] });
  expect(await rpc.waitFor("notice")).toMatchObject({ message: "grüße" });
});

test("a line on stdout that is no JSON is found", async () => {
  const rpc = bad("not-json");
  await rpc.waitFor("ready");
  await expect(rpc.dispose()).rejects.toThrow(/no JSON.*oops/);
});

test("a run that does not settle is found", async () => {
  const rpc = bad("no-settled");
  await expect(rpc.prompt("hi", {}, 1500)).rejects.toThrow(/session_settled/);
  await expect(rpc.dispose()).rejects.toThrow(/ended inside a run \(settling\)/);
});

test("a frame of another shape than the table's is found", async () => {
  const rpc = bad("wrong-shape");
  await rpc.prompt("hi");
  await expect(rpc.dispose()).rejects.toThrow(/message_end.*usage/);
});

test("a process that stays after stdin was closed is found and ended", async () => {
  const rpc = bad("linger");
  await rpc.waitFor("ready");
  await expect(rpc.dispose(100)).rejects.toThrow(/still running 100 ms/);
});

test.runIf(process.platform === "linux")("a child that is left behind is found and ended", async () => {
  const rpc = bad("orphan");
  await rpc.waitFor("ready");
  await expect(rpc.dispose()).rejects.toThrow(/left running: \d+ sleep 60/);
  // A killed process may still wait to be reaped.
  await expect.poll(() => rpc.sandbox.processes()).toEqual([]);
});
