import type { Model } from "@tiller/protocol/model";
import type { Environment } from "./auth.ts";
import type { CustomProvider } from "./custom-models.ts";
import type { ModelSecrets } from "./model-secrets.ts";
import type { ParsedFile } from "./parsed-file.ts";
import type { StreamModel } from "./provider.ts";
import type { ProviderRow } from "./providers/provider-row.ts";
import type { RunCommand } from "./secret-commands.ts";

export interface RegistryOptions {
  /** models.json or models.yml. */
  models?: ParsedFile;
  /** auth.json. */
  auth?: ParsedFile;
  env: Environment;
  /** Milliseconds since 1970, for logins that expire. */
  now(): number;
  /** Runs a `!command` and gives what it printed. */
  runCommand: RunCommand;
  /** `--api-key`. */
  runtimeKey?: { provider: string; key: string };
  /** May the offline model be used? */
  offline: boolean;
  /** The script file that was chosen at start, if any. */
  script?: { path: string };
  /** Keeps a login, or forgets it, for other processes and for later. */
  keepLogin?(provider: string, login: Login | undefined): Promise<void>;
  /** Where packages that models name (`ai-sdk`) are looked for. */
  packagesFrom?: string;
}

/** What a request needs beside the model, which hosts can see: see `askedModel`. */
export interface Credentials extends ModelSecrets {
  apiKey?: string;
  headers?: Record<string, string>;
}

/** Where a provider is and whether it has a key; nothing secret is in it. */
export interface ProviderState {
  row: ProviderRow;
  /** The row's, changed by the environment and models.json; or the variable that has to be set first. */
  baseUrl: { url: string } | { missing: string };
  key: { source: string } | { missing: string };
  keyless: boolean;
  /** Its server is asked for the models it has: one on this machine, or one that models.json wants to be asked. */
  discovers: boolean;
  /** Somebody meant it: there is a key, or models.json speaks of it. */
  configured: boolean;
}

/** A provider that a program has added or changed while the process runs; it counts before files and the built-in rows. */
export interface RegisteredProvider {
  settings: CustomProvider;
  /** Instead of the provider's own list; that list, changed, when there is none. */
  models?: readonly Model[];
  change?(model: Model): Model;
  /** The models are not where the files say: what those say about their addresses does not count. */
  isElsewhere: boolean;
  modelHeaders: ReadonlyMap<string, Readonly<Record<string, string>>>;
  modelOptions: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Who asks a model instead of its API family. */
  speaker?(model: Model): StreamModel | undefined;
  /** The key that is in a login of auth.json. May throw. */
  keyOfLogin?(login: Login): string;
  /** A login that is good again, for one that has expired. */
  renewLogin?(login: Login): Promise<unknown>;
}

/** An entry of auth.json that a provider's own code has made. */
export type Login = Readonly<Record<string, unknown>>;

/** Which models there are and how they are reached. Runs nothing, and reads the catalogue only when somebody asks for it. */
export interface ModelRegistry {
  /** Every model, also those without a key. */
  all(): Model[];
  modelsOf(provider: string): readonly Model[];
  /** Every provider that has models or could have them, built in or from models.json. */
  providers(): string[];
  provider(id: string): ProviderState | undefined;
  /**
   * The models that can be asked now. The offline model is among them only when there is nothing else or when it is the
   * one in use, so that nobody lands on it by accident.
   */
  available(current?: Model): Model[];
  find(provider: string, id: string): Model | undefined;
  /** A model that no list has, with the figures of those it is like; undefined for an unknown provider. */
  unlisted(provider: string, id: string): Model | undefined;
  /** The same, and it is adopted; only where any name may be given: no list, or a server of one's own, and no key missing. */
  named(provider: string, id: string): Model | undefined;
  /** Stands for the first model of a server that has not been asked yet. */
  firstOf(provider: string): Model | undefined;
  isFirstOf(model: Model): boolean;
  /** From now on it is one of its provider's models. */
  adopt(model: Model): void;
  /** What a server says it has now. */
  learn(provider: string, models: readonly Model[]): void;
  /** What is known of one model, instead of what was assumed. */
  describe(model: Model): void;
  /** Its server could tell more of it than is known. */
  isAssumed(model: Model): boolean;
  hasCredentials(model: Model): boolean;
  /** Why a model cannot be asked, as far as that is known without running anything. */
  unusable(model: Model): string | undefined;
  /** Throws ProviderError("auth") with a text that says how to configure the model. A promise when a command must run. */
  credentials(model: Model): Credentials | Promise<Credentials>;
  /** The same without what only one model has. */
  providerCredentials(provider: string): Credentials | Promise<Credentials>;
  /** What could not be used of the configuration, one sentence each. */
  problems: string[];
  /** Takes effect at once, for this process only; undefined takes it back. */
  register(provider: string, registered: RegisteredProvider | undefined): void;
  /** What models.json says of a provider. */
  settingsOf(provider: string): CustomProvider | undefined;
  /** A key for this process only, before all others; undefined takes it back. */
  setRuntimeKey(provider: string, key: string | undefined): void;
  /** A login as it stands in auth.json. */
  loginOf(provider: string): Login | undefined;
  /** Another one, which is kept; undefined ends it. Rejects when it is no login, or cannot be kept. */
  setLogin(provider: string, login: unknown): Promise<void>;
}
