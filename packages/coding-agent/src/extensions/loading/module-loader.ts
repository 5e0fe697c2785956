import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type CompileCache, createCache } from "./cache.ts";
import { type Compiled, languageOf } from "./compiled.ts";
import { realPath } from "./files.ts";
import { exportCommonJs, withNames } from "./namespaces.ts";
import { isUnknownToRuntime, missingName, nativeImport } from "./native-import.ts";
import { parseJson } from "./parse-json.ts";
import { resolveFile } from "./resolve-file.ts";
import { type Builtin, resolveImport, type Target } from "./resolve-import.ts";
import { compileModule, createScopeObjects, finishNamespace, type ModuleBody, type ModuleScope } from "./run-module.ts";
import { placeInSource } from "./stack-trace.ts";

/**
 * Loads modules written in TypeScript or JavaScript without a build step. Each loader evaluates every module anew, once:
 * a new loader is how an extension starts over. Files are read at once and not in the background, which for files of
 * this size takes far less time in all.
 */

export interface ModuleLoader {
  /** The namespace of the module. */
  load(path: string): Promise<Record<string, unknown>>;
  /** The stack of an error with the lines of the source, where it names files that this loader has loaded. */
  stackOf(error: unknown): Promise<string>;
}

export interface ModuleLoaderOptions {
  cacheFolder: string;
  /** Modules of ours, by the name they are imported by. */
  builtin: Builtin;
  /** Told when a module begins to run; the function that it gives back, when it gives way. */
  enter?(label: string): () => void;
  /** The lines of this file are not those of its source: it was compiled. */
  onCompiled?(path: string, source: string): void;
  /** Told before the runtime loads something itself, which then sees all that the runtime has. */
  onNative?(): void;
}

interface Module extends Pick<ModuleScope, "namespace" | "module"> {
  path: string;
  /** Undefined for data. */
  compiled?: Compiled;
  body?: ModuleBody;
  /** Set when somebody has asked for it to be evaluated. */
  evaluated?: Promise<void>;
  isRun: boolean;
  /** The modules it cannot go on without, while it is being evaluated. */
  waitsFor: Set<Module>;
  /** What `require` gives: made ready before, or the error it throws. */
  required: Map<string, () => unknown>;
}

interface Loader extends ModuleLoaderOptions {
  cache: CompileCache;
  modules: Map<string, Promise<Module>>;
}

export function createModuleLoader(options: ModuleLoaderOptions): ModuleLoader {
  const loader: Loader = { ...options, cache: createCache(options.cacheFolder), modules: new Map() };
  return {
    async load(path) {
      const module = await fetchModule(loader, realPath(path), "");
      await evaluate(loader, module);
      return module.namespace;
    },
    stackOf: (error) => placeInSource(error, (path) => loader.modules.has(path)),
  };
}

/** Read and compiled, but not run. */
function fetchModule(loader: Loader, path: string, query: string): Promise<Module> {
  const id = path + query;
  let module = loader.modules.get(id);
  if (!module) {
    module = readModule(loader, path);
    loader.modules.set(id, module);
  }
  return module;
}

async function readModule(loader: Loader, path: string): Promise<Module> {
  const parts = createScopeObjects(path);
  const module: Module = { path, ...parts, isRun: false, waitsFor: new Set(), required: new Map() };
  const language = languageOf(path);
  if (path.endsWith(".node")) return finished(module, nativeRequire(loader, path)(path));
  const source = readFileSync(path, "utf8");
  if (path.endsWith(".json")) return finished(module, readJson(path, source));
  // As hosts that run on Bun have it: any other file is its text.
  if (language === undefined) return finished(module, source);
  module.compiled = loader.cache.get(source, language) ?? (await compile(loader, path, source, language));
  // Before any of them runs: from then on a second thread, which watches them, starts beside this one.
  module.body = compileModule(path, module.compiled);
  loader.onCompiled?.(path, source);
  return module;
}

function nativeRequire(loader: Loader, path: string): NodeJS.Require {
  loader.onNative?.();
  return process.getBuiltinModule("node:module").createRequire(path);
}

async function compile(loader: Loader, path: string, source: string, language: string): Promise<Compiled> {
  const { transform } = await import("./transform.ts");
  const compiled = await transform(path, source);
  loader.cache.put(source, language, compiled);
  return compiled;
}

function finished(module: Module, exports: unknown): Module {
  module.module.exports = exports;
  module.isRun = true;
  exportCommonJs(module.namespace, exports);
  return module;
}

function readJson(path: string, source: string): unknown {
  try {
    return parseJson(source);
  } catch (error) {
    throw new SyntaxError(`${path}: not valid JSON (${(error as Error).message})`);
  }
}

function evaluate(loader: Loader, module: Module): Promise<void> {
  module.evaluated ??= run(loader, module);
  return module.evaluated;
}

async function run(loader: Loader, module: Module): Promise<void> {
  await prepareRequires(loader, module);
  if (module.isRun || !module.compiled) return;
  try {
    await runCode(loader, module);
  } finally {
    module.waitsFor.clear();
  }
  finishNamespace(module, module.compiled.kind);
}

function runCode(loader: Loader, module: Module): unknown {
  module.isRun = true;
  const leave = loader.enter?.(`${module.path} (module)`);
  try {
    return module.body?.(scopeOf(loader, module));
  } finally {
    leave?.();
  }
}

function scopeOf(loader: Loader, module: Module): ModuleScope {
  const { path, namespace } = module;
  return {
    path,
    namespace,
    module: module.module,
    folder: dirname(path),
    importStatic: (specifier, options) => importFrom(loader, module, specifier, options?.importedNames),
    // A rejection, never an exception.
    importDynamic: async (specifier) => importFrom(loader, module, String(specifier)),
    meta: metaOf(path),
    require: requireOf(loader, module),
  };
}

function metaOf(path: string): object {
  const resolveName = (specifier: string): string => {
    const target = resolveImport(specifier, path, () => undefined);
    if (target.kind === "file") return pathToFileURL(target.path).href + target.query;
    if (target.kind !== "native") throw notFound(specifier, path);
    if (target.path !== undefined) return pathToFileURL(target.path).href;
    return specifier.includes(":") ? specifier : `node:${specifier}`;
  };
  return {
    // Few ask for it, and it takes longer than the rest.
    get url() {
      return pathToFileURL(path).href;
    },
    filename: path,
    dirname: dirname(path),
    resolve: resolveName,
    main: false,
  };
}

function notFound(specifier: string, from: string): Error {
  const error = new Error(`Cannot find module "${specifier}" imported from ${from}`);
  return Object.assign(error, { code: "ERR_MODULE_NOT_FOUND" });
}

async function importFrom(
  loader: Loader,
  importer: Module,
  specifier: string,
  names?: readonly string[],
): Promise<object> {
  const target = resolveImport(specifier, importer.path, loader.builtin);
  if (target.kind === "given") return target.open(names, importer.compiled?.code);
  if (target.kind === "helper") return { default: target.value };
  if (target.kind === "missing") throw notFound(specifier, importer.path);
  if (target.kind === "native") return withNames(await importNative(loader, importer, specifier, target.path), names);
  return importModule(loader, importer, await fetchModule(loader, target.path, target.query));
}

/** Waits for the module, unless it waits for the importer in turn: then it is seen as far as it has come. */
async function importModule(loader: Loader, importer: Module, wanted: Module): Promise<object> {
  if (reaches(wanted, importer)) return wanted.namespace;
  importer.waitsFor.add(wanted);
  try {
    await evaluate(loader, wanted);
  } finally {
    importer.waitsFor.delete(wanted);
  }
  return wanted.namespace;
}

function reaches(from: Module, wanted: Module, seen = new Set<Module>()): boolean {
  if (from === wanted) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...from.waitsFor].some((next) => reaches(next, wanted, seen));
}

async function importNative(
  loader: Loader,
  importer: Module,
  specifier: string,
  path: string | undefined,
): Promise<object> {
  loader.onNative?.();
  try {
    return await nativeImport(specifier, path);
  } catch (error) {
    const missing = missingName(error);
    if (missing === specifier) throw notFound(specifier, importer.path);
    // Packages for hosts like this one import our modules by name, which only this loader knows.
    const needsUs = isUnknownToRuntime(error) || (missing !== undefined && loader.builtin(missing) !== undefined);
    if (!needsUs || path === undefined) throw error;
    return importModule(loader, importer, await fetchModule(loader, path, ""));
  }
}

/** `require` cannot wait: all that it may be asked for is there before. An error waits until somebody asks. */
async function prepareRequires(loader: Loader, module: Module, seen = new Set<Module>()): Promise<void> {
  if (seen.has(module)) return;
  seen.add(module);
  for (const specifier of module.compiled?.requires ?? []) {
    if (module.required.has(specifier)) continue;
    try {
      const give = await prepareRequire(loader, module, specifier, seen);
      if (give) module.required.set(specifier, give);
    } catch (error) {
      module.required.set(specifier, () => {
        throw error;
      });
    }
  }
}

async function prepareRequire(
  loader: Loader,
  module: Module,
  specifier: string,
  seen: Set<Module>,
): Promise<(() => unknown) | undefined> {
  const target: Target = resolveImport(specifier, module.path, loader.builtin);
  if (target.kind === "helper") return () => target.value;
  if (target.kind === "given") {
    const given = await target.open();
    return () => given;
  }
  if (target.kind !== "file") return undefined;
  const wanted = await fetchModule(loader, target.path, target.query);
  if (wanted.compiled?.kind === "esm") await importModule(loader, module, wanted);
  else await prepareRequires(loader, wanted, seen);
  return () => exportsOf(loader, wanted);
}

/** Runs a CommonJS module when it is asked for, as `require` does. */
function exportsOf(loader: Loader, module: Module): unknown {
  if (module.compiled?.kind === "esm") return module.namespace;
  if (!module.isRun && module.compiled) {
    try {
      runCode(loader, module);
    } catch (error) {
      // The next one who asks gets the error too, not what was there before it.
      module.isRun = false;
      throw error;
    }
    finishNamespace(module, "cjs");
  }
  return module.module.exports;
}

/** Most modules never call it, so Node's own is made late. */
function requireOf(loader: Loader, { path, required }: Module): object {
  let made: NodeJS.Require | undefined;
  const native = (): NodeJS.Require => {
    made ??= nativeRequire(loader, path);
    return made;
  };
  const require = (specifier: string): unknown => {
    const ready = required.get(specifier);
    return ready ? ready() : native()(specifier);
  };
  const resolveName = (specifier: string, options?: { paths?: string[] }): string => {
    const file = specifier.startsWith(".") ? resolveFile(resolve(dirname(path), specifier)) : undefined;
    return file ?? native().resolve(specifier, options);
  };
  const late = { cache: { get: () => native().cache }, main: { value: undefined } };
  return Object.defineProperties(Object.assign(require, { resolve: resolveName }), late);
}
