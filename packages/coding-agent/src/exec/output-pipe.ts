import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomHex } from "../lib/clock.ts";

/**
 * Real pipes for the output of processes. What `spawn` calls a pipe is a socket: `> /dev/stderr` fails on it (Linux cannot
 * open a socket by its name), stdout and stderr cannot share one, and every read allocates. A named pipe has none of
 * these faults. Making one takes a process, so it is used again when everybody who could write to it has closed it.
 */
export interface OutputPipe {
  /** For the child's stdout and stderr. To be closed here as soon as the child has it. */
  readonly writeEnd: number;
  closeWriteEnd(): void;
  /** Resolves when nobody can write any more. */
  readonly closed: Promise<void>;
  /** Does not keep this process alive any more. */
  unref(): void;
}

export interface PipePool {
  /** Undefined where named pipes cannot be made. The chunk that `onData` gets is overwritten after the call. */
  take(onData: (chunk: Buffer) => void): OutputPipe | undefined;
}

/** What a pipe of the system holds. */
const READ_BYTES = 64 * 1024;
const MOST_IDLE = 4;

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/** A named pipe that is open for reading and can be opened again, and the memory that its data is read into. */
interface Pipe {
  fd: number;
  path: string;
  buffer: Buffer;
}

/** One that is open, and that nobody uses yet. */
interface OpenPipe {
  begin(onData: (chunk: Buffer) => void): OutputPipe;
}

export function createPipePool(makeFifos: (paths: readonly string[]) => boolean): PipePool {
  const idle: Pipe[] = [];
  /** For the next process, so that its start need not wait for this. */
  let ready: OpenPipe | undefined;
  // Bun reads nothing from a named pipe through a socket.
  let isPossible = process.platform !== "win32" && process.versions.bun === undefined;

  /** One for now, and one that is got ready meanwhile: two take no longer than one. */
  const make = (): void => {
    const paths = [1, 2].map(() => join(tmpdir(), `tiller-pipe-${randomHex(24)}`));
    isPossible = makeFifos(paths);
    for (const path of paths) {
      const pipe = isPossible ? keepOpen(path) : undefined;
      if (pipe) idle.push(pipe);
      else unlessRefused(() => unlinkSync(path));
    }
    // Where one could not be opened, or not be taken out of the folder, the next would not fare better.
    isPossible &&= idle.length > 0;
  };
  const putBack = (pipe: Pipe): void => {
    if (idle.length < MOST_IDLE) idle.push(pipe);
    else discard(pipe);
  };
  const openIdle = (): OpenPipe | undefined => {
    const pipe = idle.pop();
    if (!pipe) return undefined;
    const opened = unlessRefused(() => openPipe(pipe, () => putBack(pipe)));
    if (!opened) discard(pipe);
    return opened;
  };
  const prepare = (): void => {
    ready ??= openIdle();
  };

  return {
    take(onData) {
      if (!ready && idle.length === 0 && isPossible) make();
      prepare();
      const taken = ready?.begin(onData);
      ready = undefined;
      // The process that this one is for takes its time to begin, and until then we have none to lose.
      if (taken) setImmediate(prepare);
      return taken;
    },
  };
}

/** A full disk or too many open files: a socket will do. */
function unlessRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    return undefined;
  }
}

function keepOpen(path: string): Pipe | undefined {
  const fd = unlessRefused(() => openSync(path, O_RDONLY | O_NONBLOCK));
  if (fd === undefined) return undefined;
  const buffer = Buffer.alloc(READ_BYTES);
  if (process.platform !== "linux") return { fd, path, buffer };
  // Here an open file has a name of its own: nothing is left in the folder, however we end.
  const isUnlinked = unlessRefused(() => unlinkSync(path) ?? true);
  if (isUnlinked) return { fd, path: `/proc/self/fd/${fd}`, buffer };
  closeSync(fd);
  return undefined;
}

function discard({ fd, path }: Pipe): void {
  closeSync(fd);
  if (!path.startsWith("/proc/")) unlinkSync(path);
}

/** Both ends or none. */
function openEnds(path: string): { readEnd: number; writeEnd: number } {
  const readEnd = openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    return { readEnd, writeEnd: openSync(path, O_WRONLY) };
  } catch (error) {
    closeSync(readEnd);
    throw error;
  }
}

function openPipe(pipe: Pipe, onClosed: () => void): OpenPipe {
  const { readEnd, writeEnd } = openEnds(pipe.path);
  let hear = (_chunk: Buffer): void => undefined;
  const options: SocketConstructorOpts & { onread: OnReadOpts } = {
    fd: readEnd,
    readable: true,
    writable: false,
    onread: {
      buffer: pipe.buffer,
      callback(length) {
        hear(pipe.buffer.subarray(0, length));
        return true;
      },
    },
  };
  const socket = new Socket(options);
  socket.on("error", () => socket.destroy());
  // The end is known one turn of the event loop before the descriptor is closed.
  const closed = new Promise<void>((resolve) => socket.once("end", resolve).once("close", resolve));
  socket.once("close", onClosed);
  // Nobody waits for one that is not used.
  socket.unref();
  return {
    begin(onData) {
      hear = onData;
      socket.ref();
      socket.resume();
      return { writeEnd, closeWriteEnd: () => closeSync(writeEnd), closed, unref: () => socket.unref() };
    },
  };
}
