import { createModelRegistry, type ModelRegistry, type RegistryOptions } from "@tiller/ai/models";
import {
  initialModel,
  type ModelChoice,
  resolveModelOption,
  resolveScope,
  wantedThinkingLevel,
} from "@tiller/ai/resolve-model";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { CliOptions } from "./cli-options.ts";
import { readModelsFiles } from "./config/models-file.ts";
import { type Env, resolvePath } from "./config/paths.ts";
import type { Settings } from "./config/settings.ts";

export interface SessionModels {
  registry: ModelRegistry;
  /** Null when nothing usable was found; the session starts all the same and `unusable` says why. */
  model: Model | null;
  /** What was asked for; the model may allow less. */
  thinkingLevel: ThinkingLevel;
  /** The models that cycle_model goes through, when the user named some. */
  scope: readonly Model[];
  /** Why a model cannot be asked now, or undefined when it can. */
  unusable(model: Model | null): string | undefined;
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
}

/** Finds the models of this machine and the one to start with. */
export function openModels({ options, settings, agentDir, cwd, env }: ModelInputs): SessionModels {
  const files = readModelsFiles(agentDir);
  const inputs: RegistryOptions = {
    custom: files.models,
    auth: files.auth,
    env,
    offline: settings.get("offlineModel.enabled"),
    script: options.script === undefined ? undefined : { path: resolvePath(options.script, cwd, env) },
  };
  const registry = withRuntimeKey(createModelRegistry(inputs), inputs, options);
  const option = modelOption(options, registry);
  const { scoped, warnings } = resolveScope(settings.get("enabledModels"), registry.available());
  const chosen = option?.ok === false ? undefined : initialChoice(option, scoped, settings, registry);
  const level = option?.ok ? option.thinkingLevel : scoped.find(({ model }) => model === chosen)?.thinkingLevel;
  const problem = option?.ok === false ? option.error : undefined;
  const howTo = configureText(agentDir);

  return {
    registry,
    model: chosen ?? null,
    thinkingLevel: wantedThinkingLevel(options.thinking, level, settings.get("defaultThinkingLevel")),
    scope: scoped.map(({ model }) => model),
    unusable: (model) => unusable(model, registry, `${problem ?? "No model selected."} ${howTo}`),
    problems: [
      ...files.problems,
      ...registry.problems,
      ...warnings,
      ...(option?.ok && option.warning ? [option.warning] : []),
      ...(problem ? [problem] : []),
    ],
    notices: chosen?.provider === "offline" && !option ? [`${OFFLINE_NOTICE} ${howTo}`] : [],
  };
}

const OFFLINE_NOTICE =
  "No model is configured, so the built-in offline model answers: it follows rules and is not a language model.";

function configureText(agentDir: string): string {
  return `To use a real model set ANTHROPIC_API_KEY or describe your server in ${agentDir}/models.json, then choose it with --model or set_model.`;
}

/** `--script` is a choice of model too. */
function modelOption(options: CliOptions, registry: ModelRegistry): ModelChoice | undefined {
  const named = resolveModelOption({ provider: options.provider, model: options.model }, registry.all());
  const script = options.script === undefined ? undefined : registry.find("script", "script");
  return named ?? (script && { ok: true, model: script });
}

/** `--api-key` belongs to the provider of the model that the command line names. */
function withRuntimeKey(registry: ModelRegistry, inputs: RegistryOptions, options: CliOptions): ModelRegistry {
  if (options.apiKey === undefined) return registry;
  const option = modelOption(options, registry);
  const scoped = resolveScope(options.models ?? [], registry.all()).scoped[0];
  const provider = option?.ok ? option.model.provider : scoped?.model.provider;
  return provider === undefined
    ? registry
    : createModelRegistry({ ...inputs, runtimeKey: { provider, key: options.apiKey } });
}

function initialChoice(
  option: Extract<ModelChoice, { ok: true }> | undefined,
  scoped: ReturnType<typeof resolveScope>["scoped"],
  settings: Settings,
  registry: ModelRegistry,
): Model | undefined {
  return initialModel({
    option: option?.model,
    scoped,
    isNewSession: true,
    settings: { provider: settings.get("defaultProvider"), model: settings.get("defaultModel") },
    all: registry.all(),
    available: registry.available(),
  });
}

function unusable(model: Model | null, registry: ModelRegistry, whenNone: string): string | undefined {
  if (!model) return whenNone;
  try {
    registry.credentials(model);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
