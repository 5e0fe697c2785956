import { clampLevel, levelsFor } from "@tiller/ai/thinking-levels";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";

/** Which models can be used, from the catalogue, the user's files and the environment. */
export interface ModelSource {
  /** Those that can be asked now, in the order of the catalogue; `current` is the one in use. */
  available(current?: Model): readonly Model[];
}

/** Owns the current model and thinking level. */
export interface ModelControl {
  readonly model: Model | null;
  readonly thinkingLevel: ThinkingLevel;
  available(): readonly Model[];
  levels(): readonly ThinkingLevel[];
  /** Undefined when there is no such model with credentials. */
  set(provider: string, id: string): Model | undefined;
  /** Null when there is nothing to switch to. */
  cycle(): { model: Model; thinkingLevel: ThinkingLevel; isScoped: boolean } | null;
  setThinkingLevel(level: ThinkingLevel): void;
  /** Null when the model cannot think. */
  cycleThinkingLevel(): ThinkingLevel | null;
}

export interface ModelControlOptions {
  source: ModelSource;
  initial: { model: Model | null; thinkingLevel: ThinkingLevel };
  /** The models that `cycle` goes through when the user named some. */
  scope: readonly Model[];
  onModel(model: Model): void;
  onThinkingLevel(level: ThinkingLevel): void;
}

export function createModelControl({
  source,
  initial,
  scope,
  onModel,
  onThinkingLevel,
}: ModelControlOptions): ModelControl {
  let model = initial.model;
  /** What was asked for; the model may allow less, and another one later more. */
  let wanted = initial.thinkingLevel;
  let level = clamped(model, wanted);

  const available = (): readonly Model[] => source.available(model ?? undefined);
  const useLevel = (next: ThinkingLevel): void => {
    if (next === level) return;
    level = next;
    onThinkingLevel(level);
  };
  const use = (next: Model): Model => {
    model = next;
    onModel(next);
    useLevel(clamped(next, wanted));
    return next;
  };

  return {
    get model() {
      return model;
    },
    get thinkingLevel() {
      return level;
    },
    available,
    levels: () => (model ? levelsFor(model) : ["off"]),
    set(provider, id) {
      const found = available().find((candidate) => candidate.provider === provider && candidate.id === id);
      return found && use(found);
    },
    cycle() {
      const isScoped = scope.length > 0;
      const candidates = isScoped ? scope : available();
      if (candidates.length <= 1) return null;
      const at = candidates.findIndex(
        (candidate) => candidate.provider === model?.provider && candidate.id === model.id,
      );
      const next = use(candidates[(Math.max(at, 0) + 1) % candidates.length]!);
      return { model: next, thinkingLevel: level, isScoped };
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
  };
}

function clamped(model: Model | null, level: ThinkingLevel): ThinkingLevel {
  return model ? clampLevel(model, level) : "off";
}
