import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { at } from "../support/frame.ts";
import { repoRoot } from "../support/rpc-process.ts";
import { type Fault, wasSeen } from "./fault.ts";
import { pause, procText, type Stage } from "./stage.ts";

/** What the system does to the process. */

const row = (name: string, says: string, fields: Omit<Fault, "group" | "name" | "says">): Fault => ({
  group: "process",
  name,
  says,
  ...fields,
});

const signal = (name: NodeJS.Signals, after: Fault["after"], more: Partial<Fault> = {}): Fault =>
  row(name, "The signal is sent.", { strike: ({ rpc }) => rpc.kill(name), after, ...more });

function limitDescriptors({ rpc: { pid } }: Stage, limit: number): void {
  const { status, stderr } = spawnSync("prlimit", [`--nofile=${limit}:4096`, "--pid", String(pid)], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`prlimit: ${stderr}`);
}

/** Fewer than are open: none is given. */
const MOST_DESCRIPTORS = 3;
/** A third more than the least with which all states are passed: 8 MB. */
const HEAP_MB = 11;
/** What is young has its own room, three times this. */
const YOUNG_MB = 1;
const HEAP_OPTIONS = `--max-old-space-size=${HEAP_MB} --max-semi-space-size=${YOUNG_MB}`;
const HEAP_LIMIT = join(repoRoot, "test/faults/heap-limit.cjs");
const MANY_BYTES = 50_000_000;
const MUCH = `head -c ${MANY_BYTES} /dev/zero | tr '\\0' x`;

const isStopped = ({ rpc }: Stage): boolean => /\) T /.test(procText(rpc.pid, "stat"));
const allows = ({ rpc }: Stage, limit: number): boolean =>
  new RegExp(`^Max open files +${limit} `, "m").test(procText(rpc.pid, "limits"));
/** As the process itself has seen it. */
const hasSmallHeap = ({ rpc, props }: Stage): boolean =>
  Number(readFileSync(join(props, `heap-${rpc.pid}`), "utf8")) <= (HEAP_MB + 3 * YOUNG_MB) * 1024 * 1024;

export const PROCESS_FAULTS: readonly Fault[] = [
  signal("SIGTERM", { exit: 143 }),
  signal("SIGINT", ({ active }) => (active ? "lives" : { exit: 130 }), { instead: () => undefined }),
  signal("SIGHUP", { exit: 129 }),
  signal("SIGKILL", "killed"),
  row("SIGSTOP, SIGCONT", "It stands still for a second.", {
    async strike(stage) {
      stage.rpc.kill("SIGSTOP");
      await pause(1000);
      stage.wasSeen = isStopped(stage);
      stage.rpc.kill("SIGCONT");
    },
    felt: wasSeen,
    after: "lives",
  }),
  row(
    "out of descriptors",
    "No file, connection or process can be opened any more, until the prompt has its result; a command of the host is refused.",
    {
      async strike(stage) {
        limitDescriptors(stage, MOST_DESCRIPTORS);
        stage.llm.hangUp();
        // A run that has its connection may need no more than that. Somebody does.
        const { error } = await stage.rpc.call({ type: "bash", command: "true" });
        stage.wasSeen = allows(stage, MOST_DESCRIPTORS) && /EMFILE/.test(String(error));
      },
      felt: wasSeen,
      lift: (stage) => limitDescriptors(stage, 4096),
      after: "lives",
    },
  ),
  row("little memory", `A heap of ${HEAP_MB} MB, a third more than is needed, and a shell command that prints 50 MB.`, {
    env: (props) => ({
      NODE_OPTIONS: `${HEAP_OPTIONS} --require=${HEAP_LIMIT}`,
      TILLER_TEST_HEAP: join(props, "heap"),
    }),
    async strike(stage) {
      const { data } = await stage.rpc.call({ type: "bash", command: MUCH, excludeFromContext: true }, 20_000);
      stage.wasSeen = hasSmallHeap(stage) && at(data, "totalBytes") === MANY_BYTES;
    },
    felt: wasSeen,
    after: "lives",
    // Not enough for what the command prints.
    memoryMb: 90,
  }),
];
