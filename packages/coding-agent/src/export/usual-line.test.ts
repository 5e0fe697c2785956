import fc from "fast-check";
import { expect, test } from "vitest";
import { rowOf } from "./entry-row.ts";
import { readUsualLine } from "./usual-line.ts";

const usage = {
  input: 10,
  output: 2,
  cacheRead: 3,
  cacheWrite: 4,
  totalTokens: 19,
  cost: { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 1e-7, total: 0.30000001 },
};
const place = { type: "message", id: "1a2b3c4d", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
const line = (message: object, more: object = {}): string => JSON.stringify({ ...place, ...more, message });
const answer = (content: unknown): object => ({
  ...{ role: "assistant", content, api: "x", provider: "p", model: "m/1", usage, stopReason: "stop", timestamp: 1 },
});

test("reads off what parsing would tell", () => {
  const lines = [
    line({ role: "user", content: "hello", timestamp: 1 }),
    line({ role: "user", content: [{ type: "text", text: 'a\n"b"\\' }], timestamp: 1 }, { parentId: "00000001" }),
    line({ role: "toolResult", toolCallId: "c", toolName: "t", content: [], isError: false, timestamp: 1 }),
    line(answer([{ type: "text", text: "x" }])),
    line(answer([{ type: "toolCall", id: "c", name: "t", arguments: { usage: { input: 99 }, provider: "no" } }])),
    line({ ...answer([]), responseId: "r" }),
  ];
  for (const text of lines) {
    const { lines: _, ...row } = rowOf(JSON.parse(text));
    expect(readUsualLine(text)).toMatchObject(row);
  }
});

const odd: [why: string, text: string][] = [
  ["another kind", JSON.stringify({ type: "label", id: "a", parentId: null, timestamp: place.timestamp })],
  ["another order", JSON.stringify({ message: { role: "user" }, ...place, more: "" })],
  ["another role", line({ role: "custom", content: "" })],
  ["an id with an escape", line({ role: "user", content: "" }, { id: 'a"b' })],
  ["no time", line({ role: "user", content: "" }, { timestamp: "soon" })],
  ["an image", line({ role: "user", content: [{ type: "image", data: "AA", mimeType: "image/png" }] })],
  ["an answer without its cost", line({ role: "assistant", content: [] })],
  ["an answer that costs something else", line({ ...answer([]), usage: { input: "many" } })],
  ["a field behind the message", `${line({ role: "user", content: "" }).slice(0, -1)},"more":1}`],
  ["a cut", line({ role: "user", content: "hello" }).slice(0, -3)],
  ["a torn line", `${line({ role: "user", content: "hello" }).slice(0, -9)}${line({ role: "user", content: "" })}`],
  ["no JSON", "hello"],
  ["nothing", ""],
];
test.each(odd)("leaves to the parser: %s", (_, text) => expect(readUsualLine(text)).toBeUndefined());

test("is never wrong about an answer, whatever it says", () => {
  const texts = fc.oneof(fc.string(), fc.constantFrom('"usage":{"input":1', '"provider":"q","model":"n",', "}}"));
  fc.assert(
    fc.property(fc.jsonValue(), texts, (value, text) => {
      const json = line(
        answer([
          { type: "text", text },
          { type: "toolCall", arguments: value },
        ]),
      );
      const row = readUsualLine(json);
      if (row) expect(row).toMatchObject({ model: "p/m/1", usage: [10, 2, 3, 4, 0.30000001] });
    }),
  );
});
