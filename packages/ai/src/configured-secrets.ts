import { type Environment, readHeader, readSecret, variablesIn } from "./auth.ts";
import { isHarmlessHeader, secretsInOptions, secretsInUrl } from "./model-secrets.ts";

/**
 * What of models.json and auth.json is secret: one list for all who hide it, in pages, in recordings and from the programs
 * that we start. Pure; commands that print a secret are not run for this.
 */

/** A text of one of these files, as it stands there: a secret, or where it comes from. */
export interface SecretText {
  kind: "key" | "header" | "value" | "url";
  text: string;
}

/** Everything in auth.json, but for what only says where something is. */
export function secretsOfAuthFile(value: unknown): SecretText[] {
  return secretsInOptions(value).map((text) => ({ kind: "value", text }));
}

/** By the names of the fields that hold one, wherever they stand. */
export function secretsOfModelsFile(value: unknown): SecretText[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    Object.hasOwn(SECRET_FIELDS, name) ? SECRET_FIELDS[name]!(field) : secretsOfModelsFile(field),
  );
}

const SECRET_FIELDS: Readonly<Record<string, (value: unknown) => SecretText[]>> = {
  apiKey: (value) => (typeof value === "string" ? [{ kind: "key", text: value }] : []),
  headers: secretsInHeaders,
  baseUrl: (value) => (typeof value === "string" ? [{ kind: "url", text: value }] : []),
  options: secretsOfAuthFile,
};

function secretsInHeaders(value: unknown): SecretText[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, text]) =>
    typeof text === "string" && !isHarmlessHeader(name) ? [{ kind: "header", text }] : [],
  );
}

/** The secrets themselves, as far as they can be known. */
export function valuesOf(texts: readonly SecretText[], env: Environment): string[] {
  return texts.flatMap(({ kind, text }) => {
    if (kind === "url") return secretsInUrl(text);
    const secret = kind === "key" ? readSecret(text, env) : readHeader(text, env);
    if (!("value" in secret)) return [];
    return kind === "value" ? [secret.value] : [secret.value, ...wordsOf(secret.value)];
  });
}

/** A header is often a word and the key. Of others, what has no digit is a word. */
function wordsOf(value: string): string[] {
  const words = value.split(/\s+/);
  return /^(bearer|basic|token)$/i.test(words[0] ?? "") ? words.slice(1) : words.filter((word) => /\d/.test(word));
}

/** They say where and for whom a program runs: a path in an option may begin with one, and nothing runs without them. */
const ORDINARY =
  /^(HOME|USERPROFILE|USER|USERNAME|LOGNAME|PATH|PWD|SHELL|TERM|TMPDIR|TEMP|TMP|LANG|LC_\w+|XDG_\w+|APPDATA|LOCALAPPDATA|SYSTEMROOT|COMSPEC|HOSTNAME)$/i;

/** The variables of the environment that the secrets come from. */
export function variablesOf(texts: readonly SecretText[]): string[] {
  return texts.flatMap(({ text }) => variablesIn(text)).filter((name) => !ORDINARY.test(name));
}

/**
 * Variables that packages of the AI SDK read by themselves, beside those of our own providers. Names that are as often the
 * key to something else (GITHUB_TOKEN, CLOUDFLARE_API_TOKEN) are not here.
 */
export const PACKAGE_KEY_VARIABLES: readonly string[] = [
  "AI21_API_KEY",
  "ALIBABA_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ASSEMBLYAI_API_KEY",
  "AWS_ACCESS_KEY_ID",
  "AWS_BEARER_TOKEN_BEDROCK",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AZURE_API_KEY",
  "BASETEN_API_KEY",
  "BFL_API_KEY",
  "COHERE_API_KEY",
  "DASHSCOPE_API_KEY",
  "DEEPGRAM_API_KEY",
  "DEEPINFRA_API_KEY",
  "ELEVENLABS_API_KEY",
  "FAL_API_KEY",
  "FAL_KEY",
  "FRIENDLI_TOKEN",
  "GLADIA_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "GOOGLE_PRIVATE_KEY",
  "GOOGLE_PRIVATE_KEY_ID",
  "GOOGLE_VERTEX_API_KEY",
  "HUGGINGFACE_API_KEY",
  "HUME_API_KEY",
  "JINA_API_KEY",
  "LMNT_API_KEY",
  "LUMA_API_KEY",
  "NVIDIA_API_KEY",
  "PERPLEXITY_API_KEY",
  "PORTKEY_API_KEY",
  "REPLICATE_API_TOKEN",
  "REVAI_API_KEY",
  "SAMBANOVA_API_KEY",
  "TOGETHER_AI_API_KEY",
  "V0_API_KEY",
  "VERCEL_API_KEY",
  "VERCEL_OIDC_TOKEN",
  "VOYAGE_API_KEY",
];
