import { createProviders, type Providers } from "@tiller/ai/registered-providers";
import { isWholeProvider } from "@tiller/ai/whole-provider";
import type { CompatHost } from "./compat/host.ts";
import { contextForExtension } from "./compat/model-context.ts";
import type { ExtensionGround } from "./extension-ground.ts";
import { isRecord } from "./extensions/answers.ts";
import type { ExtensionError } from "./extensions/extension.ts";
import type { Generation } from "./extensions/generation.ts";
import { errorText } from "./extensions/guards/rejections.ts";
import { sleep } from "./lib/clock.ts";
import { copied } from "./lib/copies.ts";
import type { ModelControl } from "./session/model-control.ts";
import { type AnswerStream, createModelRegistry, type ModelRegistryOptions } from "./session-model-registry.ts";
import type { SessionModels } from "./session-models.ts";
import { createVirtualModels, type VirtualModels } from "./virtual-models.ts";

/** How long the start waits for a provider of which no model is known. */
const PATIENCE_MS = 3000;

/** The models as extensions have to do with them: they may bring some, and see all. */
export interface ExtensionModels {
  readonly providers: Providers;
  readonly virtualModels: Pick<VirtualModels, "register">;
  /** All models, also of providers that have to be asked which they have. */
  readonly source: SessionModels["source"];
  /** Those are known without which nothing is, or nobody waits for them any longer. */
  known(): Promise<void>;
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
  { models: found, env, clock }: ExtensionGround,
  compat: CompatHost,
  report: (error: ExtensionError) => void,
): ExtensionModels {
  let control: ModelControl | undefined;
  let registry: object | undefined;
  const registered = createProviders({
    registry: found.registry,
    env,
    clock,
    contextFor: contextForExtension,
    onChange() {
      control?.renew();
      if (!registered.isWaiting) allKnown();
    },
    onProblem: (name, error) =>
      report({ extensionPath: owners.get(name) ?? "<runtime>", event: "refreshModels", error: errorText(error) }),
  });
  /** Those who find out which models they have. */
  let looking: Promise<unknown> = Promise.resolve();
  let allKnown = (): void => undefined;
  /** Who has registered what. */
  const owners = new Map<string, string>();
  // Models are frozen for whoever sees them: those that an extension has written down stay its own.
  const providers: Providers = {
    ...registered,
    get isWaiting() {
      return registered.isWaiting;
    },
    register(name, config) {
      const isPlain = isRecord(config) && !isWholeProvider(config);
      registered.register(name, isPlain ? { ...config, models: copied(config.models) } : config);
      looking = Promise.all([looking, registered.refresh()]);
    },
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
    source: {
      ...found.source,
      refresh(provider) {
        const asked = [found.source.refresh(provider), provider === undefined ? providers.refresh() : undefined];
        return asked.some((answer) => answer) ? Promise.all(asked).then(() => undefined) : undefined;
      },
    },
    async known() {
      if (!providers.isWaiting) return;
      const over = new AbortController();
      const told = new Promise<void>((resolve) => {
        allKnown = resolve;
      });
      await Promise.race([looking, told, sleep(clock, PATIENCE_MS, over.signal)]);
      over.abort();
    },
    clear() {
      owners.clear();
      virtualModels.forget();
      providers.clear();
    },
    apply(registered) {
      for (const { extensionPath, name, config, virtual } of registered.splice(0)) {
        try {
          if (virtual) virtualModels.register(virtual);
          else if (config === undefined) providers.unregister(name);
          else {
            owners.set(name, extensionPath);
            providers.register(name, config);
          }
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
