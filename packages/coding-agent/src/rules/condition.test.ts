import { describe, expect, it } from "vitest";
import { readCondition } from "./condition.ts";

describe("what is no condition is refused with the reason", () => {
  it.each<[source: string, reason: RegExp]>([
    ["(open", /^Unterminated group$/],
    ["a**", /^Nothing to repeat$/],
    ["[z-a]", /out of order/],
    ["foo(?!bar)", /looks around/],
    ["foo(?=bar)", /looks around/],
    ["(?<!x)foo", /looks around/],
    ["(a)\\1", /refers back/],
    ["(?<n>a)\\k<n>", /refers back/],
    ["a{501}", /more than 500 steps/],
    ["((a{1000}){1000}){1000}", /more than 500 steps/],
    ["(((){1000}){1000}){1000000000}b{2000}", /more than 500 steps/],
    ["x".repeat(2001), /2001 characters, at most 2000/],
    [`${"(".repeat(900)}a${")".repeat(900)}(`, /Unterminated/],
  ])("%.40s", (source, reason) => {
    expect(() => readCondition(source)).toThrow(reason);
    expect(() => readCondition(source)).toThrow(SyntaxError);
  });
});

it("counts what a condition costs", () => {
  expect(readCondition("abc").size).toBe(4);
  // Nothing, however often, costs nothing.
  expect(readCondition("(((){1000}){1000}){1000000000}").size).toBe(1);
  expect(readCondition(`${"(".repeat(900)}a${")".repeat(900)}`).size).toBe(2);
});
