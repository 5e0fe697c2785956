import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { constants, Script } from "node:vm";

/**
 * Loads the bundle with the machine code of an earlier run, so that nothing is compiled twice: a fifth off a start, a
 * quarter off the first prompt. The cache lies beside the bundle, where only those can write who could change the
 * program itself; where that is nobody, or when anything is wrong with it, the bundle is compiled as usual.
 */

interface Loaded {
  exports: unknown;
}

type Wrapper = (
  exports: unknown,
  require: (id: string) => unknown,
  module: Loaded,
  file: string,
  folder: string,
) => void;

/** A run that has answered a prompt has compiled what the next one needs. */
const WORTH_KEEPING = /^run-machinery/;

export function loadWithCodeCache(entry: string, cacheRoot: string): void {
  const cacheDir = join(cacheRoot, `${process.version}-${process.arch}`);
  const nodeRequire = createRequire(entry);
  const loaded = new Map<string, Loaded>();
  const fresh = new Map<string, Script>();
  let worthKeeping = false;

  const load = (file: string): unknown => {
    const known = loaded.get(file);
    if (known) return known.exports;
    const module: Loaded = { exports: {} };
    loaded.set(file, module);
    if (WORTH_KEEPING.test(basename(file))) worthKeeping = true;
    const folder = dirname(file);
    const require = (id: string): unknown => (id.startsWith(".") ? load(join(folder, id)) : nodeRequire(id));
    compile(file)(module.exports, require, module, file, folder);
    return module.exports;
  };

  const compile = (file: string): Wrapper => {
    const source = readFileSync(file, "utf8");
    const cacheFile = join(cacheDir, cacheName(file));
    const cachedData = readIfThere(cacheFile);
    const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
      filename: file,
      cachedData,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    if (!cachedData) fresh.set(cacheFile, script);
    return script.runInThisContext() as Wrapper;
  };

  process.once("exit", () => {
    if (worthKeeping && fresh.size > 0) keep(cacheDir, fresh);
  });
  load(entry);
}

/** The engine compares no more than the length of a source, so the name tells which state of the file it belongs to. */
function cacheName(file: string): string {
  const { size, mtimeMs } = statSync(file);
  return `${basename(file)}-${size}-${Math.round(mtimeMs)}`;
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Written aside and renamed: many processes start at once, and none may read half a file. */
function keep(cacheDir: string, scripts: ReadonlyMap<string, Script>): void {
  try {
    mkdirSync(cacheDir, { recursive: true });
    for (const [file, script] of scripts) {
      const aside = `${file}.${process.pid}`;
      writeFileSync(aside, script.createCachedData());
      renameSync(aside, file);
    }
  } catch {
    // Read-only or full: the next start compiles again, as this one did.
  }
}
