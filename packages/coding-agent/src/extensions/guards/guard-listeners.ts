import { createReplacements } from "../../lib/replace.ts";

/** An extension may take back what it listens to, not what we listen to: signals, errors that nobody caught, the end. */

export type ListenedProcess = Pick<
  NodeJS.Process,
  | "on"
  | "addListener"
  | "once"
  | "prependListener"
  | "prependOnceListener"
  | "off"
  | "removeListener"
  | "removeAllListeners"
  | "rawListeners"
  | "eventNames"
>;

type Listener = (...args: unknown[]) => void;

const ADDING = ["on", "addListener", "once", "prependListener", "prependOnceListener"] as const;
const REMOVING = ["off", "removeListener"] as const;

/** Gives back what ends it. */
export function guardListeners(host: ListenedProcess, ownerOf: (error: Error) => string | undefined): () => void {
  const { replace, undo } = createReplacements();
  const remove = host.removeListener.bind(host) as (event: string | symbol, listener: Listener) => void;
  /** Those that extensions have added. */
  const theirs = new WeakSet<Listener>();
  const isTheirs = (listener: Listener & { listener?: Listener }): boolean =>
    theirs.has(listener) || (listener.listener !== undefined && theirs.has(listener.listener));

  for (const name of ADDING) {
    replace(host, name, (original) => {
      const add = (event: string, listener: Listener): unknown => {
        if (typeof listener === "function" && ownerOf(new Error(name)) !== undefined) theirs.add(listener);
        return Reflect.apply(original, host, [event, listener]);
      };
      return add as typeof original;
    });
  }
  for (const name of REMOVING) {
    replace(host, name, (original) => {
      const removeOne = (event: string, listener: Listener & { listener?: Listener }): unknown => {
        // Who listens only once is wrapped, and unwrapped by Node itself.
        const isOurs = typeof listener === "function" && !listener.listener && !theirs.has(listener);
        if (isOurs && ownerOf(new Error(name)) !== undefined) return host;
        return Reflect.apply(original, host, [event, listener]);
      };
      return removeOne as typeof original;
    });
  }
  replace(host, "removeAllListeners", () => {
    const removeAll = (event?: string | symbol): unknown => {
      for (const name of event === undefined ? host.eventNames() : [event]) {
        const listeners = host.rawListeners(name as "exit") as (Listener & { listener?: Listener })[];
        for (const listener of listeners.filter(isTheirs)) remove(name, listener.listener ?? listener);
      }
      return host;
    };
    return removeAll as typeof host.removeAllListeners;
  });
  return undo;
}
