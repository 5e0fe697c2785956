/** A provider as data: where it is, how it is asked, where its key comes from. */
export interface ProviderRow {
  /** What users write before the slash, e.g. `groq`. */
  id: string;
  name: string;
  /** The API family of its models, unless a model says otherwise. */
  api: string;
  /** `{NAME}` stands for an environment variable, e.g. the resource of an Azure account. */
  baseUrl: string;
  /** The variable that replaces the base URL, or only its host and port (`OLLAMA_HOST=box:11434`). */
  baseUrlVariable?: string;
  /** The variable that holds an `api-version` for the query of the URL. */
  versionVariable?: string;
  /** The environment variables that hold a key, the first one set wins. */
  keyVariables: readonly string[];
  /** A server on this machine: works without a key. */
  keyless?: true;
  /** The model that is meant when only the provider is named. */
  defaultModel?: string;
  /** Sent with every request. No secrets. */
  headers?: Readonly<Record<string, string>>;
  /** How many seconds it keeps a prompt, for each retention that can be asked of it; the careful end of what it promises. */
  promptCache?: { readonly short?: number; readonly long?: number };
  /** Quirks of its API, merged under those of a model. */
  compat?: Readonly<Record<string, unknown>>;
  /** Added to the base URL (`/..` climbs): a GET that lists its models, for discovery and `tiller doctor`. */
  modelsPath?: string;
  /** The same for a POST of `{"model": id}` that tells more about one of them, as Ollama does. */
  showPath?: string;
  /** Where people get a key. */
  keyPage?: string;
}
