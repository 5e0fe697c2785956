import type * as Fs from "node:fs";
import type * as Inspector from "node:inspector";
import type * as Url from "node:url";
import type * as Threads from "node:worker_threads";

/** What both threads see: numbers in shared memory. */
export const CELLS = { current: 0, last: 1, answer: 2, closed: 3 } as const;

export interface WatchOrder {
  memory: SharedArrayBuffer;
  /** The texts that the cells name by where they begin: the length in two bytes, then UTF-8. */
  labels: SharedArrayBuffer;
  cells: typeof CELLS;
  limitMs: number;
  blockedMs: number;
  graceMs: number;
  exitCode: number;
  /** An expression that is evaluated in the main thread and ends the process. */
  leave: string;
  /** An expression for the function of the main thread that knows the lines of sources. */
  line: string;
}

/** The text of a program for a thread of its own. */
export const WATCH_SOURCE = `(${watch.toString()})(require)`;

/**
 * Runs in the watching thread, from its source text: it sees nothing of this file but what it is given.
 *
 * Processor time is what counts, so that a computer that slept, a stopped process and a busy machine are no reason to end
 * anything, and a handler that waits for a child process gets far longer. The main thread is asked for a sign of life only
 * while there is something to ask about: an idle process is never woken.
 */
function watch(load: (name: string) => unknown): void {
  const { parentPort, workerData } = load("node:worker_threads") as typeof Threads;
  if (!parentPort) return;
  const { writeSync } = load("node:fs") as typeof Fs;
  const order = workerData as WatchOrder;
  const cells = new Int32Array(order.memory);
  const interval = Math.max(20, Math.min(1000, order.limitMs / 10));
  const labels = Buffer.from(order.labels);

  const cpuMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const labelIn = (cell: number): string | undefined => {
    const at = Atomics.load(cells, cell);
    return at === 0 ? undefined : labels.toString("utf8", at + 2, at + 2 + labels.readUInt16LE(at));
  };
  const say = (line: string): void => {
    try {
      writeSync(2, `tiller: ${line}\n`);
    } catch {
      // stderr is closed or full: nobody is there to be told.
    }
  };
  const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
  const describe = (what: string, ms: number, place = ""): string => {
    const current = labelIn(order.cells.current);
    const last = labelIn(order.cells.last);
    return current
      ? `extension ${current} has kept the process ${what} for ${seconds(ms)} without a break${place}`
      : `the process has been ${what} for ${seconds(ms)} without a break${place}; the extension last called is ${last}`;
  };

  /** Undefined when the watch is over; else what is wrong with the main thread, and for how long. */
  const waitUntilStuck = (): { what: string; ms: number } | undefined => {
    let asked = 0;
    let burned = 0;
    let waited = 0;
    let warned = false;
    for (let before = cpuMs(); ; ) {
      Atomics.wait(cells, order.cells.closed, 0, interval);
      if (Atomics.load(cells, order.cells.closed) !== 0) return undefined;
      const now = cpuMs();
      // Other threads of the process work too: never more than one thread can have used.
      const used = Math.min(now - before, interval);
      before = now;
      if (Atomics.load(cells, order.cells.answer) === asked) {
        burned = 0;
        waited = 0;
        warned = false;
        const isIdle = used < interval / 20 && Atomics.load(cells, order.cells.current) === 0;
        if (!isIdle) parentPort.postMessage(++asked);
        continue;
      }
      burned += used;
      waited += interval;
      if (burned >= order.limitMs) return { what: "busy", ms: waited };
      if (waited >= order.blockedMs) return { what: "waiting", ms: waited };
      // On a busy machine a loop gets a small share; who waits for something uses nothing.
      if (waited < order.limitMs || warned || burned > waited / 20) continue;
      warned = true;
      say(`${describe("waiting", waited)}; it ends after ${seconds(order.blockedMs)}`);
    }
  };

  const stuck = waitUntilStuck();
  if (!stuck) return;
  let told = false;
  const tell = (how: string, place = ""): void => {
    if (!told) say(`${describe(stuck.what, stuck.ms, place)}. ${how}`);
    told = true;
  };
  const kill = (): void => {
    tell("The process is killed; start without this extension, or make it give way with `await`");
    process.kill(process.pid, "SIGKILL");
  };
  // The engine can interrupt a loop: then we know where it runs, and the process ends in order, with its children.
  setTimeout(kill, order.graceMs);
  try {
    const { Session } = load("node:inspector") as typeof Inspector;
    const { fileURLToPath } = load("node:url") as typeof Url;
    const session = new Session();
    session.connectToMainThread();
    const files = new Map<string, string>();
    session.on("Debugger.scriptParsed", ({ params }) => files.set(params.scriptId, params.url));
    const leave = (place: string): void => {
      tell(`The process ends with code ${order.exitCode}`, place);
      session.post("Runtime.evaluate", { expression: order.leave });
    };
    session.on("Debugger.paused", ({ params }) => {
      const fileOf = (frame: Inspector.Debugger.CallFrame): string => files.get(frame.location.scriptId) ?? "";
      const frame = params.callFrames.find((one) => fileOf(one) !== "" && !fileOf(one).startsWith("node:"));
      if (!frame) return leave("");
      const { location } = frame;
      const functionName = frame.functionName.replace("__vite_ssr_export_default__", "default");
      const file = fileOf(frame).startsWith("file://") ? fileURLToPath(fileOf(frame)) : fileOf(frame);
      const [line, column] = [location.lineNumber + 1, (location.columnNumber ?? 0) + 1];
      const expression = `${order.line}(${JSON.stringify(file)}, ${line}, ${column})`;
      session.post("Runtime.evaluate", { expression, returnByValue: true }, (_error, answer) =>
        leave(`, in ${functionName || "(anonymous)"} (${file}:${answer?.result?.value ?? line})`),
      );
    });
    session.post("Debugger.enable");
    session.post("Debugger.pause");
  } catch {
    // An engine without an inspector.
    kill();
  }
}
