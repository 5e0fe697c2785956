import { describe, expect, test } from "vitest";
import { copied, createCopies, frozen } from "./copies.ts";

describe("a copy", () => {
  test("is anew all the way down; what is no plain data stays what it is", () => {
    const { signal } = new AbortController();
    const call = (): undefined => undefined;
    const ours = { list: [{ text: "a" }], files: new Set(["b"]), nothing: null, none: undefined, signal, call };
    const copy = copied(ours);
    expect(copy).toEqual(ours);
    expect([copy.list === ours.list, copy.list[0] === ours.list[0], copy.files === ours.files]).toEqual(
      Array(3).fill(false),
    );
    expect([copy.signal, copy.call]).toEqual([signal, call]);
  });

  test("is made once for each object", () => {
    const copy = createCopies();
    const ours = { a: [1] };
    const first = copy(ours);
    expect(copy(ours)).toBe(first);
    expect(first).not.toBe(ours);
    expect(copy({ a: [1] })).not.toBe(first);
  });
});

test("what is frozen is the same object, and cannot be changed anywhere", () => {
  const model = { id: "m", cost: { input: 1 }, input: ["text"] };
  expect(frozen(model)).toBe(model);
  expect(() => Object.assign(model.cost, { input: 2 })).toThrow(TypeError);
  expect(() => model.input.push("image")).toThrow(TypeError);
  expect(frozen(undefined)).toBeUndefined();
});
