import { Readable } from "node:stream";
import { createReplacements, type Replacements } from "../../lib/replace.ts";
import { quietStdio } from "./child-stdio.ts";

/**
 * The standard streams belong to the protocol. For everybody else stdin has ended before it began, and what they write to
 * stdout by its number goes to stderr, also from the children they start. Our own reader and writer hold the functions
 * that were there before.
 */

/** As it was at the start: others may put their own in its place. What it gives are the objects themselves, not copies. */
const { getBuiltinModule } = process;
const fs = getBuiltinModule("node:fs");

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;

/** The names under which a system shows one of them. */
const pathsOf = (name: string, fd: number): string[] => [
  `/dev/${name}`,
  `/dev/fd/${fd}`,
  `/proc/self/fd/${fd}`,
  `/proc/${process.pid}/fd/${fd}`,
];

/** What is meant by a path of theirs. */
const PATHS: ReadonlyMap<unknown, string> = new Map([
  ...pathsOf("stdin", STDIN).map((path) => [path, "/dev/null"] as const),
  ...pathsOf("stdout", STDOUT).map((path) => [path, "/dev/stderr"] as const),
]);

const instead = (file: unknown): unknown => {
  if (file === STDOUT) return STDERR;
  if (typeof file === "number") return file;
  return PATHS.get(file instanceof URL ? file.pathname : Buffer.isBuffer(file) ? String(file) : file) ?? file;
};

type AnyFunction = (...args: never[]) => unknown;
type Table = Record<string, AnyFunction>;

/** Functions whose first argument is a descriptor, a path, or may be either. */
const OPENERS = [
  "write",
  "writeSync",
  "writev",
  "writevSync",
  "writeFile",
  "writeFileSync",
  "appendFile",
  "appendFileSync",
  "open",
  "openSync",
  "createWriteStream",
  "readFile",
  "readFileSync",
];

/** Those among them that promise a result. */
const PROMISING_OPENERS = ["writeFile", "appendFile", "open", "readFile"];

/** What they give at the end of a file; the callback is the last argument. */
const AT_END: Readonly<Record<string, (args: readonly unknown[]) => unknown>> = {
  readSync: () => 0,
  readvSync: () => 0,
  readFileSync: ([, options]) => emptyFile(options),
  read: (args) => callBack(args, 0, Buffer.alloc(0)),
  readv: (args) => callBack(args, 0, []),
  readFile: (args) => callBack(args, emptyFile(args[1])),
};

export interface StreamGuard {
  /**
   * Also for what takes milliseconds to load, and most extensions never ask for: to be called before code can get hold of
   * it. Whoever asks this process for one of its modules has called it.
   */
  complete(): void;
  release(): void;
}

/** Starts no process and stops nothing that is open. */
export function guardStreams(): StreamGuard {
  const replacements = createReplacements();
  let isComplete = false;
  const complete = (): void => {
    if (isComplete) return;
    isComplete = true;
    entrances.undo();
    guardPromises(replacements);
    guardChildren(replacements);
    renewImports();
  };
  const entrances = guardEntrances(complete);
  guardDescriptors(replacements);
  replacements.replaceGetter(process, "stdin", endedStdin());
  return {
    complete,
    release() {
      isComplete = true;
      entrances.undo();
      replacements.undo();
      renewImports();
    },
  };
}

/** Who imports a module of the runtime sees what is in it by then, once this is called. */
function renewImports(): void {
  getBuiltinModule("node:module").syncBuiltinESMExports();
}

/** Where code gets hold of modules of the runtime without anybody loading anything for it. */
function guardEntrances(complete: () => void): Replacements {
  const entrances = createReplacements();
  const open = (target: object, name: string): void => {
    const before = Object.getOwnPropertyDescriptor(target, name);
    if (!before) return;
    const get = (): unknown => {
      complete();
      return Reflect.get(target, name);
    };
    entrances.replaceGetter(target, name, get, (value) => {
      complete();
      // As any assignment: it throws where there is nothing to assign to.
      (target as Record<string, unknown>)[name] = value;
    });
  };
  open(fs, "promises");
  open(process, "getBuiltinModule");
  open(process, "mainModule");
  return entrances;
}

function guardDescriptors(replacements: Replacements): void {
  const table = fs as unknown as Table;
  for (const name of OPENERS) {
    wrap(replacements, table, name, (original, args) => original(instead(args[0]), ...args.slice(1)));
  }
  // Nobody else may close them.
  wrap(replacements, table, "closeSync", (original, args) => (isStandard(args[0]) ? undefined : original(...args)));
  wrap(replacements, table, "close", (original, args) => (isStandard(args[0]) ? callBack(args) : original(...args)));
  for (const [name, atEnd] of Object.entries(AT_END)) {
    wrap(replacements, table, name, (original, args) => (args[0] === STDIN ? atEnd(args) : original(...args)));
  }
}

function guardPromises(replacements: Replacements): void {
  const promising = fs.promises as unknown as Table;
  for (const name of PROMISING_OPENERS) {
    wrap(replacements, promising, name, (original, args) => original(instead(args[0]), ...args.slice(1)));
  }
}

/** `fork` is not among them: its child cannot speak without a channel of its own, and it goes through `spawn`. */
function guardChildren(replacements: Replacements): void {
  const childProcess = getBuiltinModule("node:child_process");
  const table = childProcess as unknown as Table;
  for (const name of ["spawnSync", "execSync", "execFileSync"]) {
    wrap(replacements, table, name, (original, args) => original(...args.map(withQuietStdio)));
  }
  const starter = childProcess.ChildProcess.prototype as unknown as Table;
  wrap(replacements, starter, "spawn", (original, args) => original(...args.map(withQuietStdio)));
}

type Loose = (...args: unknown[]) => unknown;

function wrap(
  replacements: Replacements,
  table: Table,
  name: string,
  call: (original: Loose, args: unknown[]) => unknown,
): void {
  if (typeof table[name] !== "function") return;
  replacements.replace(table, name, (original) => {
    const loose = original as unknown as Loose;
    return function guarded(this: unknown, ...args: unknown[]) {
      return call((...given) => loose.apply(this, given), args);
    } as AnyFunction;
  });
}

/** The options are the one argument that is an object and not a list. */
function withQuietStdio(argument: unknown): unknown {
  if (typeof argument !== "object" || argument === null || Array.isArray(argument) || !("stdio" in argument))
    return argument;
  return { ...argument, stdio: quietStdio(argument.stdio) };
}

function endedStdin(): () => Readable {
  let stdin: Readable | undefined;
  return () => {
    stdin ??= Object.assign(Readable.from([]), {
      fd: STDIN,
      isTTY: false,
      isRaw: false,
      setRawMode: () => stdin,
      ref: () => stdin,
      unref: () => stdin,
    });
    return stdin;
  };
}

function isStandard(fd: unknown): boolean {
  return fd === STDIN || fd === STDOUT || fd === STDERR;
}

function emptyFile(options: unknown): string | Buffer {
  const encoding =
    typeof options === "object" && options !== null && "encoding" in options ? options.encoding : options;
  return typeof encoding === "string" && encoding !== "buffer" ? "" : Buffer.alloc(0);
}

function callBack(args: readonly unknown[], ...result: unknown[]): void {
  const done = args.at(-1);
  if (typeof done !== "function") throw new TypeError("The last argument must be a function");
  process.nextTick(() => done(null, ...result));
}
