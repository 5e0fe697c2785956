import type { Model } from "@tiller/protocol/model";
import type { AskFunction } from "./api-providers.ts";

/** What providers are made of that extensions bring along as objects. */

interface Streams {
  stream: AskFunction;
  streamSimple: AskFunction;
}

interface ProviderParts {
  id: string;
  name?: string;
  baseUrl?: string;
  headers?: Record<string, string>;
  auth?: object;
  models?: readonly Model[];
  /** Those that are there besides, as somebody says who is asked for them. */
  fetchModels?(context: RefreshContext): Promise<readonly Model[]>;
  /** One for all models, or one for each API they speak. */
  api: Streams | Readonly<Record<string, Streams>>;
}

interface RefreshContext {
  signal: AbortSignal;
  publish(news: { update?(): void }): unknown;
}

export function providerNames(env: Readonly<Record<string, string | undefined>>): Record<string, unknown> {
  return {
    createProvider,
    envApiKeyAuth: (name: string, variables: readonly string[]) => envKey(name, variables, env),
  };
}

function createProvider({ id, name = id, models = [], fetchModels, api, ...rest }: ProviderParts): object {
  let fetched: readonly Model[] = [];
  const ask =
    (kind: keyof Streams): AskFunction =>
    (model, context, options) => {
      const streams = isStreams(api) ? api : api[model.api];
      if (!streams) throw new Error(`The provider "${id}" has no API "${model.api}", which ${model.id} speaks`);
      return streams[kind](model, context, options);
    };
  return {
    ...rest,
    id,
    name,
    getModels: () => [...models.filter((model) => !fetched.some((other) => other.id === model.id)), ...fetched],
    ...(fetchModels && {
      async refreshModels(context: RefreshContext) {
        const found = await fetchModels(context);
        const update = (): void => {
          fetched = [...found];
        };
        context.publish({ update });
      },
    }),
    stream: ask("stream"),
    streamSimple: ask("streamSimple"),
  };
}

function isStreams(api: ProviderParts["api"]): api is Streams {
  return typeof api.streamSimple === "function" || typeof api.stream === "function";
}

/** A key that is kept goes before the first variable that is set. */
function envKey(name: string, variables: readonly string[], env: Readonly<Record<string, string | undefined>>): object {
  return {
    name,
    variables,
    async resolve({ credential }: { credential?: { key?: string } } = {}) {
      if (credential?.key) return { auth: { apiKey: credential.key }, source: "stored credential" };
      const variable = variables.find((candidate) => env[candidate]?.trim());
      return variable && { auth: { apiKey: env[variable]?.trim() }, source: variable };
    },
  };
}
