/** Where keys come from. Reads nothing itself: files are given parsed, the environment is given as a record. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that hold a provider's key, the first one set wins. */
const KEY_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  google: ["GEMINI_API_KEY"],
  groq: ["GROQ_API_KEY"],
  cerebras: ["CEREBRAS_API_KEY"],
  xai: ["XAI_API_KEY"],
  openrouter: ["OPENROUTER_API_KEY"],
  "vercel-ai-gateway": ["AI_GATEWAY_API_KEY"],
  zai: ["ZAI_API_KEY"],
  mistral: ["MISTRAL_API_KEY"],
  minimax: ["MINIMAX_API_KEY"],
  moonshot: ["MOONSHOT_API_KEY"],
  opencode: ["OPENCODE_API_KEY"],
  kimi: ["KIMI_API_KEY"],
  deepseek: ["DEEPSEEK_API_KEY"],
  fireworks: ["FIREWORKS_API_KEY"],
  huggingface: ["HF_TOKEN"],
};

export function keyVariables(provider: string): readonly string[] {
  return Object.hasOwn(KEY_VARIABLES, provider) ? (KEY_VARIABLES[provider] ?? []) : [];
}

/** A secret, or why there is none. */
export type Secret = { value: string } | { missing: string };

/** `$NAME` and `${NAME}` stand for a variable, `!command` for its output; everything else is the secret itself. */
export function resolveSecret(text: string, env: Environment): Secret {
  if (text.startsWith("!")) return { missing: "it is a !command, which a later version will run" };
  const name = /^\$(?:\{(\w+)\}|(\w+))$/.exec(text);
  if (!name) return { value: text };
  const variable = name[1] ?? name[2] ?? "";
  const value = env[variable];
  return value ? { value } : { missing: `the environment variable ${variable} is not set` };
}

export interface KeySources {
  env: Environment;
  /** `--api-key`, for this process only. */
  runtimeKey?: { provider: string; key: string };
  /** By provider, from auth.json. */
  stored: ReadonlyMap<string, string>;
  /** By provider, from models.json. */
  configured: ReadonlyMap<string, string>;
}

/** In order: given at start, auth.json, environment, models.json. */
export function findKey(provider: string, sources: KeySources): Secret {
  const { env, runtimeKey, stored, configured } = sources;
  if (runtimeKey?.provider === provider) return { value: runtimeKey.key };
  const reasons: string[] = [];
  const take = (file: string, text: string | undefined): Secret | undefined => {
    if (text === undefined) return undefined;
    const secret = resolveSecret(text, env);
    if ("value" in secret) return secret;
    reasons.push(`${file} has a key for "${provider}", but ${secret.missing}`);
    return undefined;
  };
  const fromVariable = keyVariables(provider)
    .map((name) => env[name])
    .find((value) => value);
  return (
    take("auth.json", stored.get(provider)) ??
    (fromVariable ? { value: fromVariable } : undefined) ??
    take("models.json", configured.get(provider)) ?? { missing: reasons.join("; ") }
  );
}

/** The keys in a parsed auth.json, and what in it cannot be used. */
export function readStoredKeys(auth: unknown): { keys: Map<string, string>; problems: string[] } {
  const keys = new Map<string, string>();
  const problems: string[] = [];
  if (auth === undefined || auth === null) return { keys, problems };
  if (typeof auth !== "object" || Array.isArray(auth)) {
    return { keys, problems: ["auth.json: expected an object with one entry for each provider"] };
  }
  for (const [provider, entry] of Object.entries(auth)) {
    const { type, key } = (entry ?? {}) as { type?: unknown; key?: unknown };
    if (typeof key === "string" && key !== "" && (type === "api_key" || type === undefined)) keys.set(provider, key);
    else if (type === "oauth") {
      problems.push(`auth.json: the login of "${provider}" (oauth) cannot be used yet; use an API key`);
    } else problems.push(`auth.json: "${provider}" needs {"type":"api_key","key":"..."}`);
  }
  return { keys, problems };
}
