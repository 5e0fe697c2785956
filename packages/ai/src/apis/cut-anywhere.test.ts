import type { AssistantMessage } from "@tiller/protocol/message";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ERROR_TEXT,
  ERROR_WORDS,
  EXPECTED,
  FAMILIES,
  type Family,
  type Heard,
  readStream,
  STREAM_NAMES,
  type StreamName,
} from "../../../../test/support/streams/expected.ts";
import { assembled, decode, READERS } from "../../../../test/support/streams/read.ts";

/** Streams of every family: whole, cut at every byte, and in pieces of any size. */

const STREAMS = FAMILIES.flatMap((family) => STREAM_NAMES.map((name): [Family, StreamName] => [family, name]));
const WHOLE = FAMILIES.flatMap((family) =>
  (["text", "thinking", "tools"] as const).map((name): [Family, "text" | "thinking" | "tools"] => [family, name]),
);

/** The message in the words of the table of expectations. */
function heard({ content, usage, stopReason }: AssistantMessage): Omit<Heard, "stopReason"> & { stopReason: string } {
  const { input, output, cacheRead, cacheWrite, reasoning = 0 } = usage;
  return {
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    thinking: content.map((block) => (block.type === "thinking" && !block.redacted ? block.thinking : "")).join(""),
    calls: content.flatMap((block) => (block.type === "toolCall" ? [[block.name, block.arguments]] : [])),
    usage: { input, output, cacheRead, cacheWrite, reasoning },
    stopReason,
  };
}

describe("a whole stream", () => {
  test.each(WHOLE)("%s: %s", (family, name) => {
    const { message, error } = assembled(READERS[family].read(decode(readStream(family, name))));
    expect(error).toBeUndefined();
    expect(heard(message)).toEqual(EXPECTED[family][name]);
  });

  test.each(FAMILIES)("%s: an error of the vendor keeps its words and the text before it", (family) => {
    const { message, error } = assembled(READERS[family].read(decode(readStream(family, "error"))));
    expect(error?.message).toContain(ERROR_WORDS[family]);
    expect(["overloaded", "server"]).toContain(error?.kind);
    expect(heard(message)).toMatchObject({ text: ERROR_TEXT, calls: [], stopReason: "error" });
  });

  test.each(FAMILIES)("%s: what ends in the middle is an error, with all that was read", (family) => {
    const { message, error } = assembled(READERS[family].read(decode(readStream(family, "cut-off"))));
    expect(error?.kind).toBe("malformed");
    expect(message).toMatchObject({ stopReason: "error", errorMessage: error?.message });
    const { text, calls } = heard(message);
    expect(text).toMatch(/^Editing: ünïcode/);
    // Google's calls come whole, so the one that was cut is not there at all.
    const half = ["edit", { path: "a.txt", edits: [{ old: "x", new: "y z" }] }];
    expect(calls).toEqual([family === "google-generative-ai" ? ["read", { path: "a.txt" }] : half]);
  });
});

/** Whether `part` is what can be known of `whole` before all of it has arrived. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (typeof part === "string" && typeof whole === "string") return whole.startsWith(part);
  if (typeof part === "number" && typeof whole === "number") return String(whole).startsWith(String(part));
  if (Array.isArray(part) && Array.isArray(whole)) {
    return part.length <= whole.length && part.every((value, i) => isPartOf(value, whole[i]));
  }
  if (typeof part !== "object" || part === null || typeof whole !== "object" || whole === null) return part === whole;
  const fields = whole as Record<string, unknown>;
  return Object.entries(part).every(([key, value]) => key in fields && isPartOf(value, fields[key]));
}

const amountOf = (message: AssistantMessage): number => JSON.stringify(message.content).length;

describe("cut at every byte", () => {
  test.each(STREAMS)("%s: %s", (family, name) => {
    const { read, terminal } = READERS[family];
    const bytes = readStream(family, name);
    const whole = assembled(read(decode(bytes))).message;
    /** Where a cut falls inside an event makes no difference once the bytes are events. */
    const known = new Map<string, ReturnType<typeof assembled>>();
    let before = 0;
    for (let end = 0; end <= bytes.length; end++) {
      const events = decode(bytes.subarray(0, end));
      const key = `${events.length} ${events.at(-1)}`;
      if (known.has(key)) continue;
      const { message, error } = assembled(read(events));
      known.set(key, { message, error });
      const isComplete = events.some((event) => terminal.test(event));
      expect([end, error === undefined]).toEqual([end, isComplete]);
      if (error && name !== "error") expect(error.kind).toBe("malformed");
      if (!isPartOf(message.content, whole.content))
        expect(message.content, `cut at byte ${end}`).toEqual(whole.content);
      // What was there stays there.
      expect(amountOf(message), `cut at byte ${end}`).toBeGreaterThanOrEqual(before);
      before = amountOf(message);
    }
    expect(known.size).toBeGreaterThan(3);
  });

  test.each(WHOLE)("%s: %s has all its words before the last event", (family, name) => {
    const { read, terminal } = READERS[family];
    const events = decode(readStream(family, name));
    const last = events.findIndex((event) => terminal.test(event));
    const { message, error } = assembled(read(events.slice(0, last)));
    expect(error?.kind).toBe("malformed");
    const { text, thinking, calls } = heard(message);
    const full = EXPECTED[family][name];
    expect({ thinking, calls }).toEqual({ thinking: full.thinking, calls: full.calls });
    // The last words of a stream of Google may come with its end.
    expect(full.text.startsWith(text) && text.length >= full.text.length / 2).toBe(true);
  });
});

/** Pieces with these borders, given as parts of the whole. */
function split(bytes: Uint8Array, borders: readonly number[]): Uint8Array[] {
  const places = borders.map((border) => border % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...places].map((start, i) => bytes.subarray(start, places[i] ?? bytes.length));
}

const anyBorders = fc.array(fc.nat(20_000), { maxLength: 40 });

test.each(FAMILIES)("%s: pieces with any borders are the same answer", (family) => {
  const { read } = READERS[family];
  const answers = STREAM_NAMES.map((name) => {
    const bytes = readStream(family, name);
    return { bytes, message: assembled(read(decode(bytes))).message };
  });
  fc.assert(
    fc.property(fc.constantFrom(...answers), anyBorders, ({ bytes, message }, borders) => {
      expect(assembled(read(decode(...split(bytes, borders)))).message).toEqual(message);
    }),
    { numRuns: 60 },
  );
});
