import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { messagesOf, stateOf } from "./looking.ts";
import { fileOf, kindsOf, linesOf, STORY, sessionFiles, sessionText } from "./session-files.ts";

/** Which session the command line asks for: --session, --continue, --resume, --fork, --session-id, --name. */

const start = useRpc();
const script = ['text "one"', 'text "two"'];
const textsOf = async (rpc: RpcProcess): Promise<unknown[]> =>
  (await messagesOf(rpc)).map((message) => at(message, "content", 0, "text"));

/** A second process in the place of the first. */
const beside = (first: RpcProcess, ...args: string[]): RpcProcess =>
  start({ script, args, env: { TILLER_DIR: first.sandbox.agentDir, PWD: undefined } });

/** A process that has said something and is gone; another one can be started with the same agent folder. */
async function earlier(...args: string[]): Promise<{ first: RpcProcess; path: string; id: string }> {
  const first = start({ script, args: ["--session-dir", "~/kept", ...args] });
  await first.prompt("first");
  const { sessionFile, sessionId } = await stateOf(first);
  first.closeStdin();
  await first.waitExit();
  return { first, path: String(sessionFile), id: String(sessionId) };
}

describe("the command line", () => {
  it("opens a session by its path, its id or the beginning of it, and starts one at a path that is not there", async () => {
    const { first, path, id } = await earlier();
    const dir = ["--session-dir", join(first.sandbox.home, "kept")];
    for (const named of [path, id, id.slice(0, -4)]) {
      const rpc = beside(first, ...dir, "--session", named);
      expect(await fileOf(rpc), named).toBe(path);
      expect(await textsOf(rpc)).toEqual(["first", "one"]);
      rpc.closeStdin();
      await rpc.waitExit();
    }
    const fresh = start({ script, args: ["--session", "new.jsonl"] });
    await fresh.prompt("hello");
    expect(kindsOf(join(fresh.sandbox.cwd, "new.jsonl")).at(-1)).toBe("assistant");
    expect(sessionFiles(fresh)).toEqual([]);
  });

  it.each(["--continue", "-c", "--resume"])("goes on with the latest session by %s, or begins one", async (option) => {
    const { first, path } = await earlier();
    const rpc = beside(first, "--session-dir", join(first.sandbox.home, "kept"), option);
    expect(await fileOf(rpc)).toBe(path);
    await rpc.prompt("second");
    expect(kindsOf(path).filter((kind) => kind === "user")).toHaveLength(2);
    const none = start({ script, args: [option] });
    expect(await stateOf(none)).toMatchObject({ messageCount: 0 });
  });

  it("starts with a copy by --fork, and the original stays as it is", async () => {
    const { first, path, id } = await earlier();
    const rpc = beside(first, "--session-dir", join(first.sandbox.home, "kept"), "--fork", id, "--name", "a copy");
    expect(await stateOf(rpc)).toMatchObject({ sessionName: "a copy", messageCount: 2 });
    const copy = await fileOf(rpc);
    expect(linesOf(copy)[0]).toMatchObject({ parentSession: path });
    await rpc.prompt("second");
    expect(kindsOf(path).filter((kind) => kind === "user")).toHaveLength(1);
    expect(kindsOf(copy).filter((kind) => kind === "user")).toHaveLength(2);
  });

  it("opens the session with a given id again, so that a host may use the same command line each time", async () => {
    const { first, path } = await earlier("--session-id", "job-17");
    expect(path).toMatch(/_job-17\.jsonl$/);
    const again = beside(first, "--session-dir", join(first.sandbox.home, "kept"), "--session-id", "job-17");
    expect(await stateOf(again)).toMatchObject({ sessionId: "job-17", sessionFile: path, messageCount: 2 });
  });

  it("says more than the session about the model and the level", async () => {
    const rpc = start({ script, args: ["--session", "boats.jsonl", "--thinking", "low"] });
    expect(await stateOf(rpc)).toMatchObject({ thinkingLevel: "low", model: { provider: "script" } });
  });

  const REFUSED: [args: string[], says: RegExp][] = [
    [["--session", "nowhere"], /No session found matching 'nowhere'/],
    [["--session", "nowhere", "--dialect", "xcsh"], /Session "nowhere" not found\./],
    [["--fork", "nowhere"], /No session found matching 'nowhere'/],
    [["--fork", "notes.txt.jsonl"], /is no session file/],
    [["--session", "../cwd"], /is not a file/],
    [["--session", "notes.txt.jsonl"], /is not a session file/],
    [["--fork", "a.jsonl", "--continue"], /--fork cannot be used with --continue/],
    [["--no-session", "--session", "a.jsonl"], /--no-session cannot be used with --session/],
    [["--session-id", "../up"], /--session-id cannot be "\.\.\/up"/],
    [["--name", " "], /--name cannot be empty/],
  ];

  it.each(REFUSED)("%j is an error on stderr, exit code 1, and no frame", async (args, says) => {
    const rpc = start({ script, args, files: { "notes.txt.jsonl": "Dear diary,\n" } });
    expect(await rpc.waitExit()).toMatchObject({ code: 1 });
    expect(rpc.stderr).toMatch(says);
    expect(rpc.frames).toEqual([]);
    expect(sessionFiles(rpc)).toEqual([]);
  });

  it("leaves no file behind at a path where nothing was said", async () => {
    const rpc = start({ script, args: ["--dialect", "pi", "--session", "boats.jsonl"] });
    expect(await stateOf(rpc)).toMatchObject({ messageCount: 0 });
    const path = join(rpc.sandbox.cwd, "theirs.jsonl");
    writeFileSync(path, sessionText(rpc.sandbox.cwd, STORY));
    expect(await rpc.call({ type: "switch_session", sessionPath: path })).toMatchObject({ success: true });
    expect(await textsOf(rpc)).toHaveLength(4);
    expect(existsSync(join(rpc.sandbox.cwd, "boats.jsonl"))).toBe(false);
  });
});
