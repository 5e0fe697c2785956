import fc from "fast-check";
import { expect, test } from "vitest";
import { createSseDecoder } from "./sse.ts";

function decode(...pieces: (string | Uint8Array)[]): string[] {
  const decoder = createSseDecoder();
  const events = pieces.flatMap((piece) => decoder.push(typeof piece === "string" ? Buffer.from(piece) : piece));
  return [...events, ...decoder.end()];
}

test.each<[story: string, stream: string, events: string[]]>([
  ["one event", "data: a\n\n", ["a"]],
  ["the name of the event does not matter", "event: x\ndata: a\n\nevent: y\ndata: b\n\n", ["a", "b"]],
  ["a name after the data", "data: a\nevent: x\n\n", ["a"]],
  ["CR LF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  ["no space after the colon, and only one is dropped", "data:a\n\ndata:  b\n\n", ["a", " b"]],
  ["several lines of data", "data: a\nid: 1\ndata: b\n\n", ["a\nb"]],
  ["comments and other fields alone are no event", ": ping\n\nretry: 5\n\ndata: a\n\n", ["a"]],
  ["more blank lines than needed", "\n\n\ndata: a\n\n\n\ndata: b\n\n", ["a", "b"]],
  ["empty data is an event", "data:\n\n", [""]],
  ["the last blank line is missing", "data: a\n\ndata: b\n", ["a", "b"]],
  ["a line that was cut off does not count", "data: a\n\ndata: b", ["a"]],
  ["a byte order mark", "\ufeffdata: a\n\n", ["a"]],
  ["line separators of Unicode are ordinary text", "data: a\u2028b\n\n", ["a\u2028b"]],
])("%s", (_story, stream, events) => {
  expect(decode(stream)).toEqual(events);
});

test("whoever asks hears where the stream is, and how long to wait", () => {
  const marks: string[] = [];
  const decoder = createSseDecoder((name, value) => void marks.push(`${name} ${value}`));
  const stream = "retry: 5\n\nid: 1\ndata: a\u2028id: 7\n\ndata: id: 8\nid:2\n\nid:\ndata: b\n";
  expect([...decoder.push(Buffer.from(stream)), ...decoder.end()]).toEqual(["a\u2028id: 7", "id: 8", "b"]);
  expect(marks).toEqual(["retry 5", "id 1", "id 2", "id "]);
});

test("any borders between the pieces give the same events, also inside characters and CR LF", () => {
  const value = fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n]/g, "").trimStart());
  const event = fc.record({ data: fc.array(value, { minLength: 1, maxLength: 3 }), name: value });
  const stream = fc.record({ events: fc.array(event), lineEnd: fc.constantFrom("\n", "\r\n") });
  fc.assert(
    fc.property(stream, fc.array(fc.nat(400)), ({ events, lineEnd }, cuts) => {
      const lines = events.flatMap(({ data, name }) => [`event: ${name}`, ...data.map((line) => `data: ${line}`), ""]);
      const bytes = Buffer.from(lines.map((line) => line + lineEnd).join(""));
      const borders = [...new Set(cuts.filter((cut) => cut < bytes.length))].sort((a, b) => a - b);
      const pieces = [0, ...borders].map((start, i) => bytes.subarray(start, borders[i]));
      expect(decode(...pieces)).toEqual(events.map(({ data }) => data.join("\n")));
    }),
  );
});

test("an event without an end does not fill the memory", () => {
  const decoder = createSseDecoder();
  const piece = Buffer.alloc(1024 * 1024, "x");
  const feed = (): void => {
    for (let i = 0; i < 40; i++) decoder.push(piece);
  };
  expect(feed).toThrow("The server sent an event longer than 33554432 characters");
});

test("a blank line may come in any two pieces", () => {
  for (const stream of ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\n\r\ndata: b\r\n\n"]) {
    for (let cut = 0; cut <= stream.length; cut++) {
      expect(decode(stream.slice(0, cut), stream.slice(cut))).toEqual(["a", "b"]);
    }
    expect(decode(...stream)).toEqual(["a", "b"]);
  }
});
