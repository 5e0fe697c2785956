import type { ModelRegistry } from "@tiller/ai/models";
import type { Providers } from "@tiller/ai/registered-providers";
import type { Model } from "@tiller/protocol/model";
import { namedModel, type VirtualModel } from "./extensions/virtual-model.ts";
import type { AnswerStream } from "./session-model-registry.ts";

export interface VirtualModelsParts {
  registry: Pick<ModelRegistry, "find">;
  providers: Pick<Providers, "register">;
  ask(model: Model, context: unknown, options: unknown): AnswerStream;
}

/** Models that stand for others: a provider of our own for each name that they are under, which asks the other model. */
export interface VirtualModels {
  register(model: VirtualModel): void;
  /** Their provider is gone. */
  forget(): void;
}

export function createVirtualModels({ registry, providers, ask }: VirtualModelsParts): VirtualModels {
  const known = new Map<string, Map<string, VirtualModel>>();

  const found = async ({ provider, id, target }: VirtualModel): Promise<Model> => {
    const wanted = namedModel(await target());
    const model = wanted && registry.find(wanted.provider, wanted.id);
    if (model) return model;
    const name = wanted ? `${wanted.provider}/${wanted.id}, which is not there` : "no model";
    throw new Error(`The virtual model ${provider}/${id} stands for ${name}`);
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
      const models = known.get(model.provider) ?? new Map<string, VirtualModel>();
      models.set(model.id, model);
      known.set(model.provider, models);
      const config = { api: API, models: [...models.values()].map(described), streamSimple: stream };
      providers.register(model.provider, config);
    },
    forget: () => known.clear(),
  };
}

const API = "virtual-model";

/** A function that only knows later which model it is says nothing now. */
function withoutThrowing(ask: () => unknown): unknown {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
