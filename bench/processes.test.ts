import { expect, onTestFinished, test } from "vitest";
import { startAgent } from "./processes.mjs";

/** Says these pieces one after the other, once it is written to. */
function speaker(pieces: string[]) {
  const script = `const pieces = ${JSON.stringify(pieces)};
    process.stdin.once("data", () => { for (const piece of pieces) require("node:fs").writeSync(1, piece); });
    process.stdin.on("end", () => process.exit(0));`;
  const agent = startAgent(process.execPath, ["-e", script], { env: {}, cwd: process.cwd() });
  onTestFinished(() => agent.close());
  return agent;
}

test.each([
  ["in this order", ["one\n", "two\n", "three\n"]],
  ["the other way round", ["two\n", "one\n", "three\n"]],
  ["all at once", ["two\none\nthree\n"]],
  ["in pieces", ["t", "wo\no", "ne", "\nth", "ree\n"]],
])("two lines that are waited for together may come %s, and the next is still found", async (_what, pieces) => {
  const agent = speaker(pieces);
  const lines = Promise.all([agent.until("one"), agent.until("two")]);
  agent.write("go");
  expect((await lines).map(({ line }) => line)).toEqual(["one", "two"]);
  expect((await agent.until("three")).line).toBe("three");
});

test("when it ends without them each of them fails", async () => {
  const agent = speaker(["one\n"]);
  const lines = Promise.allSettled([agent.until("one"), agent.until("two"), agent.until("three")]);
  agent.write("go");
  await agent.until("one").catch(() => undefined);
  await agent.close();
  expect((await lines).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
});
