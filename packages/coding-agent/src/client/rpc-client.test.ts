import { describe, expect, it } from "vitest";
import { assistant, FakeAgent, likePi } from "../../../../test/support/fake-agent.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import type { ClientOptions } from "./client-options.ts";
import type { ClientEvent, Frame } from "./events.ts";
import { RpcClient } from "./rpc-client.ts";

const clock = () => {
  const fake = new FakeClock();
  return { fake, after: (ms: number, fn: () => void) => fake.after(ms, fn) };
};

/** Lets everything happen that needs no time. */
const breathe = () => new Promise((resolve) => setImmediate(resolve));

async function started(agent: FakeAgent, options: ClientOptions = {}): Promise<RpcClient> {
  const client = new RpcClient({ transport: () => agent, ...options });
  await client.start();
  return client;
}

const accepts = ({ type }: Frame): unknown => (type === "prompt" ? { disposition: "started" } : undefined);
const result = (id: unknown, fields: object = {}) => ({
  type: "prompt_result",
  id,
  promptId: "prompt-1",
  status: "completed",
  agentInvoked: true,
  sessionSettled: true,
  ...fields,
});
const end = (text: string, stopReason?: string) => {
  const message = assistant(text, stopReason);
  return [
    { type: "message_end", message },
    { type: "agent_end", messages: [message] },
  ];
};

describe("the start", () => {
  it("asks Tiller for deltas, and for pieces only in the sizes that are understood", async () => {
    for (const [maxFrameBytes, asked] of [
      [1_048_576, 1],
      [2_000_000, 0],
    ] as const) {
      const ready = {
        type: "ready",
        supportedProtocolVersions: [1, 2],
        maxFrameBytes,
        maxReassembledFrameBytes: 67_108_864,
      };
      const agent = new FakeAgent(({ type }, it) => {
        if (type === "get_capabilities") it.say(ready);
        return undefined;
      });
      await started(agent);
      expect(agent.asked("set_update_mode")).toMatchObject([{ mode: "delta" }]);
      expect(agent.asked("negotiate_protocol")).toHaveLength(asked);
    }
  });

  it("makes do with agents that know less, and with those that leave the id out", async () => {
    const pi = new FakeAgent(likePi);
    const client = await started(pi);
    expect(pi.sent.map(({ type }) => type)).toEqual(["get_capabilities", "get_state"]);
    expect(client.greeting).toEqual({ hasResults: false });
    const omp = new FakeAgent(({ type }, agent) => {
      if (type !== "get_capabilities") return undefined;
      const error = "Unknown command: get_capabilities";
      queueMicrotask(() => agent.say({ type: "response", command: type, success: false, error }));
      return undefined;
    });
    omp.send = function (frame) {
      if ((frame as Frame).type === "get_state") FakeAgent.prototype.send.call(this, frame);
    };
    await started(omp);
  });

  it("is over in time when the agent says nothing, and names what it wrote elsewhere", async () => {
    const { fake, after } = clock();
    const agent = new FakeAgent();
    agent.send = () => undefined;
    agent.errors = "no such model\n";
    const starting = new RpcClient({ transport: () => agent, after, startTimeoutMs: 700 }).start();
    const failed = expect(starting).rejects.toMatchObject({
      code: "timeout",
      message: "Timeout waiting for agent to become ready: no answer after 700 ms. Stderr: no such model",
    });
    await fake.advance(700);
    await failed;
    expect(agent.stopped).toBe(1);
  });

  it("says what to do when it was left out or done twice", async () => {
    const agent = new FakeAgent();
    const client = new RpcClient({ transport: () => agent });
    await expect(client.getState()).rejects.toThrow("The client is not started; call start() first");
    await client.start();
    await expect(client.start()).rejects.toThrow("started already");
    await client.stop();
    await client.stop();
    await expect(client.getState()).rejects.toThrow("The client was stopped; call start() first");
  });
});

describe("commands", () => {
  it("are answered by id, in any order; other ids and answers to nobody are passed over", async () => {
    const agent = new FakeAgent();
    const client = await started(agent);
    const bash = client.bash("ls");
    const models = client.getAvailableModels();
    const [first, second] = [agent.asked("bash")[0]?.id, agent.asked("get_available_models")[0]?.id];
    agent.say(
      { type: "response", id: "req_999", command: "bash", success: true },
      { type: "response", id: 7, command: "x", success: false, error: "?" },
      { type: "response", command: "get_state", success: true },
      { type: "response", id: second, command: "get_available_models", success: true, data: { models: [] } },
      { type: "response", id: first, command: "bash", success: true, data: { output: "a" } },
    );
    expect(await models).toEqual([]);
    expect(await bash).toEqual({ output: "a" });
  });

  it("fail with what the agent says, or with a time-out, or with the reason of an abort", async () => {
    const { fake, after } = clock();
    const agent = new FakeAgent(({ type }) => (type === "set_model" ? new Error("Model not found: a/b") : undefined));
    const client = await started(agent, { after, requestTimeoutMs: 100 });
    await expect(client.setModel("a", "b")).rejects.toMatchObject({ code: "command_failed", command: "set_model" });
    const late = expect(client.getTree()).rejects.toThrow("Timeout waiting for response to get_tree.");
    await fake.advance(100);
    await late;
    const controller = new AbortController();
    const stopped = client.commands.getEntries({}, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(stopped).rejects.toThrow("enough");
    await expect(client.commands.getTree({}, { signal: controller.signal })).rejects.toThrow("enough");
    expect(fake.pending).toBe(0);
  });

  it("are all refused when the agent dies, with its last words", async () => {
    const agent = new FakeAgent(({ type }) => (type === "get_state" ? { isSettled: false } : undefined));
    const client = await started(agent);
    const heard: string[] = [];
    client.onExit((error) => heard.push(error.code));
    const calls = [client.getTree(), client.waitForSettled(), client.nextEvent("notice")].map((call) =>
      expect(call).rejects.toMatchObject({
        code: "exited",
        exitCode: null,
        signal: "SIGKILL",
        stderr: "out of memory",
      }),
    );
    await breathe();
    agent.errors = "out of memory";
    agent.exit(null, "SIGKILL");
    await Promise.all(calls);
    expect(heard).toEqual(["exited"]);
    await expect(client.getTree()).rejects.toThrow("Agent process was ended by SIGKILL. Stderr: out of memory");
  });
});

describe("a prompt", () => {
  it("is a loop over its events up to its result, with whole messages", async () => {
    const agent = new FakeAgent(accepts);
    const client = await started(agent);
    const run = client.run("hi");
    const events = (async () => {
      const seen: string[] = [];
      for await (const event of run)
        seen.push(event.type === "message_update" ? JSON.stringify(event.message.content) : event.type);
      return seen;
    })();
    await breathe();
    const id = agent.asked("prompt")[0]?.id;
    const piece = (delta: string) => ({
      type: "message_update",
      message: { role: "assistant", content: [] },
      assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta },
    });
    agent.say({ type: "agent_start" }, piece("a"));
    await breathe();
    agent.say(piece("b"), ...end("ab"), result("other"), result(id, { usage: 1 }), { type: "session_settled" });
    expect(await events).toEqual([
      "agent_start",
      '[{"type":"text","text":"a"}]',
      '[{"type":"text","text":"ab"}]',
      "message_end",
      "agent_end",
      "prompt_result",
      "prompt_result",
    ]);
    expect(await run.result).toMatchObject({ status: "completed", text: "ab", usage: 1, message: assistant("ab") });
    // Whoever comes late finds the end, not an endless wait.
    for await (const _ of run) throw new Error("nothing is left");
  });

  it("that is refused throws, in the loop and in the result", async () => {
    const client = await started(new FakeAgent(({ type }) => (type === "prompt" ? new Error("busy") : undefined)));
    const run = client.run("hi");
    await expect(
      (async () => {
        for await (const _ of run) throw new Error("no event");
      })(),
    ).rejects.toThrow("busy");
    await expect(run.result).rejects.toMatchObject({ code: "command_failed" });
    await expect(client.prompt("hi")).rejects.toThrow("busy");
    expect(await client.waitForIdle()).toBeUndefined();
  });

  it("is aborted by a signal, by leaving its loop, and after its time", async () => {
    const { fake, after } = clock();
    const agent = new FakeAgent(accepts);
    const client = await started(agent, { after });
    const controller = new AbortController();
    const first = client.run("one", { signal: controller.signal });
    await breathe();
    controller.abort();
    agent.say(result(agent.asked("prompt")[0]?.id, { status: "aborted" }));
    expect((await first.result).status).toBe("aborted");
    expect(agent.asked("abort")).toHaveLength(1);

    const second = client.run("two");
    const loop = (async () => {
      for await (const _ of second) break;
    })();
    await breathe();
    agent.say({ type: "agent_start" });
    await loop;
    expect(agent.asked("abort")).toHaveLength(2);
    agent.say(result(agent.asked("prompt")[1]?.id, { status: "aborted" }));
    expect((await second.result).status).toBe("aborted");

    const third = client.run("three", { timeoutMs: 50 });
    await fake.advance(50);
    await expect(third.result).rejects.toThrow("The prompt was not over after 50 ms");
    expect(agent.asked("abort")).toHaveLength(3);
    await expect(client.run("four", { signal: controller.signal }).result).rejects.toThrow();
  });

  it("dies with its agent, also in the middle of its loop", async () => {
    const agent = new FakeAgent(accepts);
    const client = await started(agent);
    const seen: string[] = [];
    const loop = (async () => {
      for await (const event of client.run("hi")) seen.push(event.type);
    })();
    await breathe();
    agent.say({ type: "agent_start" });
    agent.exit(1);
    await expect(loop).rejects.toThrow("Agent process exited with code 1.");
    expect(seen).toEqual(["agent_start"]);
  });

  it("slows the agent down when its events are not read, unless an answer is waited for", async () => {
    const agent = new FakeAgent(accepts);
    const client = await started(agent, { maxQueuedEvents: 4 });
    const iterator = client.run("hi")[Symbol.asyncIterator]();
    await breathe();
    for (let i = 0; i < 4; i++) agent.say({ type: "turn_start" });
    expect(agent.paused).toBe(true);
    const tree = client.getTree();
    expect(agent.paused).toBe(false);
    agent.say({ type: "response", id: agent.asked("get_tree")[0]?.id, command: "get_tree", success: true, data: {} });
    await tree;
    expect(agent.paused).toBe(true);
    await iterator.next();
    await iterator.next();
    expect(agent.paused).toBe(false);
    for (let i = 0; i < 4; i++) agent.say({ type: "turn_start" });
    expect(agent.paused).toBe(true);
    await client.stop();
  });

  it("of which nobody reads the events slows nothing down", async () => {
    const agent = new FakeAgent(accepts);
    const client = await started(agent, { maxQueuedEvents: 2 });
    const { result: over } = client.run("hi");
    await breathe();
    for (let i = 0; i < 9; i++) agent.say({ type: "turn_start" });
    expect(agent.paused).toBe(false);
    agent.say(result(agent.asked("prompt")[0]?.id));
    await over;
  });
});

describe("agents without prompt_result", () => {
  const ending = async (frames: object[][]) => {
    const { fake, after } = clock();
    const agent = new FakeAgent((command) => likePi(command) ?? (command.type === "prompt" ? {} : undefined));
    const client = await started(agent, { after });
    let outcome: unknown;
    void client.run("hi").result.then((value) => {
      outcome = value;
    });
    await breathe();
    const ends: unknown[] = [];
    for (const some of frames) {
      agent.say(...some);
      await fake.advance(60);
      ends.push((outcome as { status?: string } | undefined)?.status);
    }
    return { ends, outcome };
  };

  it("end with agent_end, or with agent_settled", async () => {
    expect((await ending([[{ type: "agent_start" }], end("hello")])).ends).toEqual([undefined, "completed"]);
    expect((await ending([[...end("x"), { type: "agent_settled", aborted: false }]])).ends).toEqual(["completed"]);
    expect((await ending([end("", "aborted")])).outcome).toMatchObject({ status: "aborted", agentInvoked: true });
  });

  it("end after their retries, not before", async () => {
    const retry = { type: "auto_retry_start", attempt: 1 };
    const story = [end("", "error"), [retry], [{ type: "agent_start" }], end("at last")];
    expect((await ending(story)).ends).toEqual([undefined, undefined, undefined, "completed"]);
    const willRetry = [{ type: "agent_end", messages: [], willRetry: true }];
    expect((await ending([willRetry, end("now")])).ends).toEqual([undefined, "completed"]);
  });

  it("end with the second answer that says it failed", async () => {
    const late = { type: "response", id: "req_3", command: "prompt", success: false, error: "no key" };
    expect((await ending([[late]])).outcome).toMatchObject({ status: "error", error: { message: "no key" } });
  });

  it("have no more to say when a local command dealt with the prompt", async () => {
    const agent = new FakeAgent(
      (command) => likePi(command) ?? (command.type === "prompt" ? { agentInvoked: false } : undefined),
    );
    const client = await started(agent);
    expect(await client.ask("/help")).toMatchObject({ status: "completed", agentInvoked: false, text: "" });
  });
});

describe("what the agent asks its host", () => {
  const asked = async (options: ClientOptions, ...frames: object[]) => {
    const agent = new FakeAgent();
    await started(agent, options);
    const since = agent.sent.length;
    for (const frame of frames) agent.say(frame);
    await breathe();
    return agent.sent.slice(since);
  };
  const call = (id: string, toolName: string, args: object = {}) => ({
    type: "host_tool_call",
    id,
    toolCallId: `call-${id}`,
    toolName,
    arguments: args,
  });
  const base = { description: "d", parameters: {} };

  it("tools: texts, results, updates, failures, tools that nobody has", async () => {
    const tools: NonNullable<ClientOptions["tools"]> = [
      {
        name: "echo",
        ...base,
        execute: ({ text }, { update, toolCallId }) => {
          update("half");
          return `${text} for ${toolCallId}`;
        },
      },
      { name: "whole", ...base, execute: () => ({ content: [], details: { n: 1 }, isError: true }) },
      { name: "nothing", ...base, execute: async () => undefined },
      {
        name: "broken",
        ...base,
        execute: () => {
          throw new Error("no permission");
        },
      },
    ];
    const text = (words: string) => ({ content: [{ type: "text", text: words }] });
    const sent = await asked(
      { tools },
      ...[
        call("1", "echo", { text: "hi" }),
        call("2", "whole"),
        call("3", "nothing"),
        call("4", "broken"),
        call("5", "gone"),
      ],
    );
    expect(sent.filter(({ type }) => type === "host_tool_update")).toEqual([
      { type: "host_tool_update", id: "1", partialResult: text("half") },
    ]);
    const results = sent.filter(({ type }) => type === "host_tool_result").sort((a, b) => Number(a.id) - Number(b.id));
    expect(results).toEqual([
      { type: "host_tool_result", id: "1", result: text("hi for call-1") },
      { type: "host_tool_result", id: "2", result: { content: [], details: { n: 1 } }, isError: true },
      { type: "host_tool_result", id: "3", result: text("") },
      { type: "host_tool_result", id: "4", result: text("no permission"), isError: true },
      { type: "host_tool_result", id: "5", result: text('Host tool "gone" is not registered'), isError: true },
    ]);
  });

  it("a tool that is cancelled hears of it, and its result is not sent", async () => {
    const heard: boolean[] = [];
    const execute = (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise<string>((resolve) => {
        signal.addEventListener("abort", () => {
          heard.push(signal.aborted);
          resolve("too late");
        });
      });
    const cancel = { type: "host_tool_cancel", id: "x", targetId: "1" };
    expect(await asked({ customTools: [{ name: "slow", ...base, execute }] }, call("1", "slow"), cancel)).toEqual([]);
    expect(heard).toEqual([true]);
  });

  it("are registered at the start and replaced later, without their functions", async () => {
    const agent = new FakeAgent();
    const client = await started(agent, { tools: [{ name: "a", ...base, execute: () => "" }] });
    expect(agent.asked("set_host_tools")[0]).toMatchObject({ tools: [{ name: "a", ...base }] });
    await client.setCustomTools([{ name: "b", ...base, execute: () => "" }]);
    expect(agent.asked("set_host_tools")[1]?.tools).toEqual([{ name: "b", ...base }]);
  });

  it("URLs: what is read and written, and what cannot be", async () => {
    const uris: NonNullable<ClientOptions["uris"]> = [
      { scheme: "db", read: (url) => `row of ${url}`, write: () => undefined },
      { scheme: "ro", read: () => ({ content: "x", contentType: "text/html" }) },
    ];
    const request = (id: string, url: string, operation = "read") => ({ type: "host_uri_request", id, operation, url });
    const sent = await asked(
      { uris },
      ...[
        request("1", "db://7"),
        request("2", "db://7", "write"),
        request("3", "ro://1"),
        request("4", "ro://1", "write"),
      ],
      request("5", "no://1"),
    );
    expect(sent.sort((a, b) => Number(a.id) - Number(b.id))).toEqual([
      { type: "host_uri_result", id: "1", content: "row of db://7" },
      { type: "host_uri_result", id: "2" },
      { type: "host_uri_result", id: "3", content: "x", contentType: "text/html" },
      { type: "host_uri_result", id: "4", isError: true, error: "ro://1 cannot be written" },
      { type: "host_uri_result", id: "5", isError: true, error: "The host has nothing behind no://1" },
    ]);
  });

  const dialog = (id: string, method: string) => ({ type: "extension_ui_request", id, method, title: "?" });

  it("dialogs: answered by the callback, withdrawn, or by nobody", async () => {
    const answers: Record<string, string | boolean | undefined> = { select: "main", confirm: false, input: undefined };
    const onDialog: ClientOptions["onDialog"] = ({ method }, { signal }) =>
      method === "editor"
        ? new Promise((_, reject) => signal.addEventListener("abort", () => reject))
        : answers[method];
    const cancel = { type: "extension_ui_request", id: "9", method: "cancel", targetId: "4" };
    const requests = [
      dialog("1", "select"),
      dialog("2", "confirm"),
      dialog("3", "input"),
      dialog("4", "editor"),
      cancel,
    ];
    const type = "extension_ui_response";
    expect(await asked({ onDialog }, ...requests, dialog("5", "notify"))).toEqual([
      { type, id: "1", value: "main" },
      { type, id: "2", confirmed: false },
      { type, id: "3", cancelled: true },
    ]);
    expect(await asked({}, dialog("1", "select"), dialog("2", "setStatus"))).toEqual([
      { type, id: "1", cancelled: true },
    ]);
    expect(await asked({ onDialog: "manual" }, dialog("1", "select"))).toEqual([]);
  });

  it("listeners see dialogs too", async () => {
    const agent = new FakeAgent();
    const client = await started(agent);
    const heard: string[] = [];
    const stop = client.onEvent((event: ClientEvent) => heard.push(event.type));
    client.on("notice", ({ message }) => heard.push(message));
    agent.say(dialog("1", "confirm"), { type: "notice", level: "info", message: "hi" });
    stop();
    agent.say({ type: "turn_start" });
    expect(heard).toEqual(["extension_ui_request", "notice", "hi"]);
  });
});

describe("code written for the clients of others", () => {
  it("collects the events of a prompt", async () => {
    const agent = new FakeAgent(accepts);
    const client = await started(agent);
    const waiting = client.promptAndWait("hi");
    const collecting = client.collectEvents();
    await breathe();
    agent.say({ type: "agent_start" }, ...end("a"), result(agent.asked("prompt")[0]?.id));
    const types = ["agent_start", "message_end", "agent_end", "prompt_result"];
    expect((await waiting).map(({ type }) => type)).toEqual(types);
    expect((await collecting).map(({ type }) => type)).toEqual(types);
    expect(await client.waitForIdle()).toBeUndefined();
  });

  it("waits until nothing runs, but not for ever", async () => {
    const { fake, after } = clock();
    const agent = new FakeAgent(accepts);
    const client = await started(agent, { after });
    expect(await client.prompt("hi")).toBe("started");
    const idle = client.waitForIdle(1000);
    await fake.advance(500);
    agent.say(result(agent.asked("prompt")[0]?.id));
    expect(await idle).toBeUndefined();
    agent.say({ type: "agent_start" });
    const late = expect(client.waitForIdle(1000)).rejects.toThrow("Timeout waiting for agent to become idle.");
    await fake.advance(1000);
    await late;
  });
});

describe("another start", () => {
  it("follows a crash when the next command comes, with the same session, as often as was asked for", async () => {
    const agents: FakeAgent[] = [];
    const argv: string[][] = [];
    const state = { sessionFile: "/s/1.jsonl" };
    const client = new RpcClient({
      restarts: 1,
      command: (args) => {
        argv.push([...args]);
        return [];
      },
      args: ["--continue"],
      tools: [{ name: "a", description: "d", parameters: {}, execute: () => "" }],
      transport: () => {
        const agent = new FakeAgent(({ type }) => (type === "get_state" ? state : undefined));
        agents.push(agent);
        return agent;
      },
    });
    await client.start();
    agents[0]?.exit(1);
    const [first, second] = [client.getState(), client.getState()];
    expect([await first, await second]).toEqual([state, state]);
    expect(agents).toHaveLength(2);
    expect(agents[1]?.asked("set_host_tools")).toHaveLength(1);
    agents[1]?.exit(1);
    await expect(client.getState()).rejects.toThrow("Agent process exited with code 1.");
    await client.restart();
    expect(agents).toHaveLength(3);
    expect(client.isRunning).toBe(true);
  });

  it("does not follow once the client was stopped", async () => {
    const agent = new FakeAgent();
    const client = await started(agent, { restarts: 3 });
    agent.exit(1);
    await client.stop();
    await expect(client.getState()).rejects.toThrow("Agent process exited with code 1.");
    expect(client.isRunning).toBe(false);
  });
});

describe("going on with the events", () => {
  const session = { sessionFile: "/s/1.jsonl" };
  const commands = ["subscribe"];

  /** Processes one after the other; each tells these events before it is asked for missed ones, and those behind the answer. */
  async function resuming(answer: (after: unknown) => unknown, early: object[] = [], again: object[] = []) {
    const agents: FakeAgent[] = [];
    const heard: unknown[] = [];
    const resumed: unknown[] = [];
    const state = { ...session };
    const client = new RpcClient({
      restarts: 3,
      resume: (about) => resumed.push(about),
      transport: () => {
        const agent: FakeAgent = new FakeAgent(({ type, after }) => {
          if (type === "get_capabilities") return { dialect: "union", commands };
          if (type === "get_state") return { ...state };
          if (type === "new_session") return { cancelled: false };
          if (type !== "subscribe") return undefined;
          if (after !== undefined) agent.say(...early);
          queueMicrotask(() => queueMicrotask(() => after !== undefined && agent.say(...again)));
          return answer(after);
        });
        agents.push(agent);
        return agent;
      },
    });
    client.onEvent(({ type, ...event }) => heard.push("seq" in event ? `${type} ${event.seq}` : type));
    await client.start();
    return { client, agents, heard, resumed, state };
  }
  const start = (seq: number) => ({ type: "agent_start", seq });
  const notice = (seq: number) => ({ type: "notice", level: "info", message: "m", seq });

  it("tells what was missed, each event once, and takes no old run for one of now", async () => {
    const { client, agents, heard, resumed } = await resuming(
      () => ({ oldest: 1, latest: 9, missed: false, count: 2 }),
      [notice(9)],
      [start(8), notice(9), notice(10)],
    );
    agents[0]?.say(notice(6), notice(7));
    agents[0]?.exit(null, "SIGKILL");
    await client.getState();
    await breathe();
    expect(agents[1]?.asked("subscribe")).toMatchObject([{ after: 7 }]);
    expect(heard).toEqual(["notice 6", "notice 7", "agent_start 8", "notice 9", "notice 10"]);
    expect(resumed).toEqual([{ missed: false, count: 2 }]);
    await client.whenIdle();
    agents[1]?.say(start(11));
    expect(await Promise.race([client.whenIdle(), breathe().then(() => "busy")])).toBe("busy");
  });

  it("says so when the agent cannot, and tells what came anyway", async () => {
    const { client, agents, heard, resumed } = await resuming(() => new Error("no such event"), [notice(9)]);
    agents[0]?.say(notice(7));
    agents[0]?.exit(1);
    await client.getState();
    expect(heard).toEqual(["notice 7", "notice 9"]);
    expect(resumed).toEqual([{ missed: true, count: 0 }]);
  });

  it("asks nothing where nothing was heard, nor of another session, whose numbers are learnt", async () => {
    const { client, agents, resumed, state } = await resuming(() => ({
      oldest: 1,
      latest: 3,
      missed: false,
      count: 0,
    }));
    agents[0]?.exit(1);
    await client.getState();
    expect([agents[1]?.asked("subscribe"), resumed]).toEqual([[], []]);
    agents[1]?.say(notice(70));
    state.sessionFile = "/s/2.jsonl";
    await client.newSession();
    await breathe();
    agents[1]?.exit(1);
    await client.getState();
    expect(agents[2]?.asked("subscribe")).toMatchObject([{ after: 3 }]);
    state.sessionFile = "/s/3.jsonl";
    agents[2]?.exit(1);
    await client.getState();
    expect(agents[3]?.asked("subscribe")).toEqual([]);
    expect(resumed.at(-1)).toEqual({ missed: true, count: 0 });
  });

  it("is not done unless it is asked for", async () => {
    const agents: FakeAgent[] = [];
    const transport = () => {
      agents.push(new FakeAgent(({ type }) => (type === "get_state" ? session : undefined)));
      return agents.at(-1) as FakeAgent;
    };
    const client = new RpcClient({ transport, restarts: 1 });
    await client.start();
    agents[0]?.say(notice(7));
    agents[0]?.exit(1);
    await client.getState();
    expect(agents[1]?.asked("subscribe")).toEqual([]);
  });
});
