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

export function createModelLists(listed: (provider: string) => readonly Model[]): ModelLists {
  const joined = new Map<string, readonly Model[]>();
  const adopted: Model[] = [];
  const told = new Map<string, readonly Model[]>();
  const described = new Map<string, Model>();

  const join = (provider: string): readonly Model[] => {
    const models = new Map(listed(provider).map((model) => [model.id, model]));
    const others = [...(told.get(provider) ?? []), ...adopted.filter((model) => model.provider === provider)];
    for (const model of others) {
      if (!models.has(model.id)) models.set(model.id, described.get(nameOf(model)) ?? model);
    }
    return [...models.values()];
  };
  const isListed = ({ provider, id }: Model): boolean => listed(provider).some((model) => model.id === id);

  return {
    of(provider) {
      const models = joined.get(provider) ?? join(provider);
      joined.set(provider, models);
      return models;
    },
    adopt(model) {
      if (adopted.some((other) => nameOf(other) === nameOf(model))) return;
      adopted.push(model);
      joined.delete(model.provider);
    },
    learn(provider, models) {
      told.set(provider, models);
      joined.delete(provider);
    },
    describe(model) {
      described.set(nameOf(model), model);
      joined.delete(model.provider);
    },
    isAssumed: (model) => !described.has(nameOf(model)) && !isListed(model),
    isUnknownToServer(model) {
      const has = told.get(model.provider) ?? [];
      return has.length > 0 && !has.some(({ id }) => id === model.id) && !isListed(model);
    },
  };
}

export function nameOf({ provider, id }: Pick<Model, "provider" | "id">): string {
  return `${provider}/${id}`;
}
