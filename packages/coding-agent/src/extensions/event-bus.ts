/** How extensions talk to each other. What one of them does wrong with a message stops nobody else from getting it. */

export type BusHandler = (data: unknown) => unknown;

/** What an extension has of it. */
export interface EventBus {
  emit(channel: string, data?: unknown): void;
  /** Returns the function that ends it. */
  on(channel: string, handler: BusHandler): () => void;
  once(channel: string, handler: BusHandler): () => void;
  off(channel: string, handler: BusHandler): void;
}

export interface EventBusHub {
  /** The bus as one extension sees it: what it registers is called in its name. */
  forExtension(extensionPath: string): EventBus;
  /** Forgets the handlers of one extension. */
  forget(extensionPath: string): void;
  /** Forgets all handlers. */
  clear(): void;
}

export interface BusFailure {
  extensionPath: string;
  channel: string;
  error: unknown;
}

interface Listener {
  extensionPath: string;
  handler: BusHandler;
  once: boolean;
  /** Made once, because it is needed at each call. */
  label: string;
}

export interface EventBusOptions {
  onError(failure: BusFailure): void;
  /** Told when our thread goes into the extension; the function that it gives back, when it comes out again. */
  enter?(label: string): () => void;
}

export function createEventBus({ onError, enter }: EventBusOptions): EventBusHub {
  const channels = new Map<string, readonly Listener[]>();

  const remove = (channel: string, isMeant: (listener: Listener) => boolean): void => {
    const left = (channels.get(channel) ?? []).filter((listener) => !isMeant(listener));
    if (left.length > 0) channels.set(channel, left);
    else channels.delete(channel);
  };
  const add = (channel: string, given: Omit<Listener, "label">): (() => void) => {
    if (typeof given.handler !== "function") {
      throw new TypeError(`events.on("${String(channel)}"): the handler must be a function`);
    }
    const listener = { ...given, label: `${given.extensionPath} (events: ${channel})` };
    channels.set(channel, [...(channels.get(channel) ?? []), listener]);
    return () => remove(channel, (other) => other === listener);
  };
  const call = ({ extensionPath, handler, label }: Listener, channel: string, data: unknown): void => {
    const failed = (error: unknown): void => onError({ extensionPath, channel, error });
    const leave = enter?.(label);
    try {
      const given = handler(data);
      if (isPromise(given)) given.then(undefined, failed);
    } catch (error) {
      failed(error);
    } finally {
      leave?.();
    }
  };

  return {
    forExtension: (extensionPath) => ({
      emit(channel, data) {
        // The list of this moment: handlers may come and go while it is worked through.
        for (const listener of channels.get(channel) ?? []) {
          if (listener.once) remove(channel, (other) => other === listener);
          call(listener, channel, data);
        }
      },
      on: (channel, handler) => add(channel, { extensionPath, handler, once: false }),
      once: (channel, handler) => add(channel, { extensionPath, handler, once: true }),
      off: (channel, handler) => remove(channel, (listener) => listener.handler === handler),
    }),
    forget(extensionPath) {
      for (const channel of [...channels.keys()]) remove(channel, (other) => other.extensionPath === extensionPath);
    },
    clear: () => channels.clear(),
  };
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
