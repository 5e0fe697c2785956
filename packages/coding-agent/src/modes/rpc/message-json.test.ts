import { createAssembly } from "@tiller/ai/assemble";
import { ProviderError } from "@tiller/ai/errors";
import type { Delta } from "@tiller/ai/provider";
import { union } from "@tiller/protocol/dialects/union";
import type { AssistantMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { StreamEvent } from "@tiller/protocol/stream-event";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEventFrames, type EventFrames } from "./event-frames.ts";
import type { FrameWriter } from "./frame-writer.ts";

/** Frames of one message, as they leave. */
function stage(onFrame: (json: string) => void) {
  const writer = { raw: onFrame, token: () => undefined, hurry: () => undefined, room: () => undefined };
  return createEventFrames({
    writer: writer as unknown as FrameWriter,
    dialect: union,
    clock: { now: () => 0, after: () => () => undefined },
    mode: "snapshot",
  });
}

const MODEL = { id: "m", provider: "p", api: "a", cost: { input: 1, output: 1 } } as unknown as Model;

const index = fc.integer({ min: 0, max: 2 });
const delta: fc.Arbitrary<Delta> = fc.oneof(
  fc.record({
    type: fc.constant("open" as const),
    index,
    block: fc.constantFrom<Extract<Delta, { type: "open" }>["block"]>(
      { type: "text" },
      { type: "thinking" },
      { type: "toolCall", id: "c", name: '"content":[]' },
    ),
  }),
  fc.record({
    type: fc.constant("grow" as const),
    index,
    text: fc.constantFrom("a", '{"a":"', '"content":[]', "\u2028", "\\", '"}'),
  }),
  fc.record({ type: fc.constant("close" as const), index, signature: fc.constantFrom("", "signed") }),
  fc.record({ type: fc.constant("usage" as const), output: fc.nat(9) }),
);
/** An answer and the frames that tell it. Each frame is held against the message as it is. */
function answer() {
  const assembly = createAssembly(MODEL, 0);
  const snapshot = (): AssistantMessage => {
    assembly.refresh();
    return assembly.message;
  };
  const seen: string[] = [];
  const out = stage((json) => {
    const { message, assistantMessageEvent: event } = JSON.parse(json);
    seen.push(event.type);
    if (out.mode === "delta") return;
    expect(message).toEqual(JSON.parse(JSON.stringify(snapshot())));
    if ("partial" in event) expect(event.partial).toEqual(message);
  });
  const tell = (event: StreamEvent | undefined): void => {
    if (event) out.take({ type: "message_update", event, snapshot }, undefined);
  };
  return { assembly, out, seen, tell, play: (delta: Delta) => tell(assembly.apply(delta)) };
}

describe("the message in a snapshot", () => {
  it("is the message so far, whatever has come and in whatever order", () => {
    fc.assert(
      fc.property(fc.array(delta, { maxLength: 60, size: "max" }), fc.boolean(), (deltas, fails) => {
        const { assembly, seen, tell, play } = answer();
        tell(assembly.start());
        for (const one of deltas) play(one);
        tell((fails ? assembly.fail(new ProviderError("network", "gone")) : assembly.finish("stop")).at(-1));
        expect(seen.at(-1)).toBe(fails ? "error" : "done");
      }),
    );
  });

  const meanwhile: [what: string, begin: (out: EventFrames) => void, end: (out: EventFrames) => void][] = [
    [
      "pieces only",
      (out) => {
        out.mode = "delta";
      },
      (out) => {
        out.mode = "snapshot";
      },
    ],
    [
      "nothing",
      (out) => {
        out.only = new Set();
      },
      (out) => {
        out.only = undefined;
      },
    ],
  ];
  it.each(meanwhile)("is the message so far when the host has wanted %s for a while", (_, begin, end) => {
    const { out, seen, play } = answer();
    const open = (index: number): void => play({ type: "open", index, block: { type: "text" } });
    open(0);
    open(1);
    begin(out);
    play({ type: "grow", index: 0, text: "more" });
    end(out);
    open(2);
    expect(seen.at(-1)).toBe("text_start");
  });

  it("is not put together anew of all its blocks for each of them", () => {
    let asked = 0;
    const out = stage(() => undefined);
    const message = { role: "assistant", content: [] as unknown[], usage: {} };
    const tell = (event: StreamEvent): void => {
      const snapshot = (): AssistantMessage => message as unknown as AssistantMessage;
      out.take({ type: "message_update", event, snapshot }, undefined);
    };
    for (let at = 0; at < 100; at++) {
      message.content.push({ type: "toolCall", toJSON: () => ++asked });
      tell({ type: "toolcall_start", contentIndex: at, id: `c${at}`, toolName: "read" });
    }
    expect(asked).toBe(100);
  });
});
