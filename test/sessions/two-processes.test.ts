import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { readSessionFile } from "./support/session-tree.ts";
import {
  beside,
  dataOf,
  entriesOf,
  expectFileHolds,
  fileOf,
  messagesOf,
  noticesOf,
  runThatWaits,
  script,
  textsOf,
  WAITS,
} from "./support/stories.ts";

/** One file, two processes: one writes, the other reads, and takes over as soon as the first lets go. */

const start = useRpc();

/** A process with one exchange behind it. */
async function owner(...answers: string[]): Promise<{ first: RpcProcess; path: string }> {
  const first = start({ script: [...script("one"), ...answers] });
  await first.prompt("first");
  return { first, path: await fileOf(first) };
}

const secondOf = (first: RpcProcess, path: string, ...answers: string[]): RpcProcess =>
  start({ script: script(...answers), ...beside(first, "--session", path) });

const locksOf = (rpc: RpcProcess): string[] => {
  const folder = join(rpc.sandbox.agentDir, "locks");
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
};

const refusal = ({ pid }: RpcProcess, path: string): Record<string, unknown> => ({
  success: false,
  error: expect.stringMatching(new RegExp(`${path}.*in use by process ${pid}\\b`)),
});

describe("the second process on a file", () => {
  it("starts and answers whatever is only read", async () => {
    const { first, path } = await owner();
    const second = secondOf(first, path, "two");
    expect(textsOf(await messagesOf(second))).toEqual(["first", "one"]);
    expect(await messagesOf(second)).toEqual(await messagesOf(first));
    expect(await dataOf(second, { type: "get_state" })).toMatchObject({ sessionFile: path, messageCount: 2 });
    for (const type of ["get_tree", "get_entries", "get_session_stats", "get_fork_messages", "list_sessions"]) {
      await dataOf(second, { type });
    }
    expectFileHolds(path, await messagesOf(first));
  });

  it("is refused whatever would write, and told who has the file, when the first one stays", async () => {
    const { first, path } = await owner(...script("two"));
    const entryId = (await entriesOf(first))[0]?.id;
    const commands = [
      { type: "prompt", message: "mine" },
      { type: "abort_and_prompt", message: "mine" },
      { type: "compact" },
      { type: "set_session_name", name: "mine" },
      { type: "set_label", entryId, label: "mine" },
      { type: "navigate_tree", entryId },
    ];
    const before = await messagesOf(first);
    const refused = async (command: (typeof commands)[number]): Promise<void> => {
      const second = secondOf(first, path, "never");
      expect(await second.call(command)).toMatchObject(refusal(first, path));
      expect(second.types()).not.toContain("agent_start");
      expect(await messagesOf(second)).toEqual(before);
    };
    await Promise.all(commands.map(refused));
    expectFileHolds(path, before);
    await first.prompt("second");
    expect(noticesOf(first)).toEqual([]);
    expectFileHolds(path, await messagesOf(first));
  });

  it("gets its prompt, and what the first one said meanwhile, when the first one exits in time", async () => {
    const { first, path } = await owner(...script("two"));
    const second = secondOf(first, path, "three");
    await messagesOf(second);
    await first.prompt("second");
    const answer = second.prompt("third");
    first.closeStdin();
    expect((await answer).result).toMatchObject({ status: "completed" });
    const messages = await messagesOf(second);
    expect(textsOf(messages)).toEqual(["first", "one", "second", "two", "third", "three"]);
    expectFileHolds(path, messages);
    expect(noticesOf(second)).toEqual([]);
  });

  it("has the file at once when the first one is killed in mid-run, and closes that run", async () => {
    const { first, path } = await owner(WAITS);
    const second = secondOf(first, path, "three");
    await messagesOf(second);
    await runThatWaits(first, "second");
    first.kill("SIGKILL");
    await first.waitExit();
    expect((await second.prompt("third")).result).toMatchObject({ status: "completed" });
    const messages = await messagesOf(second);
    expect(textsOf(messages)).toEqual([
      ...["first", "one", "second", "waiting"],
      ...[expect.stringMatching(/^Interrupted/), "third", "three"],
    ]);
    expect(messages[4]).toMatchObject({ role: "toolResult", isError: true });
    expectFileHolds(path, messages);
  });

  it("reads on and waits its turn while the first one is in the middle of a run", async () => {
    const { first, path } = await owner(WAITS, ...script("two"));
    const run = await runThatWaits(first, "second");
    const second = secondOf(first, path, "never");
    expect(textsOf(await messagesOf(second))).toEqual(["first", "one", "second", "waiting"]);
    expect(await dataOf(second, { type: "get_state" })).not.toHaveProperty("lastRunInterrupted");
    expect(await second.call({ type: "prompt", message: "mine" })).toMatchObject(refusal(first, path));
    await run.settle();
    expect(noticesOf(first)).toEqual([]);
    expectFileHolds(path, await messagesOf(first));
  });

  it("may make a copy and go on there", async () => {
    const { first, path } = await owner(...script("two"));
    for (const command of [{ type: "clone" }, { type: "fork" }]) {
      const second = secondOf(first, path, "mine");
      const { messages } = await dataOf(second, { type: "get_fork_messages" });
      const given = command.type === "fork" ? { ...command, entryId: at(messages, 0, "entryId") } : command;
      expect(await dataOf(second, given)).toMatchObject({ cancelled: false });
      expect((await second.prompt("on my own")).result).toMatchObject({ status: "completed" });
      const copy = await fileOf(second);
      expect(copy).not.toBe(path);
      const texts = command.type === "fork" ? [] : ["first", "one"];
      expect(textsOf(await messagesOf(second))).toEqual([...texts, "on my own", "mine"]);
      expectFileHolds(copy, await messagesOf(second));
      expect(readSessionFile(copy).header).toMatchObject({ parentSession: path });
    }
    await first.prompt("second");
    expectFileHolds(path, await messagesOf(first));
  });

  it("may begin as a copy with --fork", async () => {
    const { first, path } = await owner(WAITS, ...script("two"));
    const run = await runThatWaits(first, "second");
    const second = start({ script: script("mine"), ...beside(first, "--fork", path) });
    expect((await second.prompt("on my own")).result).toMatchObject({ status: "completed" });
    expect(textsOf(await messagesOf(second)).slice(0, 4)).toEqual(["first", "one", "second", "waiting"]);
    expect(await fileOf(second)).not.toBe(path);
    await run.settle();
    expectFileHolds(path, await messagesOf(first));
  });

  it("may not delete the file", async () => {
    const { first, path } = await owner();
    const second = start(beside(first));
    expect(await second.call({ type: "delete_session", sessionPath: path })).toMatchObject(refusal(first, path));
    first.closeStdin();
    await first.waitExit();
    const { trashPath } = await dataOf(second, { type: "delete_session", sessionPath: path });
    expect([existsSync(path), existsSync(String(trashPath))]).toEqual([false, true]);
  });

  it("is kept out as well when the file is only about to begin", async () => {
    const host = start();
    const path = join(host.sandbox.cwd, "new.jsonl");
    const first = secondOf(host, path, "one");
    await messagesOf(first);
    const second = secondOf(host, path, "two");
    expect(await messagesOf(second)).toEqual([]);
    await first.prompt("I was first");
    expect(await second.call({ type: "prompt", message: "me too" })).toMatchObject(refusal(first, path));
    expectFileHolds(path, await messagesOf(first));
    first.closeStdin();
    await first.waitExit();
    await second.prompt("now");
    expect(textsOf(await messagesOf(second))).toEqual(["I was first", "one", "now", "two"]);
    expectFileHolds(path, await messagesOf(second));
  });

  it("begins the file itself when the first one leaves without a word", async () => {
    const host = start();
    const path = join(host.sandbox.cwd, "new.jsonl");
    const first = secondOf(host, path);
    await messagesOf(first);
    const second = secondOf(host, path, "two");
    await messagesOf(second);
    first.closeStdin();
    await second.prompt("now");
    expectFileHolds(path, await messagesOf(second));
    expect(await dataOf(second, { type: "get_state" })).toMatchObject({
      sessionFile: path,
      sessionId: readSessionFile(path).header?.id,
    });
    expect(locksOf(host)).toHaveLength(1);
  });

  it("is kept out under another name of the file too, also when the file was not there yet", async () => {
    const host = start({ files: { "far/x": "" } });
    const [link, file] = ["link.jsonl", "far/real.jsonl"].map((name) => join(host.sandbox.cwd, name)) as [
      string,
      string,
    ];
    symlinkSync(file, link);
    const first = secondOf(host, link, "one");
    await messagesOf(first);
    const early = secondOf(host, file, "never");
    await messagesOf(early);
    await first.prompt("first");
    const late = [secondOf(host, link, "never"), secondOf(host, file, "never")];
    const answers = [early, ...late].map((second) => second.call({ type: "prompt", message: "mine" }));
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject(refusal(first, ""));
    expectFileHolds(file, await messagesOf(first));
  });

  it("may leave the file again while it waits for it", async () => {
    const { first, path } = await owner();
    const second = secondOf(first, path, "mine");
    await messagesOf(second);
    const compacted = second.call({ type: "compact" });
    const other = join(first.sandbox.cwd, "other.jsonl");
    await dataOf(second, { type: "switch_session", sessionPath: other });
    first.closeStdin();
    expect(await compacted).toMatchObject({ success: false });
    await second.prompt("elsewhere");
    expect(await fileOf(second)).toBe(other);
    expectFileHolds(other, await messagesOf(second));
    expect(locksOf(first)).toHaveLength(1);
  });

  it("answers two who wait at the same time alike", async () => {
    const { first, path } = await owner();
    const second = secondOf(first, path, "two", "summary");
    await messagesOf(second);
    const compacted = second.call({ type: "compact" });
    const named = second.call({ type: "set_session_name", name: "ours" });
    first.closeStdin();
    expect(await named).toMatchObject({ success: true });
    expect(await compacted).toMatchObject({ success: true });
  });
});

describe("the lock of a session", () => {
  it("is gone when its process has ended", async () => {
    const { first } = await owner();
    expect(locksOf(first)).toHaveLength(1);
    first.closeStdin();
    await first.waitExit();
    expect(locksOf(first)).toEqual([]);
  });

  it.runIf(existsSync("/proc/self/stat"))(
    "is worth nothing when its number is another process's now (Linux)",
    async () => {
      const { first, path } = await owner();
      const [lock = ""] = locksOf(first);
      const content: Frame = JSON.parse(readFileSync(lock, "utf8"));
      first.closeStdin();
      await first.waitExit();
      // This very process lives, but began at another time than the one that took the lock.
      writeFileSync(lock, `${JSON.stringify({ ...content, pid: process.pid })}\n`);
      const second = secondOf(first, path, "two");
      expect((await second.prompt("second")).result).toMatchObject({ status: "completed" });
      expect(JSON.parse(readFileSync(lock, "utf8"))).toMatchObject({ pid: second.pid });
      expectFileHolds(path, await messagesOf(second));
    },
  );

  it("that cannot be made does not stop the conversation", async () => {
    const { first, path } = await owner();
    first.closeStdin();
    await first.waitExit();
    const folder = join(first.sandbox.agentDir, "locks");
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "in the way");
    const second = secondOf(first, path, "two");
    expect((await second.prompt("second")).result).toMatchObject({ status: "completed" });
    expect(noticesOf(second)).toMatchObject([{ level: "warning", message: expect.stringContaining(folder) }]);
    expectFileHolds(path, await messagesOf(second));
  });
});

describe("switch_session", () => {
  it("lets go of the old file and comes back to it", async () => {
    const { first, path } = await owner(...script("away", "back"));
    const other = join(first.sandbox.cwd, "other.jsonl");
    expect(await dataOf(first, { type: "switch_session", sessionPath: other })).toEqual({ cancelled: false });
    const second = secondOf(first, path, "two");
    expect((await second.prompt("second")).result).toMatchObject({ status: "completed" });
    await first.prompt("elsewhere");
    expectFileHolds(other, await messagesOf(first));
    second.closeStdin();
    await second.waitExit();

    await dataOf(first, { type: "switch_session", sessionPath: path });
    await first.prompt("third");
    expect(textsOf(await messagesOf(first))).toEqual(["first", "one", "second", "two", "third", "back"]);
    expectFileHolds(path, await messagesOf(first));
    expect(noticesOf(first)).toEqual([]);
  });

  it("to a file in use reads it, and writes when it is free", async () => {
    const { first, path } = await owner();
    const second = start({ script: script("mine", "two"), ...beside(first) });
    await second.prompt("elsewhere");
    const own = await fileOf(second);
    await dataOf(second, { type: "switch_session", sessionPath: path });
    expect(textsOf(await messagesOf(second))).toEqual(["first", "one"]);
    expect(await second.call({ type: "prompt", message: "mine" })).toMatchObject(refusal(first, path));
    first.closeStdin();
    await first.waitExit();
    await second.prompt("second");
    expectFileHolds(path, await messagesOf(second));
    expect(await messagesOf(second)).toHaveLength(4);
    expect(readSessionFile(own).entries.filter(({ type }) => type === "message")).toHaveLength(2);
  });

  it("to the file that is open changes nothing, also under another name and in mid-run", async () => {
    const { first, path } = await owner(WAITS, ...script("three"));
    await dataOf(first, { type: "switch_session", sessionPath: path });
    const link = join(first.sandbox.cwd, "link.jsonl");
    symlinkSync(path, link);
    await runThatWaits(first, "second");
    await dataOf(first, { type: "switch_session", sessionPath: link });
    expect(first.types().at(-1)).toBe("response");
    await first.prompt("third");
    expect(await fileOf(first)).toBe(path);
    expect(textsOf(await messagesOf(first))).toEqual([
      ...["first", "one", "second", "waiting"],
      ...[expect.anything(), "third", "three"],
    ]);
    expectFileHolds(path, await messagesOf(first));
    expect(locksOf(first)).toHaveLength(1);
  });

  it.each<[string, (path: string) => void, RegExp]>([
    ["a folder", (path) => mkdirSync(path), /is a folder, not a session file/],
    ["what is no session", (path) => writeFileSync(path, "hello\n"), /is not a session file/],
  ])("to %s is refused, and the old session goes on", async (_what, make, says) => {
    const { first, path } = await owner(...script("two"));
    const target = join(first.sandbox.cwd, "target");
    make(target);
    const answer = await first.call({ type: "switch_session", sessionPath: target });
    expect(answer).toMatchObject({ success: false, error: expect.stringMatching(says) });
    await first.prompt("second");
    expect(textsOf(await messagesOf(first))).toEqual(["first", "one", "second", "two"]);
    expectFileHolds(path, await messagesOf(first));
    expect(locksOf(first)).toHaveLength(1);
  });
});
