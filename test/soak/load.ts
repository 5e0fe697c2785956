import { existsSync, rmSync, writeFileSync } from "node:fs";
import type { Lots } from "../fuzz/lots.ts";
import { at } from "../support/frame.ts";
import { fail, type Reply, say, useTool } from "../support/mock-llm.ts";
import type { RpcProcess } from "../support/rpc-process.ts";

/** What a busy host does all day, and what goes wrong meanwhile. */

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const LONG_TEXT = "All work and no play makes a long answer. ".repeat(200);

/** What the model says next, and how the way to it fails. */
const REPLIES: readonly (() => Reply)[] = [
  () => say("ok"),
  () => say(LONG_TEXT, 40),
  () => useTool("bash", { command: "echo done" }),
  () => useTool("read", { path: "a.txt" }),
  () => ({ steps: [{ type: "text", text: "half" }, { type: "cut" }] }),
  () => ({ steps: [{ type: "text", text: "half" }, { type: "stall" }] }),
  () => ({ steps: [{ type: "raw", data: 'data: {"oops\n\n' }] }),
  () => fail(529, "overloaded_error", "Overloaded"),
  () => fail(400, "invalid_request_error", "No."),
];

/** Most of what is said is in order. */
export const anyReply = (lots: Lots): Reply =>
  lots.oneIn(2) ? say("ok") : (REPLIES[lots.below(lots.oneIn(4) ? REPLIES.length : 4)] as () => Reply)();

type Action = (rpc: RpcProcess, lots: Lots) => Promise<void>;

async function prompt(rpc: RpcProcess): Promise<void> {
  await rpc.prompt("go on", { limits: { turns: 5 } }, 60_000);
}

const ACTIONS: readonly Action[] = [
  async (rpc, lots) => {
    const since = rpc.mark();
    const { id } = await rpc.call({ type: "prompt", message: "and now?" });
    await pause(lots.below(60));
    await rpc.call({ type: "abort" }, 60_000);
    await rpc.waitFor((frame) => frame.type === "prompt_result" && frame.id === id, { since });
    await rpc.call({ type: "clear_queue" });
  },
  async (rpc) => {
    const run = prompt(rpc);
    rpc.send({ type: "steer", message: "hurry" });
    rpc.send({ type: "follow_up", message: "and then" });
    await run;
    await rpc.call({ type: "clear_queue" });
  },
  async (rpc) => void (await rpc.call({ type: "bash", command: "seq 5000" })),
  async (rpc) => void (await rpc.call({ type: "get_messages" })),
  async (rpc) => void (await rpc.call({ type: "compact" }, 60_000)),
  async (rpc) => {
    rpc.pauseReading();
    rpc.send('{"type":"get_state"}\n'.repeat(500));
    await pause(100);
    rpc.resumeReading();
    await rpc.call({ type: "get_state" });
  },
  async (rpc) => {
    rpc.send('{"type":"nobody"}\nnonsense\n\n{"type":"prompt"}\n');
    await rpc.call({ type: "get_state" });
  },
  async (rpc) => {
    const file = String(at((await rpc.call({ type: "get_state" })).data, "sessionFile"));
    if (existsSync(file)) rmSync(file);
    await prompt(rpc);
  },
  async (rpc) => {
    rpc.kill("SIGSTOP");
    await pause(100);
    rpc.kill("SIGCONT");
  },
];

/** For a while a file of the sandbox says what goes wrong; who reads it is told by the environment of the process. */
const whileItSays =
  (variable: string, words: readonly string[]): Action =>
  async (rpc, lots) => {
    const file = String(rpc.sandbox.env[variable]);
    writeFileSync(file, lots.one(words));
    await prompt(rpc);
    rmSync(file);
  };

/** What more can happen to an agent that has a disk which may fail, and an extension which may misbehave. */
const FRAIL_ACTIONS: readonly Action[] = [
  ...ACTIONS,
  whileItSays("TILLER_TEST_DISK", ["ENOSPC", "EROFS", "torn", "slow"]),
  whileItSays("EXTENSION_MOOD", ["throws", "hangs", "floods"]),
];

const actionsOf = ({ sandbox }: RpcProcess): readonly Action[] =>
  sandbox.env.TILLER_TEST_DISK === undefined ? ACTIONS : FRAIL_ACTIONS;

/** One thing after another until the time is over. Sessions are short, so that what grows is not the conversation. */
export async function keepBusy(
  rpc: RpcProcess,
  lots: Lots,
  isOver: () => boolean,
  onQuiet: () => void = () => undefined,
): Promise<number> {
  let done = 0;
  for (; !isOver(); done++) {
    if (done % 15 === 14) await rpc.call({ type: "new_session" });
    else await (lots.oneIn(3) ? lots.one(actionsOf(rpc))(rpc, lots) : prompt(rpc));
    // All of them were looked at; who kept them would be what grows.
    rpc.frames.splice(0);
    onQuiet();
    await pause(lots.below(40));
  }
  return done;
}
