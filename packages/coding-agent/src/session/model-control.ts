import { clampLevel, isThinkingLevel, levelsFor } from "@tiller/ai/thinking-levels";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";

/** Which models can be used, from the catalogue, the user's files and the environment. */
export interface ModelSource {
  /** Those that can be asked now, in the order of the catalogue; `current` is the one in use. */
  available(current?: Model): readonly Model[];
  find(provider: string, id: string): Model | undefined;
  /** A model that no list has, where any name may be given; from then on it is one of the others. */
  named(provider: string, id: string): Model | undefined;
  /** Learns which models the servers on this machine have, if the provider is one of them. Undefined: nothing to wait for. */
  refresh(provider?: string): undefined | Promise<void>;
  /** What is still to be learned of a model before it is asked: its figures, or which one was meant. Never rejects. */
  describe(model: Model): undefined | Promise<Model | undefined>;
}

/** Owns the current model and thinking level. */
export interface ModelControl {
  readonly model: Model | null;
  readonly thinkingLevel: ThinkingLevel;
  available(): readonly Model[];
  /** Before `available`: learns what servers on this machine have. Undefined when there is nothing to wait for. */
  refresh(): undefined | Promise<void>;
  /** Before the model is asked: learns what it can do. Undefined when there is nothing to wait for. */
  prepare(): undefined | Promise<void>;
  levels(): readonly ThinkingLevel[];
  /** Undefined when there is no such model with credentials. A promise when its server has to be asked for it. */
  set(provider: string, id: string): Model | undefined | Promise<Model | undefined>;
  /** Null when there is nothing to switch to. */
  cycle(): { model: Model; thinkingLevel: ThinkingLevel; isScoped: boolean } | null;
  /** What a session that was opened says; nothing is told or written. False when its model cannot be used: it stays as it was. */
  restore(choice: { model?: { provider: string; id: string }; thinkingLevel?: string }): boolean;
  setThinkingLevel(level: ThinkingLevel): void;
  /** Null when the model cannot think. */
  cycleThinkingLevel(): ThinkingLevel | null;
  /** The lists have changed: the current model is what they say of it now. One they no longer have stays as it was. */
  renew(): void;
  /** Begins anew with another choice, before anybody was told of the first one; nothing is told or written. */
  begin(choice: ModelBeginning): void;
}

export interface ModelBeginning {
  model: Model | null;
  thinkingLevel: ThinkingLevel;
  scope: readonly Model[];
}

/** How the current model came to be another one. */
export interface ModelChange {
  previous: Model | null;
  source: "set" | "cycle" | "restore";
}

export interface ModelControlOptions {
  source: ModelSource;
  initial: { model: Model | null; thinkingLevel: ThinkingLevel };
  /** The models that `cycle` goes through when the user named some. */
  scope: readonly Model[];
  /** Somebody chose it; it may be the one that was in use. */
  onModel(model: Model, change: ModelChange): void;
  onThinkingLevel(level: ThinkingLevel, previous: ThinkingLevel): void;
  /** A session that was opened has brought another model along. */
  onRestored?(model: Model, change: ModelChange): void;
}

export function createModelControl({
  source,
  initial,
  scope: initialScope,
  onModel,
  onThinkingLevel,
  onRestored,
}: ModelControlOptions): ModelControl {
  let scope = initialScope;
  let model = initial.model;
  /** What was asked for; the model may allow less, and another one later more. */
  let wanted = initial.thinkingLevel;
  let level = clamped(model, wanted);

  const available = (): readonly Model[] => source.available(model ?? undefined);
  const useLevel = (next: ThinkingLevel): void => {
    if (next === level) return;
    const previous = level;
    level = next;
    onThinkingLevel(level, previous);
  };
  const use = (given: Model, by: ModelChange["source"]): Model => {
    const next = current(given);
    onModel(next, { previous: model, source: by });
    return take(next);
  };
  const current = (given: Model): Model => source.find(given.provider, given.id) ?? given;
  const take = (next: Model): Model => {
    model = next;
    useLevel(clamped(next, wanted));
    return next;
  };
  const findAvailable = (provider: string, id: string): Model | undefined =>
    available().find((candidate) => isSame(candidate, { provider, id }));
  /** Servers on this machine have not been asked yet: then the name alone has to do. */
  const findUsable = (provider: string, id: string): Model | undefined =>
    findAvailable(provider, id) ?? source.named(provider, id);

  return {
    get model() {
      return model;
    },
    get thinkingLevel() {
      return level;
    },
    available,
    refresh: () => source.refresh(),
    prepare() {
      const asked = model;
      const learned = asked && source.describe(asked);
      return learned?.then((found) => {
        // Meanwhile somebody may have chosen another one.
        if (!found || model !== asked) return;
        if (isSame(found, asked)) take(found);
        else use(found, "set");
      });
    },
    levels: () => (model ? levelsFor(model) : ["off"]),
    set(provider, id) {
      const found = findAvailable(provider, id);
      if (found) return use(found, "set");
      const useNamed = (): Model | undefined => {
        const named = findUsable(provider, id);
        return named && use(named, "set");
      };
      const learned = source.refresh(provider);
      return learned ? learned.then(useNamed) : useNamed();
    },
    cycle() {
      const isScoped = scope.length > 0;
      const candidates = isScoped ? scope : available();
      if (candidates.length <= 1) return null;
      const at = candidates.findIndex((candidate) => isSame(candidate, model));
      const next = use(candidates[(Math.max(at, 0) + 1) % candidates.length]!, "cycle");
      return { model: next, thinkingLevel: level, isScoped };
    },
    restore({ model: recorded, thinkingLevel }) {
      const isOther = recorded !== undefined && !isSame(recorded, model);
      const found = isOther ? findUsable(recorded.provider, recorded.id) : undefined;
      const previous = model;
      if (found) model = current(found);
      if (thinkingLevel !== undefined && isThinkingLevel(thinkingLevel)) wanted = thinkingLevel;
      level = clamped(model, wanted);
      if (found && model) onRestored?.(model, { previous, source: "restore" });
      return !isOther || found !== undefined;
    },
    setThinkingLevel(next) {
      wanted = next;
      useLevel(clamped(model, next));
    },
    cycleThinkingLevel() {
      if (!model?.reasoning) return null;
      const levels = levelsFor(model);
      wanted = levels[(levels.indexOf(level) + 1) % levels.length]!;
      useLevel(wanted);
      return level;
    },
    renew() {
      const next = model && current(model);
      if (next && next !== model) take(next);
    },
    begin(choice) {
      ({ model, scope } = choice);
      wanted = choice.thinkingLevel;
      level = clamped(model, wanted);
    },
  };
}

function isSame(one: Pick<Model, "provider" | "id">, other: Pick<Model, "provider" | "id"> | null): boolean {
  return one.provider === other?.provider && one.id === other.id;
}

function clamped(model: Model | null, level: ThinkingLevel): ThinkingLevel {
  return model ? clampLevel(model, level) : "off";
}
