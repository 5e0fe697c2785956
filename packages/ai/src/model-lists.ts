import type { Model } from "@tiller/protocol/model";

/** Which models each provider has: those of the lists, those somebody named, and those a server told us of. */
export interface ModelLists {
  of(provider: string): readonly Model[];
  /** From now on it is one of its provider's models. */
  adopt(model: Model): void;
  /** What a server says it has now; replaces what it said before. */
  learn(provider: string, models: readonly Model[]): void;
  /** All that is known of a model that no list has; counts before what was assumed. */
  describe(model: Model): void;
  /** Its figures are a guess: neither a list nor its server has told them. */
  isAssumed(model: Model): boolean;
  /** Somebody named it, but its server does not have it. */
  isUnknownToServer(model: Model): boolean;
}

/** `listed` is asked once for each provider. */
export function createModelLists(listed: (provider: string) => readonly Model[]): ModelLists {
  const joined = new Map<string, readonly Model[]>();
  const listedById = new Map<string, ReadonlyMap<string, Model>>();
  /** By name. */
  const adopted = new Map<string, Model>();
  const told = new Map<string, ReadonlyMap<string, Model>>();
  const described = new Map<string, Model>();

  const listedOf = (provider: string): ReadonlyMap<string, Model> => {
    const models = listedById.get(provider) ?? new Map(listed(provider).map((model) => [model.id, model]));
    listedById.set(provider, models);
    return models;
  };
  const join = (provider: string): readonly Model[] => {
    const models = new Map(listedOf(provider));
    const own = [...adopted.values()].filter((model) => model.provider === provider);
    for (const model of [...(told.get(provider)?.values() ?? []), ...own]) {
      if (!models.has(model.id)) models.set(model.id, described.get(nameOf(model)) ?? model);
    }
    return [...models.values()];
  };
  const isListed = ({ provider, id }: Model): boolean => listedOf(provider).has(id);

  return {
    of(provider) {
      const models = joined.get(provider) ?? join(provider);
      joined.set(provider, models);
      return models;
    },
    adopt(model) {
      if (adopted.has(nameOf(model))) return;
      adopted.set(nameOf(model), model);
      joined.delete(model.provider);
    },
    learn(provider, models) {
      told.set(provider, modelsById(models));
      joined.delete(provider);
    },
    describe(model) {
      described.set(nameOf(model), model);
      joined.delete(model.provider);
    },
    isAssumed: (model) => !described.has(nameOf(model)) && !isListed(model),
    isUnknownToServer(model) {
      const has = told.get(model.provider);
      return has !== undefined && has.size > 0 && !has.has(model.id) && !isListed(model);
    },
  };
}

/** There may be thousands. Of two with the same id the first one counts. */
export function modelsById(models: readonly Model[]): ReadonlyMap<string, Model> {
  const index = new Map<string, Model>();
  for (const model of models) if (!index.has(model.id)) index.set(model.id, model);
  return index;
}

export function nameOf({ provider, id }: Pick<Model, "provider" | "id">): string {
  return `${provider}/${id}`;
}
