import { join } from "node:path";
import type { CompatHost } from "./compat/host.ts";
import { compatModule, isCompatModule, needsOmpExtras, ompExtras, prepareOmpExtras } from "./compat/index.ts";
import { plainTheme } from "./compat/theme.ts";
import { createCompatHost } from "./compat-host.ts";
import { type TakenFlags, takeFlags } from "./extension-flags.ts";
import type { ExtensionGround } from "./extension-ground.ts";
import { createExtensionGuards, type ExtensionGuards } from "./extension-guards.ts";
import { createExtensionModels, type ExtensionModels } from "./extension-models.ts";
import { createExtensionReports, type ExtensionReports } from "./extension-reports.ts";
import { createExtensionHost, type ExtensionHost } from "./extensions/extension-host.ts";
import { type FoundExtensions, findExtensions } from "./extensions/loading/find-extensions.ts";
import { lineInSource } from "./extensions/loading/line-in-source.ts";
import { type LoadedFactory, loadFactories } from "./extensions/loading/load-factories.ts";
import { createModuleLoader, type ModuleLoaderOptions } from "./extensions/loading/module-loader.ts";
import { agentTool, type ExtensionTool } from "./extensions/tools.ts";
import { baseOf } from "./part-settings.ts";
import type { HookResult } from "./session/ports.ts";
import type { StartChoice } from "./session-models.ts";
import type { OtherTools } from "./toolbox.ts";
import { TOOL_ROWS } from "./tools/index.ts";

/** The extensions of this process, loaded and waiting for a session. */
export interface LoadedExtensions extends Pick<ExtensionGuards, "onExit" | "takeError"> {
  readonly host: ExtensionHost;
  /** Code of the project may be loaded. */
  readonly isTrusted: boolean;
  /** Somebody has decided that it may; it is loaded when they are read again. */
  trustProject(): void;
  readonly tools: OtherTools & { tool(name: string): ExtensionTool | undefined };
  /** Options that only extensions know: what became of them. */
  readonly flags: TakenFlags;
  readonly found: FoundExtensions;
  /** Where more texts lie, as the extensions of the session say. */
  readonly resources: HookResult<"resources_discover">;
  /** Grows when they say something else. */
  readonly resourceVersion: number;
  /** From now on what there is to say about them is told. */
  readonly listen: ExtensionReports["listen"];
  readonly models: ExtensionModels;
  /** With the providers that they have registered. */
  readonly chosen: StartChoice;
}

/** Finds and loads them. Nothing of this is loaded when there can be none. */
export async function loadExtensions(ground: ExtensionGround): Promise<LoadedExtensions> {
  const { run, clock, settings } = ground;
  const reports = createExtensionReports();
  const compat = createCompatHost(ground, (name) =>
    reports.notice(`stand-in ${name}`, `An extension uses ${name}, which does nothing here`),
  );
  let trust = run.projectTrust;
  let found = findAll(ground, trust);
  const compiled = new Set<string>();
  const guards = createExtensionGuards(() => found.sources, reports, {
    stuckMs: settings.get("extensionLimits.stuckMs"),
    isGuest: ground.guestMark !== undefined,
    lineInSource: (path, line, column) => (compiled.has(path) ? lineInSource(path, { line, column }) : undefined),
  });
  const models = createExtensionModels(ground, compat, reports.report);
  const said = { flags: undefined as TakenFlags | undefined, resources: NO_RESOURCES, resourceVersion: 0 };

  const host = await createExtensionHost({
    load(isReload) {
      if (isReload) found = findAll(ground, trust);
      // Whoever started the process may not read its stderr.
      for (const problem of found.problems) reports.warn(problem);
      return loadAll(ground, found, compat, {
        enter: guards.enter,
        onNative: guards.onNative,
        onCompiled: (path) => compiled.add(path),
      });
    },
    limitMs: settings.get("extensionLimits.loadMs"),
    hookLimitMs: settings.get("extensionLimits.hookMs"),
    clock,
    enter: guards.enter,
    report: reports.report,
    notice: reports.notice,
    theme: plainTheme,
    extras: () => ompExtras(compat),
    flagValue: (name) => said.flags?.values.get(name),
    onStarted(resources) {
      said.resources = resources;
      said.resourceVersion += 1;
    },
    onEnded: models.clear,
    onProviders: models.apply,
  });
  const flags = takeFlags(run, host.generation.flags());
  said.flags = flags;
  models.apply(host.generation.providers);
  await models.known();

  return {
    host,
    flags,
    models,
    get found() {
      return found;
    },
    get isTrusted() {
      return trust === "code";
    },
    trustProject() {
      trust = "code";
    },
    tools: toolsOf(host, guards.enter),
    get resources() {
      return said.resources;
    },
    get resourceVersion() {
      return said.resourceVersion;
    },
    listen: reports.listen,
    chosen: ground.models.choose(),
    onExit: guards.onExit,
    takeError: guards.takeError,
  };
}

const NO_RESOURCES: HookResult<"resources_discover"> = { skillPaths: [], promptPaths: [] };

/** Evaluated anew each time: what a module remembers belongs to one session. */
async function loadAll(
  { agentDir, settings, clock }: ExtensionGround,
  { sources }: FoundExtensions,
  compat: CompatHost,
  { onCompiled, ...told }: Pick<ModuleLoaderOptions, "enter" | "onNative" | "onCompiled">,
): Promise<LoadedFactory<FoundExtensions["sources"][number]>[]> {
  const builtin = (name: string) =>
    isCompatModule(name)
      ? async (names?: readonly string[], code?: string) => compatModule(name, compat, names, code) ?? {}
      : undefined;
  /** What omp's extensions find on their API object is loaded for those that look for it. */
  let extras: Promise<void> | undefined;
  const loader = createModuleLoader({
    cacheFolder: join(agentDir, "cache", "extensions"),
    builtin,
    onCompiled(path, source) {
      onCompiled?.(path, source);
      if (!extras && needsOmpExtras(source)) extras = prepareOmpExtras(compat);
    },
    ...told,
  });
  const loaded = await loadFactories(sources, loader, { timeoutMs: settings.get("extensionLimits.loadMs"), clock });
  await extras;
  return loaded;
}

function findAll(
  { run, cwd, startFolder, agentDir, env, settings }: ExtensionGround,
  projectTrust: ExtensionGround["run"]["projectTrust"],
): FoundExtensions {
  const { options } = run;
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

function toolsOf(host: ExtensionHost, enter: (label: string) => () => void): LoadedExtensions["tools"] {
  const concurrencyOf = (name: string) => TOOL_ROWS.get(name)?.concurrency;
  const around = { context: host.context, enter, concurrencyOf };
  return {
    names: () => [...host.generation.tools().keys()],
    tool(name) {
      const { generation } = host;
      const own = generation.tools().get(name);
      return own && agentTool(own.extension, own.definition, { ...around, use: generation.use });
    },
  };
}
