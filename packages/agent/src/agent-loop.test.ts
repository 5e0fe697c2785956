import { ProviderError } from "@tiller/ai/errors";
import type { Delta, StreamModel } from "@tiller/ai/provider";
import { guardStream } from "@tiller/ai/stream";
import type { Clock } from "@tiller/protocol/clock";
import type { AgentMessage, UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { describe, expect, it } from "vitest";
import { runAgent } from "./agent-loop.ts";
import { groupCalls } from "./tool-calls.ts";
import type { AgentEvent, AgentPorts, AgentTool, AnswerWatch, RunQueue, RunResults, ToolInvocation } from "./types.ts";

const model: Model = {
  id: "m",
  name: "M",
  api: "test",
  provider: "p",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1000,
  maxTokens: 100,
};

const clock: Clock = {
  now: () => 0,
  after(ms, fn) {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

const text = (words: string): Delta[] => [
  { type: "open", index: 0, block: { type: "text" } },
  { type: "grow", index: 0, text: words },
  { type: "close", index: 0 },
  { type: "done", stopReason: "stop" },
];

const calls = (...wanted: [name: string, args: string][]): Delta[] => [
  ...wanted.flatMap(([name, args], index): Delta[] => [
    { type: "open", index, block: { type: "toolCall", id: `call_${index}`, name } },
    { type: "grow", index, text: args },
    { type: "close", index },
  ]),
  { type: "done", stopReason: "toolUse" },
];

/** A model that gives the next answer each time it is asked, and keeps what it was asked. */
function answering(...answers: Delta[][]): { stream: StreamModel; asked: number } {
  const state = { asked: 0, stream: undefined as unknown as StreamModel };
  state.stream = (request) =>
    guardStream(async () => {
      const answer = answers[state.asked++] ?? text("done");
      return (async function* () {
        yield answer;
      })();
    }, request.signal);
  return state;
}

function tool(
  name: string,
  execute: (call: ToolInvocation) => Promise<string>,
  concurrency: AgentTool["concurrency"] = "shared",
): AgentTool {
  return {
    name,
    label: name,
    description: name,
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    concurrency,
    execute: async (call) => ({ content: [{ type: "text", text: await execute(call) }] }),
  };
}

const NO_QUEUE: RunQueue = {
  take: () => [],
  hasSteering: false,
  interruptMode: "wait",
  texts: () => ({ steering: [], followUp: [] }),
};

async function play(
  stream: StreamModel,
  tools: AgentTool[] = [],
  /** A promise that it returns is a reader who takes his time. */
  during?: (event: AgentEvent, abort: () => void) => unknown,
  queue: RunQueue = NO_QUEUE,
  news?: () => readonly AgentMessage[],
  more?: Partial<AgentPorts>,
) {
  const events: AgentEvent[] = [];
  const messages: AgentMessage[] = [];
  const controller = new AbortController();
  const prompt: UserMessage = { role: "user", content: [{ type: "text", text: "go" }], timestamp: 0 };
  const outcome = await runAgent({
    ports: {
      model: () => model,
      thinkingLevel: () => "off",
      systemPrompt: () => "",
      tools: async () => tools,
      context: () => messages.filter((m) => m.role === "user" || m.role === "assistant" || m.role === "toolResult"),
      credentials: () => ({}),
      stream,
      queue,
      news,
      limit: () => undefined,
      countToolCall: () => undefined,
      cwd: "/",
      clock,
      ...more,
    },
    prompts: [prompt],
    signal: controller.signal,
    emit(event) {
      events.push(event.type === "message_end" ? structuredClone(event) : event);
      if (event.type === "message_end") messages.push(event.message);
      const taken = during?.(event, () => controller.abort());
      return taken instanceof Promise ? taken : undefined;
    },
  });
  return { events, outcome, story: events.map(brief) };
}

function brief(event: AgentEvent): string {
  if (event.type === "message_update") return event.event.type;
  if (event.type === "message_start" || event.type === "message_end") return `${event.type} ${event.message.role}`;
  if (event.type === "tool_execution_end") return `tool_end ${event.toolName}${event.isError ? " failed" : ""}`;
  if (event.type === "tool_execution_start") return `tool_start ${event.toolName}`;
  return event.type;
}

function resultText(events: AgentEvent[], id: string): string {
  for (const event of events) {
    if (event.type !== "tool_execution_end" || event.toolCallId !== id) continue;
    return event.result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  }
  throw new Error(`no result for ${id}`);
}

it("ends an answer that does not end, and keeps what came", async () => {
  let asked = 0;
  const endless: StreamModel = (request) =>
    guardStream(
      async () =>
        (async function* (): AsyncGenerator<Delta[]> {
          yield [{ type: "open", index: 0, block: { type: "text" } }];
          for (;;) {
            asked++;
            yield [{ type: "grow", index: 0, text: "x".repeat(8 * 1024 * 1024) }];
          }
        })(),
      request.signal,
    );
  const { outcome } = await play(endless);
  expect(outcome).toMatchObject({
    stopReason: "error",
    error: { kind: "bad_request", retryable: false, message: expect.stringContaining("was ended after 33554432 char") },
  });
  const [answer] = outcome.messages.filter((message) => message.role === "assistant");
  const [block] = answer?.content ?? [];
  expect(block?.type === "text" && block.text.length).toBe(5 * 8 * 1024 * 1024);
  expect(asked).toBe(5);
});

it("ends an answer of more blocks than anybody means to say, and runs none of its tools", async () => {
  const flood = (count: number) => calls(...new Array(count).fill(["ls", '{"path":"."}']));
  const { outcome, events } = await play(answering(flood(1001)).stream, [tool("ls", async () => "ran")]);
  expect(outcome).toMatchObject({
    stopReason: "error",
    error: { kind: "bad_request", retryable: false, message: expect.stringContaining("was ended after 1000 blocks") },
  });
  expect(events.filter(({ type }) => type === "tool_execution_end")).toHaveLength(1000);
  expect(resultText(events, "call_999")).toContain("Tool was not executed");
  const most = await play(answering(flood(1000)).stream, [tool("ls", async () => "ran")]);
  expect(most.outcome.stopReason).toBe("stop");
  expect(resultText(most.events, "call_999")).toBe("ran");
});

it("says that it was aborted when it was, however many blocks came", async () => {
  const error = new ProviderError("aborted", "Request was aborted");
  const many = [...calls(...new Array(1001).fill(["ls", "{}"])).slice(0, -1), { type: "error", error } as const];
  const { outcome } = await play(answering(many).stream);
  expect(outcome.error?.kind).toBe("aborted");
});

describe("the agent loop", () => {
  it("plays a plain text turn in the order of the protocol", async () => {
    const { story, outcome } = await play(answering(text("hello")).stream);
    expect(story).toEqual([
      "agent_start",
      "turn_start",
      "message_start user",
      "message_end user",
      "message_start assistant",
      "start",
      "text_start",
      "text_delta",
      "text_end",
      "done",
      "message_end assistant",
      "turn_end",
    ]);
    expect(outcome).toMatchObject({ stopReason: "stop", messages: [{ role: "user" }, { role: "assistant" }] });
  });

  it("runs a tool, gives the result to the model and goes on", async () => {
    const read = tool("read", async ({ args }) => `content of ${args.path}`);
    const { story, events } = await play(answering(calls(["read", '{"path":"a"}']), text("ok")).stream, [read]);
    expect(story.slice(story.indexOf("message_end assistant"))).toEqual([
      "message_end assistant",
      "tool_start read",
      "tool_end read",
      "message_start toolResult",
      "message_end toolResult",
      "turn_end",
      "turn_start",
      "message_start assistant",
      "start",
      "text_start",
      "text_delta",
      "text_end",
      "done",
      "message_end assistant",
      "turn_end",
    ]);
    expect(resultText(events, "call_0")).toBe("content of a");
  });

  const failures: [name: string, args: string, tools: AgentTool[], text: RegExp][] = [
    ["an unknown tool", "{}", [], /^Tool read not found$/],
    [
      "wrong arguments",
      '{"path":[]}',
      [tool("read", async () => "")],
      /^Validation failed for tool "read":\n {2}- path: must be string\n\nReceived arguments:\n/,
    ],
    ["missing arguments", "{}", [tool("read", async () => "")], /required properties path/],
    [
      "arguments that are not JSON",
      '{"path":',
      [tool("read", async () => "")],
      /^Arguments of tool "read" are not valid JSON/,
    ],
    [
      "arguments that are nested too deeply",
      `${'{"a":'.repeat(4200)}1${"}".repeat(4200)}`,
      [tool("read", async () => "")],
      /^Arguments of tool "read" cannot be used: they are nested more than 500 levels deep; write them flatter\n/,
    ],
    [
      "a tool that throws",
      '{"path":"a"}',
      [tool("read", () => Promise.reject(new Error("ENOENT: no such file")))],
      /^ENOENT: no such file$/,
    ],
  ];
  for (const [name, args, tools, expected] of failures) {
    it(`answers the model about ${name} and goes on`, async () => {
      const { events, story, outcome } = await play(answering(calls(["read", args]), text("I see")).stream, tools);
      expect(resultText(events, "call_0")).toMatch(expected);
      expect(story).toContain("tool_end read failed");
      expect(outcome.stopReason).toBe("stop");
    });
  }

  it("repairs numbers that came as text", async () => {
    const seen: unknown[] = [];
    const limited: AgentTool = {
      ...tool("read", async ({ args }) => String(seen.push(args))),
      parameters: { type: "object", properties: { limit: { type: "integer" }, all: { type: "boolean" } } },
    };
    await play(answering(calls(["read", '{"limit":"5","all":"true"}'])).stream, [limited]);
    expect(seen).toEqual([{ limit: 5, all: true }]);
  });

  it("runs neighbouring shared calls side by side and keeps turn_end in the order of the message", async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = tool("slow", async () => gate.then(() => "slow"));
    const fast = tool("fast", async () => {
      release();
      return "fast";
    });
    const { story, events } = await play(answering(calls(["slow", '{"path":"a"}'], ["fast", '{"path":"b"}'])).stream, [
      slow,
      fast,
    ]);
    expect(story.indexOf("tool_start fast")).toBeLessThan(story.indexOf("tool_end slow"));
    const end = events.find((event) => event.type === "turn_end");
    expect(end).toMatchObject({ toolResults: [{ toolName: "slow" }, { toolName: "fast" }] });
  });

  it("takes many calls whose reader is slow for no leak of listeners", async () => {
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.name);
    process.on("warning", note);
    const many = Array.from({ length: 12 }, (): [string, string] => ["read", '{"path":"a"}']);
    let ended = 0;
    let release = (): void => undefined;
    const taken = new Promise<void>((resolve) => {
      release = resolve;
    });
    await play(answering(calls(...many)).stream, [tool("read", async () => "")], (event) => {
      if (event.type !== "message_end" || event.message.role !== "toolResult") return undefined;
      ended += 1;
      if (ended === many.length) release();
      return taken;
    });
    // Warnings come with the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", note);
    expect({ ended, warnings }).toEqual({ ended: 12, warnings: [] });
  });

  it("groups calls: shared neighbours together, an exclusive one alone", () => {
    const tools = [tool("s", async () => ""), tool("x", async () => "", "exclusive")];
    const names = (list: string[]) =>
      list.map((name, i) => ({ type: "toolCall" as const, id: String(i), name, arguments: {} }));
    const grouped = groupCalls(names(["s", "s", "x", "x", "s", "?"]), tools);
    expect(grouped.map((group) => group.map((call) => call.name).join(""))).toEqual(["ss", "x", "x", "s?"]);
  });

  it("ends with the provider's error", async () => {
    const error = new ProviderError("overloaded", "try later", { status: 529 });
    const { story, outcome } = await play(answering([{ type: "error", error }]).stream);
    expect(story.slice(4)).toEqual(["message_start assistant", "start", "error", "message_end assistant", "turn_end"]);
    expect(outcome).toMatchObject({ stopReason: "error", error: { status: 529 } });
    expect(outcome.messages.at(-1)).toMatchObject({ stopReason: "error", errorMessage: "try later", content: [] });
  });

  it("closes open blocks and answers every tool call when it is aborted in mid-stream", async () => {
    const endless: StreamModel = (request) =>
      guardStream(
        async () =>
          (async function* () {
            yield [
              { type: "open", index: 0, block: { type: "toolCall", id: "c", name: "read" } },
              { type: "grow", index: 0, text: '{"path":"a"' },
            ] as Delta[];
            await new Promise(() => undefined);
          })(),
        request.signal,
      );
    const { story, outcome, events } = await play(endless, [], (event, abort) => {
      if (event.type === "message_update" && event.event.type === "toolcall_delta") abort();
    });
    expect(story.slice(story.indexOf("toolcall_delta"))).toEqual([
      "toolcall_delta",
      "toolcall_end",
      "error",
      "message_end assistant",
      "tool_start read",
      "tool_end read failed",
      "message_start toolResult",
      "message_end toolResult",
      "turn_end",
    ]);
    expect(outcome.stopReason).toBe("aborted");
    expect(outcome.messages[1]).toMatchObject({ stopReason: "aborted", errorMessage: "Request was aborted" });
    expect(resultText(events, "c")).toBe("Tool execution was aborted: Request was aborted");
  });

  it("does not wait for a tool that ignores the abort, and skips the calls behind it", async () => {
    const deaf = tool("deaf", () => new Promise(() => undefined), "exclusive");
    const { story, outcome } = await play(
      answering(calls(["deaf", '{"path":"a"}'], ["deaf", '{"path":"b"}'])).stream,
      [deaf],
      (event, abort) => {
        if (event.type === "tool_execution_start") abort();
      },
    );
    expect(story.filter((line) => line === "tool_end deaf failed")).toHaveLength(2);
    expect(story.at(-1)).toBe("turn_end");
    expect(outcome.stopReason).toBe("aborted");
  });

  it("keeps what a tool that ignores the abort has told of its work", async () => {
    const deaf = tool("deaf", ({ onUpdate }) => {
      onUpdate({ content: [{ type: "text", text: "half" }], details: { done: 1 } });
      return new Promise(() => undefined);
    });
    const { events } = await play(answering(calls(["deaf", '{"path":"a"}'])).stream, [deaf], (event, abort) => {
      if (event.type === "tool_execution_update") abort();
    });
    expect(events.find((event) => event.type === "tool_execution_end")).toMatchObject({
      isError: true,
      result: {
        content: [
          { type: "text", text: "half" },
          { type: "text", text: "Tool execution was aborted: Request was aborted" },
        ],
        details: { done: 1 },
      },
    });
  });

  it("hears a tool that needs as long for its last word as it is given", async () => {
    const careful = tool(
      "careful",
      ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => clock.after(1, () => resolve("my last word")));
        }),
    );
    const { events } = await play(answering(calls(["careful", '{"path":"a"}'])).stream, [careful], (event, abort) => {
      if (event.type === "tool_execution_start") setTimeout(abort, 5);
    });
    expect(events.find((event) => event.type === "tool_execution_end")).toMatchObject({
      isError: false,
      result: { content: [{ type: "text", text: "my last word" }] },
    });
  });

  it("tells progress, and nothing after the end", async () => {
    let late = (): void => undefined;
    const chatty = tool("chatty", async ({ onUpdate }) => {
      onUpdate({ content: [{ type: "text", text: "half" }] });
      late = () => onUpdate({ content: [{ type: "text", text: "too late" }] });
      return "whole";
    });
    const { story } = await play(answering(calls(["chatty", '{"path":"a"}'])).stream, [chatty], (event) => {
      if (event.type === "tool_execution_end") late();
    });
    expect(story.filter((line) => line === "tool_execution_update")).toHaveLength(1);
  });
});

describe("queued messages", () => {
  const user = (text: string): UserMessage => ({ role: "user", content: text, timestamp: 0 });

  /** A queue of texts, one at a time. */
  function waiting(steering: string[], followUp: string[], interruptMode: "wait" | "immediate" = "wait") {
    const queues = { steering, followUp };
    return {
      take: (name: "steering" | "followUp") => queues[name].splice(0, 1).map(user),
      get hasSteering() {
        return steering.length > 0;
      },
      interruptMode,
      texts: () => ({ steering: [...steering], followUp: [...followUp] }),
    };
  }
  const userTexts = (events: AgentEvent[]) =>
    events.flatMap((e) =>
      e.type === "message_start" && e.message.role === "user" ? [JSON.stringify(e.message.content)] : [],
    );

  it("steering that waits at the start stands behind the prompt, in the same turn", async () => {
    const { events, story } = await play(answering(text("ok")).stream, [], undefined, waiting(["S1"], []));
    expect(userTexts(events)).toEqual(['[{"type":"text","text":"go"}]', '"S1"']);
    expect(story.filter((line) => line === "turn_start")).toHaveLength(1);
  });

  it("steering goes before follow-ups, one turn each, and one queue_update before each delivery", async () => {
    const { events, story } = await play(answering().stream, [], undefined, waiting(["S1", "S2"], ["F1"]));
    expect(userTexts(events).slice(1)).toEqual(['"S1"', '"S2"', '"F1"']);
    expect(story.filter((line) => line === "queue_update")).toHaveLength(3);
    expect(story.filter((line) => line === "turn_start")).toHaveLength(3);
  });

  it("an abort keeps what waits: nothing is taken after it", async () => {
    const queue = waiting([], ["F1"]);
    const { outcome } = await play(
      answering(text("ok")).stream,
      [],
      (event, abort) => event.type === "turn_end" && abort(),
      queue,
    );
    expect(outcome.stopReason).toBe("aborted");
    expect(queue.texts().followUp).toEqual(["F1"]);
  });

  it("an error keeps what waits", async () => {
    const queue = waiting([], ["F1"]);
    await play(answering([{ type: "error", error: new ProviderError("server", "500") }]).stream, [], undefined, queue);
    expect(queue.texts().followUp).toEqual(["F1"]);
  });

  it("immediate: a call that finishes while steering waits ends its running neighbours and skips the rest", async () => {
    const steering: string[] = [];
    let sawAbort = false;
    const slow = tool("slow", ({ signal }) => {
      signal.addEventListener("abort", () => {
        sawAbort = true;
      });
      return new Promise(() => undefined);
    });
    const fast = tool("fast", async () => {
      steering.push("S1");
      return "fast";
    });
    const never = tool("never", async () => "must not run", "exclusive");
    const { events } = await play(
      answering(calls(["slow", '{"path":"a"}'], ["fast", '{"path":"b"}'], ["never", '{"path":"c"}'])).stream,
      [slow, fast, never],
      undefined,
      waiting(steering, [], "immediate"),
    );
    expect([0, 1, 2].map((n) => resultText(events, `call_${n}`))).toEqual([
      "Skipped due to queued user message.",
      "fast",
      "Skipped due to queued user message.",
    ]);
    expect(sawAbort).toBe(true);
    expect(userTexts(events).at(-1)).toBe('"S1"');
  });

  it("immediate: a neighbour that fails at once keeps a call from being started at all", async () => {
    const steering: string[] = [];
    let started = false;
    const read = tool("read", async () => {
      started = true;
      return "read";
    });
    const { events } = await play(
      answering(calls(["nobody", "{}"], ["read", '{"path":"a"}'])).stream,
      [read],
      (event) => void (event.type === "tool_execution_start" && event.toolName === "nobody" && steering.push("S1")),
      waiting(steering, [], "immediate"),
    );
    expect(resultText(events, "call_1")).toBe("Skipped due to queued user message.");
    expect(started).toBe(false);
  });

  it("wait: every call of the turn runs before steering is delivered", async () => {
    const steering: string[] = [];
    const read = tool("read", async ({ args }) => {
      if (args.path === "a") steering.push("S1");
      return `read ${args.path}`;
    });
    const { events } = await play(
      answering(calls(["read", '{"path":"a"}'], ["read", '{"path":"b"}'])).stream,
      [read],
      undefined,
      waiting(steering, []),
    );
    expect([resultText(events, "call_0"), resultText(events, "call_1")]).toEqual(["read a", "read b"]);
  });
});

describe("what the model has to know before it is asked again", () => {
  const news: UserMessage = { role: "user", content: [{ type: "text", text: "the wind has turned" }], timestamp: 0 };

  it("is told between two turns", async () => {
    const { stream } = answering(calls(["look", '{"path":"a"}']), text("done"));
    const { outcome } = await play(stream, [tool("look", async () => "calm")], undefined, NO_QUEUE, () => [news]);
    expect(outcome.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "user", "assistant"]);
    expect(outcome.messages[3]).toEqual(news);
  });

  it("is no reason to go on", async () => {
    const model = answering(text("done"));
    const { outcome } = await play(model.stream, [], undefined, NO_QUEUE, () => [news]);
    expect([outcome.messages.length, model.asked]).toEqual([2, 1]);
  });
});

describe("somebody looks along", () => {
  const noQueue = [undefined, NO_QUEUE, undefined] as const;
  const watched = (words: Delta[], look: AnswerWatch, more: Partial<AgentPorts> = {}) =>
    play(answering(words).stream, [tool("look", async () => "calm")], ...noQueue, { ...more, watch: () => look });

  it("sees every event and the end, and has nothing against it", async () => {
    const seen: string[] = [];
    const { outcome } = await watched(text("hello"), ({ type }) => {
      seen.push(type);
      return undefined;
    });
    expect(seen).toEqual(["text_start", "text_delta", "text_end", "complete"]);
    expect(outcome).toMatchObject({ stopReason: "stop" });
    expect(outcome.interrupted).toBeUndefined();
  });

  it.each(["text_delta", "text_end", "complete"])("ends the answer at %s: nothing more of it comes", async (moment) => {
    const { outcome, events } = await watched(text("hello"), ({ type }) => (type === moment ? "no" : undefined));
    expect(outcome).toMatchObject({
      stopReason: "aborted",
      interrupted: true,
      error: { kind: "aborted", message: "no" },
    });
    expect(outcome.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "aborted", errorMessage: "no" });
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["message_end", "turn_end"]);
  });

  it("runs no tool of an answer that was ended, whatever becomes of its message", async () => {
    const settle = async (message: AgentMessage) => ({ ...message, stopReason: "toolUse" }) as AgentMessage;
    for (const hooks of [undefined, () => ({ settle })]) {
      const { outcome } = await watched(
        calls(["look", '{"path":"a"}']),
        ({ type }) => (type === "toolcall_end" ? "no" : undefined),
        {
          hooks,
        },
      );
      expect(outcome).toMatchObject({ interrupted: true });
      expect(outcome.messages.at(-1)).toMatchObject({
        role: "toolResult",
        isError: true,
        content: [{ text: "Tool execution was aborted: no" }],
      });
    }
  });

  it("is asked anew before each answer", async () => {
    let asked = 0;
    const watch = () => {
      asked += 1;
      return undefined;
    };
    const { stream } = answering(calls(["look", '{"path":"a"}']), text("done"));
    await play(stream, [tool("look", async () => "calm")], ...noQueue, { watch });
    expect(asked).toBe(2);
  });
});

describe("results of what goes on beside the run", () => {
  const result = (said: string): UserMessage => ({
    role: "user",
    content: [{ type: "text", text: said }],
    timestamp: 0,
  });
  const resultsOf = (waiting: AgentMessage[]): RunResults => ({
    get isEmpty() {
      return waiting.length === 0;
    },
    take: () => waiting.splice(0),
  });
  const roles = ({ messages }: { messages: readonly AgentMessage[] }) => messages.map(({ role }) => role);

  it("that wait when it begins stand behind the prompt", async () => {
    const { stream } = answering(text("done"));
    const { outcome } = await play(stream, [], undefined, NO_QUEUE, undefined, {
      results: resultsOf([result("a"), result("b")]),
    });
    expect(roles(outcome)).toEqual(["user", "user", "user", "assistant"]);
  });

  it("are told between two turns, before what people say", async () => {
    const waitingResults: AgentMessage[] = [];
    const { stream } = answering(calls(["look", '{"path":"a"}']), text("done"));
    const look = tool("look", async () => {
      waitingResults.push(result("job"));
      return "calm";
    });
    const steering = [result("person")];
    const queue: RunQueue = {
      ...NO_QUEUE,
      take: (name) => (name === "steering" && waitingResults.length > 0 ? steering.splice(0) : []),
    };
    const { outcome } = await play(stream, [look], undefined, queue, undefined, { results: resultsOf(waitingResults) });
    expect(outcome.messages.slice(3, 5)).toEqual([result("job"), result("person")]);
  });

  it("are a reason to go on", async () => {
    const waitingResults: AgentMessage[] = [];
    const { stream } = answering(text("waiting"), text("done"));
    const during = (event: AgentEvent): void => {
      if (event.type === "turn_end" && turns++ === 0) waitingResults.push(result("job"));
    };
    let turns = 0;
    const { outcome } = await play(stream, [], during, NO_QUEUE, undefined, { results: resultsOf(waitingResults) });
    expect(roles(outcome)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("wait on when it was aborted", async () => {
    const waitingResults = [result("job")];
    const { stream } = answering(text("never"));
    const during = (event: AgentEvent, abort: () => void): void => {
      if (event.type === "agent_start") abort();
    };
    const { outcome } = await play(stream, [], during, NO_QUEUE, undefined, { results: resultsOf(waitingResults) });
    expect([outcome.stopReason, waitingResults.length]).toEqual(["aborted", 1]);
  });
});
