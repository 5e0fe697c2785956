import { discoverModels } from "@tiller/ai/discover";
import { ProviderError } from "@tiller/ai/errors";
import { configureTransport } from "@tiller/ai/http/environment";
import { getJson } from "@tiller/ai/http/get-json";
import type { Credentials } from "@tiller/ai/models";
import type { ProviderRow } from "@tiller/ai/providers/provider-row";
import { redactText, secretsOf } from "@tiller/ai/redact";
import type { Clock } from "@tiller/protocol/clock";
import type { Model } from "@tiller/protocol/model";
import type { Env } from "../config/paths.ts";

/** What a server said when it was asked for its models. */
export type ServerAnswer =
  | { kind: "models"; models: Model[] }
  /** It does not accept the key. */
  | { kind: "refused"; status: number }
  /** It is there, but does not tell its models. */
  | { kind: "answers"; words: string }
  | { kind: "silent"; words: string }
  /** Nobody knows how to ask it. */
  | { kind: "unasked" };

export type AskServer = (row: ProviderRow, baseUrl: string, credentials: Credentials) => Promise<ServerAnswer>;

export function createAskServer(options: { env: Env; clock: Clock; timeoutMs: number }): AskServer {
  const { env, clock, timeoutMs } = options;
  configureTransport({ env });
  return async (row, baseUrl, credentials) => {
    if (row.modelsPath === undefined) return { kind: "unasked" };
    let status: number | undefined;
    const get = async (
      url: string,
      headers: Readonly<Record<string, string>>,
    ): Promise<{ status: number; body: string }> => {
      try {
        const answer = await getJson({ url, headers, clock, timeoutMs, signal: new AbortController().signal });
        status = answer.status;
        return { status, body: JSON.stringify(answer.body) };
      } catch (error) {
        status = error instanceof ProviderError ? error.status : undefined;
        if (status === undefined || !(error instanceof Error)) throw error;
        return { status, body: error.message };
      }
    };
    const found = await discoverModels(row, { get, baseUrl, ...credentials });
    if ("models" in found) return { kind: "models", models: found.models };
    const words = redactText(found.problem, secretsOf(credentials));
    if (status === 401 || status === 403) return { kind: "refused", status };
    return { kind: status === undefined ? "silent" : "answers", words };
  };
}
