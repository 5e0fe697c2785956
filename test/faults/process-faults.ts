import { spawnSync } from "node:child_process";
import type { Fault } from "./fault.ts";
import { pause, type Stage } from "./stage.ts";

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

/** A heap with little room beside what is loaded. */
const HEAP_MB = 40;
const MUCH = "head -c 50000000 /dev/zero | tr '\\0' x";

export const PROCESS_FAULTS: readonly Fault[] = [
  signal("SIGTERM", { exit: 143 }),
  signal("SIGINT", ({ active }) => (active ? "lives" : { exit: 130 }), { instead: () => undefined }),
  signal("SIGHUP", { exit: 129 }),
  signal("SIGKILL", "killed"),
  row("SIGSTOP, SIGCONT", "It stands still for a second.", {
    async strike({ rpc }) {
      rpc.kill("SIGSTOP");
      await pause(1000);
      rpc.kill("SIGCONT");
    },
    after: "lives",
  }),
  row("out of descriptors", "No file, connection or process can be opened any more, until the prompt has its result.", {
    strike(stage) {
      limitDescriptors(stage, 3);
      stage.llm.hangUp();
    },
    lift: (stage) => limitDescriptors(stage, 4096),
    after: "lives",
  }),
  row("little memory", `A heap of ${HEAP_MB} MB, and a shell command that prints 50 MB.`, {
    env: () => ({ NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` }),
    strike: async ({ rpc }) => void (await rpc.call({ type: "bash", command: MUCH, excludeFromContext: true }, 20_000)),
    after: "lives",
  }),
];
