import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { Env } from "../config/paths.ts";
import { createReplacements } from "../lib/replace.ts";
import { FILES_FOLDER, FILES_LIST, parsed } from "./format.ts";
import { openConfig, type Redaction } from "./redact.ts";
import type { Tape, WorldCall } from "./tape.ts";

/**
 * The files that a program reads are part of what comes from outside. While it is recorded, each is copied before it is first
 * looked at; in a replay the program sees those copies at the places where the files were, and nothing else of the disk.
 */

const OWN = { ...fs };
/** Larger ones are not copied. */
const MAX_BYTES = 4 * 1024 * 1024;
const CONFIG_FILE = /^(auth|models|settings|config)\.(json|ya?ml)$/;

/** Functions by what they do with the path that is their first argument; those in PAIRS have a second one. */
const LOOKING = ["stat", "lstat", "exists", "readdir", "realpath", "access", "readlink", "opendir"];
const READING = ["readFile"];
const CHANGING = [
  "writeFile",
  "appendFile",
  "mkdir",
  "mkdtemp",
  "rm",
  "rmdir",
  "unlink",
  "chmod",
  "utimes",
  "truncate",
];
const PAIRS = ["rename", "link", "copyFile", "symlink", "cp"];

/** Their result is a path. */
const TELLING = ["realpath", "mkdtemp", "readlink"];

interface ListedFile {
  path: string;
  kind: "file" | "folder";
  mtimeMs: number;
  size: number;
  /** What was in it was read, and is here. */
  copy?: true;
  /** Why there is no copy. */
  missing?: string;
}

type Loose = (...args: unknown[]) => unknown;
type Table = Record<string, Loose>;

export interface CaptureOptions {
  folder: string;
  /** Values of the configuration come from it. */
  env: Env;
  redact: Redaction;
  list(file: ListedFile): void;
  /** Where nobody else shall look along: the program itself, and what tools look at. */
  isLeftOut(path: string): boolean;
}

/** Copies what is read from now on, and notes what is only looked at. */
export function captureFiles(options: CaptureOptions): void {
  const { list, isLeftOut } = options;
  /** What is known of a path: that it was there, what was in it, or that the program has made it itself. */
  const known = new Map<string, "seen" | "read" | "made">();
  const isNew = (place: string | undefined, what: "seen" | "read"): place is string =>
    place !== undefined && known.get(place) !== "made" && known.get(place) !== "read" && known.get(place) !== what;
  const note = (path: unknown, what: "seen" | "read"): void => {
    const place = placeOf(path);
    if (!isNew(place, what) || isLeftOut(place)) return;
    // What is not there yet may come to be later, and is looked at again then.
    const listed = describe(place);
    if (!listed) return;
    known.set(place, what);
    list(what === "read" && listed.kind === "file" ? { ...listed, ...copied(place, listed.size, options) } : listed);
  };
  const make = (path: unknown): void => {
    const place = placeOf(path);
    if (place !== undefined) known.set(place, "made");
  };
  const isThere = (path: unknown): boolean => typeof path === "string" && OWN.existsSync(path);

  const replacements = createReplacements();
  const table = fs as unknown as Table;
  const before = (names: readonly string[], look: (args: readonly unknown[]) => void): void => {
    for (const name of names) {
      if (typeof table[name] !== "function") continue;
      replacements.replace(table, name, (original) => (...args) => {
        look(args);
        return original(...args);
      });
    }
  };
  before(sync(LOOKING), ([path]) => note(path, "seen"));
  before(sync(READING), ([path]) => note(path, "read"));
  before(["openSync"], ([path, flags]) => {
    if (!isThere(path) || (typeof flags === "string" && flags.startsWith("w"))) make(path);
    else note(path, "read");
  });
  before(sync(["writeFile", "mkdir"]), ([path]) => (isThere(path) ? undefined : make(path)));
  before(sync(PAIRS), ([from, to]) => {
    note(from, "read");
    make(to);
  });
  replaceNative((original) => (...args) => {
    note(args[0], "seen");
    return original(...args);
  });
  syncBuiltinESMExports();
}

function describe(place: string): ListedFile | undefined {
  const stat = OWN.statSync(place, { throwIfNoEntry: false });
  if (!stat?.isFile() && !stat?.isDirectory()) return undefined;
  return { path: place, kind: stat.isFile() ? "file" : "folder", mtimeMs: stat.mtimeMs, size: stat.size };
}

/** What is to be noted of the copy. */
function copied(place: string, size: number, options: CaptureOptions): Pick<ListedFile, "copy" | "missing"> {
  if (size > MAX_BYTES) return { missing: `it has ${size} bytes` };
  try {
    copyFile(place, options);
    return { copy: true };
  } catch (error) {
    return { missing: (error as Error).message };
  }
}

const sync = (names: readonly string[]): string[] => names.map((name) => `${name}Sync`);

function placeOf(path: unknown): string | undefined {
  if (path instanceof URL) return path.pathname;
  return typeof path === "string" && path !== "" ? resolve(path) : undefined;
}

function copyFile(place: string, { folder, env, redact }: CaptureOptions): void {
  const bytes = OWN.readFileSync(place);
  const text = bytes.toString("utf8");
  const isText = Buffer.from(text, "utf8").equals(bytes);
  const name = basename(place);
  const open = CONFIG_FILE.test(name) ? openConfig(text, name, env) : { text, secrets: [] };
  // A server or a tool may say them again.
  redact.learn(open.secrets);
  const copy = join(folder, FILES_FOLDER, place);
  OWN.mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
  OWN.writeFileSync(copy, isText ? redact(open.text) : bytes, { mode: 0o600 });
}

/** Puts the copies of a recording at a place of their own. Resolves to it. */
export function unpackFiles(folder: string, folders: readonly string[]): string {
  const root = OWN.realpathSync(OWN.mkdtempSync(join(tmpdir(), "tiller-replay-")));
  for (const path of folders) OWN.mkdirSync(join(root, path), { recursive: true });
  for (const line of lines(join(folder, FILES_LIST))) {
    const { path, kind, mtimeMs, size, copy } = line as ListedFile;
    const to = join(root, path);
    OWN.mkdirSync(kind === "folder" ? to : dirname(to), { recursive: true });
    if (kind === "folder") continue;
    if (copy) OWN.copyFileSync(join(folder, FILES_FOLDER, path), to);
    else OWN.writeFileSync(to, "");
    // Nobody has read it: it need only look as large.
    if (!copy) OWN.truncateSync(to, size);
    OWN.utimesSync(to, mtimeMs / 1000, mtimeMs / 1000);
  }
  return root;
}

function lines(path: string): object[] {
  if (!OWN.existsSync(path)) return [];
  const text = OWN.readFileSync(path, "utf8");
  return text.split("\n").flatMap((line) => parsed(line) ?? []);
}

/** From now on every path leads below `root`, but for those that `isReal`. What is told of paths is as if it were not so. */
export function redirectFiles(root: string, isReal: (path: string) => boolean): void {
  const inside = (path: unknown): unknown => {
    const place = placeOf(path);
    if (place === undefined || isReal(place) || place === root || place.startsWith(`${root}/`)) return path;
    return root + place;
  };
  const outside = (value: unknown): unknown => {
    if (typeof value === "string") return value.startsWith(root) ? value.slice(root.length) || "/" : value;
    if (value instanceof Error) {
      value.message = value.message.replaceAll(root, "");
      if ("path" in value) value.path = outside(value.path);
    }
    return value;
  };
  const redirected =
    (original: Loose, paths: number, told: (value: unknown) => unknown): Loose =>
    (...args) => {
      const moved = args.map((arg, index) => (index < paths ? inside(arg) : arg));
      try {
        const result = original(...moved);
        return result instanceof Promise ? result.then(told, (error) => Promise.reject(outside(error))) : told(result);
      } catch (error) {
        throw outside(error);
      }
    };
  const replacements = createReplacements();
  const tables = [fs as unknown as Table, fs.promises as unknown as Table];
  for (const name of [...LOOKING, ...READING, ...CHANGING, ...PAIRS, "open"]) {
    for (const each of [name, `${name}Sync`]) {
      for (const table of tables) {
        if (typeof table[each] !== "function") continue;
        const told = TELLING.includes(name) ? outside : (value: unknown) => value;
        replacements.replace(table, each, (original) => redirected(original, PAIRS.includes(name) ? 2 : 1, told));
      }
    }
  }
  replaceNative((original) => redirected(original, 1, outside));
  syncBuiltinESMExports();
}

/** The one function that is a part of another. Which one that is was replaced before. */
function replaceNative(make: (original: Loose) => Loose): void {
  const native = OWN.realpathSync.native as unknown as Loose;
  Object.defineProperty(fs.realpathSync, "native", { configurable: true, writable: true, value: make(native) });
}

/** When the disk has a session file for good is told by the disk, so that is news from outside too. */
export function recordSyncs(tape: Pick<Tape, "call">): void {
  const sync = (original: typeof fs.fsync) => (file: number, tell: (error: Error | null) => void) => {
    const call: WorldCall<void> = {
      name: "fsync",
      args: {},
      run: () =>
        new Promise((resolve, reject) => {
          original(file, (error) => (error ? reject(error) : resolve()));
        }),
      hear: () => undefined,
      packError: (error) => ({ message: (error as Error).message, code: (error as NodeJS.ErrnoException).code }),
      unpackError: ({ message, code }) => Object.assign(new Error(message), { code }),
    };
    tape.call(call).then(() => tell(null), tell);
  };
  const replacements = createReplacements();
  for (const name of ["fsync", "fdatasync"] as const) {
    replacements.replace(fs, name, (original) => sync(original as typeof fs.fsync) as typeof fs.fdatasync);
  }
  syncBuiltinESMExports();
}

export function removeFolder(root: string): void {
  OWN.rmSync(root, { recursive: true, force: true });
}
