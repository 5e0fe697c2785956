import { expect, test } from "vitest";
import { useRpc } from "../support/rpc-process.ts";

/** A limit stops what would go on. Who stays within it is not stopped, and who is over it does not even begin. */

const start = useRpc({ args: ["--no-session"] });
const TOOL = 'toolCall bash {"command":"true"}';

test("a prompt that is done on its last allowed turn is completed", async () => {
  const rpc = start({ script: ['text "one"'] });
  const { result } = await rpc.prompt("go", { limits: { turns: 1 } });
  expect(result).toMatchObject({ status: "completed", turns: 1 });
  expect(result).not.toHaveProperty("limit");
});

test("a prompt that needs one turn more is stopped", async () => {
  const rpc = start({ script: [TOOL, 'text "done"'] });
  const { result } = await rpc.prompt("go", { limits: { turns: 1 } });
  expect(result).toMatchObject({ status: "aborted", turns: 1, limit: { scope: "prompt", limit: "turns" } });
});

test("a prompt that is done is completed, and what waits in the queue goes on waiting", async () => {
  const rpc = start({ script: ['text "one"'] });
  await rpc.call({ type: "follow_up", message: "later" });
  const { result } = await rpc.prompt("go", { limits: { turns: 1 } });
  expect(result).toMatchObject({ status: "completed", sessionSettled: false, limit: { limit: "turns" } });
  expect((await rpc.call({ type: "get_state" })).data).toMatchObject({ pendingMessageCount: 1 });
});

test("after its last allowed tool call a model may still answer", async () => {
  const rpc = start({ script: [TOOL, 'text "done"', TOOL, TOOL, 'text "never"'] });
  const within = await rpc.prompt("go", { limits: { toolCalls: 1 } });
  expect(within.result).toMatchObject({ status: "completed", toolCalls: 1, turns: 2 });
  const over = await rpc.prompt("go", { limits: { toolCalls: 1 } });
  expect(over.result).toMatchObject({ status: "aborted", toolCalls: 1, turns: 2, limit: { limit: "toolCalls" } });
});

test("a session that has used up its limit starts nothing more, neither by prompt nor by abort_and_prompt", async () => {
  const rpc = start({
    script: ['text "one"', 'text "two"', 'text "never"'],
    args: ["--set", "limits.session.turns=2"],
  });
  expect((await rpc.prompt("1")).result.status).toBe("completed");
  expect((await rpc.prompt("2")).result.status).toBe("completed");
  const error = "Nothing was started: the limit of 2 turns for this session is reached";
  for (const type of ["prompt", "abort_and_prompt"]) {
    expect(await rpc.call({ type, message: "3" })).toMatchObject({ success: false, error });
  }
});

test("a session warns when its limit is near, also at the end of a prompt", async () => {
  const rpc = start({ script: Array(5).fill('text "one"'), args: ["--set", "limits.session.turns=5"] });
  for (let n = 1; n <= 4; n++) await rpc.prompt(String(n));
  expect(rpc.frames.filter((frame) => frame.type === "notice")).toMatchObject([
    { level: "warning", source: "limits", message: "4 turns of the 5 turns allowed for this session are used" },
  ]);
});
