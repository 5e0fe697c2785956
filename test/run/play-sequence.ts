import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { at, type Frame, list } from "../support/frame.ts";
import { type Exit, RpcProcess } from "../support/rpc-process.ts";
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

/** Plays it against the real process. Throws what the harness finds; `onPlayed` comes first and sees everything. */
export async function playSequence(sequence: Sequence, onPlayed: (played: Played) => void): Promise<void> {
  const rpc = new RpcProcess({
    script: [...sequence.model, ...Array<string>(100).fill('text "ok"')],
    args: [
      ...["--set", "retry.baseDelayMs=5"],
      ...(sequence.ending === "finish" ? ["--finish-on-eof"] : []),
      ...sequence.args,
    ],
    files: { "a.txt": "A\n" },
  });
  try {
    // Else all that is sent while it starts would be read at once.
    await rpc.waitFor("ready");
    const sent = await sendAll(rpc, sequence);
    const end = await finish(rpc, sequence, sent);
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

async function finish(rpc: RpcProcess, { ending }: Sequence, sent: Frame[]): Promise<Played["end"]> {
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
    // A signal overtakes lines that have not been read; this answer says that they have.
    await call("get_state");
    rpc.kill("SIGTERM");
    return undefined;
  }
  if (ending === "abort") await call("abort");
  else while (at(await call("get_state"), "data", "isStreaming")) await sleep(15);
  const state = (await call("get_state")).data;
  const messages = list(at(await call("get_messages"), "data", "messages"));
  const cleared = (await call("clear_queue")).data;
  const stateAfterClear = (await call("get_state")).data;
  rpc.closeStdin();
  return { state, messages, cleared, stateAfterClear };
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
