import { createProviders, type Providers } from "@tiller/ai/registered-providers";
import type { CompatHost } from "./compat/host.ts";
import { contextForExtension } from "./compat/model-context.ts";
import type { ExtensionGround } from "./extension-ground.ts";
import { isRecord } from "./extensions/answers.ts";
import type { ExtensionError } from "./extensions/extension.ts";
import type { Generation } from "./extensions/generation.ts";
import { errorText } from "./extensions/guards/rejections.ts";
import { copied } from "./lib/copies.ts";
import type { ModelControl } from "./session/model-control.ts";
import { type AnswerStream, createModelRegistry, type ModelRegistryOptions } from "./session-model-registry.ts";
import { createVirtualModels, type VirtualModels } from "./virtual-models.ts";

/** The models as extensions have to do with them: they may bring some, and see all. */
export interface ExtensionModels {
  readonly providers: Providers;
  readonly virtualModels: Pick<VirtualModels, "register">;
  /** The extensions that have brought some are gone. */
  clear(): void;
  /** Those that were registered while the extensions were being loaded. */
  apply(registered: Generation["providers"]): void;
  /** The models that are chosen from, once there are any. */
  use(models: ModelControl): void;
  /** `ctx.modelRegistry` */
  registry(): object;
}

export function createExtensionModels(
  { models: found, env }: ExtensionGround,
  compat: CompatHost,
  report: (error: ExtensionError) => void,
): ExtensionModels {
  let control: ModelControl | undefined;
  let registry: object | undefined;
  const registered = createProviders({
    registry: found.registry,
    env,
    contextFor: contextForExtension,
    onChange: () => control?.renew(),
  });
  // Models are frozen for whoever sees them: those that an extension has written down stay its own.
  const providers: Providers = {
    ...registered,
    register: (name, config) =>
      registered.register(name, isRecord(config) ? { ...config, models: copied(config.models) } : config),
  };
  const ask: ModelRegistryOptions["ask"] = (model, context, options) =>
    lateAnswer(async () => {
      const { askModel } = await import("./compat/ask-model.ts");
      return askModel(compat, compat.stream, model, context as never, options as never);
    });
  const virtualModels = createVirtualModels({ registry: found.registry, providers, ask });
  return {
    providers,
    virtualModels,
    clear() {
      virtualModels.forget();
      providers.clear();
    },
    apply(registered) {
      for (const { extensionPath, name, config, virtual } of registered.splice(0)) {
        try {
          if (virtual) virtualModels.register(virtual);
          else if (config === undefined) providers.unregister(name);
          else providers.register(name, config);
        } catch (error) {
          const event = virtual ? "registerVirtualModel" : "registerProvider";
          report({ extensionPath, event, error: errorText(error) });
        }
      }
    },
    use(models) {
      control = models;
    },
    registry() {
      if (!control) throw new Error("There are no models yet");
      registry ??= createModelRegistry({ found, models: control, providers, ask });
      return registry;
    },
  };
}

/** An answer that is begun at once, though who asks has to be loaded first. */
function lateAnswer(open: () => Promise<AnswerStream>): AnswerStream {
  const opened = open();
  return {
    async *[Symbol.asyncIterator]() {
      yield* await opened;
    },
    result: async () => (await opened).result(),
  };
}
