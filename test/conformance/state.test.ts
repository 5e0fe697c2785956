import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { COMMANDS } from "@tiller/protocol/commands/index";
import type { CommandRow, EventRow } from "@tiller/protocol/define";
import { EVENTS } from "@tiller/protocol/events";
import { describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { useRpc } from "../support/rpc-process.ts";
import { isEndOf, isIncrement, messagesOf, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";

const start = useRpc();
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const READ_TWICE = ['toolCall read {"path":"a.txt"}', 'text "It says A."'];

describe("get_state", () => {
  proves(
    [
      "pi.state.command",
      "pi.state.model",
      "pi.state.is-compacting",
      "pi.state.session-id",
      "pi.state.session-name-absent",
      "pi.state.auto-compaction",
      "pi.state.pending-count",
      "omp.state.queued-count",
      "xcsh.state.todo-phases",
    ],
    "tells all of a session that has just begun, and nothing that is not there",
    async () => {
      const rpc = start({ script: ['text "unused"'] });
      const { cwd, agentDir } = rpc.sandbox;
      const response = await rpc.call({ id: "s1", type: "get_state" });
      expect(response).toEqual({
        id: "s1",
        type: "response",
        command: "get_state",
        success: true,
        data: {
          model: {
            id: "script",
            name: "Script (plays turns from a file)",
            api: "script",
            provider: "script",
            baseUrl: pathToFileURL(join(agentDir, "model-script.json")).href,
            reasoning: true,
            input: ["text", "image"],
            cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
            contextWindow: 200_000,
            maxTokens: 8192,
          },
          thinkingLevel: "medium",
          isStreaming: false,
          isCompacting: false,
          isSettled: true,
          hasPendingAsyncWork: false,
          steeringMode: "one-at-a-time",
          followUpMode: "one-at-a-time",
          interruptMode: "wait",
          sessionFile: expect.stringContaining(join(agentDir, "sessions", `--${cwd.slice(1).replaceAll("/", "-")}--`)),
          sessionId: expect.stringMatching(UUID_V7),
          autoCompactionEnabled: true,
          autoRetryEnabled: true,
          messageCount: 0,
          pendingMessageCount: 0,
          queuedMessageCount: 0,
          todoPhases: [],
          contextUsage: { tokens: 0, contextWindow: 200_000, percent: 0 },
        },
      });
    },
  );

  proves("pi.state.model", "tells the whole model of the catalogue, also when it is chosen by a setting", async () => {
    const rpc = start({
      env: { ANTHROPIC_API_KEY: "test" },
      agentFiles: { "settings.json": '{"defaultProvider":"anthropic","defaultModel":"claude-sonnet-4-5"}' },
    });
    expect((await stateOf(rpc)).model).toEqual({
      id: "claude-sonnet-4-5",
      name: "Claude Sonnet 4.5",
      api: "anthropic-messages",
      provider: "anthropic",
      baseUrl: "https://api.anthropic.com",
      reasoning: true,
      input: ["text", "image"],
      cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
      contextWindow: 200_000,
      maxTokens: 64_000,
      compat: { thinking: "budget", interleavedThinking: true },
    });
  });

  proves(
    "pi.state.model-null",
    "has a null model when none is usable, and a prompt says how to get one (decision 12)",
    async () => {
      const rpc = start({ args: ["--no-offline-model"] });
      expect(await stateOf(rpc)).toMatchObject({ model: null, thinkingLevel: "off", isStreaming: false });
      const refused = await rpc.call({ type: "prompt", message: "hi" });
      expect(refused).toMatchObject({ command: "prompt", success: false });
      expect(refused.error).toMatch(/No model selected.*ANTHROPIC_API_KEY.*--model.*models\.json/);
      expect(rpc.types()).toEqual(["ready", "response", "response"]);
    },
  );

  proves(
    "pi.state.model-null",
    "does not put the offline model in the place of one that does not exist (decision 12)",
    async () => {
      const rpc = start({ args: ["--model", "nobody/knows-it"] });
      expect((await stateOf(rpc)).model).toBeNull();
      expect(await rpc.call({ type: "prompt", message: "hi" })).toMatchObject({
        success: false,
        error: expect.stringContaining('Model "nobody/knows-it" not found.'),
      });
      expect(rpc.stderr).toContain('Model "nobody/knows-it" not found.');
    },
  );

  proves(
    ["pi.state.thinking-level", "omp.state.thinking-level"],
    "tells each of the six thinking levels while it is in use",
    async () => {
      const rpc = start({ env: { ANTHROPIC_API_KEY: "test" }, args: ["--model", "claude-opus-5"] });
      const levels = ["off", "minimal", "low", "medium", "high", "xhigh"];
      const told: unknown[] = [];
      for (const level of levels) {
        await rpc.call({ type: "set_thinking_level", level });
        told.push((await stateOf(rpc)).thinkingLevel);
      }
      expect(told).toEqual(levels);
    },
  );

  proves(
    "pi.state.is-streaming",
    "says isStreaming from the acceptance of a prompt to its end (decisions 4, 11)",
    async () => {
      const rpc = start({ script: ["hang"] });
      rpc.send('{"id":"p","type":"prompt","message":"go"}\n{"id":"s","type":"get_state"}\n');
      const during = await rpc.waitFor(({ id }) => id === "s");
      expect(during.data).toMatchObject({ isStreaming: true, isSettled: false });
      await rpc.waitFor("agent_start");
      expect(await stateOf(rpc)).toMatchObject({ isStreaming: true, isSettled: false });
      await rpc.call({ type: "abort" });
      expect(await stateOf(rpc)).toMatchObject({ isStreaming: false, isSettled: true });
    },
  );

  proves(
    ["pi.state.steering-mode", "pi.state.follow-up-mode", "omp.state.interrupt-mode", "pi.state.auto-compaction"],
    "tells the modes in use, those of the settings file and those a host has set since",
    async () => {
      const settings = {
        steeringMode: "all",
        followUpMode: "all",
        interruptMode: "immediate",
        compaction: { enabled: false },
        retry: { enabled: false },
      };
      const rpc = start({ agentFiles: { "settings.json": JSON.stringify(settings) } });
      expect(await stateOf(rpc)).toMatchObject({
        steeringMode: "all",
        followUpMode: "all",
        interruptMode: "immediate",
        autoCompactionEnabled: false,
        autoRetryEnabled: false,
      });
      await rpc.call({ type: "set_steering_mode", mode: "one-at-a-time" });
      await rpc.call({ type: "set_follow_up_mode", mode: "one-at-a-time" });
      await rpc.call({ type: "set_interrupt_mode", mode: "wait" });
      await rpc.call({ type: "set_auto_compaction", enabled: true });
      expect(await stateOf(rpc)).toMatchObject({
        steeringMode: "one-at-a-time",
        followUpMode: "one-at-a-time",
        interruptMode: "wait",
        autoCompactionEnabled: true,
      });
    },
  );

  proves(
    ["pi.state.session-file", "pi.state.session-id"],
    "tells the path of the session file before there is a file, and never another one",
    async () => {
      const rpc = start({ script: ['text "hello"'] });
      const { sessionFile, sessionId } = await stateOf(rpc);
      expect(existsSync(String(sessionFile))).toBe(false);
      expect(sessionFile).toMatch(/\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[-0-9a-f]{36}\.jsonl$/);
      expect(sessionFile).toContain(`_${sessionId}.jsonl`);
      await rpc.prompt("hi");
      expect(existsSync(String(sessionFile))).toBe(true);
      expect(await stateOf(rpc)).toMatchObject({ sessionFile, sessionId });
    },
  );

  proves("pi.state.session-file", "has no session file with --no-session, but an id", async () => {
    const rpc = start({ args: ["--no-session"] });
    const state = await stateOf(rpc);
    expect(state).not.toHaveProperty("sessionFile");
    expect(state.sessionId).toMatch(UUID_V7);
  });

  proves("pi.state.message-count", "counts every message, those of tools too", async () => {
    const rpc = start({ script: [...READ_TWICE, 'text "again"'], files: { "a.txt": "A\n" } });
    await rpc.prompt("read a.txt");
    expect((await stateOf(rpc)).messageCount).toBe(4);
    await rpc.prompt("again");
    expect((await stateOf(rpc)).messageCount).toBe(6);
  });

  it("has no system prompt (decision 11)", async () => {
    expect(await stateOf(start())).not.toHaveProperty("systemPrompt");
  });
});

describe("get_messages", () => {
  proves(
    ["pi.messages.command", "pi.messages.all"],
    "is an empty list at first, and then has every message",
    async () => {
      const rpc = start({ script: [...READ_TWICE, 'text "Nothing else."'], files: { "a.txt": "A\n" } });
      expect(await rpc.call({ id: "m", type: "get_messages" })).toEqual({
        id: "m",
        type: "response",
        command: "get_messages",
        success: true,
        data: { messages: [] },
      });
      const first = await rpc.prompt("read a.txt");
      const second = await rpc.prompt("what else?");
      const told = [...first.frames, ...second.frames].filter((frame) => frame.type === "message_end");
      const messages = await messagesOf(rpc);
      expect(messages).toEqual(told.map((frame) => frame.message));
      expect(messages.map(({ role }) => role)).toEqual([
        ...["user", "assistant", "toolResult", "assistant"],
        ...["user", "assistant"],
      ]);
      expect(messages[0]).toEqual({
        role: "user",
        content: [{ type: "text", text: "read a.txt" }],
        timestamp: expect.any(Number),
      });
    },
  );

  it("has an answer only when it is complete", async () => {
    const rpc = start({ script: ['text "half" + hang'] });
    await rpc.call({ type: "prompt", message: "go" });
    await rpc.waitFor(isIncrement("text_delta"));
    expect((await messagesOf(rpc)).map(({ role }) => role)).toEqual(["user"]);
    await rpc.call({ type: "abort" });
    expect((await messagesOf(rpc)).at(-1)).toMatchObject({ stopReason: "aborted", content: [{ text: "half" }] });
  });
});

describe("get_last_assistant_text", () => {
  const lastText = { id: "t", type: "get_last_assistant_text" };

  proves("pi.last-text.command", "is the text of the last answer, without its thinking and tool calls", async () => {
    const script = [
      'thinking "hm" + text "One, " + text "two." newBlock true',
      'text "A look: " + toolCall ls {}',
      "hang",
    ];
    const rpc = start({ script });
    await rpc.prompt("count");
    expect(await rpc.call(lastText)).toEqual({
      id: "t",
      type: "response",
      command: "get_last_assistant_text",
      success: true,
      data: { text: "One, two." },
    });
    await rpc.call({ type: "prompt", message: "and now look" });
    await rpc.waitFor(isEndOf("toolResult"));
    expect((await rpc.call({ ...lastText, id: "t2" })).data).toEqual({ text: "A look:" });
    await rpc.call({ type: "abort" });
    expect((await rpc.call({ ...lastText, id: "t3" })).data).toEqual({ text: "A look:" });
  });

  proves("pi.last-text.command", "has no text while there is no answer (decision 10)", async () => {
    const rpc = start();
    expect((await rpc.call(lastText)).data).toEqual({});
  });
});

describe("get_capabilities", () => {
  it("lists the commands that work and no other, the version and the limits (decision 30)", async () => {
    const rpc = start({ args: ["--no-session"] });
    const { data } = await rpc.call({ type: "get_capabilities" });
    const ready = rpc.frames[0] as Frame;
    expect(data).toEqual({
      version: ready.version,
      dialect: "union",
      protocolVersion: 1,
      supportedProtocolVersions: [1, 2],
      commands: expect.any(Array),
      events: expect.any(Array),
      limits: ready.limits,
    });
    const listed = list(at(data, "commands"));
    const refused: string[] = [];
    for (const { type, examples } of Object.values<CommandRow>(COMMANDS)) {
      if (type === "prompt" || type === "get_capabilities") continue;
      const response = await rpc.call({ type, ...(examples[0]?.params as object) });
      if (/is not available in this version/.test(String(response.error))) refused.push(type);
    }
    const working = Object.keys(COMMANDS).filter((type) => !refused.includes(type));
    expect(listed).toEqual(working);
    const told = ["agent_start", "prompt_result", "notice", "auto_retry_start", "queue_update"];
    expect(list(at(data, "events"))).toEqual(expect.arrayContaining(told));
    const missing = Object.values<EventRow>(EVENTS).filter(({ opens }) => opens !== undefined);
    expect(missing.filter(({ type }) => list(at(data, "events")).includes(type))).toEqual([]);
  });
});
