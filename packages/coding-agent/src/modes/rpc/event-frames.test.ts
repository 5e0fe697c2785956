import type { Clock } from "@tiller/protocol/clock";
import { pi } from "@tiller/protocol/dialects/pi";
import { union } from "@tiller/protocol/dialects/union";
import type { AgentMessage, AssistantMessage, UserMessage } from "@tiller/protocol/message";
import { describe, expect, it, vi } from "vitest";
import { createEventJournal, type EventJournal } from "../../session/store/event-journal.ts";
import { createEventFrames, type EventFrames } from "./event-frames.ts";
import type { FrameWriter } from "./frame-writer.ts";
import { replayAfter } from "./replay.ts";

type Frame = Record<string, unknown> & { type: string; seq: number };

/** A clock and a host that the test moves. */
function stage(mode: "snapshot" | "delta", dialect = union) {
  const frames: Frame[] = [];
  const timers: { at: number; fn: () => void }[] = [];
  /** How many frames there were each time that they could not wait. */
  const hurried: number[] = [];
  let now = 0;
  let readAgain: (() => void)[] = [];
  const host = { busy: false };
  const clock: Clock = {
    now: () => now,
    after(ms, fn) {
      const timer = { at: now + ms, fn };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
  };
  const writer: FrameWriter = {
    frame: (value) => frames.push(value as Frame),
    raw: (json) => frames.push(JSON.parse(json) as Frame),
    token: ({ head, tail }, text, seq) => {
      frames.push(JSON.parse(`${head}${JSON.stringify(text)}${tail}${seq}}`) as Frame);
    },
    cutter: undefined,
    beforeWrite: undefined,
    lines: (lines) => frames.push(...[...lines].map((json) => JSON.parse(json) as Frame)),
    hurry: () => hurried.push(frames.length),
    pieces: (json) => frames.push(JSON.parse([...json].join("")) as Frame),
    get busy() {
      return host.busy;
    },
    get waiting() {
      return host.busy ? 1 : 0;
    },
    room: vi.fn(() => undefined),
    roomForAnswers: () => undefined,
    drainedTo: () => Promise.resolve(),
    flushed: () => (host.busy ? new Promise((resolve) => readAgain.push(resolve)) : Promise.resolve()),
  };
  const message: AssistantMessage = {
    role: "assistant",
    content: [],
    api: "a",
    provider: "p",
    model: "m",
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: "stop",
    timestamp: 0,
  };
  const session = {
    sessionId: "s1",
    sessionFile: undefined,
    hasBegun: false,
    isContinued: false,
    isInUse: false,
    newestFirst: () => [],
  };
  const journal = createEventJournal({ session, folder: "/nowhere", maxBytes: 1e6, onTrouble: () => undefined });
  const kept = { made: undefined as EventJournal | undefined, load: async () => journal };
  const out: EventFrames = createEventFrames({
    writer,
    dialect,
    clock,
    mode,
    journal: kept,
    sessionId: () => session.sessionId,
  });
  return {
    frames,
    writer,
    hurried,
    host,
    out,
    message,
    session,
    /** Until then what is told waits for it. */
    loadJournal() {
      kept.made = journal;
    },
    told: (after?: number) => {
      kept.made = journal;
      const { frames: json, ...places } = out.told(journal, replayAfter, after);
      return { ...places, frames: json.map((text) => JSON.parse(text) as Frame) };
    },
    tick: () => new Promise<void>((resolve) => setImmediate(resolve)),
    async advance(ms: number) {
      now += ms;
      for (const timer of timers.filter((t) => t.at <= now)) {
        timers.splice(timers.indexOf(timer), 1);
        timer.fn();
      }
    },
    async read() {
      host.busy = false;
      for (const resolve of readAgain) resolve();
      readAgain = [];
      await new Promise<void>((resolve) => setImmediate(resolve));
    },
    open() {
      message.content.push({ type: "text", text: "" });
      out.take(
        { type: "message_update", event: { type: "text_start", contentIndex: 0 }, snapshot: () => message },
        { promptId: "prompt-1" },
      );
    },
    say(delta: string) {
      const block = message.content[0];
      if (block?.type === "text") block.text += delta;
      return out.take(
        { type: "message_update", event: { type: "text_delta", contentIndex: 0, delta }, snapshot: () => message },
        { promptId: "prompt-1" },
      );
    },
    /** A block that comes whole: its start and its end. */
    call(contentIndex: number) {
      const toolCall = { type: "toolCall", id: `c${contentIndex}`, name: "ls", arguments: {} } as const;
      message.content.push(toolCall);
      const snapshot = () => message;
      const start = { type: "toolcall_start", contentIndex, id: toolCall.id, toolName: "ls" } as const;
      out.take({ type: "message_update", event: start, snapshot }, { promptId: "prompt-1" });
      const end = { type: "toolcall_end", contentIndex, toolCall } as const;
      out.take({ type: "message_update", event: end, snapshot }, { promptId: "prompt-1" });
    },
    done() {
      const event = { type: "done", reason: "stop", message } as const;
      out.take({ type: "message_update", event, snapshot: () => message }, { promptId: "prompt-1" });
    },
    close() {
      const text = message.content[0]?.type === "text" ? message.content[0].text : "";
      out.take(
        {
          type: "message_update",
          event: { type: "text_end", contentIndex: 0, content: text },
          snapshot: () => message,
        },
        { promptId: "prompt-1" },
      );
    },
  };
}

const deltas = (frames: Frame[]) =>
  frames.map((f) => (f.assistantMessageEvent as { type: string; delta?: string }).delta).filter((d) => d !== undefined);

describe("event frames", () => {
  it("let nobody wait for the first words of an answer, and send the others together", () => {
    const { open, say, close, hurried } = stage("delta");
    open();
    say("Once");
    say(" upon");
    say(" a time");
    close();
    expect(hurried).toEqual([2]);
  });

  it("let nobody wait for the first words of an answer with all that is said of it, either", async () => {
    const { open, say, close, tick, hurried } = stage("snapshot");
    open();
    say("Once");
    say(" upon");
    await tick();
    say(" a time");
    await tick();
    close();
    expect(hurried).toEqual([2]);
  });

  it("let nobody wait for the end of a run until all that follows it is done", () => {
    const { out, hurried } = stage("delta");
    out.take({ type: "agent_start" }, undefined);
    out.take({ type: "agent_end", messages: [], willRetry: false }, undefined);
    out.take({ type: "agent_settled", aborted: false }, undefined);
    expect(hurried).toEqual([2]);
  });

  it("let nobody wait for the end of a tool until the model is asked again", () => {
    const { out, hurried } = stage("delta");
    const call = { toolCallId: "c", toolName: "look" };
    out.take({ type: "tool_execution_start", ...call, args: {} }, undefined);
    out.take({ type: "tool_execution_end", ...call, result: { content: [] }, isError: false }, undefined);
    expect(hurried).toEqual([2]);
  });

  it("stamps every event with seq, and those of a prompt with its promptId", () => {
    const { out, frames } = stage("snapshot");
    out.take({ type: "notice", level: "warning", message: "hi" }, undefined);
    out.take({ type: "agent_start" }, { promptId: "prompt-1" });
    expect(frames).toEqual([
      { type: "notice", level: "warning", message: "hi", seq: 1 },
      { type: "agent_start", promptId: "prompt-1", seq: 2 },
    ]);
  });

  it("leaves out what the dialect does not have, without a gap in seq", () => {
    const { out, frames } = stage("snapshot", pi);
    out.take({ type: "session_settled" }, { promptId: "prompt-1" });
    out.take({ type: "agent_start" }, { promptId: "prompt-1" });
    expect(frames).toEqual([{ type: "agent_start", promptId: "prompt-1", seq: 1 }]);
  });

  it("leaves out what the host does not want, without a gap in seq, but not what it waits for", () => {
    const { out, frames } = stage("delta");
    out.only = new Set(["agent_start"]);
    out.take({ type: "agent_start" }, undefined);
    out.take({ type: "turn_start" }, undefined);
    out.take({ type: "session_settled" }, undefined);
    out.only = undefined;
    out.take({ type: "turn_start" }, undefined);
    expect(frames.map(({ type, seq }) => `${type} ${seq}`)).toEqual([
      "agent_start 1",
      "session_settled 2",
      "turn_start 3",
    ]);
  });

  it("delta mode: every token at once, with thin messages", () => {
    const s = stage("delta");
    s.open();
    s.say("Hel");
    s.say("lo");
    s.close();
    const thin = { role: "assistant", content: [] };
    expect(s.frames[1]).toEqual({
      type: "message_update",
      message: thin,
      assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "Hel", partial: thin },
      promptId: "prompt-1",
      seq: 2,
    });
    expect(deltas(s.frames)).toEqual(["Hel", "lo"]);
    expect(s.frames[3]).toMatchObject({ assistantMessageEvent: { type: "text_end", content: "Hello" } });
  });

  it("snapshot mode: deltas of one tick are one frame, with the true message so far", async () => {
    const s = stage("snapshot");
    s.open();
    s.say("Hel");
    s.say("lo");
    expect(s.frames).toHaveLength(1);
    await s.tick();
    expect(s.frames).toHaveLength(2);
    expect(s.frames[1]).toMatchObject({
      message: { content: [{ type: "text", text: "Hello" }] },
      assistantMessageEvent: {
        type: "text_delta",
        delta: "Hello",
        partial: { content: [{ type: "text", text: "Hello" }] },
      },
      usage: { totalTokens: 0 },
    });
  });

  it("delta mode: what stands around a token is that of its own message and block", () => {
    const s = stage("delta");
    const say = (contentIndex: number, messageId: string, type: "text_delta" | "thinking_delta") =>
      s.out.take(
        { type: "message_update", event: { type, contentIndex, delta: "x" }, snapshot: () => ({}) as AssistantMessage },
        { promptId: "prompt-1", messageId },
      );
    say(0, "msg-1", "thinking_delta");
    say(1, "msg-1", "text_delta");
    say(1, "msg-1", "text_delta");
    say(1, "msg-2", "text_delta");
    const told = s.frames.map(({ messageId, seq, assistantMessageEvent: event }) => {
      const { type, contentIndex } = event as { type: string; contentIndex: number };
      return `${messageId} ${contentIndex} ${type} ${seq}`;
    });
    expect(told).toEqual([
      "msg-1 0 thinking_delta 1",
      "msg-1 1 text_delta 2",
      "msg-1 1 text_delta 3",
      "msg-2 1 text_delta 4",
    ]);
  });

  it("snapshot mode: the larger the message, the fewer snapshots", async () => {
    const s = stage("snapshot");
    s.open();
    s.say("x".repeat(8 * 1024 * 1024));
    await s.tick();
    s.say("y");
    await s.tick();
    await s.advance(900);
    expect(deltas(s.frames)).toHaveLength(1);
    await s.advance(200);
    expect(deltas(s.frames)).toHaveLength(2);
  });

  it("snapshot mode: nothing else overtakes the deltas that wait", () => {
    const s = stage("snapshot");
    s.open();
    s.say("Hello");
    s.close();
    s.out.take({ type: "turn_start" }, { promptId: "prompt-1" });
    expect(s.frames.map((f) => (f.assistantMessageEvent as { type?: string } | undefined)?.type ?? f.type)).toEqual([
      "text_start",
      "text_delta",
      "text_end",
      "turn_start",
    ]);
  });

  it("snapshot mode: while the host does not read, deltas are joined", async () => {
    const s = stage("snapshot");
    s.open();
    s.host.busy = true;
    for (const word of ["a", "b", "c"]) {
      s.say(word);
      await s.tick();
    }
    expect(deltas(s.frames)).toEqual([]);
    await s.read();
    expect(deltas(s.frames)).toEqual(["abc"]);
  });

  it("snapshot mode: a host that does not read at all makes the model wait in the end", async () => {
    const s = stage("snapshot");
    s.open();
    s.host.busy = true;
    expect(s.say("x".repeat(60_000))).toBeUndefined();
    const wait = s.say("x".repeat(10_000));
    expect(wait).toBeInstanceOf(Promise);
    await s.read();
    await wait;
    expect(deltas(s.frames).join("")).toHaveLength(70_000);
  });

  it("snapshot mode: a message over 2 kB is sent at most 30 times a second", async () => {
    const s = stage("snapshot");
    s.open();
    s.say("x".repeat(3000));
    await s.tick();
    for (let i = 0; i < 20; i++) {
      s.say("y");
      await s.tick();
      await s.advance(5);
    }
    expect(deltas(s.frames).length).toBeLessThanOrEqual(5);
    s.close();
    expect(deltas(s.frames).join("")).toBe("x".repeat(3000) + "y".repeat(20));
  });

  it("snapshot mode: starts and ends repeat a huge message for a while, then leave it out until it is due again", async () => {
    const s = stage("snapshot");
    s.open();
    s.say("x".repeat(4 * 1024 * 1024));
    await s.tick();
    const before = s.frames.length;
    const sizes = () =>
      s.frames.slice(before).map(({ message }) => JSON.stringify((message as AssistantMessage).content).length);
    for (let index = 1; index <= 6; index++) s.call(index);
    const isWhole = (size: number) => size > 4e6;
    // Four or five of them are 16 MiB and more; the true message stands in each as far as it goes.
    expect(sizes().slice(0, 4).every(isWhole)).toBe(true);
    expect(sizes().slice(5)).toEqual(new Array(7).fill(2));
    expect(s.frames.slice(before).map((f) => (f.assistantMessageEvent as { partial: unknown }).partial)).toEqual(
      s.frames.slice(before).map((f) => f.message),
    );
    // Half a second is what such a message has to wait.
    await s.advance(600);
    s.call(7);
    expect(sizes().slice(12).map(isWhole)).toEqual([true, false]);
    s.done();
    expect(sizes().slice(14).map(isWhole)).toEqual([true]);
    // A replay has it in its newest frames alone, too.
    expect(
      s
        .told(0)
        .frames.map((f) => JSON.stringify(f.message).length > 4e6)
        .filter(Boolean),
    ).toHaveLength(4);
  });

  it("snapshot mode: what one message repeated is not held against the next, also where its borders are not told", async () => {
    const s = stage("snapshot");
    s.out.only = new Set(["message_update"]);
    s.open();
    s.say("x".repeat(4 * 1024 * 1024));
    await s.tick();
    for (let index = 1; index <= 6; index++) s.call(index);
    const { message } = s;
    s.out.take({ type: "message_end", message }, { promptId: "prompt-1" });
    expect(s.told(0).frames.filter(({ type }) => type === "message_update")).toEqual([]);
    s.out.take({ type: "message_start", message }, { promptId: "prompt-1" });
    const before = s.frames.length;
    s.call(7);
    expect(s.frames.slice(before).map((f) => (f.message as AssistantMessage).content.length)).toEqual([8, 8]);
  });

  it("snapshot mode: blocks that grow in turns wait for a host that does not read, as each turn is a frame", () => {
    const s = stage("snapshot");
    s.open();
    s.call(1);
    const room = vi.mocked(s.writer.room);
    room.mockClear();
    const place = { promptId: "prompt-1" };
    const tell = (contentIndex: number) => {
      const event = { type: "text_delta", contentIndex, delta: "a" } as const;
      s.out.take({ type: "message_update", event, snapshot: () => s.message }, place);
    };
    tell(0);
    tell(0);
    expect(room).not.toHaveBeenCalled();
    tell(1);
    expect(room).toHaveBeenCalledOnce();
  });

  it("joining the deltas always gives the final text, also when the mode changes on the way", async () => {
    const s = stage("snapshot");
    s.open();
    s.say("one ");
    s.out.mode = "delta";
    s.say("two ");
    s.out.mode = "snapshot";
    s.say("three");
    s.close();
    expect(deltas(s.frames).join("")).toBe("one two three");
    // The last snapshot before the change has no word whose delta comes after it.
    expect(s.frames[1]).toMatchObject({ message: { content: [{ text: "one " }] } });
  });
});

describe("a message that comes whole", () => {
  const said = (content: string): UserMessage => ({ role: "user", content, timestamp: 1 });

  it("is the same in its start and its end, each with its own place and number", () => {
    const { out, frames } = stage("delta");
    const [first, second] = [said("\u2028 one"), said("two")];
    out.take({ type: "message_start", message: first }, { promptId: "p1", messageId: "m1" });
    out.take({ type: "message_end", message: first }, { promptId: "p1", messageId: "m2" });
    out.take({ type: "message_start", message: second }, undefined);
    out.take({ type: "message_end", message: said("other") }, undefined);
    out.take({ type: "message_end", message: second }, undefined);
    expect(frames).toEqual([
      { type: "message_start", message: first, promptId: "p1", messageId: "m1", seq: 1 },
      { type: "message_end", message: first, promptId: "p1", messageId: "m2", seq: 2 },
      { type: "message_start", message: second, seq: 3 },
      { type: "message_end", message: said("other"), seq: 4 },
      { type: "message_end", message: second, seq: 5 },
    ]);
  });

  it("is told as a notice when no JSON can hold it, both times", () => {
    const { out, frames } = stage("delta");
    const details: Record<string, unknown> = {};
    details.self = details;
    const message: AgentMessage = {
      role: "custom",
      customType: "x",
      content: "",
      display: true,
      details,
      timestamp: 1,
    };
    out.take({ type: "message_start", message }, undefined);
    out.take({ type: "message_end", message }, undefined);
    expect(frames.map(({ type, message: text }) => `${type} ${String(text).slice(0, 35)}`)).toEqual([
      'notice An event "message_start" cannot be ',
      'notice An event "message_end" cannot be to',
    ]);
  });

  it("is not taken for known when it has streamed in between", () => {
    const { out, frames, message } = stage("delta");
    out.take({ type: "message_start", message }, undefined);
    message.content = [{ type: "text", text: "later" }];
    out.take({ type: "message_end", message }, undefined);
    expect(frames.at(-1)).toMatchObject({ message: { content: [{ type: "text", text: "later" }] } });
  });
});

describe("what was told, told once more", () => {
  const place = { promptId: "prompt-1" };

  it("is what was told, from before the journal was loaded on, without what passes", () => {
    const { out, frames, told } = stage("snapshot");
    out.take({ type: "agent_start" }, place);
    out.take({ type: "bash_execution_update", delta: "x" }, undefined);
    out.take({ type: "turn_start" }, place);
    const { frames: again, ...places } = told(0);
    expect(places).toEqual({ oldest: 1, latest: 3, missed: false });
    expect(again).toEqual([frames[0], frames[2]]);
    expect(told(1).frames).toEqual([frames[2]]);
    expect(told()).toEqual({ oldest: 1, latest: 3, missed: false, frames: [] });
  });

  it("is nothing of a session that was left before the journal was loaded", () => {
    const { out, frames, told, session } = stage("snapshot");
    out.take({ type: "agent_start" }, place);
    session.sessionId = "s2";
    out.take({ type: "turn_start" }, place);
    expect(told(0)).toEqual({ oldest: 1, latest: 2, missed: false, frames: [frames[1]] });
  });

  it.each(["delta", "snapshot"] as const)(
    "%s mode: of a message that is being streamed it is what the host lacks of each block",
    async (mode) => {
      const { out, frames, open, say, close, tick, told, message, loadJournal } = stage(mode);
      loadJournal();
      out.take({ type: "message_start", message }, place);
      open();
      for (let n = 0; n < 1200; n++) {
        say(`${n} `);
        if (n % 100 === 0) await tick();
        if (n === 600) out.take({ type: "queue_update", steering: [], followUp: [] }, undefined);
      }
      close();
      await tick();
      const textIn = (some: readonly Frame[]): string =>
        some.map(({ assistantMessageEvent: event }) => (event as { delta?: string })?.delta ?? "").join("");
      const all = textIn(frames);
      const seqs = frames.map(({ seq }) => seq);
      expect(all).toContain("599 600 601");
      for (const after of [0, 1, 2, seqs.length >> 2, seqs.length >> 1, seqs.length - 3, seqs.length]) {
        const seen = frames.filter(({ seq }) => seq <= after);
        const { frames: again } = told(after);
        expect(textIn(seen) + textIn(again)).toBe(all);
        const numbers = again.map(({ seq }) => seq);
        expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
        expect(numbers.every((seq) => seq > after && seqs.includes(seq))).toBe(true);
        const kinds = (some: readonly Frame[]) =>
          some
            .filter(({ seq }) => seq > after)
            .map(({ type, assistantMessageEvent: event }) => `${type} ${(event as Frame)?.type}`);
        const isDelta = (kind: string): boolean => kind.includes("_delta");
        expect(kinds(again).filter((kind) => !isDelta(kind))).toEqual(kinds(frames).filter((kind) => !isDelta(kind)));
      }
      // Few frames for many pieces.
      expect(told(0).frames.length).toBeLessThan(12);
      const last = told(3).frames.at(-1);
      expect(last?.message).toEqual(mode === "delta" ? { role: "assistant", content: [] } : { ...message });
      out.take({ type: "message_end", message }, place);
      expect(told(1).frames.map(({ type }) => type)).toEqual(["queue_update", "message_end"]);
    },
  );

  it("ends with the session: another one has events of its own, under higher numbers", () => {
    const { out, session, told } = stage("snapshot");
    out.take({ type: "agent_start" }, place);
    told();
    session.sessionId = "s2";
    out.take({ type: "turn_start" }, place);
    expect(told(0)).toMatchObject({ latest: 2, missed: false, frames: [{ type: "turn_start", seq: 2 }] });
  });
});
