import { createAssembly } from "@tiller/ai/assemble";
import type { ProviderError } from "@tiller/ai/errors";
import { cacheLifetimeMs, cacheWorth } from "@tiller/ai/prompt-cache";
import type { DeltaStream, ModelRequest } from "@tiller/ai/provider";
import type { Clock } from "@tiller/protocol/clock";
import type { Usage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { HookEvent } from "./ports.ts";

/** Keeps what a provider has of the conversation from being forgotten while nobody says anything. */
export interface CacheWarming {
  /** A run is over, and nothing follows by itself. */
  begin(last: AskedRequest): void;
  /** Something else begins, or nothing more: a request that is under way is given up. */
  end(): void;
}

/** The last thing the model was asked, and when. */
export interface AskedRequest {
  request: ModelRequest;
  at: number;
  /** What of it the provider keeps. */
  cachedTokens: number;
  /** The next prompt would still begin as this one did. */
  isCurrent(): boolean;
}

export type WarmingEvent = HookEvent<"cache_warming_decision">;

export interface CacheWarmingOptions {
  clock: Clock;
  retention: ModelRequest["cacheRetention"];
  /** At most so often between two runs. */
  times: number;
  /** What others make of our own decision, which is in the event. */
  decide(event: WarmingEvent, signal: AbortSignal): Promise<"warm" | "stop">;
  /** Asks a model, with a key that is good now. */
  ask(request: ModelRequest): DeltaStream;
  /** It was asked: this was paid for, and this went wrong. */
  done(model: Model, usage: Usage, error: ProviderError | undefined): void;
}

/** What a miss must cost beyond one more reading, in dollars, before anybody is asked. */
const WORTHWHILE = 0.05;
/** So long before the end: a tenth of the time, and never more than this. */
const LONGEST_MARGIN_MS = 60_000;

interface Phase extends AskedRequest {
  since: number;
  lifetimeMs: number;
  count: number;
  controller: AbortController;
  cancel?(): void;
}

export function createCacheWarming(options: CacheWarmingOptions): CacheWarming {
  const { clock, times, retention } = options;
  let current: Phase | undefined;

  const end = (): void => {
    current?.cancel?.();
    current?.controller.abort();
    current = undefined;
  };
  const expiresInMs = ({ at, lifetimeMs }: Phase): number => at + lifetimeMs - clock.now();
  const wait = (phase: Phase): void => {
    const left = expiresInMs(phase);
    if (left <= 0 || phase.count >= times) {
      end();
      return;
    }
    const margin = Math.min(phase.lifetimeMs / 10, LONGEST_MARGIN_MS);
    // No process goes on living for this.
    phase.cancel = clock.after(Math.max(0, left - margin), () => void warm(phase).catch(end), true);
  };

  const warm = async (phase: Phase): Promise<void> => {
    const { request, controller } = phase;
    if (!phase.isCurrent()) return end();
    const action = await options.decide(about(phase), controller.signal);
    if (controller.signal.aborted) return;
    // Whoever decided may have taken his time, and changed the conversation meanwhile.
    if (action === "stop" || !phase.isCurrent() || expiresInMs(phase) <= 0) return end();
    phase.at = clock.now();
    phase.count += 1;
    const { usage, error } = await spent(options.ask(shortened(request, controller.signal)), request.model);
    if (usage.totalTokens > 0 || error)
      options.done(request.model, usage, controller.signal.aborted ? undefined : error);
    if (controller.signal.aborted) return;
    // What was forgotten already has been written anew, for more than it is worth: not twice.
    if (error || usage.cacheRead === 0) return end();
    phase.cachedTokens = usage.cacheRead + usage.cacheWrite;
    wait(phase);
  };

  const about = (phase: Phase): WarmingEvent => {
    const { request, cachedTokens, since, count } = phase;
    const worth = cacheWorth(request.model, cachedTokens, retention);
    return {
      model: request.model,
      retention: retention === "long" ? "long" : "short",
      cachedTokens,
      ...worth,
      idleMs: clock.now() - since,
      expiresInMs: expiresInMs(phase),
      count,
      maxCount: times,
      action: worth.missCost - worth.estimatedCost >= WORTHWHILE ? "warm" : "stop",
    };
  };

  return {
    begin(last) {
      end();
      const lifetimeMs = cacheLifetimeMs(last.request.model, retention);
      if (lifetimeMs === undefined || last.cachedTokens === 0) return;
      current = { ...last, since: clock.now(), lifetimeMs, count: 0, controller: new AbortController() };
      wait(current);
    },
    end,
  };
}

/** The same request, for nothing but that it is made. */
function shortened(request: ModelRequest, signal: AbortSignal): ModelRequest {
  const isLimitHarmless = request.model.api !== "anthropic-messages";
  return { ...request, wantsNoAnswer: true, ...(isLimitHarmless && { maxTokens: 1 }), signal };
}

/** What an answer costs. Nobody reads it: once the price of the prompt is known, its first words end it. */
async function spent(stream: DeltaStream, model: Model): Promise<{ usage: Usage; error?: ProviderError }> {
  const assembly = createAssembly(model, 0);
  const { usage } = assembly.message;
  for await (const batch of stream) {
    for (const delta of batch) {
      if (delta.type === "error") return { usage, error: delta.error };
      if (delta.type === "usage") assembly.apply(delta);
    }
    const isPriced = usage.input + usage.cacheRead + usage.cacheWrite > 0;
    if (isPriced && batch.some(({ type }) => type === "grow")) break;
  }
  return { usage };
}
