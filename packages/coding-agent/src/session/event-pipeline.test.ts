import type { AgentMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import { createEventPipeline } from "./event-pipeline.ts";

const user = { role: "user", content: "hi", timestamp: 0 } as AgentMessage;
const assistant = { role: "assistant", content: [] } as unknown as AgentMessage;

function pipeline() {
  const notes: string[] = [];
  const subject = createEventPipeline({
    keep: (message) => notes.push(`kept ${message.role}`),
    endTurn: () => notes.push("turn ended"),
  });
  return { notes, subject };
}

describe("the event pipeline", () => {
  it("keeps a message before anybody hears of it whole: an assistant's at its end, any other at its start", () => {
    const { notes, subject } = pipeline();
    subject.subscribe((event) => {
      notes.push(`told ${event.type}`);
      return undefined;
    });
    for (const message of [user, assistant]) {
      subject.emit({ type: "message_start", message });
      subject.emit({ type: "message_end", message });
    }
    expect(notes).toEqual([
      "kept user",
      "told message_start",
      "told message_end",
      "told message_start",
      "kept assistant",
      "told message_end",
    ]);
  });

  it("lets a turn be made safe when all of its messages are kept, before its end is told", () => {
    const { notes, subject } = pipeline();
    subject.subscribe((event) => {
      notes.push(`told ${event.type}`);
      return undefined;
    });
    subject.emit({ type: "message_end", message: assistant });
    subject.emit({ type: "turn_end", message: assistant as never, toolResults: [] });
    expect(notes).toEqual(["kept assistant", "told message_end", "turn ended", "told turn_end"]);
  });

  it("tells the listeners in the order they came, until they leave", () => {
    const { subject } = pipeline();
    const heard: string[] = [];
    const leave = subject.subscribe(() => void heard.push("a") as undefined);
    subject.subscribe(() => void heard.push("b") as undefined);
    subject.emit({ type: "turn_start" });
    leave();
    subject.emit({ type: "turn_start" });
    expect(heard).toEqual(["a", "b", "b"]);
  });

  it("waits for all who ask for time, and for nobody when none does", async () => {
    const { subject } = pipeline();
    expect(subject.emit({ type: "turn_start" })).toBeUndefined();
    const released: (() => void)[] = [];
    for (let i = 0; i < 2; i++) subject.subscribe(() => new Promise<void>((resolve) => released.push(resolve)));
    let taken = false;
    const wait = subject.emit({ type: "turn_start" })?.then(() => {
      taken = true;
    });
    released[0]?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBe(false);
    released[1]?.();
    await wait;
    expect(taken).toBe(true);
  });
});
