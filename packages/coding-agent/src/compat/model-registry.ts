import type { AssistantMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { frozen } from "../lib/copies.ts";
import { type AskOptions, askModel } from "./ask-model.ts";
import type { AssistantMessageEventStream } from "./event-stream.ts";
import type { CompatHost } from "./host.ts";
import type { ModelContext } from "./model-context.ts";

/** Models and keys as extensions ask for them: `ctx.modelRegistry`, and the classes of that name. */

export type ApiKeyAndHeaders =
  | { ok: true; apiKey?: string; headers?: Record<string, string> }
  | { ok: false; error: string };

export class ModelRegistry {
  readonly #host: CompatHost;
  readonly authStorage: AuthStorage;

  constructor(host: CompatHost) {
    this.#host = host;
    this.authStorage = new AuthStorage(host);
  }

  getAll(): Model[] {
    return this.#host.models.all().map(frozen);
  }
  getAvailable(): Model[] {
    return this.#host.models.available().map(frozen);
  }
  find(provider: string, id: string): Model | undefined {
    return frozen(this.#host.models.find(provider, id));
  }
  getProviders(): string[] {
    return this.#host.models.providers();
  }
  hasConfiguredAuth(model: Model): boolean {
    return this.#host.models.hasCredentials(model);
  }
  async getApiKeyAndHeaders(model: Model): Promise<ApiKeyAndHeaders> {
    try {
      const { apiKey, headers } = await this.#host.models.credentials(model);
      return { ok: true, apiKey, headers };
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error.message : String(error) };
    }
  }
  async getApiKey(model: Model): Promise<string | undefined> {
    const found = await this.getApiKeyAndHeaders(model);
    return found.ok ? found.apiKey : undefined;
  }
  getApiKeyForProvider(provider: string): Promise<string | undefined> {
    return this.authStorage.getApiKey(provider);
  }
  getProviderDisplayName(provider: string): string {
    return provider;
  }
  getProviderAuthStatus(provider: string): { configured: boolean } {
    return { configured: this.authStorage.hasAuth(provider) };
  }
  isUsingOAuth(_model: Model): boolean {
    return false;
  }
  refresh(): void {
    // Lists are read when they are asked for.
  }
  getError(): undefined {
    return undefined;
  }
  stream(model: Model, context: ModelContext, options?: AskOptions): AssistantMessageEventStream {
    return askModel(this.#host, this.#host.stream, model, context, options);
  }
  streamSimple(model: Model, context: ModelContext, options?: AskOptions): AssistantMessageEventStream {
    return this.stream(model, context, options);
  }
  complete(model: Model, context: ModelContext, options?: AskOptions): Promise<AssistantMessage> {
    return this.stream(model, context, options).result();
  }
  completeSimple(model: Model, context: ModelContext, options?: AskOptions): Promise<AssistantMessage> {
    return this.complete(model, context, options);
  }
}

/** Keys are read; what is set holds for this process and is written nowhere. */
export class AuthStorage {
  readonly #host: CompatHost;
  readonly #set = new Map<string, unknown>();

  constructor(host: CompatHost) {
    this.#host = host;
  }

  async getApiKey(provider: string): Promise<string | undefined> {
    const own = this.#set.get(provider);
    if (typeof own === "string") return own;
    const stored = own as { key?: string; access?: string } | undefined;
    if (stored) return stored.key ?? stored.access;
    try {
      return (await this.#host.models.providerCredentials(provider)).apiKey;
    } catch {
      // No key is an answer here, not a failure.
      return undefined;
    }
  }
  setRuntimeApiKey(provider: string, key: string): void {
    this.#set.set(provider, key);
  }
  removeRuntimeApiKey(provider: string): void {
    this.#set.delete(provider);
  }
  get(provider: string): unknown {
    return this.#set.get(provider);
  }
  set(provider: string, credential: unknown): void {
    this.#set.set(provider, credential);
  }
  remove(provider: string): void {
    this.#set.delete(provider);
  }
  list(): string[] {
    return [...this.#set.keys()];
  }
  has(provider: string): boolean {
    return this.#set.has(provider);
  }
  hasAuth(provider: string): boolean {
    const { models } = this.#host;
    return this.has(provider) || models.modelsOf(provider).some((model) => models.hasCredentials(model));
  }
  getAll(): Record<string, unknown> {
    return Object.fromEntries(this.#set);
  }
  reload(): void {
    // Nothing is kept that could be old.
  }
  drainErrors(): Error[] {
    return [];
  }
  getOAuthProviders(): unknown[] {
    return [];
  }
}

/** The classes as extensions make them: whatever they are given, it is this process's models and keys. */
export function registryNames(host: CompatHost): Record<string, unknown> {
  const registry = (): ModelRegistry => new ModelRegistry(host);
  const storage = (): AuthStorage => new AuthStorage(host);
  const Registry = class extends ModelRegistry {
    static create = registry;
    static inMemory = registry;
    constructor(..._given: unknown[]) {
      super(host);
    }
  };
  const Storage = class extends AuthStorage {
    static create = storage;
    static fromStorage = storage;
    static inMemory = storage;
    constructor(..._given: unknown[]) {
      super(host);
    }
  };
  return { ModelRegistry: Registry, ModelRuntime: Registry, AuthStorage: Storage };
}
