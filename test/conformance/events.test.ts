import { join } from "node:path";
import type { ToolResultMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import { parseArgs } from "../../packages/coding-agent/src/args.ts";
import { createSession } from "../../packages/coding-agent/src/create-session.ts";
import { createIdSource, systemClock } from "../../packages/coding-agent/src/lib/clock.ts";
import { normalise } from "../../packages/coding-agent/src/transcript/match.ts";
import { at, type Frame, list } from "../support/frame.ts";
import { useRpc } from "../support/rpc-process.ts";
import { ended, isEndOf, isIncrement, ofType, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";

const start = useRpc({ args: ["--no-session"] });
/** For stories of one failure: nothing is tried again. */
const ONCE = ["--no-session", "--set", "retry.enabled=false"];

/** Two tools that do not run side by side, so that the order of their results is known. */
const LOOK = [
  'thinking "I should look." + text "Let me look." + toolCall read {"path":"a.txt"} id call_1 + toolCall bash {"command":"cat b.txt"} id call_2',
  'text "A and B."',
];
const FILES = { "a.txt": "A\n", "b.txt": "B\n" };
const roles = (frames: readonly Frame[]): unknown[] => frames.map((frame) => at(frame, "message", "role"));
const text = (value: string): object => ({ type: "text", text: value });
/** The events that the seeds list for a run; `prompt_result` is not among them. */
const SEED_EVENTS =
  /^(agent_start|agent_end|turn_start|turn_end|message_start|message_update|message_end|tool_execution_\w+)$/;

describe("the events of a run", () => {
  proves(
    ["pi.events.agent-start", "pi.events.agent-end", "pi.events.turn-start", "pi.events.turn-end"],
    "begin with agent_start, go turn by turn and end with agent_end",
    async () => {
      const { frames } = await start({ script: LOOK, files: FILES }).prompt("look");
      const frame = (type: string): Frame => ({ type, promptId: "prompt-1", seq: expect.any(Number) });
      const outline = frames.filter(({ type }) => /^(agent|turn)_(start|end)$/.test(String(type)));
      expect(outline).toEqual([
        frame("agent_start"),
        { ...frame("turn_start"), turnIndex: 0 },
        { ...frame("turn_end"), turnIndex: 0, message: expect.anything(), toolResults: expect.any(Array) },
        { ...frame("turn_start"), turnIndex: 1 },
        { ...frame("turn_end"), turnIndex: 1, message: expect.anything(), toolResults: [] },
        { ...frame("agent_end"), turnIndex: 1, messages: expect.any(Array), willRetry: false },
      ]);
      const types = frames.map(({ type }) => type).filter((type) => type !== "ready");
      expect(types.slice(0, 3)).toEqual(["response", "agent_start", "turn_start"]);
    },
  );

  proves("pi.events.agent-end-messages", "agent_end has every message of the run, and of this run only", async () => {
    const rpc = start({ script: [...LOOK, 'text "Again."'], files: FILES });
    const first = await rpc.prompt("look");
    const [end] = ofType(first.frames, "agent_end");
    expect(end?.messages).toEqual(ofType(first.frames, "message_end").map(({ message }) => message));
    expect(list(end?.messages).map((message) => at(message, "role"))).toEqual([
      ...["user", "assistant", "toolResult", "toolResult", "assistant"],
    ]);
    const second = await rpc.prompt("again");
    expect(ofType(second.frames, "agent_end")).toMatchObject([
      {
        messages: [
          { role: "user", content: [text("again")] },
          { role: "assistant", content: [text("Again.")] },
        ],
      },
    ]);
  });

  proves("pi.events.turn-end-content", "turn_end has the answer of the turn and the results of its tools", async () => {
    const { frames } = await start({ script: LOOK, files: FILES }).prompt("look");
    const ends = ofType(frames, "message_end").map(({ message }) => message as Frame);
    const [, firstAnswer, ...others] = ends;
    expect(ofType(frames, "turn_end")).toMatchObject([
      { message: firstAnswer, toolResults: others.slice(0, 2) },
      { message: others[2], toolResults: [] },
    ]);
    expect(others.slice(0, 2)).toMatchObject([
      { role: "toolResult", toolCallId: "call_1", toolName: "read", content: [text("A\n")], isError: false },
      { role: "toolResult", toolCallId: "call_2", toolName: "bash", content: [text("B\n")], isError: false },
    ]);
  });

  proves(
    ["pi.events.message-start", "pi.events.message-end"],
    "every message has a start and an end; the answer starts empty and ends complete",
    async () => {
      const { frames } = await start({ script: LOOK, files: FILES }).prompt("look");
      const starts = ofType(frames, "message_start");
      const ends = ofType(frames, "message_end");
      expect(roles(starts)).toEqual(["user", "assistant", "toolResult", "toolResult", "assistant"]);
      expect(roles(ends)).toEqual(roles(starts));
      expect(starts[0]?.message).toEqual(ends[0]?.message);
      expect(starts[1]?.message).toMatchObject({ role: "assistant", content: [], usage: { totalTokens: 0 } });
      expect(ends[1]?.message).toEqual({
        role: "assistant",
        content: [
          { type: "thinking", thinking: "I should look." },
          text("Let me look."),
          { type: "toolCall", id: "call_1", name: "read", arguments: { path: "a.txt" } },
          { type: "toolCall", id: "call_2", name: "bash", arguments: { command: "cat b.txt" } },
        ],
        api: "script",
        provider: "script",
        model: "script",
        usage: expect.objectContaining({ totalTokens: expect.any(Number) }),
        stopReason: "toolUse",
        timestamp: expect.any(Number),
      });
    },
  );

  proves(
    ["pi.events.during-run", "pi.update.while-streaming", "pi.events.message-update"],
    "come while the agent works, not when it is done",
    async () => {
      const rpc = start({ script: ['text "half" + hang'] });
      await rpc.call({ type: "prompt", message: "go" });
      const update = await rpc.waitFor(isIncrement("text_delta"));
      expect(update).toMatchObject({ type: "message_update", assistantMessageEvent: { delta: "half" } });
      expect(await stateOf(rpc)).toMatchObject({ isStreaming: true });
      expect(ofType(rpc.frames, "agent_end")).toEqual([]);
      await rpc.call({ type: "abort" });
    },
  );

  proves("pi.events.no-id", "have no id, while responses have theirs", async () => {
    const { frames } = await start({ script: LOOK, files: FILES }).prompt("look", { id: "mine" });
    const seeds = frames.filter(({ type }) => SEED_EVENTS.test(String(type)));
    expect(new Set(seeds.map(({ type }) => type)).size).toBeGreaterThanOrEqual(9);
    expect(seeds.filter((frame) => "id" in frame)).toEqual([]);
    const withId = frames.filter((frame) => "id" in frame);
    expect(withId.map(({ type, id }) => [type, id])).toEqual([
      ["response", "mine"],
      ["prompt_result", "mine"],
    ]);
  });

  proves(
    ["pi.events.tool-start", "pi.events.tool-update", "pi.events.tool-end"],
    "tell that a tool begins, how it gets on and how it ended",
    async () => {
      const script = ['toolCall bash {"command":"echo out; exit 3"} id call_9', 'text "It failed."'];
      const { frames } = await start({ script }).prompt("run");
      const place = { promptId: "prompt-1", turnIndex: 0, seq: expect.any(Number) };
      const about = { toolCallId: "call_9", toolName: "bash", ...place };
      const args = { command: "echo out; exit 3" };
      expect(ofType(frames, "tool_execution_start")).toEqual([{ type: "tool_execution_start", ...about, args }]);
      expect(ofType(frames, "tool_execution_update")[0]).toEqual({
        type: "tool_execution_update",
        ...about,
        args,
        partialResult: { content: [] },
      });
      expect(ofType(frames, "tool_execution_end")).toEqual([
        {
          type: "tool_execution_end",
          ...about,
          result: { content: [text("out\n\nCommand exited with code 3")] },
          isError: true,
        },
      ]);
      expect(ended(frames, "toolResult")).toEqual({
        role: "toolResult",
        toolCallId: "call_9",
        toolName: "bash",
        content: [text("out\n\nCommand exited with code 3")],
        isError: true,
        timestamp: expect.any(Number),
      });
    },
  );

  it("tell of the results in the order of the message, whichever tool was first (decision 17)", async () => {
    const script = [
      'toolCall bash {"command":"sleep 0.1; echo slow"} id slow + toolCall read {"path":"a.txt"} id quick',
      'text "Both."',
    ];
    const { frames } = await start({ script, files: FILES }).prompt("run");
    const steps = frames
      .filter(({ type }) => /^tool_execution_(start|end)$/.test(String(type)))
      .map(({ type, toolCallId }) => `${String(type).slice(15)} ${toolCallId}`);
    expect(steps).toEqual(["start slow", "end slow", "start quick", "end quick"]);
    const [turn] = ofType(frames, "turn_end");
    expect(list(turn?.toolResults).map((result) => at(result, "toolCallId"))).toEqual(["slow", "quick"]);
  });
});

describe("the place of an event", () => {
  /** A failure that passes, a tool, and a message that is queued while the model speaks. */
  const playAll = async (): Promise<Frame[]> => {
    const script = [
      'error 529 "busy"',
      'text "Let me look." chunk 4 pace 1 + toolCall read {"path":"a.txt"} + delay 1000',
      'text "A."',
      'text "And on."',
    ];
    const rpc = start({ script, files: FILES, args: ["--no-session", "--set", "retry.baseDelayMs=10"] });
    await rpc.call({ type: "prompt", message: "look" });
    await rpc.waitFor(isIncrement("text_delta"));
    await rpc.call({ type: "follow_up", message: "go on" });
    await rpc.waitFor("session_settled");
    return rpc.frames;
  };
  const OUTSIDE_TURNS = /^(ready|response|agent_start|agent_settled|prompt_result|session_settled)$/;

  it("is its turn, counted from 0 over retries and queued messages", async () => {
    const frames = await playAll();
    let turnIndex = -1;
    for (const frame of frames) {
      if (frame.type === "turn_start") turnIndex += 1;
      if (OUTSIDE_TURNS.test(String(frame.type))) expect(frame).not.toHaveProperty("turnIndex");
      else expect(frame).toMatchObject({ promptId: "prompt-1", turnIndex });
    }
    expect(turnIndex).toBe(3);
    expect(ofType(frames, "auto_retry_start")).toMatchObject([{ turnIndex: 0 }]);
    expect(ofType(frames, "queue_update")).toMatchObject([{ turnIndex: 1 }, { turnIndex: 3 }]);
  });

  it("is its message: all events of one message have the same id, and no other event has one", async () => {
    const frames = await playAll();
    const seen: unknown[] = [];
    for (const frame of frames) {
      if (!/^message_(start|update|end)$/.test(String(frame.type))) expect(frame).not.toHaveProperty("messageId");
      else if (frame.type === "message_start") seen.push(frame.messageId);
      else expect(frame.messageId).toBe(seen.at(-1));
    }
    expect(seen).toEqual(seen.map((_, index) => `msg-${index + 1}`));
    expect(seen).toHaveLength(7);
  });
});

describe("the session and stdout", () => {
  /** The same in both but for the clock. */
  const still = (frame: object): unknown =>
    normalise("durationMs" in frame ? { ...frame, durationMs: typeof frame.durationMs } : frame, {});
  /** What differs between an event inside and its frame: the edge adds `seq`, and `partial` to increments. */
  const bare = (frame: Frame): unknown => {
    const { type, seq: _seq, message, assistantMessageEvent, ...rest } = frame;
    if (type !== "message_update") return still({ type, ...rest, ...(message ? { message } : {}) });
    const { partial: _partial, ...event } = assistantMessageEvent as Frame;
    return still({ type, ...rest, event });
  };

  proves("omp.events.from-subscribe", "say the same things in the same order", async () => {
    const script = ['thinking "Hm." + text "Let me look." chunk 3 + toolCall read {"path":"a.txt"}', 'text "A."'];
    const rpc = start({ script, files: FILES, args: ["--no-session", "--updates", "delta"] });
    const { frames, response } = await rpc.prompt("look");
    const told = frames.filter(({ type }) => type !== "response" && type !== "ready").map(bare);

    const { cwd, agentDir, env } = rpc.sandbox;
    const argv = ["--mode", "rpc", "--no-session", "--script", join(agentDir, "model-script.json")];
    const parsed = parseArgs(argv, "tiller");
    if (parsed.kind !== "run") throw new Error(`the arguments were refused: ${JSON.stringify(parsed)}`);
    const clock = systemClock;
    const created = await createSession({ run: parsed.run, env, cwd, clock, ids: createIdSource(clock) });
    if ("error" in created) throw new Error(created.error);
    const heard: unknown[] = [];
    created.session.subscribe((event, place) => {
      const { snapshot: _snapshot, ...said } = event as Frame;
      heard.push(still(JSON.parse(JSON.stringify({ ...said, ...place }))));
      return undefined;
    });
    const admission = created.session.admit({ message: "look", commandId: String(response.id) });
    if (!("job" in admission) || !admission.job)
      throw new Error(`the prompt was not started: ${JSON.stringify(admission)}`);
    await admission.job();
    await created.session.dispose("done");

    expect(heard.length).toBeGreaterThan(30);
    expect(told).toEqual(heard);
  });
});

describe("a prompt that ends badly", () => {
  it.each([
    ["by an error", ['text "half" + error 500 "it broke"'], { stopReason: "error", errorMessage: "it broke" }],
    ["by a cut", ['text "half" + cut'], { stopReason: "error" }],
  ])("%s has all its endings", async (_name, script, message) => {
    const { frames, result } = await start({ script, args: ONCE }).prompt("go");
    expect(ended(frames, "assistant")).toMatchObject({ ...message, content: [text("half")] });
    expect(ofType(frames, "turn_end")).toMatchObject([{ message, toolResults: [] }]);
    expect(ofType(frames, "agent_end")).toMatchObject([{ willRetry: false, messages: [{ role: "user" }, message] }]);
    expect(result).toMatchObject({ status: "error", agentInvoked: true });
  });

  it("by an abort gives the tool that was running a result, so that the conversation stays whole (decision 18)", async () => {
    const rpc = start({ script: ['toolCall bash {"command":"echo begun; sleep 20"} id call_1', 'text "on we go"'] });
    await rpc.call({ id: "p", type: "prompt", message: "wait" });
    await rpc.waitFor(
      (frame) => frame.type === "tool_execution_update" && JSON.stringify(frame.partialResult).includes("begun"),
    );
    await rpc.call({ type: "abort" });
    const { message } = (await rpc.waitFor(isEndOf("toolResult"))) as unknown as { message: ToolResultMessage };
    expect(message).toMatchObject({ toolCallId: "call_1", isError: true });
    // One text if the command has ended by then, two if it is given up.
    expect(JSON.stringify(message.content)).toMatch(/begun.*aborted/);
    expect(await rpc.waitFor("prompt_result")).toMatchObject({ id: "p", status: "aborted" });
    const { result } = await rpc.prompt("on");
    expect(result.status).toBe("completed");
  });
});
