import { ProviderError } from "@tiller/ai/errors";
import type { Delta, StreamModel } from "@tiller/ai/provider";
import { guardStream } from "@tiller/ai/stream";
import type { Clock } from "@tiller/protocol/clock";
import type { AgentMessage, CustomMessage, LlmMessage, UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { beforeEach, describe, expect, it } from "vitest";
import { runAgent } from "./agent-loop.ts";
import type {
  AgentEvent,
  AgentHooks,
  AgentPorts,
  AgentTool,
  AgentToolResult,
  RunQueue,
  ToolInvocation,
} from "./types.ts";

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

function tool(
  name: string,
  execute: (call: ToolInvocation) => AgentToolResult,
  fields: Partial<AgentTool> = {},
): AgentTool {
  return {
    name,
    label: name,
    description: name,
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    concurrency: "shared",
    execute: async (call) => execute(call),
    ...fields,
  };
}

const said = (words: string, fields: Partial<AgentToolResult> = {}): AgentToolResult => ({
  content: [{ type: "text", text: words }],
  ...fields,
});
const never = <T>(): Promise<T> => new Promise(() => undefined);
const user = (words: string): UserMessage => ({ role: "user", content: words, timestamp: 0 });

interface Play {
  answers: Delta[][];
  hooks?: AgentHooks;
  tools?: AgentTool[];
  queued?: { steering?: AgentMessage[]; followUp?: AgentMessage[] };
  ports?: Partial<AgentPorts>;
  during?(event: AgentEvent, abort: () => void): void;
}

async function play({ answers, hooks, tools = [], queued = {}, ports = {}, during }: Play) {
  const events: AgentEvent[] = [];
  const messages: AgentMessage[] = [];
  const asked: (readonly LlmMessage[])[] = [];
  const controller = new AbortController();
  const waiting = { steering: [...(queued.steering ?? [])], followUp: [...(queued.followUp ?? [])] };
  const queue: RunQueue = {
    take: (name) => waiting[name].splice(0, 1),
    get hasSteering() {
      return waiting.steering.length > 0;
    },
    interruptMode: "wait",
    texts: () => ({ steering: waiting.steering.map(() => "s"), followUp: waiting.followUp.map(() => "f") }),
  };
  const stream: StreamModel = (request) => {
    asked.push(request.messages);
    const answer = answers[asked.length - 1] ?? text("done");
    return guardStream(
      async () =>
        (async function* () {
          yield answer;
        })(),
      request.signal,
    );
  };
  const abort = () => controller.abort();
  const outcome = await runAgent({
    ports: {
      model: () => model,
      thinkingLevel: () => "off",
      systemPrompt: () => "",
      tools: async () => tools,
      context: () =>
        messages.filter((m): m is LlmMessage => m.role !== "custom" && m.role !== "bashExecution") as LlmMessage[],
      credentials: () => ({}),
      stream,
      queue,
      ...(hooks ? { hooks: () => hooks } : {}),
      limit: () => undefined,
      countToolCall: () => undefined,
      cwd: "/",
      clock,
      ...ports,
    },
    prompts: [user("go")],
    signal: controller.signal,
    emit(event) {
      events.push(event);
      if (event.type === "message_end") messages.push(event.message);
      during?.(event, abort);
      return undefined;
    },
  });
  return { events, messages, outcome, asked, waiting };
}

const told = (events: AgentEvent[], type: "message_start" | "message_end") =>
  events.flatMap((event) => (event.type === type ? [event.message] : []));
const resultTexts = (events: AgentEvent[]) =>
  events.flatMap((event) =>
    event.type === "tool_execution_end"
      ? event.result.content.map((block) => (block.type === "text" ? block.text : ""))
      : [],
  );

describe("the last word before a tool runs", () => {
  const ran: unknown[] = [];
  const reader = tool("read", ({ args }) => {
    ran.push(args.path);
    return said("ok");
  });
  beforeEach(() => {
    ran.length = 0;
  });

  it("comes after the others, with the arguments that they leave, and nobody can change those any more", async () => {
    let kept: Record<string, unknown> = {};
    const seen: unknown[] = [];
    await play({
      answers: [calls(["read", '{"path":"a"}'])],
      tools: [reader],
      hooks: {
        async beforeTool({ args }) {
          args.path = "b";
          kept = args;
          return undefined;
        },
        async permit({ args, tool: given }) {
          seen.push(args.path, given === reader);
          kept.path = "c";
          args.path = "d";
          await Promise.resolve();
          return undefined;
        },
      },
    });
    expect([seen, ran]).toEqual([["b", true], ["b"]]);
  });

  it("is asked one call after the other, and each is told why it did not run", async () => {
    const open: string[] = [];
    const { events } = await play({
      answers: [calls(["read", '{"path":"a"}'], ["read", '{"path":"b"}'], ["read", '{"path":"c"}'])],
      tools: [reader],
      hooks: {
        async permit({ args: { path } }) {
          open.push(`${path}?`);
          await new Promise((resolve) => setTimeout(resolve, 1));
          open.push(`${path}!`);
          if (path === "c") throw new Error("broken");
          return path === "b" ? "No b." : undefined;
        },
      },
    });
    expect([open, ran]).toEqual([["a?", "a!", "b?", "b!", "c?", "c!"], ["a"]]);
    expect(resultTexts(events).toSorted()).toEqual([
      "No b.",
      "Tool was not executed: nobody could permit it (broken)",
      "ok",
    ]);
  });

  it("is not waited for after an abort, and what it says then runs nothing", async () => {
    let answer = (_why: undefined): void => undefined;
    const { events, outcome } = await play({
      answers: [calls(["read", '{"path":"a"}'])],
      tools: [reader],
      hooks: {
        permit: () =>
          new Promise((resolve) => {
            answer = resolve;
          }),
      },
      during: (event, abort) => event.type === "tool_execution_start" && setTimeout(abort, 1),
    });
    answer(undefined);
    expect([outcome.stopReason, ran]).toEqual(["aborted", []]);
    expect(resultTexts(events)).toEqual([expect.stringContaining("aborted")]);
  });

  it("gives way to a message that interrupts; what was permitted before it does not run either", async () => {
    let wake = (): void => undefined;
    const steering: AgentMessage[] = [];
    const { events } = await play({
      answers: [calls(["read", '{"path":"a"}'], ["read", '{"path":"b"}'])],
      tools: [reader],
      ports: {
        queue: {
          take: (name) => (name === "steering" ? steering.splice(0) : []),
          get hasSteering() {
            return steering.length > 0;
          },
          interruptMode: "immediate",
          texts: () => ({ steering: [], followUp: [] }),
          onSteering(given) {
            wake = given;
            return () => undefined;
          },
        },
      },
      hooks: {
        async permit({ args, signal }) {
          if (args.path === "a") return undefined;
          const closed = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          steering.push(user("stop"));
          wake();
          await closed;
          return "Nobody answered.";
        },
      },
    });
    const skipped = "Skipped due to queued user message.";
    expect([ran, resultTexts(events)]).toEqual([[], [skipped, skipped]]);
  });
});

describe("settling messages", () => {
  it("replaces an answer everywhere: its end, the turn, the outcome and what the model sees next", async () => {
    const { events, outcome, asked } = await play({
      answers: [text("Hello"), text("again")],
      queued: { followUp: [user("more")] },
      hooks: {
        async settle(message) {
          return message.role === "assistant" ? { ...message, content: [{ type: "text", text: "HELLO" }] } : message;
        },
      },
    });
    const shouted = [{ type: "text", text: "HELLO" }];
    expect(told(events, "message_end")[1]).toMatchObject({ content: shouted });
    expect(events.find((event) => event.type === "turn_end")).toMatchObject({ message: { content: shouted } });
    expect(outcome.messages[1]).toMatchObject({ content: shouted });
    expect(asked[1]?.[1]).toMatchObject({ content: shouted });
  });

  it("runs the tool calls of the replacement, also where those that came were broken", async () => {
    const { events } = await play({
      answers: [calls(["read", '{"path":'])],
      tools: [tool("read", ({ args }) => said(`read ${args.path}`))],
      hooks: {
        async settle(message) {
          if (message.role !== "assistant" || message.stopReason !== "toolUse") return message;
          return { ...message, content: [{ type: "toolCall", id: "call_0", name: "read", arguments: { path: "b" } }] };
        },
      },
    });
    expect(resultTexts(events)).toEqual(["read b"]);
  });

  it("declares an answer failed, and the run ends with that", async () => {
    const { outcome } = await play({
      answers: [text("no")],
      hooks: {
        async settle(message) {
          return message.role === "assistant" ? { ...message, stopReason: "error", errorMessage: "refused" } : message;
        },
      },
    });
    expect(outcome).toMatchObject({ stopReason: "error", error: { kind: "bad_request", message: "refused" } });
  });

  it("shows prompts, queued messages and results in both frames as they were settled", async () => {
    const { events } = await play({
      answers: [calls(["read", '{"path":"a"}'])],
      tools: [tool("read", () => said("plain"))],
      queued: { steering: [user("steered")] },
      hooks: { settle: async (message) => ({ ...message, timestamp: 7 }) },
    });
    const others = (type: "message_start" | "message_end") =>
      told(events, type).flatMap((message) =>
        message.role === "assistant" ? [] : [`${message.role} ${message.timestamp}`],
      );
    expect(others("message_start")).toEqual(["user 7", "user 7", "toolResult 7"]);
    expect(others("message_end")).toEqual(others("message_start"));
  });

  it("keeps the message when the hook fails or gives back another role", async () => {
    const hooks: AgentHooks = {
      async settle(message) {
        if (message.role === "user") throw new Error("no");
        return user("not an answer");
      },
    };
    const { outcome } = await play({ answers: [text("fine")], hooks });
    expect(outcome.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(outcome.stopReason).toBe("stop");
  });

  it("delivers custom messages from a queue", async () => {
    const note: CustomMessage = { role: "custom", customType: "note", content: "n", display: true, timestamp: 0 };
    const { outcome } = await play({ answers: [text("one"), text("two")], queued: { followUp: [note] } });
    expect(outcome.messages.map(({ role }) => role)).toEqual(["user", "assistant", "custom", "assistant"]);
  });

  it("ends an aborted run although the hook hangs, and loses no message that was taken from a queue", async () => {
    const { events, outcome, waiting } = await play({
      answers: [text("Hello")],
      queued: { steering: [user("taken")] },
      hooks: { settle: () => never() },
      during: (event, abort) => void (event.type === "queue_update" && abort()),
    });
    expect(outcome.stopReason).toBe("aborted");
    expect(waiting.steering).toEqual([]);
    expect(told(events, "message_end").map(({ role }) => role)).toEqual(["user", "user", "assistant"]);
  });

  it("shows an aborted answer to a hook that is quick", async () => {
    const seen: string[] = [];
    await play({
      answers: [text("Hello")],
      hooks: {
        async settle(message) {
          if (message.role === "assistant") seen.push(message.stopReason);
          return message;
        },
      },
      during: (event, abort) => void (event.type === "turn_start" && abort()),
    });
    expect(seen).toEqual(["aborted"]);
  });
});

describe("before and after a tool", () => {
  const three = calls(["read", '{"path":"a"}'], ["read", '{"path":"b"}'], ["nope", "{}"]);

  it("is asked for one call after the other, before any of them runs, and not for tools that are not there", async () => {
    const story: string[] = [];
    const read = tool("read", ({ args }) => {
      story.push(`run ${args.path}`);
      return said("ok");
    });
    await play({
      answers: [three],
      tools: [read],
      hooks: {
        async beforeTool({ args }) {
          story.push(`ask ${args.path}`);
          await new Promise((resolve) => setImmediate(resolve));
          story.push(`asked ${args.path}`);
          return undefined;
        },
      },
    });
    expect(story).toEqual(["ask a", "asked a", "ask b", "asked b", "run a", "run b"]);
  });

  it("changes the arguments that run, without a second check, and not those of the message", async () => {
    const { events, outcome } = await play({
      answers: [calls(["read", '{"path":"a"}'])],
      tools: [tool("read", ({ args }) => said(`read ${args.path}`))],
      hooks: {
        async beforeTool({ args }) {
          args.path = 42;
          return undefined;
        },
      },
    });
    expect(resultTexts(events)).toEqual(["read 42"]);
    expect(outcome.messages[1]).toMatchObject({ content: [{ arguments: { path: "a" } }] });
  });

  it("leaves the message alone also where something deep inside is changed", async () => {
    const deep = { type: "object", properties: { edits: { type: "array" } } };
    const { events, outcome } = await play({
      answers: [calls(["edit", '{"edits":[{"text":"a"}]}'])],
      tools: [tool("edit", ({ args }) => said(JSON.stringify(args)), { parameters: deep })],
      hooks: {
        async beforeTool({ args }) {
          (args.edits as { text: string }[])[0]!.text = "b";
          return undefined;
        },
      },
    });
    expect(resultTexts(events)).toEqual(['{"edits":[{"text":"b"}]}']);
    expect(outcome.messages[1]).toMatchObject({ content: [{ arguments: { edits: [{ text: "a" }] } }] });
  });

  it("blocks a call with its text, and only that one", async () => {
    let counted = 0;
    const { events } = await play({
      answers: [calls(["read", '{"path":"a"}'], ["read", '{"path":"b"}'])],
      tools: [tool("read", ({ args }) => said(`read ${args.path}`))],
      hooks: { beforeTool: async ({ args }) => (args.path === "a" ? { block: "not a" } : undefined) },
      ports: {
        countToolCall: () => {
          counted++;
          return undefined;
        },
      },
    });
    expect(resultTexts(events).sort()).toEqual(["not a", "read b"]);
    expect(counted).toBe(1);
  });

  it("does not run a call when the hook fails", async () => {
    const { events } = await play({
      answers: [calls(["read", '{"path":"a"}'])],
      tools: [tool("read", () => said("ran"))],
      hooks: { beforeTool: () => Promise.reject(new Error("broken")) },
    });
    expect(resultTexts(events)).toEqual(["broken"]);
  });

  it("changes a result, also that of a tool that failed, before its end is told", async () => {
    const { events, outcome } = await play({
      answers: [calls(["read", '{"path":"a"}'])],
      tools: [
        tool("read", () => {
          throw new Error("lost");
        }),
      ],
      hooks: {
        async afterTool({ result, isError, toolName }) {
          const [block] = result.content;
          return { result: said(`${toolName}: ${block?.type === "text" && block.text}, ${isError}`), isError: false };
        },
      },
    });
    expect(resultTexts(events)).toEqual(["read: lost, true"]);
    expect(outcome.messages[2]).toMatchObject({ role: "toolResult", isError: false });
  });

  it("runs nothing after an abort while it was asked, and ends", async () => {
    let ran = 0;
    const { outcome } = await play({
      answers: [calls(["read", '{"path":"a"}'], ["read", '{"path":"b"}'])],
      tools: [
        tool("read", () => {
          ran++;
          return said("ran");
        }),
      ],
      hooks: { beforeTool: ({ args }) => (args.path === "a" ? Promise.resolve(undefined) : never()) },
      during(event, abort) {
        if (event.type === "tool_execution_start" && event.toolCallId === "call_1") setTimeout(abort, 5);
      },
    });
    expect(outcome.stopReason).toBe("aborted");
    expect(outcome.messages.filter(({ role }) => role === "toolResult")).toHaveLength(2);
    expect(ran).toBe(0);
  });

  it("does not wait for a hook after the tool that hangs when the run is aborted", async () => {
    const { outcome } = await play({
      answers: [calls(["read", '{"path":"a"}'])],
      tools: [tool("read", () => said("ran"))],
      hooks: { afterTool: () => never() },
      during(event, abort) {
        if (event.type === "tool_execution_start") setTimeout(abort, 5);
      },
    });
    expect(outcome.messages[2]).toMatchObject({ role: "toolResult", content: [{ text: "ran" }] });
  });

  it("sees listeners come and go", async () => {
    let isListening = false;
    let asked = 0;
    await play({
      answers: [calls(["read", '{"path":"a"}']), calls(["read", '{"path":"b"}'])],
      tools: [
        tool("read", () => {
          isListening = true;
          return said("ok");
        }),
      ],
      ports: {
        hooks: () =>
          isListening
            ? {
                async beforeTool() {
                  asked++;
                  return undefined;
                },
              }
            : undefined,
      },
    });
    expect(asked).toBe(1);
  });
});

describe("results that end the run", () => {
  const ending = tool("end", () => said("bye", { terminate: true }));
  const going = tool("go", () => said("on"));

  it("asks the model no more when every result wants that, and says so to nobody", async () => {
    const { asked, outcome, events } = await play({
      answers: [calls(["end", '{"path":"a"}'], ["end", '{"path":"b"}'])],
      tools: [ending],
    });
    expect(asked).toHaveLength(1);
    expect(outcome.stopReason).toBe("toolUse");
    expect(JSON.stringify(events)).not.toContain("terminate");
    expect(JSON.stringify(outcome)).not.toContain("terminate");
  });

  it("goes on when one of them does not", async () => {
    const { asked } = await play({
      answers: [calls(["end", '{"path":"a"}'], ["go", '{"path":"b"}'])],
      tools: [ending, going],
    });
    expect(asked).toHaveLength(2);
  });

  it("still delivers what waits", async () => {
    const { asked, outcome } = await play({
      answers: [calls(["end", '{"path":"a"}'])],
      tools: [ending],
      queued: { followUp: [user("and then")] },
    });
    expect(asked).toHaveLength(2);
    expect(outcome.messages.at(-2)).toMatchObject({ content: "and then" });
  });

  it("takes it from a block and from a changed result too", async () => {
    const blocked = await play({
      answers: [calls(["go", '{"path":"a"}'])],
      tools: [going],
      hooks: { beforeTool: async () => ({ block: "no", terminate: true }) },
    });
    const changed = await play({
      answers: [calls(["go", '{"path":"a"}'])],
      tools: [going],
      hooks: { afterTool: async () => ({ result: said("x", { terminate: true }), isError: false }) },
    });
    expect([blocked.asked.length, changed.asked.length]).toEqual([1, 1]);
  });

  it("takes it from who looks at the call before it runs: it runs all the same", async () => {
    const { asked, events } = await play({
      answers: [calls(["go", '{"path":"a"}'])],
      tools: [going],
      hooks: { beforeTool: async () => ({ terminate: true }) },
    });
    expect([asked.length, resultTexts(events)]).toEqual([1, ["on"]]);
  });
});

describe("the end of a turn", () => {
  const note: CustomMessage = { role: "custom", customType: "note", content: "more", display: true, timestamp: 0 };
  const once = (answer: { messages: AgentMessage[]; continue: boolean }) => {
    const seen: string[] = [];
    const endTurn: NonNullable<AgentHooks["endTurn"]> = async ({ message, toolResults }) => {
      seen.push(`${message.stopReason} ${toolResults.length}`);
      return seen.length === 1 ? answer : { messages: [], continue: false };
    };
    return { seen, hooks: { endTurn } };
  };

  it("lets the model be asked once more, in a turn that begins with what was added", async () => {
    const { seen, hooks } = once({ messages: [note], continue: true });
    const { asked, outcome } = await play({ answers: [text("a"), text("b")], hooks });
    expect([asked.length, seen]).toEqual([2, ["stop 0", "stop 0"]]);
    expect(outcome.messages.map(({ role }) => role)).toEqual(["user", "assistant", "custom", "assistant"]);
  });

  it("comes after the results of its tools, and after its end is told", async () => {
    const { seen, hooks } = once({ messages: [], continue: false });
    const order: string[] = [];
    await play({
      answers: [calls(["read", '{"path":"a"}'])],
      tools: [tool("read", () => said("A"))],
      hooks: {
        endTurn(turn) {
          order.push("asked");
          return hooks.endTurn(turn);
        },
      },
      during: ({ type }) => void (type === "turn_end" && order.push(type)),
    });
    expect(seen).toEqual(["toolUse 1", "stop 0"]);
    expect(order).toEqual(["turn_end", "asked", "turn_end", "asked"]);
  });

  it("only adds something: that is for whoever tells the end of the run", async () => {
    const { hooks } = once({ messages: [note], continue: false });
    const { outcome, asked } = await play({ answers: [text("a")], hooks });
    expect([asked.length, outcome.lastWords]).toEqual([1, [note]]);
    const again = once({ messages: [note], continue: false });
    const queued = await play({ answers: [text("a")], hooks: again.hooks, queued: { followUp: [user("and then")] } });
    expect(queued.outcome.messages.map(({ role }) => role).join()).toBe("user,assistant,custom,user,assistant");
    expect(queued.outcome.lastWords).toBeUndefined();
  });

  it("does not go on after an error, and follow-ups wait until nobody wants more", async () => {
    const failing = once({ messages: [], continue: true });
    const error: Delta = { type: "error", error: new ProviderError("bad_request", "no") };
    const failed = await play({ answers: [[error]], hooks: failing.hooks });
    expect([failed.asked.length, failing.seen]).toEqual([1, ["error 0"]]);
    const { hooks } = once({ messages: [], continue: true });
    const queued = await play({ answers: [text("a")], hooks, queued: { followUp: [user("and then")] } });
    expect(queued.outcome.messages.map(({ role }) => role).join()).toBe("user,assistant,assistant,user,assistant");
  });

  it("that fails or never comes says nothing", async () => {
    const throwing = await play({ answers: [text("a")], hooks: { endTurn: () => Promise.reject(new Error("x")) } });
    expect(throwing.outcome.stopReason).toBe("stop");
    const hanging = await play({
      answers: [text("a")],
      hooks: { endTurn: () => never() },
      during: ({ type }, abort) => void (type === "message_end" && setTimeout(abort, 1)),
    });
    expect(hanging.outcome.stopReason).toBe("aborted");
  });
});

describe("the last look at a question", () => {
  it("changes what the model is sent; nobody who looks costs nothing", async () => {
    const looked: string[] = [];
    const { asked } = await play({
      answers: [text("a")],
      ports: {
        lastLook: async ({ messages, systemPrompt, tools }) => {
          looked.push(`${messages.length} ${systemPrompt}`);
          return { messages: [user("another")], systemPrompt, tools };
        },
      },
    });
    expect([looked, asked]).toEqual([["1 "], [[user("another")]]]);
    const plain = await play({ answers: [text("a")], ports: { lastLook: () => undefined } });
    expect(plain.asked).toEqual([[user("go")]]);
  });
});

describe("results of a failure", () => {
  it("keep what they show, and may end the run; the word itself is for the loop", async () => {
    const details = { depth: 3 };
    const { asked, events } = await play({
      answers: [calls(["dive", '{"path":"a"}'])],
      tools: [tool("dive", () => said("no air", { details, isError: true, terminate: true }))],
    });
    expect(asked).toHaveLength(1);
    const result = { content: [{ type: "text", text: "no air" }], details };
    const end = events.find(({ type }) => type === "tool_execution_end");
    expect(end).toEqual({ type: "tool_execution_end", toolCallId: "call_0", toolName: "dive", result, isError: true });
    expect(events.filter(({ type }) => type === "message_end").at(-1)).toMatchObject({
      message: { role: "toolResult", ...result, isError: true },
    });
  });
});

describe("preparing arguments", () => {
  it("happens before the check and leaves the message as it came", async () => {
    const read = tool("read", ({ args }) => said(`read ${args.path}`), {
      prepareArguments(args) {
        const given = args as { file: string; path?: string };
        given.path = given.file;
        return given;
      },
    });
    const { events, outcome } = await play({ answers: [calls(["read", '{"file":"old"}'])], tools: [read] });
    expect(resultTexts(events)).toEqual(["read old"]);
    expect(outcome.messages[1]).toMatchObject({ content: [{ arguments: { file: "old" } }] });
    expect(JSON.stringify(outcome.messages[1])).not.toContain("path");
  });

  it("is a failed call when it throws, or gives what the schema does not allow", async () => {
    const throwing = tool("read", () => said("ran"), {
      prepareArguments() {
        throw new Error("cannot read this");
      },
    });
    const wrong = tool("read", () => said("ran"), { prepareArguments: () => "text" });
    expect(resultTexts((await play({ answers: [calls(["read", "{}"])], tools: [throwing] })).events)).toEqual([
      "cannot read this",
    ]);
    expect(resultTexts((await play({ answers: [calls(["read", "{}"])], tools: [wrong] })).events)[0]).toContain(
      'Validation failed for tool "read"',
    );
  });
});

describe("a context that takes time", () => {
  it("is waited for", async () => {
    const { asked } = await play({ answers: [text("ok")], ports: { context: async () => [user("changed")] } });
    expect(asked).toEqual([[user("changed")]]);
  });

  it("is not waited for after an abort", async () => {
    const { outcome } = await play({
      answers: [text("ok")],
      ports: { context: () => never() },
      during(event, abort) {
        if (event.type === "message_update") setTimeout(abort, 1);
      },
    });
    expect(outcome.stopReason).toBe("aborted");
  });
});
