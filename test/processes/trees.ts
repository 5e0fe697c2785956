import { readdirSync, readFileSync } from "node:fs";

/** Programs that do not want to be ended. Each prints "ready" and would run for a minute; none forks without bound. */

export interface Tree {
  name: string;
  /** A shell command; SECONDS is replaced by a number that only these processes have on their command line. */
  command: string;
}

export const TREES: readonly Tree[] = [
  { name: "a plain child", command: "sleep SECONDS & echo ready; wait" },
  {
    name: "children that ignore SIGTERM",
    command: "trap '' TERM; sleep SECONDS & sh -c 'trap \"\" TERM HUP INT; sleep SECONDS' & echo ready; wait",
  },
  { name: "a daemon in a session of its own", command: "setsid sleep SECONDS >/dev/null 2>&1 & echo ready; wait" },
  {
    name: "a daemon that forked twice",
    command: "(setsid sh -c '(setsid sleep SECONDS </dev/null >/dev/null 2>&1 &)' &); echo ready; sleep SECONDS",
  },
  {
    name: "many children, forked in a loop",
    command: "i=0; while [ $i -lt 40 ]; do sleep SECONDS & i=$((i+1)); done; echo ready; wait",
  },
  {
    name: "a process that is always another one",
    command: "hop() { [ $1 -gt 0 ] || return; sleep 0.01; hop $(($1-1)) & }; hop 2000 & echo ready; sleep SECONDS",
  },
  {
    name: "one that also changes its session each time",
    command:
      "echo '[ $1 -gt 0 ] || exit; sleep 0.03; setsid sh hop.sh $(($1-1)) &' > hop.sh; setsid sh hop.sh 1000 & echo ready; sleep SECONDS",
  },
  { name: "a child without our environment", command: "env -i sleep SECONDS & echo ready; wait" },
  { name: "a stopped child", command: "sleep SECONDS & kill -STOP $!; echo ready; wait" },
];

export interface Running {
  pid: number;
  command: string;
}

/** Living processes that have one of the texts on their command line or in their environment. Zombies are dead. */
export function findProcesses(...texts: string[]): Running[] {
  const found: Running[] = [];
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const command = procText(name, "cmdline").replaceAll("\0", " ").trim();
    const all = `${command}\n${procText(name, "environ")}`;
    if (texts.some((text) => all.includes(text))) found.push({ pid: Number(name), command });
  }
  return found;
}

/** The watchdog of an agent, if it has one. */
export function watchdogOf(agent: number): number | undefined {
  const dogs = findProcesses("tiller-watchdog");
  return dogs.find(({ pid }) => new RegExp(`^PPid:\\s+${agent}$`, "m").test(procText(String(pid), "status")))?.pid;
}

function procText(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    // It has ended in the meantime.
    return "";
  }
}
