import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { isEndOf, messagesOf, ofType, stateOf } from "./looking.ts";

/** What is on disk, and when (decisions 4, 24 and 35; the session file of the family, version 3). */

const start = useRpc();
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const fileOf = async (rpc: RpcProcess): Promise<string> => String((await stateOf(rpc)).sessionFile);
const linesOf = (path: string): Frame[] =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Frame);
const kindsOf = (path: string): unknown[] =>
  linesOf(path).map((line) => (line.type === "message" ? at(line, "message", "role") : line.type));
const filesBelow = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
        (path) => !statSync(join(folder, path)).isDirectory(),
      )
    : [];
const BEGIN = ["session", "model_change", "thinking_level_change"];

describe("the session file", () => {
  it("has a header, then entries that form a chain; its messages are those of get_messages", async () => {
    const script = ['text "Looking." + toolCall read {"path":"a.txt"}', 'text "It says A."'];
    const rpc = start({ script, files: { "a.txt": "A\n" } });
    const { sessionFile, sessionId } = await stateOf(rpc);
    await rpc.prompt("read a.txt");
    const [header, ...entries] = linesOf(String(sessionFile));
    expect(header).toEqual({
      type: "session",
      version: 3,
      id: sessionId,
      timestamp: expect.stringMatching(ISO),
      cwd: rpc.sandbox.cwd,
    });
    expect(kindsOf(String(sessionFile)).slice(1)).toEqual([
      ...BEGIN.slice(1),
      ...["user", "assistant", "toolResult", "assistant"],
    ]);
    let parentId: unknown = null;
    for (const entry of entries) {
      expect(entry).toMatchObject({
        id: expect.stringMatching(/^[0-9a-f]{8}$/),
        parentId,
        timestamp: expect.stringMatching(ISO),
      });
      parentId = entry.id;
    }
    expect(entries[0]).toMatchObject({ provider: "script", modelId: "script", model: "script/script" });
    expect(entries[1]).toMatchObject({ thinkingLevel: "medium" });
    const messages = entries.filter(({ type }) => type === "message").map(({ message }) => message);
    expect(messages).toEqual(await messagesOf(rpc));
  });

  it("keeps the changes of model and thinking level where they happened", async () => {
    const models =
      '{"providers":{"acme":{"baseUrl":"http://127.0.0.1:9","apiKey":"k","api":"anthropic-messages","models":[{"id":"m"}]}}}';
    const rpc = start({ script: ['text "one"', 'text "two"'], agentFiles: { "models.json": models } });
    await rpc.prompt("one");
    await rpc.call({ type: "set_thinking_level", level: "high" });
    await rpc.call({ type: "set_model", provider: "acme", modelId: "m" });
    await rpc.call({ type: "set_model", provider: "script", modelId: "script" });
    await rpc.prompt("two");
    const path = await fileOf(rpc);
    const tail = linesOf(path).slice(5);
    expect(
      tail.map(({ type, thinkingLevel, model, message }) => [type, thinkingLevel ?? model ?? at(message, "role")]),
    ).toEqual([
      ["thinking_level_change", "high"],
      ["model_change", "acme/m"],
      ["thinking_level_change", "off"],
      ["model_change", "script/script"],
      ["thinking_level_change", "high"],
      ["message", "user"],
      ["message", "assistant"],
    ]);
  });

  it("appears with the first user message, not earlier (decision 35)", async () => {
    const rpc = start({ script: ["hang"] });
    const path = await fileOf(rpc);
    await rpc.call({ type: "get_messages" });
    await rpc.call({ type: "set_thinking_level", level: "low" });
    expect(filesBelow(join(rpc.sandbox.agentDir, "sessions"))).toEqual([]);
    await rpc.call({ type: "prompt", message: "hi" });
    await rpc.waitFor("message_start");
    expect(kindsOf(path)).toEqual([...BEGIN, "thinking_level_change", "user"]);
    await rpc.call({ type: "abort" });
  });

  it("leaves nothing behind of a process that was only asked questions", async () => {
    const rpc = start();
    await stateOf(rpc);
    await rpc.call({ type: "get_available_models" });
    rpc.closeStdin();
    await rpc.waitExit();
    expect(existsSync(join(rpc.sandbox.agentDir, "sessions"))).toBe(false);
  });

  it("has every message before the host hears that it is complete (decision 35, write then tell)", async () => {
    const script = ['text "I will wait." + toolCall bash {"command":"until [ -e go ]; do sleep 0.02; done"}', "hang"];
    const rpc = start({ script });
    const path = await fileOf(rpc);
    await rpc.call({ type: "prompt", message: "go" });
    const steps = [
      ["user", ["user"]],
      ["assistant", ["user", "assistant"]],
      ["toolResult", ["user", "assistant", "toolResult"]],
    ] as const;
    for (const [role, kinds] of steps) {
      const { message } = await rpc.waitFor(isEndOf(role));
      // More may be there by now: the process does not wait for us.
      expect(kindsOf(path).slice(BEGIN.length, BEGIN.length + kinds.length)).toEqual(kinds);
      expect(linesOf(path).map((line) => line.message)).toContainEqual(message);
      if (role === "assistant") writeFileSync(join(rpc.sandbox.cwd, "go"), "");
    }
    rpc.kill("SIGKILL");
    await rpc.waitExit();
    expect(kindsOf(path)).toEqual([...BEGIN, "user", "assistant", "toolResult"]);
  });

  it("has the aborted answer too when stdin closes in the middle of it", async () => {
    const rpc = start({ script: ['text "half" + hang'] });
    const path = await fileOf(rpc);
    await rpc.call({ type: "prompt", message: "go" });
    await rpc.waitFor("message_update");
    rpc.closeStdin();
    expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
    expect(linesOf(path).at(-1)).toMatchObject({ message: { role: "assistant", stopReason: "aborted" } });
  });

  it("is one file for a session, readable by its owner only", async () => {
    const rpc = start({ script: ['text "one"', 'text "two"'] });
    await rpc.prompt("one");
    await rpc.prompt("two");
    const path = await fileOf(rpc);
    expect(filesBelow(join(rpc.sandbox.agentDir, "sessions"))).toHaveLength(1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe("where it is", () => {
  it("nowhere with --no-session", async () => {
    const rpc = start({ script: ['text "hi"'], args: ["--no-session"] });
    await rpc.prompt("hi");
    expect(await messagesOf(rpc)).toHaveLength(2);
    expect(existsSync(join(rpc.sandbox.agentDir, "sessions"))).toBe(false);
    expect(filesBelow(rpc.sandbox.cwd)).toEqual([]);
  });

  it.each([
    ["by --session-dir", { args: ["--session-dir", "kept/here"] }],
    ["by the environment", { env: { PI_CODING_AGENT_SESSION_DIR: "kept/here" } }],
    ["by a setting", { agentFiles: { "settings.json": '{"sessionDir":"kept/here"}' } }],
  ])("directly in the folder that is named %s", async (_name, options) => {
    const rpc = start({ script: ['text "hi"'], ...options });
    await rpc.prompt("hi");
    const folder = join(rpc.sandbox.cwd, "kept/here");
    expect(filesBelow(folder)).toHaveLength(1);
    expect(await fileOf(rpc)).toBe(join(folder, filesBelow(folder)[0] as string));
  });
});

it("the folder of an existing set-up of pi is used when PI_CODING_AGENT_DIR names it", async () => {
  const rpc = start({ script: ['text "hi"'], env: { PI_CODING_AGENT_DIR: "~/.pi/agent" } });
  await rpc.prompt("hi");
  expect(filesBelow(join(rpc.sandbox.home, ".pi/agent/sessions"))).toHaveLength(1);
  expect(existsSync(join(rpc.sandbox.agentDir, "sessions"))).toBe(false);
});

describe("a file that cannot be written", () => {
  it("is told once by a notice, and the session goes on in memory", async () => {
    // A file in the place of the folder: it stops the superuser too.
    const rpc = start({
      script: ['text "one"', 'text "two"'],
      files: { taken: "" },
      args: ["--session-dir", "taken/x"],
    });
    expect((await rpc.prompt("one")).result.status).toBe("completed");
    expect((await rpc.prompt("two")).result.status).toBe("completed");
    const notices = ofType(rpc.frames, "notice");
    expect(notices).toMatchObject([
      {
        level: "error",
        message: expect.stringMatching(/cannot be written.*goes on in memory and is written as soon as/),
      },
    ]);
    expect(at(notices[0], "message")).toContain("taken/x");
    expect(await messagesOf(rpc)).toHaveLength(4);
  });

  it("because its folder went away in between loses no message of the conversation", async () => {
    const rpc = start({ script: ['text "one"', 'text "two"'], args: ["--session-dir", "kept"] });
    mkdirSync(join(rpc.sandbox.cwd, "kept"));
    await rpc.prompt("one");
    rmSync(join(rpc.sandbox.cwd, "kept"), { recursive: true });
    expect((await rpc.prompt("two")).result.status).toBe("completed");
    expect(await messagesOf(rpc)).toHaveLength(4);
  });
});
