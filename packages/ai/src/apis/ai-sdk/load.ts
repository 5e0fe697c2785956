import { createRequire } from "node:module";
import { isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ProviderError } from "../../errors.ts";
import type { ModelRequest } from "../../provider.ts";
import { isRecord } from "../wire-values.ts";
import { KNOWN_VERSIONS, type LanguageModel } from "./spec.ts";

/**
 * Loads a model of an installed AI SDK package. Which one is data of the model (`compat`):
 *
 *   package: "@ai-sdk/amazon-bedrock"      the name of the package
 *   export:  "createAmazonBedrock"         its factory; not needed when it has only one
 *   options: {...}                         what the factory is given
 *   method:  "chat"                        how the provider is asked for a model; not needed for its usual kind
 *   from:    "/home/me/.tiller/agent"      the absolute folder whose node_modules has the package
 *
 * The folder a session works in is never looked at: its code is not ours to run.
 */

type Exports = Record<string, unknown>;

export async function loadModel(request: ModelRequest): Promise<LanguageModel> {
  const { model } = request;
  const { package: name, from } = sourceOf(request);
  const { factory, called } = factoryOf(await importPackage(name, from), model.compat?.export, name);
  const provider: unknown = await factory(factoryOptions(request, name));
  const made = await makeModel(provider, model.id, model.compat?.method);
  if (isLanguageModel(made)) return made;
  const version = isRecord(made) ? String(made.specificationVersion) : typeof made;
  throw refused(
    `${called} of ${name} made a model of specification ${version}; known are ${KNOWN_VERSIONS.join(", ")}. ` +
      `Install a version of ${name} that has one of them.`,
  );
}

function sourceOf({ model }: ModelRequest): { package: string; from: string } {
  const { package: name, from } = model.compat ?? {};
  const where = `Model ${model.provider}/${model.id}`;
  if (typeof name !== "string" || !/^(@[\w.-]+\/)?[\w][\w./-]*$/.test(name) || name.includes("..")) {
    throw refused(`${where} needs "compat": {"package": "@ai-sdk/..."}, the name of an installed package`);
  }
  if (typeof from !== "string" || !isAbsolute(from)) {
    throw refused(`${where} needs "compat": {"from": "/..."}, the absolute folder where ${name} is installed`);
  }
  return { package: name, from };
}

async function importPackage(name: string, from: string): Promise<Exports> {
  const file = entryOf(name, from);
  try {
    // A real import also in a CommonJS bundle, as the path is not known when it is built.
    return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Exports;
  } catch (error) {
    throw refused(`The package ${name} in ${from} could not be loaded: ${wordsOf(error)}`, error);
  }
}

function entryOf(name: string, from: string): string {
  const require = createRequire(join(from, "package.json"));
  try {
    return require.resolve(name);
  } catch (error) {
    const entry = codeOf(error) === "ERR_PACKAGE_PATH_NOT_EXPORTED" ? importEntry(require, name) : undefined;
    if (entry !== undefined) return entry;
    const [scope = "", own = ""] = name.split("/");
    const installable = scope.startsWith("@") ? `${scope}/${own}` : scope;
    throw refused(
      `The package ${name} is not installed in ${from}. Run: cd ${from} && npm install ${installable}`,
      error,
    );
  }
}

/** A package that can only be imported, not required: its entry as its package.json tells it. */
function importEntry(require: NodeJS.Require, name: string): string | undefined {
  const names = name.startsWith("@") ? name.split("/", 2) : name.split("/", 1);
  const key = name.split("/").slice(names.length).join("/");
  for (const folder of require.resolve.paths(name) ?? []) {
    const home = join(folder, ...names);
    const manifest = manifestOf(require, join(home, "package.json"));
    if (!manifest) continue;
    const exports = isRecord(manifest.exports) ? manifest.exports : { ".": manifest.exports };
    const entry = importTarget(key !== "" ? exports[`./${key}`] : "." in exports ? exports["."] : exports);
    return entry === undefined ? undefined : join(home, entry);
  }
  return undefined;
}

function manifestOf(require: NodeJS.Require, path: string): Exports | undefined {
  try {
    return require(path) as Exports;
  } catch (error) {
    if (codeOf(error) === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

const CONDITIONS = new Set(["node", "import", "default"]);

function importTarget(target: unknown): string | undefined {
  if (typeof target === "string") return target;
  if (!isRecord(target)) return undefined;
  for (const [condition, value] of Object.entries(target)) {
    const found = CONDITIONS.has(condition) ? importTarget(value) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

type Factory = (options: Exports) => unknown;

function factoryOf(exports: Exports, wanted: unknown, name: string): { factory: Factory; called: string } {
  const all: Exports = isRecord(exports.default) ? { ...exports.default, ...exports } : exports;
  const factories = Object.keys(all).filter((key) => /^create[A-Z]/.test(key) && typeof all[key] === "function");
  const called = typeof wanted === "string" ? wanted : factories.length === 1 ? factories[0]! : undefined;
  if (called !== undefined && typeof all[called] === "function") return { factory: all[called] as Factory, called };
  const found = factories.length === 0 ? "It has none." : `It has ${factories.join(", ")}.`;
  throw refused(
    called === undefined
      ? `Which factory of ${name}? Say it in "compat": {"export": "create..."}. ${found}`
      : `The package ${name} has no factory "${called}". ${found}`,
  );
}

/** What is said in `compat.options` wins, except over the key and the headers of the request. */
function factoryOptions({ model, apiKey, headers }: ModelRequest, name: string): Exports {
  const options = isRecord(model.compat?.options) ? model.compat.options : {};
  const own = isRecord(options.headers) ? options.headers : {};
  return {
    ...(/^https?:/.test(model.baseUrl) ? { baseURL: model.baseUrl } : {}),
    // The only package that cannot do without a name.
    ...(name.endsWith("/openai-compatible") ? { name: model.provider } : {}),
    ...options,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(headers || options.headers ? { headers: { ...own, ...headers } } : {}),
  };
}

async function makeModel(provider: unknown, id: string, method: unknown): Promise<unknown> {
  const usual = typeof provider === "function" ? provider : memberOf(provider, "languageModel");
  const make = typeof method === "string" ? memberOf(provider, method) : usual;
  if (typeof make === "function") return make.call(provider, id) as unknown;
  throw refused(
    `The provider of model "${id}" has no method "${typeof method === "string" ? method : "languageModel"}"`,
  );
}

function memberOf(provider: unknown, name: string): unknown {
  const holder = typeof provider === "function" || isRecord(provider) ? (provider as unknown as Exports) : {};
  return holder[name];
}

function isLanguageModel(value: unknown): value is LanguageModel {
  if (!isRecord(value) || typeof value.doStream !== "function") return false;
  return (KNOWN_VERSIONS as readonly unknown[]).includes(value.specificationVersion);
}

function refused(message: string, cause?: unknown): ProviderError {
  return new ProviderError("bad_request", message, cause === undefined ? {} : { cause });
}

function codeOf(error: unknown): unknown {
  return isRecord(error) ? error.code : undefined;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
