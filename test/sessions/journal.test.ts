import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { beside, fileOf } from "./support/stories.ts";

/** Host and agent are both killed; whoever opens the session next is told what the host has missed. */

const start = useRpc();

const SCRIPT = ['text "one"', 'text "half" + hang', 'text "three"'];

/** The answer to `subscribe`, and the events behind it. */
async function subscribe(rpc: RpcProcess, after: number): Promise<{ data: unknown; events: Frame[] }> {
  const since = rpc.mark();
  const { data } = await rpc.call({ type: "subscribe", after });
  const count = Number(at(data, "count"));
  const answer = rpc.frames.findIndex(({ command }, index) => index >= since && command === "subscribe");
  if (count > 0) await rpc.waitFor(() => true, { since: answer + count });
  return { data, events: rpc.frames.slice(answer + 1, answer + 1 + count) };
}

const kept = (frames: readonly Frame[]): Frame[] =>
  frames.filter(({ type, seq }) => seq !== undefined && type !== "message_update");

it("after kill -9 nothing is missing and nothing comes twice, and the journal goes with its session", async () => {
  const first = start({ script: SCRIPT });
  await first.prompt("first");
  const path = await fileOf(first);
  first.send({ type: "prompt", message: "second" });
  const { seq: lastSeen } = await first.waitFor(
    ({ assistantMessageEvent }) => at(assistantMessageEvent, "delta") === "half",
  );
  first.kill("SIGKILL");
  await first.waitExit();

  const second = start({ script: ['text "three"'], ...beside(first, "--session", path) });
  const all = await subscribe(second, 0);
  expect(all.events).toEqual(kept(first.frames));
  expect(all.data).toMatchObject({ oldest: 1, missed: false });
  expect(Number(at(all.data, "latest"))).toBeGreaterThanOrEqual(Number(lastSeen));
  expect((await subscribe(second, Number(lastSeen))).events).toEqual([]);

  const { frames } = await second.prompt("third");
  expect(kept(frames)[0]).toMatchObject({ type: "agent_start", promptId: "prompt-1" });
  expect(Number(kept(frames)[0]?.seq)).toBeGreaterThan(Number(lastSeen));
  expect((await subscribe(second, Number(lastSeen))).events).toEqual(kept(frames));

  const folder = join(first.sandbox.agentDir, "journals");
  const [journal = "", ...others] = readdirSync(folder);
  expect([others, statSync(join(folder, journal)).mode & 0o777]).toEqual([[], 0o600]);
  expect(readdirSync(dirname(path))).toHaveLength(1);
  await second.call({ type: "new_session" });
  expect(await second.call({ type: "delete_session", sessionPath: path })).toMatchObject({ success: true });
  expect(readdirSync(folder)).toEqual([]);
});

it("of a copy in which somebody has gone back to before the first message begins with that", async () => {
  const first = start({ script: ['text "one"'] });
  await first.prompt("first");
  await first.call({ type: "clone" });
  const path = await fileOf(first);
  const { data } = await first.call({ type: "get_entries" });
  const since = first.mark();
  await first.call({ type: "navigate_tree", entryId: at(data, "entries", 0, "id") });
  const [told] = kept(first.frames.slice(since));
  expect(told).toMatchObject({ type: "entry_appended", entry: { customType: "tiller.leaf" } });
  first.kill("SIGKILL");
  await first.waitExit();

  const second = start({ script: ['text "two"'], ...beside(first, "--session", path) });
  const { events } = await subscribe(second, Number(told?.seq) - 1);
  expect(events).toEqual([told]);
  const { frames } = await second.prompt("second");
  expect(Number(kept(frames)[0]?.seq)).toBeGreaterThan(Number(told?.seq));
});

it("that cannot be begun is told of by a notice with a number of its own", async () => {
  const rpc = start({ script: ['text "one"', 'text "two"'] });
  await rpc.prompt("first");
  await rpc.call({ type: "new_session" });
  const folder = join(rpc.sandbox.agentDir, "journals");
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "in the way");
  const since = rpc.mark();
  await rpc.prompt("second");
  const numbers = rpc.frames.slice(since).flatMap(({ seq }) => (seq === undefined ? [] : [Number(seq)]));
  expect(rpc.frames.slice(since).filter(({ message }) => String(message).includes("not kept"))).toHaveLength(1);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
});
