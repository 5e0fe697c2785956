import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ReplyStep } from "../support/mock-llm.ts";
import { cliPath } from "../support/rpc-process.ts";
import type { Fault } from "./fault.ts";
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

/** More than a pipe holds: from then on the process cannot write. */
const fillPipe = ({ rpc }: Stage): void =>
  rpc.send(Array.from({ length: 2000 }, (_, n) => question(`fill-${n}`)).join(""));

/** So much that its frames, kept for a host that does not read, would take more memory than a story allows. */
const LONG_ANSWER: ReplyStep[] = [{ type: "text", text: "on and ".repeat(600_000), size: 1000 }];
const SHORT_ANSWER: ReplyStep[] = [{ type: "text", text: "on" }];

async function stopReading(stage: Stage, { name }: State): Promise<void> {
  stage.rpc.pauseReading();
  fillPipe(stage);
  if (name === LONG_PAUSE_IN) stage.open();
  await pause(name === LONG_PAUSE_IN && process.env.TILLER_FAULTS === "all" ? 60_000 : 2000);
  stage.rpc.resumeReading();
}

async function flood({ rpc, since }: Stage): Promise<void> {
  for (let n = 0; n < FLOOD; n += 1000) {
    rpc.send(Array.from({ length: 1000 }, (_, i) => question(`flood-${n + i}`)).join(""));
  }
  await rpc.waitFor((frame) => frame.id === `flood-${FLOOD - 1}`, { since, timeoutMs: 120_000 });
}

/** A program that reads what the real one writes byte by byte, and passes it on. */
function slowReader(props: string): string {
  const path = join(props, "byte-by-byte.mjs");
  const pipeline = '"$@" | dd bs=1 status=none';
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
  row("stops reading", "For 2 s, and for 60 s while an answer of 4 MB is streamed; with 2,000 commands on their way.", {
    broken: (begun) => ({ steps: [...begun, ...(begun.length > 0 ? LONG_ANSWER : SHORT_ANSWER)] }),
    strike: stopReading,
    after: "lives",
  }),
  row("reads byte by byte", "From the start.", { cli: slowReader, after: "lives" }),
  row("closes stdin in mid-frame", "Half a command, then the end of the input.", {
    strike({ rpc }) {
      rpc.send('{"id":"half","type":"get_st');
      rpc.closeStdin();
    },
    after: { exit: 0 },
  }),
  row("closes stdout in mid-frame", "In the middle of a frame, because the pipe is full.", {
    async strike(stage) {
      stage.rpc.pauseReading();
      fillPipe(stage);
      await pause(300);
      stage.rpc.closeStdout();
    },
    after: { exit: 0 },
  }),
  row("floods", "100,000 commands at once.", {
    check: { schema: false },
    strike: flood,
    after: "lives",
    memoryMb: 150,
  }),
  row("never answers", "Neither dialogs nor calls of its tools; after a second it aborts.", {
    strike: () => pause(1000),
    instead: async ({ rpc }) => void (await rpc.call({ type: "abort" })),
    after: "lives",
    leftOut: isAsked,
  }),
  row("dies", "Both pipes break at once.", {
    strike({ rpc }) {
      rpc.closeStdout();
      rpc.closeStdin();
    },
    after: { exit: 0 },
  }),
];
