import { describe, expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { beside, dataOf, expectFileHolds, fileOf, messagesOf, noticesOf, script, textsOf } from "./support/stories.ts";

/** A process is gone in the middle of something; the next one finds out how far it got, and goes on. */

const start = useRpc();

/** Kills the process when `moment` has come, and opens its file again. */
async function afterKill(rpc: RpcProcess, moment: (rpc: RpcProcess) => Promise<unknown>, ...answers: string[]) {
  const path = await fileOf(rpc);
  await moment(rpc);
  rpc.kill("SIGKILL");
  await rpc.waitExit();
  const next = start({ script: script(...answers), ...beside(rpc, "--session", path) });
  const { lastRunInterrupted = false } = await dataOf(next, { type: "get_state" });
  return { next, path, lastRunInterrupted };
}

const isResult = (frame: Frame): boolean =>
  frame.type === "message_end" && at(frame, "message", "role") === "toolResult";
const prompted =
  (wanted: Parameters<RpcProcess["waitFor"]>[0]) =>
  async (rpc: RpcProcess): Promise<void> => {
    await rpc.call({ type: "prompt", message: "go" });
    await rpc.waitFor(wanted);
  };

const CUT_OFF = expect.stringMatching(/^Interrupted: the process ended before this tool call did/);
const QUICK = 'toolCall bash {"command":"echo quick"}';
const SLOW = 'toolCall bash {"command":"sleep 60"}';

describe("a run that a crash has cut off", () => {
  const moments: [when: string, turns: string[], moment: (rpc: RpcProcess) => Promise<void>, texts: unknown[]][] = [
    ["while the model thinks", ["hang"], prompted("message_end"), ["go"]],
    ["while the model speaks", ['text "half" + hang'], prompted("message_update"), ["go"]],
    ["in a tool", [`text "wait" + ${SLOW}`], prompted("tool_execution_start"), ["go", "wait", CUT_OFF]],
    [
      "in two tools",
      [`text "wait" + ${SLOW} + ${SLOW}`],
      prompted("tool_execution_start"),
      ["go", "wait", CUT_OFF, CUT_OFF],
    ],
    [
      "between two turns",
      [`text "look" + ${QUICK}`, "hang"],
      prompted(isResult),
      ["go", "look", expect.stringContaining("quick")],
    ],
  ];

  it.each(moments)("%s is told until the next prompt, which goes on", async (_when, turns, moment, texts) => {
    const rpc = start({ script: turns });
    const { next, path, lastRunInterrupted } = await afterKill(rpc, moment, "done");
    expect(lastRunInterrupted).toBe(true);
    const messages = await messagesOf(next);
    expect(textsOf(messages)).toEqual(texts);
    for (const message of messages) {
      const isCutOff = String(at(message, "content", 0, "text")).startsWith("Interrupted");
      if (isCutOff) expect(message).toMatchObject({ role: "toolResult", isError: true, toolName: "bash" });
    }
    expect((await next.prompt("and now?")).result).toMatchObject({ status: "completed" });
    expect(await dataOf(next, { type: "get_state" })).not.toHaveProperty("lastRunInterrupted");
    expect(textsOf(await messagesOf(next))).toEqual([...texts, "and now?", "done"]);
    expect(noticesOf(next)).toEqual([]);
    expectFileHolds(path, await messagesOf(next));
  });

  it("that the result of a background job began is told as well", async () => {
    const args = ["--set", "async.enabled=true"];
    const job = 'toolCall bash {"command":"sleep 0.1","async":true}';
    const isJobResult = (frame: Frame): boolean =>
      frame.type === "message_end" && at(frame, "message", "customType") === "job-result";
    const rpc = start({ script: [job, 'text "started"', "hang"], args });
    const { next, lastRunInterrupted } = await afterKill(rpc, prompted(isJobResult), "done");
    expect(lastRunInterrupted).toBe(true);
    expect((await next.prompt("and now?")).result).toMatchObject({ status: "completed" });
    expect(await dataOf(next, { type: "get_state" })).not.toHaveProperty("lastRunInterrupted");
  });

  it("before a retry shows the answer that failed, and the next prompt goes on", async () => {
    const rpc = start({ script: ['error overloaded "busy"'] });
    const { next, path } = await afterKill(rpc, prompted("auto_retry_start"), "done");
    expect(await messagesOf(next)).toMatchObject([{ role: "user" }, { role: "assistant", stopReason: "error" }]);
    expect((await next.prompt("and now?")).result).toMatchObject({ status: "completed" });
    expectFileHolds(path, await messagesOf(next));
  });

  it("is closed once: who opens the file a second time finds the same", async () => {
    const rpc = start({ script: [`text "wait" + ${SLOW}`] });
    const { next, path } = await afterKill(rpc, prompted("tool_execution_start"));
    const messages = await messagesOf(next);
    next.kill("SIGKILL");
    await next.waitExit();
    const third = start({ script: script("done"), ...beside(rpc, "--session", path) });
    expect(await messagesOf(third)).toEqual(messages);
    expect(await dataOf(third, { type: "get_state" })).toMatchObject({ lastRunInterrupted: true });
    await third.prompt("on");
    expectFileHolds(path, await messagesOf(third));
  });

  it("is found by switch_session as well, and forgotten with new_session", async () => {
    const rpc = start({ script: [`text "wait" + ${SLOW}`] });
    const path = await fileOf(rpc);
    await prompted("tool_execution_start")(rpc);
    rpc.kill("SIGKILL");
    await rpc.waitExit();
    const next = start(beside(rpc));
    await dataOf(next, { type: "switch_session", sessionPath: path });
    expect(await dataOf(next, { type: "get_state" })).toMatchObject({ lastRunInterrupted: true, messageCount: 3 });
    await dataOf(next, { type: "new_session" });
    expect(await dataOf(next, { type: "get_state" })).not.toHaveProperty("lastRunInterrupted");
  });
});

describe("nothing is said to be interrupted", () => {
  const calm: [when: string, turns: string[], moment: (rpc: RpcProcess) => Promise<unknown>][] = [
    ["after an answer", script("one"), (rpc) => rpc.prompt("go")],
    [
      "after a run that was aborted",
      ["hang"],
      async (rpc) => {
        await prompted("message_end")(rpc);
        await rpc.call({ type: "abort" });
      },
    ],
    [
      "after a run that failed",
      ['error 400 "no"'],
      async (rpc) => {
        await rpc.call({ type: "prompt", message: "go" });
        await rpc.waitFor("session_settled");
      },
    ],
    [
      "after a run that was aborted in a tool",
      [`text "wait" + ${SLOW}`],
      async (rpc) => {
        await prompted("tool_execution_start")(rpc);
        await rpc.call({ type: "abort" });
      },
    ],
    ["before anything was said", [], (rpc) => rpc.call({ type: "set_session_name", name: "x" })],
    [
      "after a step back in the tree",
      script("one", "two"),
      async (rpc) => {
        await rpc.prompt("first");
        await rpc.prompt("second");
        const { messages } = await dataOf(rpc, { type: "get_fork_messages" });
        await dataOf(rpc, { type: "navigate_tree", entryId: at(messages, 1, "entryId") });
      },
    ],
  ];

  it.each(calm)("%s", async (_when, turns, moment) => {
    const { next, lastRunInterrupted } = await afterKill(start({ script: turns }), moment, "done");
    expect(lastRunInterrupted).toBe(false);
    expect((await next.prompt("on")).result).toMatchObject({ status: "completed" });
  });

  it("after a step back the next process stands where the first one stood", async () => {
    const rpc = start({ script: script("one", "two") });
    const { next, path } = await afterKill(
      rpc,
      async () => {
        await rpc.prompt("first");
        await rpc.prompt("second");
        const { messages } = await dataOf(rpc, { type: "get_fork_messages" });
        await dataOf(rpc, { type: "navigate_tree", entryId: at(messages, 1, "entryId") });
      },
      "three",
    );
    expect(textsOf(await messagesOf(next))).toEqual(["first", "one"]);
    await next.prompt("instead");
    expect(textsOf(await messagesOf(next))).toEqual(["first", "one", "instead", "three"]);
    expect(await fileOf(next)).toBe(path);
  });
});
