import { expect, test } from "vitest";
import { ANSWER_TYPES, classify } from "./classify.ts";
import { FRAMES } from "./frames.ts";

test.each<[unknown, string, string]>([
  [null, "not_object", "a frame must be a JSON object, got null"],
  [[], "not_object", "a frame must be a JSON object, got an array"],
  [[{ type: "abort" }], "not_object", "a frame must be a JSON object, got an array"],
  [42, "not_object", "a frame must be a JSON object, got a number"],
  ["x", "not_object", "a frame must be a JSON object, got a string"],
  [true, "not_object", "a frame must be a JSON object, got a boolean"],
  [{}, "no_type", 'the frame has no "type"'],
  [{ id: "1", message: "hi" }, "no_type", 'the frame has no "type"'],
  [{ type: 7 }, "no_type", '"type" must be a string, got a number'],
  [{ type: null }, "no_type", '"type" must be a string, got null'],
])("%j is %s", (value, kind, reason) => {
  expect(classify(value)).toEqual({ kind, reason });
});

test.each([
  [{ type: "prompt", message: "hi" }, undefined],
  [{ id: "req-1", type: "get_state" }, "req-1"],
  [{ id: 7, type: "get_state" }, 7],
  [{ id: "", type: "get_state" }, ""],
  [{ id: null, type: "get_state" }, undefined],
])("%j is a command with the id it came with", (frame, id) => {
  expect(classify(frame)).toEqual({ kind: "command", type: frame.type, id, frame });
});

test.each(["nope", "", "Prompt", "constructor", "toString", "__proto__", "response", "agent_end", "ready"])(
  "the type %j is no command",
  (type) => {
    const frame = { id: "1", type };
    expect(classify(frame)).toEqual({ kind: "unknown_command", type, id: "1", frame });
  },
);

test.each(ANSWER_TYPES)("%s is an answer", (type) => {
  const frame = { type, id: "ui-1" };
  expect(classify(frame)).toEqual({ kind: "answer", type, frame });
});

test("the answers are exactly the inbound frames of the table", () => {
  const inbound = Object.values(FRAMES).filter((row) => row.direction === "in");
  expect(inbound.map((row) => row.type).toSorted()).toEqual([...ANSWER_TYPES].toSorted());
});
