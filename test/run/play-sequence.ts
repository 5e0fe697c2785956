import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { at, type Frame, list } from "../support/frame.ts";
import { type Exit, RpcProcess, repoRoot } from "../support/rpc-process.ts";
import { answerDialogs, type DialogHost } from "./dialog-host.ts";
import type { Sequence } from "./sequence.ts";

/** What there was to see when a sequence was played. */
export interface Played {
  /** The commands in the order they were sent; lines that are no command are left out. */
  sent: Frame[];
  frames: readonly Frame[];
  exit: Exit;
  /** What the process said of itself at the end; undefined when it was ended in the middle. */
  end?: { state: unknown; messages: unknown[]; cleared: unknown; stateAfterClear: unknown };
  /** The messages of the session file. */
  kept: unknown[];
}

const ASKS = join(repoRoot, "test/fixtures/extensions/run/ask-anywhere.ts");

/** Plays it against the real process. Throws what the harness finds; `onPlayed` comes first and sees everything. */
export async function playSequence(sequence: Sequence, onPlayed: (played: Played) => void): Promise<void> {
  const { dialogs } = sequence;
  const rpc = new RpcProcess({
    script: [...sequence.model, ...Array<string>(100).fill('text "ok"')],
    args: [
      ...["--set", "retry.baseDelayMs=5"],
      ...(sequence.ending === "finish" ? ["--finish-on-eof"] : []),
      ...(dialogs ? ["-e", ASKS] : []),
      ...sequence.args,
    ],
    env: dialogs && { ASK_IN: dialogs.where.join(","), ASK_PLAN: dialogs.plan },
    files: { "a.txt": "A\n" },
  });
  try {
    // Else all that is sent while it starts would be read at once.
    await rpc.waitFor("ready");
    const host = answerDialogs(rpc, dialogs?.manners ?? []);
    const sent = await sendAll(rpc, sequence);
    const end = await finish(rpc, sequence, sent, host);
    const exit = await rpc.waitExit();
    onPlayed({ sent, frames: rpc.frames, exit, end, kept: keptMessages(rpc) });
  } finally {
    await rpc.dispose();
  }
}

async function sendAll(rpc: RpcProcess, { steps }: Sequence): Promise<Frame[]> {
  const sent: Frame[] = [];
  let write = "";
  const flush = (): void => {
    if (write !== "") rpc.send(write);
    write = "";
  };
  for (const { pauseMs, action } of steps) {
    if (pauseMs > 0) {
      flush();
      await sleep(pauseMs);
    }
    if ("stopReadingMs" in action) {
      flush();
      rpc.pauseReading();
      setTimeout(() => rpc.resumeReading(), action.stopReadingMs);
    } else if (typeof action.send === "string") {
      write += `${action.send}\n`;
    } else {
      sent.push(action.send);
      write += `${JSON.stringify(action.send)}\n`;
    }
  }
  flush();
  return sent;
}

async function finish(rpc: RpcProcess, { ending }: Sequence, sent: Frame[], host: DialogHost): Promise<Played["end"]> {
  const call = (type: string): Promise<Frame> => {
    const command = { id: `end-${type}-${sent.length}`, type };
    sent.push(command);
    return rpc.call(command);
  };
  if (ending === "close" || ending === "finish") {
    rpc.closeStdin();
    return undefined;
  }
  if (ending === "SIGTERM") {
    host.answerAll();
    // A signal overtakes lines that have not been read; this answer says that they have.
    await call("get_state");
    rpc.kill("SIGTERM");
    return undefined;
  }
  // An abort needs nobody's answer.
  if (ending === "abort") await call("abort");
  host.answerAll();
  // What is asked at the end of a run is answered before the run is settled.
  const isBusy = ({ data }: Frame): boolean =>
    at(data, "isStreaming") === true || (at(data, "isSettled") === false && at(data, "pendingMessageCount") === 0);
  if (ending === "settle") while (isBusy(await call("get_state"))) await sleep(15);
  await commandsEnd(rpc, sent);
  const state = (await call("get_state")).data;
  const messages = list(at(await call("get_messages"), "data", "messages"));
  const cleared = (await call("clear_queue")).data;
  let stateAfterClear = (await call("get_state")).data;
  // Handlers may still be hearing of what has happened, and ask. Each time they get an answer.
  for (let tries = 0; tries < 300 && at(stateAfterClear, "pendingDialogs") !== undefined; tries++) {
    await sleep(10);
    stateAfterClear = (await call("get_state")).data;
  }
  rpc.closeStdin();
  return { state, messages, cleared, stateAfterClear };
}

/** Far longer than it ever takes: on a machine that is busy with other things everything takes seconds. */
const PATIENCE_MS = 30_000;

/** Commands of extensions run beside everything else, and an abort is not their business. */
async function commandsEnd(rpc: RpcProcess, sent: readonly Frame[]): Promise<void> {
  for (const { id } of sent.filter(({ message }) => String(message).startsWith("/ask"))) {
    const isOurs = (type: string) => (frame: Frame) => frame.type === type && frame.id === id;
    const answer = await rpc.waitFor(isOurs("response"), { timeoutMs: PATIENCE_MS });
    // Where the extension could not be loaded it is a prompt like any other; a law says so.
    if (answer.success === true) await rpc.waitFor(isOurs("prompt_result"), { timeoutMs: PATIENCE_MS });
  }
}

function keptMessages(rpc: RpcProcess): unknown[] {
  const folder = join(rpc.sandbox.agentDir, "sessions");
  const files = readdirSync(rpc.sandbox.agentDir).includes("sessions")
    ? readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".jsonl"))
    : [];
  const lines = files.flatMap((path) => readFileSync(join(folder, path), "utf8").trimEnd().split("\n"));
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === "message")
    .map(({ message }) => message);
}
