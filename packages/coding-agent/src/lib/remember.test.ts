import { expect, it } from "vitest";
import { remember } from "./remember.ts";

it("gives the same object until a field changes", () => {
  let now: { a: number; b?: string } = { a: 1, b: "x" };
  const look = remember(() => ({ a: now.a, b: now.b }));
  const first = look();
  expect(look()).toBe(first);
  for (const next of [
    { a: 2, b: "x" },
    { a: 2, b: "y" },
    { a: 2, b: undefined },
    { a: 2, b: "x" },
  ]) {
    const before = look();
    now = next;
    expect(look()).not.toBe(before);
    expect(look()).toStrictEqual(next);
    expect(look()).toBe(look());
  }
});
