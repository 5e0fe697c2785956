import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import type { Module } from "node:module";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";
import { onTurnEnd } from "./turn-ends.ts";
import { learnTypes } from "./type-feedback.ts";

/**
 * Loads the bundle with the compiled code of an earlier run, so that nothing is compiled twice: a fifth off a start, a
 * quarter off the first prompt. The cache lies beside the bundle, where only those can write who could change the
 * program itself; where that is nobody, or when anything is wrong with it, the bundle is compiled as usual.
 */

export interface CodeCacheOptions {
  /** The file to run. What it requires by a relative path is loaded the same way. */
  entry: string;
  folder: string;
  /** Changes with every build: an upgrade in place may keep sizes and times of files. */
  build: string;
  /** Node's own, as it is in the folder of the entry. */
  require: Require;
}

type Require = (id: string) => unknown;

interface Loaded {
  exports: unknown;
}

type Wrapper = (exports: unknown, require: Require, module: Loaded, file: string, folder: string) => void;

/** A run that has answered a prompt has compiled what the next one needs. */
const WORTH_KEEPING = /^run-machinery/;
/** In characters. So little is compiled faster than its code is found. */
const TOO_SMALL = 2000;
/** In turns. An older process has learned by itself what it uses, and would forget what was optimised. */
const YOUNG = 8;
/** Each holds everybody up and throws away what was optimised; a prompt that tries all tools would get one a turn. */
const MOST_LESSONS = 2;
/** What comes from here on is the same at each start with extensions, whether there is a prompt or not. */
const EXTENSIONS = /^load-extensions/;

export function loadWithCodeCache({ entry, folder, build, require: nodeRequire }: CodeCacheOptions): void {
  const cacheDir = join(folder, `${process.version}-${process.arch}-${build}`);
  const isOurs = isOnlyOurs(cacheDir, entry);
  const loaded = new Map<string, Loaded>();
  /** What was not in the cache, in the order in which it came. */
  const fresh = new Map<string, Script>();
  let worthKeeping = false;
  /** How many files were compiled before those that extensions need. */
  let beforeExtensions: number | undefined;

  const load = (file: string): unknown => {
    const known = loaded.get(file);
    if (known) return known.exports;
    const module: Loaded = { exports: {} };
    if (EXTENSIONS.test(basename(file))) beforeExtensions = fresh.size;
    // Known before it has run, because modules may need each other.
    loaded.set(file, module);
    try {
      const place = dirname(file);
      const require = (id: string): unknown => (id.startsWith(".") ? load(join(place, id)) : nodeRequire(id));
      // Nothing in the bundle is outside ASCII.
      const source = readFileSync(file, "latin1");
      const cache = source.length < TOO_SMALL ? undefined : cacheName(file);
      const code = isOurs && cache !== undefined ? readCode(join(cacheDir, cache)) : undefined;
      // What is in the cache was looked at when it got there.
      if (!code && source.includes(IMPORTS)) runByNode(file, source, require, module);
      else compile(file, source, cache, code)(module.exports, require, module, file, place);
    } catch (error) {
      loaded.delete(file);
      throw error;
    }
    if (WORTH_KEEPING.test(basename(file))) worthKeeping = true;
    return module.exports;
  };

  const compile = (file: string, source: string, cache: string | undefined, code: Buffer | undefined): Wrapper => {
    const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
      filename: file,
      cachedData: code,
    });
    // False only when there was something and it was taken.
    if (cache !== undefined && script.cachedDataRejected !== false) fresh.set(cache, script);
    return script.runInThisContext() as Wrapper;
  };

  /** What is fresh and worth keeping becomes code now; it is written when nobody waits any more. */
  const made = new Map<string, Buffer>();
  const makeCode = (): void => {
    const from = worthKeeping ? 0 : (beforeExtensions ?? fresh.size);
    for (const [name, script] of [...fresh].slice(from)) made.set(name, script.createCachedData());
    fresh.clear();
  };
  if (isOurs) {
    process.once("exit", () => {
      makeCode();
      if (made.size > 0) keep(cacheDir, made);
    });
  }
  /** How many files the turns that are over have needed. */
  let known = 0;
  let turns = 0;
  let lessons = 0;
  const lookBack = (): void => {
    // The engine notes in its code what was used often, and whoever loads that pays at once for what it would learn in time: code
    // from the end of a long day makes a first prompt slower.
    if (isOurs && known === 0) makeCode();
    if (loaded.size === known || lessons === MOST_LESSONS) return;
    known = loaded.size;
    lessons++;
    learnTypes(nodeRequire);
  };
  onTurnEnd(() => {
    turns++;
    // Behind what there is to say and to ask: a process that ends with this turn is gone by then.
    if (turns <= YOUNG) setImmediate(() => setImmediate(lookBack));
  });
  load(entry);
}

/**
 * Compiled code is run as it is. So it counts only where nobody could have put it but us, the administrator and the owner of
 * the program, who could change that as well: the folder of the program may be open to more people, for all we know.
 */
export function isOnlyOurs(cacheDir: string, program: string): boolean {
  // Windows has neither users nor modes here.
  if (process.getuid === undefined) return true;
  try {
    const folder = statSync(cacheDir, { throwIfNoEntry: false });
    if (!folder) return true;
    if ((folder.mode & 0o022) !== 0) return false;
    return [process.getuid(), 0].includes(folder.uid) || folder.uid === statSync(program).uid;
  } catch {
    // What cannot even be looked at is not used.
    return false;
  }
}

/** A script from a cache cannot import anything. The few files that do, to load what users have installed, go without. */
const IMPORTS = "import(";

function runByNode(file: string, source: string, require: Require, loaded: Loaded): void {
  // Only now: it takes longer than all that this file does.
  const NodeModule = require("node:module") as typeof Module;
  const module = Object.assign(new NodeModule(file), { filename: file, require, exports: loaded.exports });
  (module as unknown as { _compile(source: string, file: string): void })._compile(source, file);
  loaded.exports = module.exports;
}

/** Also the state of the file, for those who change the bundle by hand: the engine compares no more than its length. */
function cacheName(file: string): string {
  const { size, mtimeMs } = statSync(file);
  return `${basename(file)}-${size}-${Math.round(mtimeMs)}`;
}

/**
 * The engine trusts what it is given, and dies of it: so nothing is given to it that is not what was written. Code is
 * written twice and compared, which takes less than loading what makes checksums.
 */
function readCode(file: string): Buffer | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    return undefined;
  }
  const code = bytes.subarray(0, bytes.length / 2);
  return code.length > 0 && code.equals(bytes.subarray(code.length)) ? code : undefined;
}

/** Begins the name of a folder in which one process writes. */
const ASIDE = "new-";

/** Written aside and renamed: many processes start at once, and none may read half a file. */
function keep(cacheDir: string, codes: ReadonlyMap<string, Buffer>): void {
  try {
    mkdirSync(cacheDir, { recursive: true, mode: 0o755 });
    const aside = mkdtempSync(join(cacheDir, ASIDE));
    try {
      for (const [name, code] of codes) {
        writeCode(join(aside, name), code);
        renameSync(join(aside, name), join(cacheDir, name));
      }
      removeLeft(cacheDir, statSync(aside).mtimeMs);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
    removeEarlierBuilds(cacheDir);
  } catch {
    // Read-only or full: the next start compiles again, as this one did.
  }
}

function writeCode(file: string, code: Buffer): void {
  const fd = openSync(file, "wx", 0o644);
  try {
    // All of it, or an error: on a full disk a single write may be shorter.
    writeFileSync(fd, Buffer.concat([code, code]));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Nobody writes for so long. */
const LEFT_MS = 60_000;

/** What processes have left that were killed while they wrote. */
function removeLeft(cacheDir: string, now: number): void {
  for (const name of readdirSync(cacheDir)) {
    if (!name.startsWith(ASIDE)) continue;
    const folder = statSync(join(cacheDir, name), { throwIfNoEntry: false });
    if (folder && now - folder.mtimeMs > LEFT_MS) rmSync(join(cacheDir, name), { recursive: true, force: true });
  }
}

function removeEarlierBuilds(cacheDir: string): void {
  const mine = basename(cacheDir);
  const sameNode = mine.slice(0, mine.lastIndexOf("-") + 1);
  for (const name of readdirSync(dirname(cacheDir))) {
    if (name !== mine && name.startsWith(sameNode)) rmSync(join(dirname(cacheDir), name), { recursive: true });
  }
}
