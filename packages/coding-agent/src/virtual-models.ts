import type { ModelRegistry } from "@tiller/ai/model-registry";
import type { Providers } from "@tiller/ai/registered-providers";
import type { Model } from "@tiller/protocol/model";
import { namedModel, type VirtualModel } from "./extensions/virtual-model.ts";
import type { AnswerStream } from "./session-model-registry.ts";

export interface VirtualModelsParts {
  registry: Pick<ModelRegistry, "find" | "modelsOf">;
  providers: Pick<Providers, "register">;
  ask(model: Model, context: unknown, options: unknown): AnswerStream;
}

/** Models that stand for others: a provider of our own for each name that they are under, which asks the other model. */
export interface VirtualModels {
  /** Throws an Error with a sentence for people when it cannot be. */
  register(model: VirtualModel): void;
  /** Their provider is gone. */
  forget(): void;
}

export function createVirtualModels({ registry, providers, ask }: VirtualModelsParts): VirtualModels {
  const known = new Map<string, Map<string, VirtualModel>>();

  /** `way`: the virtual models that have led here. */
  const found = async (virtual: VirtualModel, way: readonly VirtualModel[] = []): Promise<Model> => {
    const name = `The virtual model ${virtual.provider}/${virtual.id} stands for`;
    const wanted = namedModel(await virtual.target());
    if (!wanted) throw new Error(`${name} no model`);
    const model = registry.find(wanted.provider, wanted.id);
    if (!model) throw new Error(`${name} ${wanted.provider}/${wanted.id}, which is not there`);
    const next = known.get(model.provider)?.get(model.id);
    if (!next) return model;
    const passed = [...way, virtual];
    // Whoever asked it would ask for ever.
    if (passed.includes(next)) throw new Error(`${name} ${model.provider}/${model.id}, which stands for it`);
    return found(next, passed);
  };
  const stream = async (asked: Model, context: unknown, options: unknown): Promise<AnswerStream> => {
    const virtual = known.get(asked.provider)?.get(asked.id);
    if (!virtual) throw new Error(`There is no virtual model ${asked.provider}/${asked.id} any more`);
    const model = await found(virtual);
    // Keys and headers are those of the model that it stands for.
    const { apiKey: _, headers: __, ...rest } = (options ?? {}) as Record<string, unknown>;
    return ask(model, context, rest);
  };
  /** What is known of a model without asking anybody. */
  const described = ({ id, name, target, fields }: VirtualModel): object => {
    const said = namedModel(withoutThrowing(target));
    const like = said && registry.find(said.provider, said.id);
    const { reasoning = false, input = ["text"], contextWindow = 128_000, maxTokens = 16_384 } = like ?? {};
    const cost = like?.cost ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    return { reasoning, input, contextWindow, maxTokens, cost, ...fields, id, name };
  };

  return {
    register(model) {
      const { provider, id } = model;
      if (!known.has(provider) && registry.modelsOf(provider).length > 0) {
        throw new Error(`"${provider}" has models of its own, which would be gone: give "${id}" another provider`);
      }
      const models = new Map(known.get(provider)).set(id, model);
      const config = { api: API, models: [...models.values()].map(described), streamSimple: stream };
      providers.register(provider, config);
      // Not before: one that is refused must not stand in the way of the others.
      known.set(provider, models);
    },
    forget: () => known.clear(),
  };
}

const API = "virtual-model";

/** A function that only knows later which model it is says nothing now, and what goes wrong is told when it is asked. */
function withoutThrowing(ask: () => unknown): unknown {
  try {
    const said = ask();
    if (said instanceof Promise) said.catch(() => undefined);
    return said;
  } catch {
    return undefined;
  }
}
