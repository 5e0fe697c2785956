import { beforeAll, describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { RpcProcess, useRpc } from "../support/rpc-process.ts";
import { ended, increments, isIncrement, joined, ofType } from "./looking.ts";
import { proves } from "./proofs.ts";

/** `message_update`: the increments, and the message as far as it has come. */

const start = useRpc({ args: ["--no-session"] });
const THIN = { role: "assistant", content: [] };
const ANSWER = [
  'thinking "Hm, so." chunk 4 pace 0 + text "Hello there" chunk 4 pace 0 + toolCall read {"path":"a.txt"} chunk 6 id call_1 pace 0',
  'text "It says A."',
];

describe("in delta mode", () => {
  /** One answer with a block of each kind; each piece is a frame of its own, so the increments can be written down. */
  let frames: Frame[] = [];
  const of = (type: string): Frame[] => increments(frames, type);

  beforeAll(async () => {
    const rpc = new RpcProcess({
      script: ANSWER,
      files: { "a.txt": "A\n" },
      args: ["--no-session", "--updates", "delta"],
    });
    await rpc.prompt("read it");
    await rpc.dispose();
    frames = rpc.frames.slice(
      0,
      rpc.frames.findIndex(({ type }) => type === "turn_end"),
    );
  });

  proves("pi.update.event", "each frame is one increment, told apart by its type", () => {
    expect(increments(frames).map(({ type }) => type)).toEqual([
      "start",
      ...["thinking_start", "thinking_delta", "thinking_delta", "thinking_end"],
      ...["text_start", "text_delta", "text_delta", "text_delta", "text_end"],
      ...["toolcall_start", "toolcall_delta", "toolcall_delta", "toolcall_delta", "toolcall_end"],
      "done",
    ]);
    for (const frame of ofType(frames, "message_update")) {
      expect(frame).toEqual({
        type: "message_update",
        message: THIN,
        assistantMessageEvent: expect.objectContaining({ type: expect.any(String) }),
        promptId: "prompt-1",
        turnIndex: 0,
        messageId: "msg-2",
        seq: expect.any(Number),
      });
    }
  });

  proves("pi.update.start", "start comes right after message_start", () => {
    expect(of("start")).toEqual([{ type: "start", partial: THIN }]);
    const at = frames.findIndex((frame) => (frame.assistantMessageEvent as Frame | undefined)?.type === "start");
    expect(frames[at - 1]).toMatchObject({ type: "message_start", message: { role: "assistant" } });
  });

  proves("pi.update.thinking-start", "thinking_start opens a block of thinking", () => {
    expect(of("thinking_start")).toEqual([{ type: "thinking_start", contentIndex: 0, partial: THIN }]);
  });

  proves("pi.update.thinking-delta", "thinking_delta has a piece of thinking", () => {
    expect(of("thinking_delta")).toEqual(
      ["Hm, ", "so."].map((delta) => ({ type: "thinking_delta", contentIndex: 0, delta, partial: THIN })),
    );
  });

  proves("pi.update.thinking-end", "thinking_end closes the block and has it whole", () => {
    expect(of("thinking_end")).toEqual([{ type: "thinking_end", contentIndex: 0, content: "Hm, so.", partial: THIN }]);
  });

  proves("pi.update.text-start", "text_start opens a block of text", () => {
    expect(of("text_start")).toEqual([{ type: "text_start", contentIndex: 1, partial: THIN }]);
  });

  proves("pi.update.text-delta", "text_delta has a piece of text", () => {
    expect(of("text_delta")).toEqual(
      ["Hell", "o th", "ere"].map((delta) => ({ type: "text_delta", contentIndex: 1, delta, partial: THIN })),
    );
  });

  proves("pi.update.text-end", "text_end closes the block and has it whole", () => {
    expect(of("text_end")).toEqual([{ type: "text_end", contentIndex: 1, content: "Hello there", partial: THIN }]);
  });

  proves("pi.update.toolcall-start", "toolcall_start opens a tool call and names it (decision 14)", () => {
    expect(of("toolcall_start")).toEqual([
      { type: "toolcall_start", contentIndex: 2, id: "call_1", toolName: "read", partial: THIN },
    ]);
  });

  proves("pi.update.toolcall-delta", "toolcall_delta has a piece of the arguments", () => {
    expect(of("toolcall_delta")).toEqual(
      ['{"path', '":"a.t', 'xt"}'].map((delta) => ({ type: "toolcall_delta", contentIndex: 2, delta, partial: THIN })),
    );
  });

  proves("pi.update.toolcall-end", "toolcall_end closes the call and has it whole", () => {
    const toolCall = { type: "toolCall", id: "call_1", name: "read", arguments: { path: "a.txt" } };
    expect(of("toolcall_end")).toEqual([{ type: "toolcall_end", contentIndex: 2, toolCall, partial: THIN }]);
  });

  proves("pi.update.done-tool-use", "done with reason toolUse ends an answer that calls tools", () => {
    const message = ended(frames, "assistant");
    expect(message.stopReason).toBe("toolUse");
    expect(of("done")).toEqual([{ type: "done", reason: "toolUse", message }]);
    const end = frames.findIndex((frame) => (frame.assistantMessageEvent as Frame | undefined)?.type === "done");
    expect(frames[end + 1]).toMatchObject({ type: "message_end", message: { role: "assistant" } });
  });
});

describe("in snapshot mode, the default", () => {
  /** What the increments up to and including this one amount to. */
  function replay(before: readonly Frame[]): unknown[] {
    const content: Record<string, unknown>[] = [];
    for (const event of increments(before)) {
      const block = content[Number(event.contentIndex)];
      if (event.type === "text_start") content.push({ type: "text", text: "" });
      if (event.type === "thinking_start") content.push({ type: "thinking", thinking: "" });
      if (event.type === "toolcall_start") content.push({ type: "toolCall", id: event.id, name: event.toolName });
      if (event.type === "text_delta" && block) block.text += String(event.delta);
      if (event.type === "thinking_delta" && block) block.thinking += String(event.delta);
    }
    return content;
  }

  const atOnce = [ANSWER[0]?.replaceAll("pace 0", "") ?? "", 'text "It says A."'];

  proves(
    ["pi.update.message", "pi.update.partial"],
    "message and partial are the answer as far as it has come, contentIndex is the block",
    async () => {
      await checkPartials(ANSWER);
    },
  );

  it("so they are when all pieces arrive at once", async () => {
    await checkPartials(atOnce);
  });

  async function checkPartials(script: string[]): Promise<void> {
    const { frames } = await start({ script, files: { "a.txt": "A\n" } }).prompt("read it");
    const first = frames.slice(
      0,
      frames.findIndex(({ type }) => type === "turn_end"),
    );
    const updates = ofType(first, "message_update");
    for (const [index, update] of updates.entries()) {
      const event = update.assistantMessageEvent as Frame;
      expect(update.message).toMatchObject({ role: "assistant", content: replay(updates.slice(0, index + 1)) });
      expect(update.usage).toEqual(at(update, "message", "usage"));
      if (event.type === "done") continue;
      expect(event.partial).toEqual(update.message);
      const kind = String(event.type).split("_")[0];
      const block = at(update, "message", "content", Number(event.contentIndex ?? -1), "type");
      if (kind !== "start") expect(String(block).toLowerCase()).toBe(kind);
    }
    expect(at(updates.at(-1), "message", "content")).toEqual(ended(first, "assistant").content);
  }

  it("the arguments of a call that is still being written are what can be read of them", async () => {
    const rpc = start({
      script: ['toolCall write {"path":"notes.txt","content":"a long text"} chunk 24 pace 0 + hang'],
    });
    await rpc.call({ type: "prompt", message: "write" });
    const delta = await rpc.waitFor(isIncrement("toolcall_delta"));
    expect(at(delta, "message", "content", 0, "arguments")).toMatchObject({ path: "notes.txt" });
    await rpc.call({ type: "abort" });
  });

  it("what was sent with one increment is not changed by what comes later", async () => {
    const { frames } = await start({ script: ['text "abcdefgh" chunk 1 pace 2'] }).prompt("go");
    const texts = ofType(frames, "message_update").map((frame) => at(frame, "message", "content", 0, "text") ?? "");
    expect(texts.toSorted((a, b) => String(a).length - String(b).length)).toEqual(texts);
    expect(joined(frames)).toBe("abcdefgh");
  });
});

describe("the last increment", () => {
  const lastOf = (frames: readonly Frame[]): Frame => increments(frames).at(-1) as Frame;

  proves("pi.update.done-stop", "is done with reason stop when the answer is complete", async () => {
    const { frames } = await start({ script: ['text "all of it"'] }).prompt("go");
    const message = ended(frames, "assistant");
    expect(message).toMatchObject({ stopReason: "stop", content: [{ text: "all of it" }] });
    expect(lastOf(frames)).toEqual({ type: "done", reason: "stop", message });
  });

  proves("pi.update.done-length", "is done with reason length when the answer was cut at its limit", async () => {
    const { frames, result } = await start({ script: ['text "as much as fi" + stopReason length'] }).prompt("go");
    const message = ended(frames, "assistant");
    expect(message).toMatchObject({ stopReason: "length" });
    expect(lastOf(frames)).toEqual({ type: "done", reason: "length", message });
    expect(result.status).toBe("completed");
  });

  proves(
    "pi.update.error-aborted",
    "is error with reason aborted after an abort, with every block closed",
    async () => {
      const rpc = start({ script: ['thinking "hm" + text "half" + toolCall bash {"command":"ls"} chunk 8 + hang'] });
      await rpc.call({ type: "prompt", message: "go" });
      await rpc.waitFor(isIncrement("toolcall_delta"));
      await rpc.call({ type: "abort" });
      const message = ended(rpc.frames, "assistant");
      expect(message).toMatchObject({ stopReason: "aborted", errorMessage: "Request was aborted" });
      expect(lastOf(rpc.frames)).toEqual({ type: "error", reason: "aborted", error: message });
      const count = (pattern: RegExp): number =>
        increments(rpc.frames).filter(({ type }) => pattern.test(String(type))).length;
      expect(count(/_start$/)).toBe(3);
      expect(count(/_end$/)).toBe(3);
    },
  );

  proves(
    "pi.update.error-error",
    "is error with reason error when the model failed, with what it had said",
    async () => {
      const args = ["--no-session", "--set", "retry.enabled=false"];
      const script = ['text "half" + error 500 "it broke"'];
      const { frames, result } = await start({ script, args }).prompt("go");
      const message = ended(frames, "assistant");
      expect(message).toMatchObject({ stopReason: "error", errorMessage: "it broke", content: [{ text: "half" }] });
      expect(lastOf(frames)).toEqual({ type: "error", reason: "error", error: message });
      expect(result).toMatchObject({ status: "error", error: { message: "it broke" } });
      expect(list(message.content)).toHaveLength(1);
    },
  );

  it("is the only one beside start when the model fails before it has said anything", async () => {
    const { frames } = await start({ script: ['error 401 "who are you?"'] }).prompt("go");
    expect(increments(frames).map(({ type }) => type)).toEqual(["start", "error"]);
    expect(ended(frames, "assistant")).toMatchObject({ content: [], errorMessage: "who are you?" });
  });
});
