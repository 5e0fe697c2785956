// What the machine says about itself. Linux only: everything comes from /proc.
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const MB = 1e6;

/** Proportional set size: its own memory plus its share of what it shares. */
export function pssMb(pid) {
  const found = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"));
  return (Number(found[1]) * 1024) / MB;
}

/** What a process has in memory now, and the most it ever had. */
export function residentMb(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const of = (name) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)[1]) * 1024) / MB;
  return { now: of("VmRSS"), peak: of("VmHWM") };
}

/** What all threads of a process have worked until now, in steps of a clock tick (10 ms). */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** From here on `peak` is the most since now. */
export function forgetPeak(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

function cpuTicks() {
  const [, ...ticks] = readFileSync("/proc/stat", "latin1").split("\n", 1)[0].trim().split(/\s+/);
  const [user, nice, system, idle, waiting, ...interrupts] = ticks.map(Number);
  return { idle: idle + waiting, busy: user + nice + system + interrupts.slice(0, 3).reduce((a, b) => a + b, 0) };
}

/** The share of all processors that was busy during `ms`, 0 to 1. */
async function busyShare(ms) {
  const before = cpuTicks();
  await sleep(ms);
  const after = cpuTicks();
  const busy = after.busy - before.busy;
  return busy / Math.max(1, busy + after.idle - before.idle);
}

/** Waits before a sample until others have stopped working, but not for ever; counts how often that did not help. */
export function createQuiet({ mostBusy = 0.25, patienceMs }) {
  const counts = { samples: 0, noisy: 0 };
  const wait = async () => {
    counts.samples++;
    if (patienceMs === 0) return;
    const until = performance.now() + patienceMs;
    while ((await busyShare(120)) > mostBusy) {
      if (performance.now() < until) continue;
      counts.noisy++;
      return;
    }
  };
  return { wait, counts };
}
