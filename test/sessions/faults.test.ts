import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { at } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import {
  beside,
  expectFileHolds,
  fileOf,
  messagesOf,
  noticesOf,
  runThatWaits,
  script,
  textsOf,
  WAITS,
} from "./support/stories.ts";

/** What others do to a session file while it is open, and disks that do not want to. Nothing that was said is lost. */

const start = useRpc();

async function expectOpensComplete(rpc: RpcProcess, path: string): Promise<void> {
  const messages = await messagesOf(rpc);
  rpc.closeStdin();
  await rpc.waitExit();
  const next = start(beside(rpc, "--session", path));
  expect(await messagesOf(next)).toEqual(messages);
  expect(noticesOf(next).filter(({ source }) => source === "session")).toEqual([]);
}

describe("a session file in the middle of a run", () => {
  const changes: [what: string, change: (path: string) => void, says: string][] = [
    ["is deleted", (path) => rmSync(path), "was deleted or moved from outside"],
    ["is moved away", (path) => renameSync(path, `${path}.moved`), "was deleted or moved from outside"],
    ["is emptied", (path) => truncateSync(path), "was cut to 0 bytes from outside"],
    ["is cut in a line", (path) => truncateSync(path, statSync(path).size - 7), "was cut to"],
    ["is cut between lines", (path) => truncateSync(path, readFileSync(path).lastIndexOf("\n", -2) + 1), "was cut to"],
    ["is replaced", (path) => replace(path, "something else\n"), "was replaced from outside"],
    ["loses its folder", (path) => rmSync(dirname(path), { recursive: true }), "was deleted or moved from outside"],
  ];

  it.each(changes)("%s: that is told once, and the file is written anew", async (_what, change, says) => {
    const rpc = start({ script: [...script("one"), WAITS, ...script("two", "three")] });
    await rpc.prompt("first");
    const path = await fileOf(rpc);
    const run = await runThatWaits(rpc, "second");
    change(path);
    expect(await run.settle()).toMatchObject({ status: "completed" });
    expect(noticesOf(rpc)).toMatchObject([
      { level: "error", message: expect.stringContaining(`${path} ${says}`) },
      { level: "info", message: expect.stringContaining(`${path} again`) },
    ]);
    expectFileHolds(path, await messagesOf(rpc));
    await rpc.prompt("third");
    expect(noticesOf(rpc)).toHaveLength(2);
    const messages = await messagesOf(rpc);
    expect(textsOf(messages)).toEqual([
      "first",
      "one",
      "second",
      "waiting",
      expect.anything(),
      "two",
      "third",
      "three",
    ]);
    expectFileHolds(path, messages);
    await expectOpensComplete(rpc, path);
  });

  it("is replaced by somebody's other file, which is kept", async () => {
    const rpc = start({ script: script("one", "two", "three") });
    await rpc.prompt("first");
    const path = await fileOf(rpc);
    for (const [text, name] of [
      ["theirs\n", `${path}.replaced`],
      ["more of theirs\n", `${path}.replaced-2`],
    ] as const) {
      replace(path, text);
      await rpc.prompt("again");
      expect(readFileSync(name, "utf8")).toBe(text);
    }
    expectFileHolds(path, await messagesOf(rpc));
  });

  it("is written by another program too: both are kept", async () => {
    const rpc = start({ script: script("one", "two") });
    await rpc.prompt("first");
    const path = await fileOf(rpc);
    const line =
      '{"type":"custom","id":"0badcafe","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","customType":"x"}';
    writeFileSync(path, line, { flag: "a" });
    await rpc.prompt("second");
    expect(noticesOf(rpc)[0]).toMatchObject({
      level: "error",
      message: expect.stringContaining(`${path} is written by another program too`),
    });
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines).toContain(line);
    const kept = lines.filter((text) => text !== "" && text !== line).map((text) => at(JSON.parse(text), "message"));
    expect(kept.filter(Boolean)).toEqual(await messagesOf(rpc));
  });

  it("is written by a process with another agent folder, whose locks lie elsewhere: each has a branch of its own", async () => {
    const rpc = start({ script: script("one", "two", "three") });
    await rpc.prompt("first");
    const path = await fileOf(rpc);
    const other = start({ script: script("their two", "their three"), args: ["--session", path] });
    expect(await messagesOf(other)).toHaveLength(2);
    for (const text of ["second", "third"]) {
      await rpc.prompt(text);
      await other.prompt(`their ${text}`);
    }
    const told = expect.stringContaining(`${path} is written by another program too`);
    for (const each of [rpc, other]) expect(noticesOf(each)[0]).toMatchObject({ level: "error", message: told });
    const mine = await messagesOf(rpc);
    const theirs = await messagesOf(other);
    expect(textsOf(mine)).toEqual(["first", "one", "second", "two", "third", "three"]);
    expect(textsOf(theirs).slice(2)).toEqual(["their second", "their two", "their third", "their three"]);
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const kept = lines.map((line) => at(JSON.parse(line), "message")).filter(Boolean);
    expect(kept).toEqual(expect.arrayContaining([...mine, ...theirs]));
    for (const each of [rpc, other]) {
      each.closeStdin();
      await each.waitExit();
    }
    expect(await messagesOf(start(beside(rpc, "--session", path)))).toEqual(theirs);
  });

  it("makes way for a folder: the conversation goes on in memory until the folder is gone", async () => {
    const rpc = start({ script: [...script("one"), WAITS, ...script("two", "three")] });
    await rpc.prompt("first");
    const path = await fileOf(rpc);
    const run = await runThatWaits(rpc, "second");
    rmSync(path);
    mkdirSync(path);
    expect(await run.settle()).toMatchObject({ status: "completed" });
    expect(noticesOf(rpc)).toMatchObject([{ level: "error", message: expect.stringContaining(`${path} cannot be`) }]);
    expect(await messagesOf(rpc)).toHaveLength(6);
    rmSync(path, { recursive: true });
    await rpc.prompt("third");
    expect(noticesOf(rpc).slice(1)).toMatchObject([{ level: "info", message: expect.stringContaining("again") }]);
    expectFileHolds(path, await messagesOf(rpc));
    await expectOpensComplete(rpc, path);
  });

  it("is written without a word from anybody as soon as that is possible", async () => {
    const rpc = start({ script: script("one", "two") });
    await rpc.prompt("first");
    const path = await fileOf(rpc);
    rmSync(path);
    mkdirSync(path);
    await rpc.prompt("second");
    rmSync(path, { recursive: true });
    await rpc.waitFor(({ type, level }) => type === "notice" && level === "info");
    expectFileHolds(path, await messagesOf(rpc));
  });
});

/** Another file under the same name, as editors that save by renaming do. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

describe("a session file that is a link", () => {
  const linked = async () => {
    const rpc = start({ script: script("one", "two"), args: ["--session", "link.jsonl"], files: { "far/x": "" } });
    const [link, file] = ["link.jsonl", "far/real.jsonl"].map((name) => join(rpc.sandbox.cwd, name)) as [
      string,
      string,
    ];
    symlinkSync(file, link);
    await rpc.prompt("first");
    return { rpc, link, file };
  };

  it("stays one, and its target has the conversation", async () => {
    const { rpc, link, file } = await linked();
    await rpc.prompt("second");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(lstatSync(file).isFile()).toBe(true);
    expectFileHolds(file, await messagesOf(rpc));
    await expectOpensComplete(rpc, link);
  });

  it("stays one when its target was deleted, which is written anew", async () => {
    const { rpc, link, file } = await linked();
    rmSync(file);
    await rpc.prompt("second");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expectFileHolds(file, await messagesOf(rpc));
    expect(noticesOf(rpc)).toMatchObject([{ level: "error" }, { level: "info" }]);
  });
});

describe("a folder for sessions that cannot be made", () => {
  it("is told by name; the conversation is written when it can be made", async () => {
    const rpc = start({
      script: script("one", "two", "three"),
      files: { taken: "" },
      args: ["--session-dir", "taken/x"],
    });
    const path = await fileOf(rpc);
    expect((await rpc.prompt("first")).result.status).toBe("completed");
    expect((await rpc.prompt("second")).result.status).toBe("completed");
    expect(noticesOf(rpc)).toMatchObject([{ level: "error", message: expect.stringContaining(`${path} cannot be`) }]);
    expect(await messagesOf(rpc)).toHaveLength(4);
    rmSync(join(rpc.sandbox.cwd, "taken"));
    await rpc.prompt("third");
    expect(noticesOf(rpc).slice(1)).toMatchObject([{ level: "info" }]);
    expectFileHolds(path, await messagesOf(rpc));
    await expectOpensComplete(rpc, path);
  });

  it("stops nobody who keeps no sessions", async () => {
    const args = ["--session-dir", "taken/x", "--no-session"];
    const rpc = start({ script: script("one"), files: { taken: "" }, args });
    await rpc.prompt("first");
    expect(noticesOf(rpc)).toEqual([]);
    expect(readdirSync(rpc.sandbox.agentDir)).not.toContain("sessions");
    expect(existsSync(join(rpc.sandbox.cwd, "taken/x"))).toBe(false);
  });
});

describe("a copy that cannot be written", () => {
  it("is refused by name, and the session goes on where it is", async () => {
    const rpc = start({ script: script("one", "two"), args: ["--session-dir", "kept"] });
    await rpc.prompt("first");
    const path = await fileOf(rpc);
    const folder = dirname(path);
    renameSync(folder, `${folder}-moved`);
    writeFileSync(folder, "in the way");
    const { messages } = (await rpc.call({ type: "get_fork_messages" })).data as { messages: { entryId: string }[] };
    expect(messages).toHaveLength(1);
    expect(await rpc.call({ type: "clone" })).toMatchObject({ success: false, error: expect.stringContaining(folder) });
    rmSync(folder);
    renameSync(`${folder}-moved`, folder);
    expect((await rpc.prompt("second")).result).toMatchObject({ status: "completed" });
    expect(await fileOf(rpc)).toBe(path);
    expectFileHolds(path, await messagesOf(rpc));
    expect(readdirSync(folder)).toHaveLength(1);
  });
});
