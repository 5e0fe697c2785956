/** A bus of an extension's own: what one listener does wrong stops no other. */

type Handler = (data: unknown) => unknown;

export interface Bus {
  emit(channel: string, data?: unknown): void;
  /** Gives the function that ends it. */
  on(channel: string, handler: Handler): () => void;
  clear(): void;
}

export function createBus(log: (line: string) => void): Bus {
  const channels = new Map<string, Set<Handler>>();
  const call = async (channel: string, handler: Handler, data: unknown): Promise<void> => {
    try {
      await handler(data);
    } catch (error) {
      log(`A listener of "${channel}" failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return {
    emit(channel, data) {
      for (const handler of [...(channels.get(channel) ?? [])]) void call(channel, handler, data);
    },
    on(channel, handler) {
      const handlers = channels.get(channel) ?? new Set();
      channels.set(channel, handlers.add(handler));
      return () => void handlers.delete(handler);
    },
    clear: () => channels.clear(),
  };
}
