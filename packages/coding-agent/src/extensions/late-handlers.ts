import type { HookName } from "../session/ports.ts";
import type { Handler } from "./extension.ts";

/**
 * Handlers that were given up and are still at work. Whoever only tells them something does not wait for them once more:
 * an answer of a thousand pieces would take a thousand times their limit.
 */
export interface LateHandlers {
  isLate(hook: HookName, handler: Handler): boolean;
  /** Until `work` is over, however it ends. */
  add(hook: HookName, handler: Handler, work: unknown): void;
}

export function createLateHandlers(): LateHandlers {
  const late = new WeakMap<Handler, Set<HookName>>();
  return {
    isLate: (hook, handler) => late.get(handler)?.has(hook) === true,
    add(hook, handler, work) {
      const hooks = late.get(handler) ?? new Set();
      late.set(handler, hooks.add(hook));
      const over = (): void => void hooks.delete(hook);
      Promise.resolve(work).then(over, over);
    },
  };
}
