import type { Model } from "@tiller/protocol/model";
import type { StreamSimple } from "./custom-stream.ts";

/** What programs say about a provider that they add or change. */

/** A login that a program brings along: how to log in, how to renew it, and which key it gives. */
export interface OAuthConfig {
  name?: string;
  login?(callbacks: unknown): Promise<unknown>;
  refreshToken?(credentials: unknown): Promise<unknown>;
  getApiKey?(credentials: Readonly<Record<string, unknown>>): string;
  modifyModels?(models: Model[], credentials: Readonly<Record<string, unknown>>): Model[];
}

/** What may be registered: the fields of a provider in models.json, and functions. */
export interface ProviderConfig {
  name?: string;
  baseUrl?: string;
  /** The key, the name of a variable that is set, `$NAME` or `!command`. */
  apiKey?: string;
  api?: string;
  headers?: Record<string, string>;
  authHeader?: boolean;
  /** Instead of all models the provider has. Without them those stay, at the new address and with the new headers. */
  models?: readonly unknown[];
  streamSimple?: StreamSimple;
  oauth?: OAuthConfig;
  /** Finds out which models there are now; they take the place of those that were. */
  refreshModels?(context: RefreshContext): unknown;
  /** It came as an object that answers for all its models, whatever API they speak. */
  isWhole?: true;
  /** It works out itself what a request needs to be let in. */
  findsKeys?: true;
  /** The variables that it looks for a key in. */
  keyVariables?: readonly string[];
}

/** What somebody gets who finds out which models there are. Nothing of it is kept for the next process. */
export interface RefreshContext {
  signal: AbortSignal;
  /** The login or the key that there is. */
  credential: Readonly<Record<string, unknown>> | undefined;
  stored: undefined;
  allowNetwork: true;
  force: boolean;
  /** What changes the list does it in here: it is not called any more when the provider is gone. */
  publish(news?: { update?(): void }): void;
}
