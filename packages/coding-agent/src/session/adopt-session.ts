import type { Clock } from "@tiller/protocol/clock";
import type { ThinkingLevel } from "@tiller/protocol/model";
import type { ModelControl } from "./model-control.ts";
import { interruptedResult, interruption, recordedChoice } from "./restore.ts";
import type { SessionEvent } from "./session-event.ts";
import type { SessionStore } from "./store/session-store.ts";

export interface AdoptOptions {
  store: SessionStore;
  models: ModelControl;
  clock: Clock;
  emit(event: SessionEvent): unknown;
  /** The level is another one than before. */
  onThinkingLevel?(level: ThinkingLevel, previous: ThinkingLevel): void;
}

export interface Adoption {
  /** How it came into the store. */
  how: "new" | "resume" | "fork" | "tree";
  /** The command line has named a model, or a level: what the session says does not count. */
  keepsModel?: boolean;
  keepsLevel?: boolean;
}

/** Another conversation is in the store: goes on as it was left. True when its last run was cut off by a crash. */
export function adoptSession({ how, keepsModel, keepsLevel }: Adoption, options: AdoptOptions): boolean {
  const { store, models, clock, emit } = options;
  const before = models.thinkingLevel;
  const recorded = how === "new" ? {} : recordedChoice(store.log, store.path());
  const wanted = {
    model: keepsModel ? undefined : recorded.model,
    thinkingLevel: keepsLevel ? undefined : recorded.thinkingLevel,
  };
  if (!models.restore(wanted) && wanted.model) emit(lostModel(wanted.model, models));
  const { thinkingLevel } = models;
  if (thinkingLevel !== before) {
    emit({ type: "thinking_level_changed", level: thinkingLevel });
    options.onThinkingLevel?.(thinkingLevel, before);
  }
  // Who only looks at a session leaves its file as it is.
  if (how !== "resume") recordChoice(store, models);
  if (how !== "resume" || store.isInUse) return false;
  const cut = interruption(store.log, store.path());
  for (const call of cut?.openCalls ?? []) store.appendMessage(interruptedResult(call, clock.now()));
  return cut !== undefined;
}

/** What holds from here on becomes part of the conversation, unless it already is. */
export function recordChoice(store: SessionStore, { model, thinkingLevel }: ModelControl): void {
  const recorded = recordedChoice(store.log, store.path());
  const isSilent = recorded.thinkingLevel === undefined && store.log.length > 0;
  const isOther = model && (recorded.model?.provider !== model.provider || recorded.model.id !== model.id);
  if (isOther) store.appendModelChange(model);
  if (!isSilent && recorded.thinkingLevel !== thinkingLevel) store.appendThinkingLevel(thinkingLevel);
}

function lostModel({ provider, id }: { provider: string; id: string }, { model }: ModelControl): SessionEvent {
  const now = model ? `${model.provider}/${model.id} goes on` : "no model is selected";
  const message = `${provider}/${id}, which this session was using, cannot be used here; ${now}`;
  return { type: "notice", level: "warning", source: "session", message };
}
