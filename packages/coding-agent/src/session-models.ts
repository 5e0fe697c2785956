import type { ModelRegistry, RegistryOptions } from "@tiller/ai/model-registry";
import { createModelRegistry } from "@tiller/ai/models";
import {
  initialModel,
  type ModelChoice,
  resolveModelOption,
  resolveScope,
  type ScopedModel,
  savedDefault,
  wantedThinkingLevel,
} from "@tiller/ai/resolve-model";
import type { RunCommand } from "@tiller/ai/secret-commands";
import { isThinkingLevel } from "@tiller/ai/thinking-levels";
import type { Clock } from "@tiller/protocol/clock";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { CliOptions } from "./cli-options.ts";
import { readModelsFiles } from "./config/models-file.ts";
import { type Env, resolvePath } from "./config/paths.ts";
import type { Settings } from "./config/settings.ts";
import { createLocalModels, type LocalModels } from "./local-models.ts";

export interface SessionModels extends StartChoice {
  registry: ModelRegistry;
  /** The registry with the servers on this machine. */
  source: ModelRegistry & LocalModels;
  /** Why a model cannot be asked now, or undefined when it can. */
  unusable(model: Model | null): string | undefined;
  /** Chooses again, with the providers that have been registered meanwhile. What the first choice says no longer counts. */
  choose(): StartChoice;
}

/** What to start with. */
export interface StartChoice {
  /** Null when nothing usable was found; the session starts all the same and `unusable` says why. */
  model: Model | null;
  /** Why this one, for people. */
  reason: string;
  /** What was asked for; the model may allow less. */
  thinkingLevel: ThinkingLevel;
  /** The models that cycle_model goes through, when the user named some. */
  scope: readonly Model[];
  /** For stderr, one sentence each. */
  problems: string[];
  /** What the host shall know before its first prompt. */
  notices: string[];
}

export interface ModelInputs {
  options: CliOptions;
  settings: Settings;
  agentDir: string;
  cwd: string;
  env: Env;
  clock: Clock;
}

/** Finds the models of this machine and the one to start with. Waits only for a file in YAML. */
export async function openModels(inputs: ModelInputs): Promise<SessionModels> {
  const { options, agentDir, env, clock } = inputs;
  const files = await readModelsFiles(agentDir);
  const registry = openRegistry(inputs, { models: files.models, auth: files.auth });
  let problem: string | undefined;
  const choose = (): StartChoice => {
    const chosen = chooseStart(inputs, registry);
    problem = chosen.problem;
    return { ...chosen, problems: [...files.problems, ...registry.problems, ...chosen.problems] };
  };
  const local = createLocalModels({ registry, env, clock, isOffline: isAskingOff(options, env) });
  return {
    ...choose(),
    registry,
    source: { ...registry, ...local },
    unusable: (asked) =>
      asked ? registry.unusable(asked) : `${problem ?? "No model selected."} ${configureText(agentDir)}`,
    choose,
  };
}

/** By the command line, the settings and what there is. `problem` is why the command line cannot be followed. */
function chooseStart(
  { options, settings, agentDir }: ModelInputs,
  registry: ModelRegistry,
): StartChoice & { problem?: string } {
  giveRuntimeKey(registry, options);
  const option = modelOption(options, registry);
  const { scoped, warnings } = resolveScope(settings.get("enabledModels"), registry);
  const saved = savedModel(settings);
  const { model, reason } = option?.ok === false ? NO_MODEL : initialChoice(option, scoped, saved, registry);
  for (const used of [model, ...scoped.map((entry) => entry.model)]) if (used) registry.adopt(used);
  const level = option?.ok
    ? option.thinkingLevel
    : scoped.length > 0
      ? scoped.find((entry) => entry.model === model)?.thinkingLevel
      : savedDefault(saved, registry) && saved.level;
  const problem = option?.ok === false ? option.error : undefined;
  return {
    problem,
    model,
    reason,
    thinkingLevel: wantedThinkingLevel(options.thinking, level, settings.get("defaultThinkingLevel")),
    scope: scoped.map((entry) => entry.model),
    problems: [
      ...warnings,
      ...lostDefault(saved, registry),
      ...(option?.ok && option.warning ? [option.warning] : []),
      ...(problem ? [problem] : []),
    ],
    notices: model?.provider === "offline" && !option ? [`${OFFLINE_NOTICE} ${configureText(agentDir)}`] : [],
  };
}

/** Is no server to be asked unless a prompt goes to it? */
export function isAskingOff(options: CliOptions, env: Env): boolean {
  return options.offline === true || /^(1|true|yes|on)$/i.test(env.PI_OFFLINE ?? "");
}

function openRegistry(
  { options, settings, agentDir, cwd, env, clock }: ModelInputs,
  files: Pick<RegistryOptions, "models" | "auth">,
): ModelRegistry {
  const runCommand: RunCommand = async (command) => {
    const { createSecretCommands } = await import("./secret-command.ts");
    return createSecretCommands({ cwd: agentDir, env, clock })(command);
  };
  return createModelRegistry({
    ...files,
    env,
    now: clock.now,
    runCommand,
    offline: settings.get("offlineModel.enabled"),
    script: options.script === undefined ? undefined : { path: resolvePath(options.script, cwd, env) },
    async keepLogin(provider, login) {
      const { keepLogin } = await import("./config/auth-file.ts");
      keepLogin(agentDir, provider, login);
    },
    packagesFrom: agentDir,
  });
}

const OFFLINE_NOTICE =
  "No model is configured, so the built-in offline model answers: it follows rules and is not a language model.";

function configureText(agentDir: string): string {
  return `To use a real model set a key such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, name one of a server on this machine (--model ollama/NAME), or describe your server in ${agentDir}/models.json; \`tiller doctor\` tells what is missing.`;
}

/** `--script` is a choice of model too. */
function modelOption(options: CliOptions, registry: ModelRegistry): ModelChoice | undefined {
  const named = resolveModelOption({ provider: options.provider, model: options.model }, registry);
  const script = options.script === undefined ? undefined : registry.find("script", "script");
  return named ?? (script && { ok: true, model: script });
}

/** `--api-key` belongs to the provider of the model that the command line names. */
function giveRuntimeKey(registry: ModelRegistry, options: CliOptions): void {
  if (options.apiKey === undefined) return;
  const option = modelOption(options, registry);
  // Without the key they are not usable yet, and still they are meant.
  const everything = { ...registry, available: registry.all, hasCredentials: () => true };
  const scoped = resolveScope(options.models ?? [], everything).scoped[0];
  const provider = option?.ok ? option.model.provider : scoped?.model.provider;
  if (provider !== undefined) registry.setRuntimeKey(provider, options.apiKey);
}

const NO_MODEL = { model: null, reason: "what the command line asks for is not known" };

function initialChoice(
  option: Extract<ModelChoice, { ok: true }> | undefined,
  scoped: readonly ScopedModel[],
  settings: SavedDefault,
  registry: ModelRegistry,
): { model: Model | null; reason: string } {
  const inputs = { scoped, isNewSession: true, settings, source: registry };
  const model = initialModel({ ...inputs, option: option?.model }) ?? null;
  if (option) return { model, reason: "the command line asks for it" };
  if (scoped.length > 0) return { model, reason: "it is the first of --models or enabledModels" };
  if (savedDefault(settings, registry)) return { model, reason: "the settings name it" };
  if (model?.provider === "offline") return { model, reason: "nothing else is configured" };
  return { model, reason: model ? "it is the first one that has a key" : "nothing is configured" };
}

/** In the words of pi, or else as the role `default` of omp and xcsh. */
function savedModel(settings: Settings): SavedDefault & { level?: string } {
  const [provider, model] = [settings.get("defaultProvider"), settings.get("defaultModel")];
  const role = settings.get("modelRoles").default;
  if ((provider ?? model) !== undefined || typeof role !== "string") return { provider, model };
  const [, name = role, level] = /^(.+):(\w+)$/.exec(role) ?? [];
  if (level === undefined || !isThinkingLevel(level)) return splitName(role);
  return { ...splitName(name), level };
}

function splitName(name: string): SavedDefault {
  const slash = name.indexOf("/");
  return slash < 0 ? { model: name } : { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

interface SavedDefault {
  provider?: string;
  model?: string;
}

/** Settings that name a model nobody knows are not obeyed in silence. */
function lostDefault(settings: SavedDefault, registry: ModelRegistry): string[] {
  const { provider, model } = settings;
  if ((provider ?? model) === undefined || savedDefault(settings, registry)) return [];
  const name = [provider, model].filter((part) => part !== undefined).join("/");
  return [`The default model of the settings, ${name}, is not known; another one is used`];
}
