import type { Credentials, ModelRegistry, ProviderState } from "@tiller/ai/models";
import type { Model } from "@tiller/protocol/model";
import type { AskServer, ServerAnswer } from "./ask-server.ts";
import type { Check } from "./check.ts";

/** A provider, its server and what the server said. */
export interface AskedServer {
  provider: string;
  state: ProviderState;
  url: string;
  answer: ServerAnswer;
}

/** Providers with a key, and servers on this machine, whether anybody spoke of them or not. */
export function serversToAsk(registry: ModelRegistry): { provider: string; state: ProviderState }[] {
  return registry.providers().flatMap((provider) => {
    const state = registry.provider(provider);
    return state && (state.keyless || "source" in state.key) ? [{ provider, state }] : [];
  });
}

/** All at the same time. Where the key comes from a command, the command is run. */
export function askServers(registry: ModelRegistry, ask: AskServer): Promise<AskedServer[]> {
  const asked = serversToAsk(registry).map(async ({ provider, state }) => {
    if (!("url" in state.baseUrl)) return [];
    const { url } = state.baseUrl;
    return [{ provider, state, url, answer: await askOne(registry, provider, state, url, ask) }];
  });
  return Promise.all(asked).then((servers) => servers.flat());
}

async function askOne(
  registry: ModelRegistry,
  provider: string,
  state: ProviderState,
  url: string,
  ask: AskServer,
): Promise<ServerAnswer> {
  let credentials: Credentials;
  try {
    credentials = await registry.providerCredentials(provider);
  } catch (error) {
    return { kind: "silent", words: error instanceof Error ? error.message : String(error) };
  }
  return ask(state.row, url, credentials);
}

/** `inUse` is the provider of the model that would be asked now: it has to answer. */
export function serverCheck({ provider, state, url, answer }: AskedServer, inUse: boolean): Check {
  const about = { area: "servers", subject: provider } as const;
  const isLocal = state.keyless && !state.configured;
  switch (answer.kind) {
    case "models":
      return { ...about, level: "ok", text: `${url} answers; ${modelsText(provider, answer.models, state.keyless)}` };
    case "unasked":
      return { ...about, level: "info", text: "has no list of models to ask for, so it was not checked" };
    case "refused":
      return { ...about, ...refusal(state, url, answer.status) };
    case "answers":
      return { ...about, level: isLocal ? "info" : "ok", text: `${url} answers, without a list of models` };
    case "silent": {
      if (isLocal && !inUse) return { ...about, level: "info", text: `no server at ${url}` };
      const advice = state.keyless ? `start the server, or give its address as baseUrl in models.json` : undefined;
      return { ...about, level: inUse ? "problem" : "warning", text: answer.words, ...(advice ? { advice } : {}) };
    }
  }
}

function refusal(state: ProviderState, url: string, status: number): Pick<Check, "level" | "text" | "advice"> {
  const { row, key } = state;
  if (!("source" in key)) return { level: "problem", text: `${url} wants a key (${status})`, advice: newKey(row.id) };
  const text = `the key from ${key.source} is refused (${status} from ${url})`;
  const advice = row.keyPage ? `make a new key at ${row.keyPage}, or take this one away` : newKey(row.id);
  return { level: "problem", text, advice };
}

function newKey(provider: string): string {
  return `put a valid key into auth.json: {"${provider}": {"type": "api_key", "key": "..."}}`;
}

const SHOWN = 5;

/** The models of a server on this machine are named: they stand in no catalogue. */
function modelsText(provider: string, models: readonly Model[], isLocal: boolean): string {
  const count = `${models.length} model${models.length === 1 ? "" : "s"}`;
  if (!isLocal || models.length === 0) return count;
  const names = models.slice(0, SHOWN).map(({ id }) => `${provider}/${id}`);
  return `${count}: ${names.join(", ")}${models.length > SHOWN ? ", ..." : ""}`;
}
