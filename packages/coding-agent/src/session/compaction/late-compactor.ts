import type { Compactor, ManualOutcome } from "./compactor.ts";

/**
 * A compactor that is loaded when it is needed. Whoever asks for a compaction has his place in line at once: a prompt
 * that comes right behind waits for it, although nothing is loaded yet.
 */
export function lateCompactor(load: () => Promise<Compactor>, loaded: () => Compactor | undefined): Compactor {
  const asked = new Set<Promise<ManualOutcome>>();
  /** A run loads it before it begins. */
  const present = (): Compactor => {
    const compactor = loaded();
    if (!compactor) throw new Error("A run without its compactor");
    return compactor;
  };
  return {
    get isCompacting() {
      return asked.size > 0 || loaded()?.isCompacting === true;
    },
    manual(focus, after) {
      const outcome = load()
        .then((compactor) => compactor.manual(focus, after))
        .finally(() => asked.delete(outcome));
      asked.add(outcome);
      return outcome;
    },
    async abort() {
      // Behind those that were asked for before: they are then there to be ended.
      if (asked.size > 0) await load();
      await loaded()?.abort();
    },
    async settled() {
      while (asked.size > 0) await Promise.allSettled(asked);
      await loaded()?.settled();
    },
    reset: () => loaded()?.reset(),
    get isOn() {
      return present().isOn;
    },
    isDue: () => present().isDue(),
    get autoContinue() {
      return present().autoContinue;
    },
    automatic: (...task) => present().automatic(...task),
    tellSecondOverflow: (place) => present().tellSecondOverflow(place),
  };
}
