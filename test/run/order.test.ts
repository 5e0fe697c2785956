import { expect, test } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";

/** Several commands in one write: who sees what, and whose answer comes when. */

const start = useRpc({ args: ["--no-session"] });

function write(rpc: RpcProcess, ...frames: Frame[]): void {
  rpc.send(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(""));
}

/** What came since: answers by their id, results as `end ID STATUS`, other frames by their type. */
function story(rpc: RpcProcess, since: number): string[] {
  return rpc.frames.slice(since).map((frame) => {
    if (frame.type === "response") return `answer ${frame.id}`;
    if (frame.type === "prompt_result") return `end ${frame.id} ${frame.status}`;
    return String(frame.type);
  });
}

const prompt = (id: string): Frame => ({ id, type: "prompt", message: id });

test("an abort also ends a prompt that was read before it and still waits for a slow answer", async () => {
  const rpc = start({ script: ['text "one"', 'text "two"'] });
  // Explaining what is wrong with a command has to be loaded first, so the prompt behind it waits.
  write(rpc, { id: "bad", type: "steer" }, prompt("p"), { id: "a", type: "abort" }, prompt("later"));
  const answer = await rpc.waitFor((frame) => frame.id === "a");
  const { result } = await rpc.prompt("next");
  expect(result.status).toBe("completed");
  const before = story(rpc, 0).slice(0, rpc.frames.indexOf(answer));
  expect(before.filter((line) => /^(answer|end)/.test(line))).toEqual([
    "answer bad",
    "answer p",
    "answer later",
    "end p aborted",
  ]);
  expect(rpc.frames.find((frame) => frame.id === "later")).toMatchObject({ success: false });
});

test("an abort while nothing runs does not touch the prompt behind it, and is answered before that one's events", async () => {
  const rpc = start({ script: ['text "one"', 'text "two"'] });
  await rpc.prompt("warm up");
  const since = rpc.mark();
  write(rpc, { id: "a", type: "abort" }, prompt("p"));
  await rpc.waitFor("session_settled", { since });
  const lines = story(rpc, since);
  expect(lines.indexOf("answer a")).toBeLessThan(lines.indexOf("agent_start"));
  expect(lines).toContain("end p completed");
});

test("an abort and an abort_and_prompt in one write: the abort is answered before the new run begins", async () => {
  const rpc = start({ script: ["hang", 'text "ok"'] });
  rpc.send(`${JSON.stringify(prompt("old"))}\n`);
  await rpc.waitFor("message_update");
  const since = rpc.mark();
  write(rpc, { id: "a", type: "abort" }, { id: "new", type: "abort_and_prompt", message: "new" });
  await rpc.waitFor((frame) => frame.type === "prompt_result" && frame.id === "new");
  const lines = story(rpc, since);
  const order = ["end old aborted", "answer a", "agent_start", "end new completed"].map((line) => lines.indexOf(line));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(order).not.toContain(-1);
});

test("messages that are queued behind a prompt in one write are there when its run begins", async () => {
  const rpc = start({ script: ['text "one"', 'text "two"'] });
  write(rpc, prompt("p"), { id: "f", type: "follow_up", message: "f" }, { id: "s", type: "steer", message: "s" });
  await rpc.waitFor("session_settled");
  const turns = rpc.frames.filter((frame) => frame.type === "turn_start").length;
  const texts = rpc.frames
    .filter((frame) => frame.type === "message_start" && at(frame, "message", "role") === "user")
    .map((frame) => at(frame, "message", "content", 0, "text"));
  expect([turns, ...texts]).toEqual([2, "p", "s", "f"]);
});
