import { expect, it } from "vitest";
import { remember } from "./remember.ts";

it("gives the same object until a field changes, comes or goes", () => {
  let now: Record<string, unknown> = { a: 1, b: "x" };
  const look = remember(() => ({ ...now }));
  const first = look();
  expect(look()).toBe(first);
  for (const next of [{ a: 2, b: "x" }, { a: 2, b: "x", c: 3 }, { a: 2, b: "x" }, { a: 2 }]) {
    const before = look();
    now = next;
    expect(look()).not.toBe(before);
    expect(look()).toStrictEqual(next);
    expect(look()).toBe(look());
  }
});
