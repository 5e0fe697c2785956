import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ReplyStep } from "../support/mock-llm.ts";
import { cliPath } from "../support/rpc-process.ts";
import { type Fault, wasSeen } from "./fault.ts";
import { pause, type Stage } from "./stage.ts";
import type { State } from "./states.ts";

/** What the program that steers us does wrong. */

const row = (name: string, says: string, fields: Omit<Fault, "group" | "name" | "says">): Fault => ({
  group: "host",
  name,
  says,
  ...fields,
});

const FLOOD = 100_000;
/** The state in which a host takes its time. */
const LONG_PAUSE_IN = "streaming";
const question = (id: string): string => `${JSON.stringify({ id, type: "get_state" })}\n`;

/** Their answers are more than a pipe holds: from then on the process cannot write. */
const FILL = 2000;
/** In bytes. Twice what Linux keeps for a reader, and we have read ahead. */
const MORE_THAN_A_PIPE = 500_000;
const fillPipe = ({ rpc }: Stage): void =>
  rpc.send(Array.from({ length: FILL }, (_, n) => question(`fill-${n}`)).join(""));

/**
 * Each block is told three times, with a few words for each that stands before it: 36 MB of frames, which nothing but a model
 * that has to wait keeps from standing in memory.
 */
const BLOCKS = 400;
const LONG_ANSWER: ReplyStep[] = Array.from({ length: BLOCKS }, () => ({ type: "text", text: "on and ".repeat(100) }));
const SHORT_ANSWER: ReplyStep[] = [{ type: "text", text: "on" }];

async function stopReading(stage: Stage, { name }: State): Promise<void> {
  const { rpc } = stage;
  rpc.pauseReading();
  const since = rpc.mark();
  const read = rpc.stdoutBytes;
  fillPipe(stage);
  if (name === LONG_PAUSE_IN) stage.open();
  await pause(name === LONG_PAUSE_IN && process.env.TILLER_FAULTS === "all" ? 60_000 : 2000);
  const hasRead = rpc.stdoutBytes > read;
  rpc.resumeReading();
  await rpc.waitFor((frame) => frame.id === `fill-${FILL - 1}`, { since, timeoutMs: 30_000 });
  // Whatever is more than a pipe holds has waited in the process until we read again.
  stage.wasSeen = !hasRead && rpc.stdoutBytes - read > MORE_THAN_A_PIPE;
}

async function flood(stage: Stage): Promise<void> {
  const { rpc, since } = stage;
  for (let n = 0; n < FLOOD; n += 1000) {
    rpc.send(Array.from({ length: 1000 }, (_, i) => question(`flood-${n + i}`)).join(""));
  }
  await rpc.waitFor((frame) => frame.id === `flood-${FLOOD - 1}`, { since, timeoutMs: 120_000 });
  const answered = rpc.frames.slice(since).filter(({ id, success }) => success && String(id).startsWith("flood-"));
  stage.wasSeen = new Set(answered.map(({ id }) => id)).size === FLOOD;
}

async function waitInVain(stage: Stage): Promise<void> {
  const { rpc, since } = stage;
  await pause(1000);
  stage.wasSeen = !rpc.types(since).includes("prompt_result");
}

const SLOWLY = "dd bs=1 status=none";
const isReadSlowly: Fault["felt"] = ({ rpc }) => rpc.sandbox.processes().some(({ command }) => command === SLOWLY);

/** A program that reads what the real one writes byte by byte, and passes it on. */
function slowReader(props: string): string {
  const path = join(props, "byte-by-byte.mjs");
  const pipeline = `"$@" | ${SLOWLY}`;
  writeFileSync(
    path,
    `import { spawnSync } from "node:child_process";
    const program = [process.execPath, ${JSON.stringify(cliPath())}, ...process.argv.slice(2)];
    const { status } = spawnSync("bash", ["-o", "pipefail", "-c", ${JSON.stringify(pipeline)}, "bash", ...program], { stdio: "inherit" });
    process.exitCode = status ?? 1;`,
  );
  return path;
}

const isAsked = ({ asks }: State): string | undefined =>
  asks ? undefined : "nothing is asked of the host in this state";

export const HOST_FAULTS: readonly Fault[] = [
  row(
    "stops reading",
    "For 2 s, and for 60 s while 36 MB of frames are to come; behind 2,000 commands, whose answers no pipe holds.",
    {
      broken: (begun) => ({ steps: [...begun, ...(begun.length > 0 ? LONG_ANSWER : SHORT_ANSWER)] }),
      strike: stopReading,
      felt: wasSeen,
      after: "lives",
      // Not enough for those frames.
      memoryMb: 85,
    },
  ),
  row("reads byte by byte", "From the start.", { cli: slowReader, felt: isReadSlowly, after: "lives" }),
  row("closes stdin in mid-frame", "Half a command, then the end of the input.", {
    strike({ rpc }) {
      rpc.send('{"id":"half","type":"get_st');
      rpc.closeStdin();
    },
    after: { exit: 0 },
  }),
  row("closes stdout in mid-frame", "What it has read ends in the middle of a frame; the pipe is full behind it.", {
    async strike(stage) {
      stage.rpc.pauseReading();
      fillPipe(stage);
      await pause(300);
      stage.rpc.resumeReading();
      await stage.rpc.closeStdoutInFrame();
    },
    after: { exit: 0 },
  }),
  row("floods", "100,000 commands at once, each of which is answered.", {
    check: { schema: false },
    strike: flood,
    felt: wasSeen,
    after: "lives",
    memoryMb: 150,
  }),
  row(
    "never answers",
    "Neither dialogs nor calls of its tools, which wait; after a second it aborts, and that is the ending.",
    {
      strike: waitInVain,
      instead: async ({ rpc }) => void (await rpc.call({ type: "abort" })),
      felt: wasSeen,
      after: "lives",
      leftOut: isAsked,
    },
  ),
  row("dies", "Both pipes break at once.", {
    strike({ rpc }) {
      rpc.closeStdout();
      rpc.closeStdin();
    },
    after: { exit: 0 },
  }),
];
