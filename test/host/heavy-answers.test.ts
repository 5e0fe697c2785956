import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { useAskedModel } from "../conformance/asked-model.ts";
import { ofType, stateOf } from "../conformance/looking.ts";
import { at, list } from "../support/frame.ts";
import { say, startMockLlm, useTool } from "../support/mock-llm.ts";
import { useRpc } from "../support/rpc-process.ts";
import { saidIn } from "../support/wire-requests.ts";
import { answer, called, echo, text } from "./host-support.ts";

/** A host that answers more, faster or later than anybody needs. */

const start = useRpc();
const CALLS = 'toolCall echo_host {"message":"a"} id call_1';

it("ten thousand updates at once neither delay the result nor an abort", async () => {
  const rpc = start({ script: [CALLS, 'expect toolResult "done" + text "ok"', CALLS], args: ["--no-session"] });
  const call = await called(rpc);
  const flood = (id: unknown): string =>
    Array.from(
      { length: 10_000 },
      (_, n) => `${JSON.stringify({ type: "host_tool_update", id, partialResult: text(`step ${n}`) })}\n`,
    ).join("");
  rpc.send(flood(call.id));
  answer(rpc, call, text("done"));
  await rpc.waitFor("session_settled");
  const steps = ofType(rpc.frames, "tool_execution_update").map((frame) =>
    Number(String(at(frame, "partialResult", "content", 0, "text")).slice(5)),
  );
  // None comes twice or before another that is older; how many come depends on how fast they are read.
  expect(steps.length).toBeGreaterThan(0);
  expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
  expect(ofType(rpc.frames, "tool_execution_end")).toMatchObject([{ isError: false, result: text("done") }]);

  const since = rpc.mark();
  await rpc.call({ type: "prompt", message: "again" });
  const second = await rpc.waitFor("host_tool_call", { since });
  rpc.send(flood(second.id));
  await rpc.call({ type: "abort" });
  expect(await rpc.waitFor("host_tool_cancel", { since })).toMatchObject({ targetId: second.id });
  expect(await rpc.waitFor("prompt_result", { since })).toMatchObject({ status: "aborted" });
}, 60_000);

it("a result of 50 MB arrives, is told and kept", async () => {
  const rpc = start({
    script: [CALLS, 'expect toolName "echo_host" isError false + text "ok"'],
    args: ["--set", "compaction.enabled=false"],
  });
  const call = await called(rpc);
  const large = "tide ".repeat(10_000_000);
  answer(rpc, call, text(large));
  const result = await rpc.waitFor("prompt_result", { timeoutMs: 60_000 });
  expect(result).toMatchObject({ status: "completed" });
  const end = ofType(rpc.frames, "tool_execution_end")[0];
  expect(String(at(end, "result", "content", 0, "text")).length).toBe(large.length);
  const { sessionFile } = await stateOf(rpc);
  expect(readFileSync(String(sessionFile)).length).toBeGreaterThan(large.length);
}, 90_000);

it("a result that is the last line of the host, without an end of line, still counts", async () => {
  const rpc = start({ script: [CALLS, 'expect toolResult "last words" + text "ok"'], args: ["--finish-on-eof"] });
  const call = await called(rpc);
  rpc.send(JSON.stringify({ type: "host_tool_result", id: call.id, result: text("last words") }));
  rpc.closeStdin();
  expect(await rpc.waitFor("prompt_result")).toMatchObject({ status: "completed" });
  expect(await rpc.waitExit()).toMatchObject({ code: 0 });
});

it("a host that is killed in a call leaves nobody waiting", async () => {
  const rpc = start({ script: [CALLS] });
  await called(rpc);
  rpc.closeStdout();
  rpc.closeStdin();
  expect(await rpc.waitExit()).toMatchObject({ code: 0 });
});

const model = useAskedModel();

it("an image reaches the model as one", async () => {
  const llm = await startMockLlm();
  try {
    llm.reply(useTool("echo_host", { message: "show" }), say("I see a ship."));
    const rpc = model.start({ agentFiles: { "models.json": llm.modelsJson() }, args: ["--no-session"] });
    const call = await called(rpc);
    const data = "iVBORw0KGgo=";
    answer(rpc, call, { content: [...text("the ship").content, { type: "image", data, mimeType: "image/png" }] });
    await rpc.waitFor("session_settled");
    const said = saidIn("anthropic-messages", llm.requests.at(-1)?.body ?? {});
    expect(said.filter(({ kind }) => kind === "image")).toMatchObject([{ text: data, isPartOfResult: true }]);
    expect(list(at(llm.requests[0]?.body, "tools"))).toContainEqual(expect.objectContaining({ name: echo.name }));
    await rpc.dispose();
  } finally {
    await llm.close();
  }
});
