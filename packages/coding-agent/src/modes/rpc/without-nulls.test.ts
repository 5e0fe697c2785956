import { expect, test } from "vitest";
import { withoutNulls } from "./without-nulls.ts";

const OPTIONAL = ["images", "limits", "limits.turns", "limits.cost"];

test.each<[given: object, rest: object]>([
  [{ message: "a" }, { message: "a" }],
  [
    { message: null, images: null, stranger: null },
    { message: null, stranger: null },
  ],
  [{ limits: null }, {}],
  [{ limits: { turns: null } }, { limits: {} }],
  [{ limits: { turns: 1, cost: null, stranger: null } }, { limits: { turns: 1, stranger: null } }],
  [{ limits: [null] }, { limits: [null] }],
  [{ limits: "turns" }, { limits: "turns" }],
])("%j is %j", (given, rest) => {
  expect(withoutNulls({ ...given }, OPTIONAL)).toEqual(rest);
});

test("an object inside stays as its owner has it", () => {
  const limits = { turns: null };
  withoutNulls({ limits }, OPTIONAL);
  expect(limits).toEqual({ turns: null });
});
