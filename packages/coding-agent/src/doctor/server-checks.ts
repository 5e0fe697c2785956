import type { ModelRegistry, ProviderState } from "@tiller/ai/model-registry";
import type { Model } from "@tiller/protocol/model";
import { type AskedServer, type AskServer, askProvider } from "../ask-server.ts";
import type { Check } from "./check.ts";

/** Providers with a key, and servers on this machine, whether anybody spoke of them or not. */
export function serversToAsk(registry: ModelRegistry): string[] {
  return registry.providers().filter((provider) => {
    const state = registry.provider(provider);
    return state && (state.keyless || "source" in state.key);
  });
}

/** All at the same time. */
export async function askServers(registry: ModelRegistry, ask: AskServer, providers: string[]): Promise<AskedServer[]> {
  const asked = await Promise.all(providers.map((provider) => askProvider(registry, provider, ask)));
  return asked.flat();
}

/** `inUse` is the provider of the model that would be asked now: it has to answer. */
export function serverCheck({ provider, state, url, answer }: AskedServer, inUse: boolean): Check {
  const about = { area: "servers", subject: provider } as const;
  const isLocal = state.keyless && !state.configured;
  const level = inUse ? "problem" : "warning";
  const isAddress = /^https?:\/\//i.test(url) && URL.canParse(url);
  if (!isAddress && state.row.api !== "ai-sdk") {
    const advice = "a base URL begins with http:// or https://; correct it where it is set";
    return { ...about, level, text: `its base URL is not a URL: "${url}"`, advice };
  }
  switch (answer.kind) {
    case "models":
      return { ...about, level: "ok", text: `${url} answers; ${modelsText(provider, answer.models, state.keyless)}` };
    case "unasked":
      return { ...about, level: "info", text: "has no list of models to ask for, so it was not checked" };
    case "refused":
      return { ...about, level, ...refusal(state, url, answer) };
    case "failed": {
      const isBroken = inUse && answer.status >= 500;
      const text = `${url} answers ${answer.status} when asked for its models: ${answer.words}`;
      if (isLocal && !inUse) return { ...about, level: "info", text: `${url} is something else (${answer.status})` };
      return { ...about, level: isBroken ? "problem" : "warning", text };
    }
    case "answers":
      return { ...about, level: isLocal ? "info" : "ok", text: `${url} answers, without a list of models` };
    case "silent": {
      if (isLocal && !inUse) return { ...about, level: "info", text: `no server at ${url}` };
      const advice = state.keyless ? `start the server, or give its address as baseUrl in models.json` : undefined;
      return { ...about, level, text: answer.words, ...(advice ? { advice } : {}) };
    }
  }
}

/** 401: nobody knows the key. 403: it is known, and may not do this. */
function refusal(
  { row, key }: ProviderState,
  url: string,
  { status, words }: { status: number; words: string },
): Pick<Check, "text" | "advice"> {
  const said = `(${status} from ${url}): ${words}`;
  if (!("source" in key)) return { text: `it wants a key ${said}`, advice: newKey(row.id) };
  if (status === 403) {
    const advice = "look at what the key may do, and from where: the account, its region, its credit";
    return { text: `the key from ${key.source} may not be used ${said}`, advice };
  }
  const advice = row.keyPage ? `make a new key at ${row.keyPage}, or take this one away` : newKey(row.id);
  return { text: `the key from ${key.source} is refused ${said}`, advice };
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
