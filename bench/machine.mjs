// What the machine says about itself. Linux only: everything comes from /proc.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const MB = 1e6;
const TICK_MS = 10;

/** Proportional set size: its own memory plus its share of what it shares. */
export const pssMb = (pid) => memoryMb(pid).pss;

/** What a process shares in proportion, what it has for itself, and all that it has in memory. */
function memoryMb(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1");
  const of = (name) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(rollup)[1]) * 1024) / MB;
  return { pss: of("Pss"), own: of("Private_Clean") + of("Private_Dirty"), resident: of("Rss") };
}

/** A process and all that it has started. */
function treeOf(pid) {
  const parents = new Map();
  for (const name of readdirSync("/proc")) {
    const fields = /^\d+$/.test(name) && statFields(name);
    if (fields) parents.set(Number(name), Number(fields[1]));
  }
  const isInTree = (one) => one === pid || (parents.has(one) && isInTree(parents.get(one)));
  return [...parents.keys()].filter(isInTree);
}

/** The memory of a process and of all that it has started, and how many they are. */
export function treeMemoryMb(pid) {
  const each = treeOf(pid).map(memoryMb);
  const sum = (name) => each.reduce((total, one) => total + one[name], 0);
  return { pss: sum("pss"), own: sum("own"), resident: sum("resident"), processes: each.length };
}

/** What stands behind the name of a process; undefined when it has gone meanwhile. */
function statFields(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/** What a process has in memory now, and the most it ever had. */
export function residentMb(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const of = (name) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)[1]) * 1024) / MB;
  return { now: of("VmRSS"), peak: of("VmHWM") };
}

/** What all threads of a process have worked until now, in steps of a clock tick (10 ms). */
export function cpuMs(pid) {
  const fields = statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The same of a process and of all that it has started, also of those that have ended. */
export function treeCpuMs(pid) {
  const ticks = treeOf(pid).map((one) => {
    const [user, system, endedUser, endedSystem] = (statFields(one) ?? []).slice(11, 15).map(Number);
    return user === undefined ? 0 : user + system + endedUser + endedSystem;
  });
  return ticks.reduce((sum, one) => sum + one, 0) * TICK_MS;
}

/** How many processes called `name` have that home, whoever is their parent now. They are ended. */
export function endStrays(name, home) {
  const strays = readdirSync("/proc").filter((pid) => {
    try {
      if (readFileSync(`/proc/${pid}/comm`, "latin1").trim() !== name) return false;
      return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(`HOME=${home}`);
    } catch {
      // No process, or one that has gone meanwhile.
      return false;
    }
  });
  for (const pid of strays) process.kill(Number(pid), "SIGKILL");
  return strays.length;
}

/** From here on `peak` is the most since now. */
export function forgetPeak(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

function cpuTicks() {
  const [, ...ticks] = readFileSync("/proc/stat", "latin1").split("\n", 1)[0].trim().split(/\s+/);
  const [user, nice, system, idle, waiting, ...interrupts] = ticks.map(Number);
  const stolen = interrupts[2];
  const busy = user + nice + system + interrupts.slice(0, 3).reduce((a, b) => a + b, 0);
  return { idle: idle + waiting, busy, stolen };
}

/** The share of all processors that was busy during `ms`, 0 to 1. */
async function busyShare(ms) {
  const before = cpuTicks();
  await sleep(ms);
  const after = cpuTicks();
  const busy = after.busy - before.busy;
  return busy / Math.max(1, busy + after.idle - before.idle);
}

/** A share of all processors. */
const MOST_BUSY = 0.25;
/** More of one processor than this and a sample says more about the neighbours of a virtual machine than about what it measures. */
const MOST_STOLEN = 0.15;
const MOST_TRIES = 6;
/** All tries of a sample together; a longer sample is taken once: what is stolen from it evens out. */
const LONGEST_AGAIN_MS = 5_000;

/**
 * Waits before a sample until others have stopped working, but not for ever; counts how often that did not help. A sample
 * during which the machine around ours took the processors away is taken again, and the least disturbed one counts.
 */
export function createQuiet({ patienceMs, stolenTicks = () => cpuTicks().stolen }) {
  const counts = { samples: 0, noisy: 0, again: 0, robbed: 0 };
  const wait = async () => {
    counts.samples++;
    if (patienceMs === 0) return;
    const until = performance.now() + patienceMs;
    while ((await busyShare(120)) > MOST_BUSY) {
      if (performance.now() < until) continue;
      counts.noisy++;
      return;
    }
  };
  const undisturbed = async (take) => {
    let best = { stolen: Number.POSITIVE_INFINITY };
    const first = performance.now();
    for (let left = MOST_TRIES; left > 0 && best.stolen > MOST_STOLEN; left--) {
      if (left < MOST_TRIES) counts.again++;
      const before = stolenTicks();
      const began = performance.now();
      const sample = await take();
      const took = performance.now() - began;
      const stolen = ((stolenTicks() - before) * TICK_MS) / took;
      if (stolen < best.stolen) best = { sample, stolen };
      if (patienceMs === 0) return best.sample;
      if (performance.now() - first > LONGEST_AGAIN_MS) break;
    }
    if (best.stolen > MOST_STOLEN) counts.robbed++;
    return best.sample;
  };
  /** What came of it, for the head of the report. */
  const describe = () => {
    if (patienceMs === 0) return "not looked at";
    const { samples, noisy, again, robbed } = counts;
    const busy = `more than a quarter of the processors was busy right before ${noisy} of ${samples} samples, even after ${patienceMs / 1000} s of waiting`;
    return `${busy}; ${again} were taken again because the processors had been taken away from this virtual machine, ${robbed} stayed like that`;
  };
  return { wait, undisturbed, counts, describe };
}
