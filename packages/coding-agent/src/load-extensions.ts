import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createProviders, type Providers } from "@tiller/ai/registered-providers";
import { askModel } from "./compat/ask-model.ts";
import { compatModule, isCompatModule, needsOmpExtras, ompExtras, prepareOmpExtras } from "./compat/index.ts";
import { contextForExtension } from "./compat/model-context.ts";
import { plainTheme } from "./compat/theme.ts";
import { createCompatHost } from "./compat-host.ts";
import { type TakenFlags, takeFlags } from "./extension-flags.ts";
import type { ExtensionGround } from "./extension-ground.ts";
import type { ExtensionError } from "./extensions/extension.ts";
import { createExtensionHost, type ExtensionHost } from "./extensions/extension-host.ts";
import { guardProcess } from "./extensions/guards/guard-process.ts";
import { guardStreams } from "./extensions/guards/guard-streams.ts";
import { errorText, ownerOf } from "./extensions/guards/rejections.ts";
import { createWatchdog } from "./extensions/guards/watchdog.ts";
import { type FoundExtensions, findExtensions } from "./extensions/loading/find-extensions.ts";
import { loadFactories } from "./extensions/loading/load-factories.ts";
import { createModuleLoader } from "./extensions/loading/module-loader.ts";
import { agentTool, type ExtensionTool } from "./extensions/tools.ts";
import { baseOf } from "./part-settings.ts";
import type { ModelControl } from "./session/model-control.ts";
import type { HookResult } from "./session/ports.ts";
import type { SessionEvent } from "./session/session-event.ts";
import { createModelRegistry, type ModelRegistryOptions } from "./session-model-registry.ts";
import type { StartChoice } from "./session-models.ts";
import type { OtherTools } from "./toolbox.ts";
import { TOOL_ROWS } from "./tools/index.ts";

/** The extensions of this process, loaded and waiting for a session. */
export interface LoadedExtensions {
  readonly host: ExtensionHost;
  readonly tools: OtherTools & { tool(name: string): ExtensionTool | undefined };
  /** Options that only extensions know: what became of them. */
  readonly flags: TakenFlags;
  readonly found: FoundExtensions;
  /** Where more texts lie, as the extensions of the session say. */
  readonly resources: HookResult<"resources_discover">;
  /** Grows when they say something else. */
  readonly resourceVersion: number;
  /** From now on what they do wrong is told. */
  listen(emit: (event: SessionEvent) => void): void;
  readonly providers: Providers;
  /** With the providers that they have registered. */
  readonly chosen: StartChoice;
  /** The models that are chosen from, once there are any. */
  useModels(models: ModelControl): void;
  modelRegistry(): object;
  /** An extension wants the process to end with this code. */
  onExit(leave: (code: number) => void): void;
  takeError(error: unknown, event: "unhandled_rejection" | "uncaught_exception"): boolean;
}

/** Finds and loads them. Nothing of this is loaded when there can be none. */
export async function loadExtensions(ground: ExtensionGround): Promise<LoadedExtensions> {
  const { run, clock, settings, agentDir, env } = ground;
  const errors = createErrors();
  const compat = createCompatHost(ground, (name) =>
    errors.notice(
      `stand-in ${name}`,
      `An extension uses ${name}, which needs a terminal or is not built here: it does nothing`,
    ),
  );
  const found = findAll(ground);
  const limitMs = settings.get("extensionLimits.loadMs");
  let leave: ((code: number) => void) | undefined;
  let control: ModelControl | undefined;
  const providers = createProviders({
    registry: ground.models.registry,
    env,
    contextFor: contextForExtension,
    onChange: () => control?.renew(),
  });
  const apply = (given: ExtensionHost["generation"]["providers"]): void => {
    for (const { extensionPath, name, config } of given.splice(0)) {
      try {
        if (config === undefined) providers.unregister(name);
        else providers.register(name, config);
      } catch (error) {
        errors.report({ extensionPath, event: "registerProvider", error: errorText(error) });
      }
    }
  };
  const paths = () => found.sources;
  const guard = guardProcess({
    process,
    ownerOf: (error) => ownerOf(error, paths(), OWN_FOLDER),
    onExit(code, owner, call) {
      errors.report({ extensionPath: owner, event: call, error: `${call} was called: the process ends in order` });
      // Before there is a session there is nothing to put in order.
      if (leave) leave(code);
      else guard.exit(code);
    },
  });
  guardStreams();
  const watchdog = createWatchdog({ exit: guard.exit, limitMs: settings.get("extensionLimits.stuckMs") });
  let flags: TakenFlags | undefined;
  let registry: object | undefined;
  const loaded = { resources: NO_RESOURCES, resourceVersion: 0 };

  const host = await createExtensionHost({
    async load() {
      // Evaluated anew each time: what a module remembers belongs to one session.
      const cacheFolder = join(agentDir, "cache", "extensions");
      const builtin = (name: string) =>
        isCompatModule(name) ? async (names?: readonly string[]) => compatModule(name, compat, names) ?? {} : undefined;
      const loader = createModuleLoader({ cacheFolder, builtin, enter: watchdog.enter });
      const [loaded] = await Promise.all([
        loadFactories(found.sources, loader, { timeoutMs: limitMs, clock }),
        found.sources.some(wantsOmpExtras) && prepareOmpExtras(compat),
      ]);
      return loaded;
    },
    limitMs,
    hookLimitMs: settings.get("extensionLimits.hookMs"),
    clock,
    enter: watchdog.enter,
    report: errors.report,
    notice: errors.notice,
    theme: plainTheme,
    extras: () => ompExtras(compat),
    flagValue: (name) => flags?.values.get(name),
    onStarted(resources) {
      loaded.resources = resources;
      loaded.resourceVersion += 1;
    },
    onEnded: () => providers.clear(),
    onProviders: apply,
  });
  flags = takeFlags(run, host.generation.flags());
  apply(host.generation.providers);

  return {
    host,
    found,
    flags,
    tools: toolsOf(host, watchdog.enter),
    get resources() {
      return loaded.resources;
    },
    get resourceVersion() {
      return loaded.resourceVersion;
    },
    listen: errors.listen,
    providers,
    chosen: ground.models.choose(),
    useModels(given) {
      control = given;
    },
    modelRegistry() {
      if (!control) throw new Error("There are no models yet");
      const ask: AskModels = (model, context, options) =>
        askModel(compat, compat.stream, model, context as never, options as never);
      registry ??= createModelRegistry({ found: ground.models, models: control, providers, ask });
      return registry;
    },
    onExit(given) {
      leave = given;
    },
    takeError(error, event) {
      const owner = ownerOf(error, paths(), OWN_FOLDER);
      if (owner === undefined) return false;
      errors.report({ extensionPath: owner, event, error: errorText(error) });
      return true;
    },
  };
}

type AskModels = ModelRegistryOptions["ask"];

const NO_RESOURCES: HookResult<"resources_discover"> = { skillPaths: [], promptPaths: [] };

/** What omp's extensions find on their API object is loaded for those that look for it. */
function wantsOmpExtras({ path }: { path: string }): boolean {
  try {
    return needsOmpExtras(readFileSync(path, "utf8"));
  } catch {
    // Whoever loads it tells why it cannot be read.
    return false;
  }
}

/** Our own code lies here. */
const OWN_FOLDER = dirname(fileURLToPath(import.meta.url));

function findAll({ run, cwd, startFolder, agentDir, env, settings }: ExtensionGround): FoundExtensions {
  const { options, projectTrust } = run;
  return findExtensions({
    cwd,
    agentDir,
    env,
    projectTrust,
    settings: { extensions: settings.get("extensions"), packages: settings.get("packages") },
    settingBases: {
      extensions: baseOf(settings, "extensions", agentDir),
      packages: baseOf(settings, "packages", agentDir),
    },
    named: [...(options.extension ?? []), ...(options.hook ?? [])],
    pluginDirs: options.pluginDir,
    noExtensions: options.noExtensions,
    startFolder,
  });
}

/** What extensions do wrong. Before anybody listens it is kept. */
function createErrors() {
  let emit: ((event: SessionEvent) => void) | undefined;
  const early: SessionEvent[] = [];
  const told = new Set<string>();
  const tell = (event: SessionEvent): void => void (emit ? emit(event) : early.push(event));
  return {
    report: (error: ExtensionError): void => tell({ type: "extension_error", ...error }),
    notice(key: string, message: string): void {
      if (told.has(key)) return;
      told.add(key);
      tell({ type: "notice", level: "info", source: "extensions", message });
    },
    listen(given: (event: SessionEvent) => void): void {
      emit = given;
      for (const event of early.splice(0)) given(event);
    },
  };
}

function toolsOf(host: ExtensionHost, enter: (label: string) => () => void): LoadedExtensions["tools"] {
  const concurrencyOf = (name: string) => TOOL_ROWS.get(name)?.concurrency;
  const around = { context: host.context, enter, concurrencyOf };
  return {
    names: () => [...host.generation.tools().keys()],
    tool(name) {
      const own = host.generation.tools().get(name);
      return own && agentTool(own.extension, own.definition, around);
    },
  };
}
