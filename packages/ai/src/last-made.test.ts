import { describe, expect, test } from "vitest";
import { lastList, lastMade } from "./last-made.ts";

describe("lastMade", () => {
  test("makes again only what is made of other values", () => {
    const made: string[] = [];
    const join = lastMade((one: string, other: object) => {
      made.push(one);
      return { text: one, other };
    });
    const other = {};
    const first = join("a", other);
    expect(join("a", other)).toBe(first);
    expect(join("a", {})).not.toBe(first);
    expect(join("b", other).text).toBe("b");
    // One deep: the first is made once more.
    expect(join("a", other)).not.toBe(first);
    expect(made).toEqual(["a", "a", "b", "a"]);
  });

  test("a value that could not be made is asked for again", () => {
    let fails = true;
    const risky = lastMade((value: number) => {
      if (fails) throw new Error("not yet");
      return value;
    });
    expect(() => risky(1)).toThrow("not yet");
    fails = false;
    expect(risky(1)).toBe(1);
  });
});

test("lastList: the same things are the same list", () => {
  const known = lastList<object>();
  const [a, b] = [{}, {}];
  const first = known([a, b]);
  expect(known([a, b])).toBe(first);
  expect(known([b, a])).toEqual([b, a]);
  expect(known([a])).toEqual([a]);
  expect(known([])).toEqual([]);
});
