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
