import { discoverModels, type Get, showModel } from "@tiller/ai/discover";
import { ProviderError } from "@tiller/ai/errors";
import { configureTransport } from "@tiller/ai/http/environment";
import { getJson } from "@tiller/ai/http/get-json";
import type { Credentials, ModelRegistry, ProviderState } from "@tiller/ai/model-registry";
import type { ProviderRow } from "@tiller/ai/providers/provider-row";
import { redactQuoted, secretsOf } from "@tiller/ai/redact";
import type { Clock } from "@tiller/protocol/clock";
import type { Model } from "@tiller/protocol/model";
import type { Env } from "./config/paths.ts";

/** Asks servers which models they have. Loaded when somebody wants to know: never at the start. */

/** What a server said when it was asked for its models. `words` are the server's own where there are some. */
export type ServerAnswer =
  | { kind: "models"; models: Model[] }
  /** It does not accept the key, or the key may not do this. */
  | { kind: "refused"; status: number; words: string }
  /** It is there, but does not tell its models. */
  | { kind: "answers" }
  /** It is there, and something is wrong with it. */
  | { kind: "failed"; status: number; words: string }
  | { kind: "silent"; words: string }
  /** Nobody knows how to ask it. */
  | { kind: "unasked" };

export type AskServer = (row: ProviderRow, baseUrl: string, credentials: Credentials) => Promise<ServerAnswer>;

export interface AskOptions {
  env: Env;
  clock: Clock;
  timeoutMs: number;
}

export function createAskServer(options: AskOptions): AskServer {
  configureTransport({ env: options.env });
  return async (row, baseUrl, credentials) => {
    if (row.modelsPath === undefined) return { kind: "unasked" };
    let last: { status: number; words: string } | undefined;
    const get: Get = async (...asked) => {
      last = undefined;
      const answer = await jsonGet(options)(...asked);
      last = { status: answer.status, words: answer.body };
      return answer;
    };
    const found = await discoverModels(row, { get, baseUrl, ...credentials });
    if ("models" in found) return { kind: "models", models: found.models };
    const clean = (text: string): string => redactQuoted(text, secretsOf(credentials));
    if (!last) return { kind: "silent", words: clean(found.problem) };
    const { status } = last;
    if (status === 404 || status === 405) return { kind: "answers" };
    if (status === 401 || status === 403) return { kind: "refused", status, words: clean(last.words) };
    return { kind: "failed", status, words: clean(status < 300 ? found.problem : last.words) };
  };
}

/** What a server says of one of its models beyond its list; undefined when it says nothing. */
export function askAboutModel(
  { row, url, credentials, model }: { row: ProviderRow; url: string; credentials: Credentials; model: Model },
  options: AskOptions,
): Promise<Model | undefined> {
  return showModel(row, model, { get: jsonGet(options), baseUrl: url, ...credentials });
}

function jsonGet({ clock, timeoutMs }: AskOptions): Get {
  return async (url, headers, body) => {
    const { signal } = new AbortController();
    try {
      const answer = await getJson({ url, headers, clock, timeoutMs, signal, ...(body === undefined ? {} : { body }) });
      return { status: answer.status, body: JSON.stringify(answer.body) };
    } catch (error) {
      if (!(error instanceof ProviderError) || error.status === undefined) throw error;
      return { status: error.status, body: error.message };
    }
  };
}

/** A provider, its server and what the server said. */
export interface AskedServer {
  provider: string;
  state: ProviderState;
  url: string;
  answer: ServerAnswer;
}

/** Empty when it has no address yet. Where the key comes from a command, the command is run. */
export async function askProvider(registry: ModelRegistry, provider: string, ask: AskServer): Promise<AskedServer[]> {
  const state = registry.provider(provider);
  if (!state || !("url" in state.baseUrl)) return [];
  const { url } = state.baseUrl;
  let credentials: Credentials;
  try {
    credentials = await registry.providerCredentials(provider);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return [{ provider, state, url, answer: { kind: "silent", words } }];
  }
  return [{ provider, state, url, answer: await ask(state.row, url, credentials) }];
}
