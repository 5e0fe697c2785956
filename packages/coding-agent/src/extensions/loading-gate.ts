import { HOOKS } from "./hooks.ts";
import type { Runner } from "./runner.ts";

/** While the extensions are being loaded nobody is there to be asked: whoever wants to waits for those that come. */
export interface LoadingGate {
  /** Asks as the one behind it does, but not during a load. */
  readonly runner: Runner;
  /** Closed from now on until that is done, however it ends. */
  closedDuring(load: () => Promise<void>): Promise<void>;
}

export function createLoadingGate(behind: Runner): LoadingGate {
  let loading: Promise<void> | undefined;
  return {
    runner: {
      listens: behind.listens,
      run(hook, event, signal) {
        if (!loading) return behind.run(hook, event, signal);
        const waited = signal ? Promise.race([loading, abortOf(signal)]) : loading;
        // Who does not wait any longer hears nothing: those who could still answer are on their way out.
        return waited.then(() => (loading ? HOOKS[hook].nothing(event) : behind.run(hook, event, signal)));
      },
    },
    async closedDuring(load) {
      let open = (): void => undefined;
      loading = new Promise((resolve) => {
        open = resolve;
      });
      try {
        await load();
      } finally {
        loading = undefined;
        open();
      }
    },
  };
}

function abortOf(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
