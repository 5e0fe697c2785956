import { closeSync } from "node:fs";
import { SHARE_ENV, Worker } from "node:worker_threads";
import { log } from "../../lib/log.ts";
import { CELLS, WATCH_SOURCE, type WatchOrder } from "./watchdog-thread.ts";

/**
 * Ends the process when an extension does not give the main thread back: nothing that runs in the main thread could, and
 * the host could not even abort. A second thread watches, from the first call of an extension on.
 */
export interface ExtensionWatchdog {
  /**
   * Notes who is called, for the sentence on stderr; the returned function notes that the synchronous part of the call is
   * over. Calls may be nested. Labels should be few and made once: they are kept.
   */
  enter(label: string): () => void;
  close(): void;
}

export interface WatchdogOptions {
  /** Ends the process in order, whatever extensions have put in the place of `process.exit`. */
  exit(code: number): void;
  exitCode?: number;
  /** The line of the source, for a place in compiled code; both count from 1. Asked in the thread that is stuck. */
  lineInSource?(path: string, line: number, column: number): number | undefined;
  /** Processor time without a sign of life from the main thread. */
  limitMs?: number;
  /** The same for a call that waits without computing, e.g. for a child process. */
  blockedMs?: number;
  /** How long a loop may take to be interrupted, and the process to end in order, before it is killed. */
  graceMs?: number;
}

const LIMIT_MS = 10_000;
const BLOCKED_MS = 300_000;
const GRACE_MS = 2_000;
/** As `timeout(1)` has it. */
export const STUCK_EXIT_CODE = 124;

/** As it was at the start: extensions get one that keeps the standard streams open. */
const ownCloseSync = closeSync;

/** The thread needs little, and nothing it does may disturb the rest. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 };

/** Of all labels. Memory that nobody has written to is none. */
const MOST_LABEL_BYTES = 1024 * 1024;
const LONGEST_LABEL = 4096;
const ONE_OF_MANY = "(one of very many)";

/** Code that is evaluated from outside finds us by this name only. */
const LEAVE = "tiller.leaveStuckProcess";
const LINE = "tiller.lineInSource";

export function createWatchdog(options: WatchdogOptions): ExtensionWatchdog {
  const memory = new SharedArrayBuffer(Object.keys(CELLS).length * Int32Array.BYTES_PER_ELEMENT);
  const cells = new Int32Array(memory);
  const labels = createLabels();
  let isStarted = false;
  let isClosed = false;

  return {
    enter(label) {
      const id = labels.idOf(label);
      if (!isStarted && !isClosed) startThread({ memory, labels: labels.memory }, cells, options);
      isStarted = true;
      const outer = Atomics.exchange(cells, CELLS.current, id);
      Atomics.store(cells, CELLS.last, id);
      return () => {
        Atomics.store(cells, CELLS.current, outer);
      };
    },
    close() {
      isClosed = true;
      Atomics.store(cells, CELLS.closed, 1);
      Atomics.notify(cells, CELLS.closed);
      for (const name of [LEAVE, LINE]) Reflect.deleteProperty(globalThis, Symbol.for(name));
    },
  };
}

/** In shared memory: messages would cost a start with many extensions a millisecond. */
function createLabels() {
  const memory = new SharedArrayBuffer(MOST_LABEL_BYTES);
  const bytes = Buffer.from(memory);
  const ids = new Map<string, number>();
  // 0 stands for nobody.
  let end = 1;
  const add = (label: string): number => {
    const id = end;
    const length = bytes.write(label, id + 2, LONGEST_LABEL);
    bytes.writeUInt16LE(length, id);
    end += 2 + length;
    ids.set(label, id);
    return id;
  };
  const oneOfMany = add(ONE_OF_MANY);
  return {
    memory,
    idOf(label: string): number {
      const known = ids.get(label);
      if (known !== undefined) return known;
      return end + 2 + LONGEST_LABEL > MOST_LABEL_BYTES ? oneOfMany : add(label);
    },
  };
}

function startThread(shared: Pick<WatchOrder, "memory" | "labels">, cells: Int32Array, options: WatchdogOptions): void {
  // Whoever stands at a breakpoint is not stuck.
  if (process.execArgv.some((argument) => argument.startsWith("--inspect"))) return;
  const { limitMs = LIMIT_MS, blockedMs = BLOCKED_MS, graceMs = GRACE_MS, exitCode = STUCK_EXIT_CODE } = options;
  offerTheWayOut(options.exit);
  offer(LINE, (path: string, line: number, column: number) => options.lineInSource?.(path, line, column) ?? line);
  const [leave, line] = [`${offered(LEAVE)}(${exitCode})`, offered(LINE)];
  const order: WatchOrder = { ...shared, cells: CELLS, limitMs, blockedMs, graceMs, exitCode, leave, line };
  const worker = new Worker(WATCH_SOURCE, {
    eval: true,
    name: "tiller-watchdog",
    workerData: order,
    env: SHARE_ENV,
    // It writes by number: streams for it would cost milliseconds at start.
    stdout: true,
    stderr: true,
    execArgv: [],
    trackUnmanagedFds: false,
    resourceLimits: RESOURCE_LIMITS,
  });
  worker.on("message", (question: number) => Atomics.store(cells, CELLS.answer, question));
  worker.on("error", (error) => log(`nobody watches for endless loops of extensions any more: ${error.message}`));
  worker.unref();
}

function offerTheWayOut(exit: (code: number) => void): void {
  offer(LEAVE, (code: number): void => {
    // Node would have its say about a debugger, after the last of ours; the listeners before this one may still speak.
    process.once("exit", () => ownCloseSync(2));
    exit(code);
  });
}

function offer(name: string, value: unknown): void {
  Object.defineProperty(globalThis, Symbol.for(name), { configurable: true, value });
}

function offered(name: string): string {
  return `globalThis[Symbol.for(${JSON.stringify(name)})]`;
}
