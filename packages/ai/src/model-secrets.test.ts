import { Agent } from "node:http";
import { expect, test } from "vitest";
import { filledOptions, readOptions } from "./model-secrets.ts";

test("options are filled wherever their values stand, and what is more than data stays what it is", () => {
  const httpAgent = Object.assign(new Agent(), { sockets: [{}] });
  Object.assign(httpAgent, { itself: httpAgent });
  const options = { httpAgent, headers: { authorization: "Bearer $KEY" }, list: ["$KEY", 1, null] };
  expect(readOptions(options, { KEY: "k" }, "mine")).toHaveLength(2);
  const filled = filledOptions(options, { KEY: "k" }, () => "filled");
  expect(filled).toEqual({ httpAgent, headers: { authorization: "filled" }, list: ["filled", 1, null] });
  expect(filled.httpAgent).toBe(httpAgent);
});

test("options that lead round in a circle, go very deep or share their parts are filled as far as values stand in them", () => {
  const circle: Record<string, unknown> = { key: "$KEY" };
  circle.itself = circle;
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 50_000; level++) deep = { deep };
  let shared: unknown = "$KEY";
  // More places than can be gone through: each part is looked at once.
  for (let level = 0; level < 60; level++) shared = { left: shared, right: shared };
  const options = { circle, deep, shared, ["__proto__"]: "$KEY" };
  const secrets = readOptions(options, { KEY: "k" }, "mine");
  expect(secrets.length).toBeLessThan(10);
  const filled = filledOptions(options, { KEY: "k" }, () => "filled") as { circle: Record<string, unknown> };
  expect(filled.circle).toMatchObject({ key: "filled" });
  expect(filled.circle.itself).toBe(filled.circle);
  expect(Object.keys(filled)).toEqual(Object.keys(options));
});
