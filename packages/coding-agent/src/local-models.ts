import { ProviderError } from "@tiller/ai/errors";
import type { Credentials, ModelRegistry } from "@tiller/ai/model-registry";
import type { Clock } from "@tiller/protocol/clock";
import type { Model } from "@tiller/protocol/model";
import type { AskedServer } from "./ask-server.ts";
import type { Env } from "./config/paths.ts";
import { sleep } from "./lib/clock.ts";

/**
 * Models of servers on this machine, and of those that models.json wants to be asked. They are asked when it matters,
 * for a short while, and never at the start. Whatever goes wrong, what was assumed before still holds.
 */
export interface LocalModels {
  /**
   * Asks them all at the same time. Undefined when nobody is to be asked: the last answers are still fresh, or a provider
   * is named that is none of them.
   */
  refresh(provider?: string): undefined | Promise<void>;
  /** Before a model is asked: the same model with what its server says of it, or the one that was meant. */
  describe(model: Model): undefined | Promise<Model | undefined>;
  /** Those of the registry; throws when the model that was meant has not been found. */
  credentials(model: Model): Credentials | Promise<Credentials>;
}

export interface LocalModelsOptions {
  registry: ModelRegistry;
  env: Env;
  clock: Clock;
  /** Nobody is asked. */
  isOffline: boolean;
  /** For each server. */
  limitMs?: number;
}

/** A server on this machine answers in a few; who is not there refuses at once. */
const LIMIT_MS = 500;
/** Where nothing can be done without the answer. */
const PATIENCE_MS = 3_000;
const FRESH_MS = 4_000;

export function createLocalModels(options: LocalModelsOptions): LocalModels {
  const { registry, env, clock, isOffline, limitMs = LIMIT_MS } = options;
  let freshUntil = 0;
  let asking: Promise<void> | undefined;
  /** Why the first model of a server could not be had. */
  const reasons = new Map<Model, string>();

  const isAsked = (provider: string): boolean => registry.provider(provider)?.discovers === true;
  const ask = async (provider: string, timeoutMs: number): Promise<AskedServer | undefined> => {
    const { askProvider, createAskServer } = await import("./ask-server.ts");
    const [server] =
      (await withinLimit(askProvider(registry, provider, createAskServer({ env, clock, timeoutMs })), timeoutMs)) ?? [];
    if (server?.answer.kind === "models") registry.learn(provider, server.answer.models);
    // Who has gone has taken its models along. Who is only slow (no answer at all here) has not.
    if (server?.answer.kind === "silent") registry.learn(provider, []);
    return server;
  };
  /** All of it together may not take longer, however many questions it is. */
  const withinLimit = async <T>(work: Promise<T>, ms: number): Promise<T | undefined> => {
    const over = new AbortController();
    try {
      return await Promise.race([work, sleep(clock, ms, over.signal).then(() => undefined)]);
    } catch {
      // Nothing is known then that was not known before.
      return undefined;
    } finally {
      over.abort();
    }
  };
  const askAll = async (): Promise<void> => {
    try {
      const providers = registry.providers().filter(isAsked);
      await Promise.all(providers.map((provider) => ask(provider, limitMs)));
      freshUntil = clock.now() + FRESH_MS;
    } finally {
      asking = undefined;
    }
  };

  /** With the details that only a question about this one model brings. */
  const detailed = async ({ state, url, provider }: AskedServer, model: Model): Promise<Model | undefined> => {
    if (state.row.showPath === undefined) return undefined;
    const { askAboutModel } = await import("./ask-server.ts");
    const credentials = await registry.providerCredentials(provider);
    const asked = askAboutModel({ row: state.row, url, credentials, model }, { env, clock, timeoutMs: limitMs });
    return withinLimit(asked, limitMs);
  };
  const describeOn = async (server: AskedServer, model: Model): Promise<Model | undefined> => {
    const listed = server.answer.kind === "models" ? server.answer.models : [];
    const same = listed.find(({ id }) => id === model.id || id === `${model.id}:latest`);
    const known = same && { ...same, id: model.id, name: model.id === same.id ? same.name : model.name };
    const described = (await detailed(server, known ?? model)) ?? known;
    if (described) registry.describe(described);
    return described;
  };
  const choose = async (meant: Model): Promise<Model | undefined> => {
    const server = await ask(meant.provider, PATIENCE_MS);
    const first = server?.answer.kind === "models" ? server.answer.models[0] : undefined;
    if (!server || !first) {
      reasons.set(meant, whyNone(meant.provider, server));
      return undefined;
    }
    registry.adopt(first);
    return (await describeOn(server, first)) ?? first;
  };
  const learnOf = async (model: Model): Promise<Model | undefined> => {
    const server = await ask(model.provider, limitMs);
    return server && server.answer.kind !== "silent" ? describeOn(server, model) : undefined;
  };

  return {
    refresh(provider) {
      if (isOffline || clock.now() < freshUntil) return undefined;
      if (provider !== undefined && !isAsked(provider)) return undefined;
      asking ??= askAll();
      return asking;
    },
    describe(model) {
      if (registry.isFirstOf(model)) return isOffline ? undefined : choose(model);
      return isOffline || !registry.isAssumed(model) ? undefined : learnOf(model);
    },
    credentials(model) {
      if (!registry.isFirstOf(model)) return registry.credentials(model);
      throw new ProviderError("bad_request", reasons.get(model) ?? whyNone(model.provider, undefined));
    },
  };
}

function whyNone(provider: string, server: AskedServer | undefined): string {
  const way = `Name one with --model ${provider}/NAME.`;
  if (!server) return `The server of "${provider}" did not tell its models. ${way}`;
  const { answer, state, url } = server;
  if (answer.kind === "models") return `${state.row.name} at ${url} has no model to chat with yet; give it one first.`;
  const words = "words" in answer ? answer.words : `${state.row.name} at ${url} does not tell its models.`;
  return `${words} ${way}`;
}
