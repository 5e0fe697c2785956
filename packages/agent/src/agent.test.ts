import type { Delta, StreamModel } from "@tiller/ai/provider";
import { guardStream } from "@tiller/ai/stream";
import type { UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { describe, expect, it } from "vitest";
import { createAgent } from "./agent.ts";

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

const say = (text: string): UserMessage => ({ role: "user", content: text, timestamp: 0 });

/** Repeats the last user text, so that a test sees what the model was given. */
const echo: StreamModel = (request) =>
  guardStream(async () => {
    const last = request.messages.findLast((message) => message.role === "user");
    const deltas: Delta[] = [
      { type: "open", index: 0, block: { type: "text" } },
      { type: "grow", index: 0, text: `heard ${String(last?.content)}` },
      { type: "close", index: 0 },
      { type: "done", stopReason: "stop" },
    ];
    return (async function* () {
      yield deltas;
    })();
  }, request.signal);

const never: StreamModel = (request) =>
  guardStream(
    async () =>
      (async function* () {
        await new Promise(() => undefined);
        yield [];
      })(),
    request.signal,
  );

function agent(stream = echo) {
  const types: string[] = [];
  const subject = createAgent({
    ports: {
      model: () => model,
      thinkingLevel: () => "off",
      tools: async () => [],
      systemPrompt: () => "",
      credentials: () => ({}),
      stream,
      cwd: "/",
      clock: { now: () => 0, after: () => () => undefined },
    },
  });
  subject.subscribe((event) => {
    types.push(event.type);
    return undefined;
  });
  return { subject, types };
}

const texts = (subject: ReturnType<typeof createAgent>) =>
  subject.messages.map((message) => ("content" in message ? JSON.stringify(message.content) : ""));

describe("an agent", () => {
  it("answers a prompt, keeps the conversation and says when it is done", async () => {
    const { subject, types } = agent();
    expect(await subject.prompt(say("hello"))).toMatchObject({ stopReason: "stop" });
    expect(texts(subject)).toEqual(['"hello"', '[{"type":"text","text":"heard hello"}]']);
    expect([types[0], types.at(-1)]).toEqual(["agent_start", "agent_end"]);
    expect(subject.isRunning).toBe(false);
  });

  it("delivers what was queued: steering behind the prompt, the follow-up at the end", async () => {
    const { subject } = agent();
    subject.steer(say("S"));
    subject.followUp(say("F"));
    await subject.prompt(say("go"));
    expect(subject.messages.filter((m) => m.role === "user").map((m) => m.content)).toEqual(["go", "S", "F"]);
    expect(subject.queue.steering).toEqual([]);
  });

  it("refuses a second prompt while it runs, and abort ends the first", async () => {
    const { subject } = agent(never);
    const first = subject.prompt(say("go"));
    expect(() => subject.prompt(say("me too"))).toThrow("The agent is running");
    subject.abort();
    expect(await first).toMatchObject({ stopReason: "aborted" });
    await subject.waitForIdle();
  });

  it("goes on from where the conversation stands", async () => {
    const { subject } = agent();
    await subject.prompt(say("hello"));
    await subject.continue();
    expect(subject.messages).toHaveLength(3);
  });
});
