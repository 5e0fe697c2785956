import { type Environment, readHeader, readSecret, type Secret } from "@tiller/ai/auth";
import { secretsInOptions, secretsInUrl } from "@tiller/ai/model-secrets";
import { PROVIDERS } from "@tiller/ai/providers/index";
import { type ModelsFiles, readModelsFiles } from "./config/models-file.ts";
import { type Env, homeFolder } from "./config/paths.ts";
import type { Settings } from "./config/settings.ts";
import { createRedactor, type Redact } from "./lib/redactor.ts";

/** What an exported page does not tell: the secrets that are known here, what looks like one, and where the home folder is. */

export interface RedactionInputs {
  settings: Pick<Settings, "get">;
  env: Env;
  agentDir: string;
  /** `--api-key` */
  apiKey?: string;
}

/** Undefined when the settings say that nothing is to be taken out. */
export async function exportRedactor({ settings, ...inputs }: RedactionInputs): Promise<Redact | undefined> {
  const mode = settings.get("export.redact.mode");
  if (mode === "none") return undefined;
  return createRedactor({
    secrets: await knownSecrets(inputs),
    patterns: settings.get("export.redact.patterns"),
    ...(mode === "all" && { home: homeFolder(inputs.env) }),
  });
}

/** Of the environment, auth.json and the models file. Commands that print a secret are not run for this. */
export async function knownSecrets({ env, agentDir, apiKey }: Omit<RedactionInputs, "settings">): Promise<string[]> {
  const { auth, models } = await readModelsFiles(agentDir);
  return [
    ...(apiKey === undefined ? [] : [apiKey]),
    ...secretsOfEnvironment(env),
    ...secretsInOptions(auth?.value),
    ...secretsOfModels(models?.value, env),
  ].map((secret) => secret.trim());
}

/** How variables are called that hold a secret, whatever program they are for. */
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$/i;
/** Files that hold one are no secret themselves. */
const PATH = /^[~./\\]|^[A-Za-z]:\\/;

function secretsOfEnvironment(env: Env): string[] {
  const ours = new Set(PROVIDERS.flatMap(({ keyVariables }) => keyVariables));
  const named = Object.entries(env).filter(([name]) => ours.has(name) || SECRET_NAME.test(name));
  return named.flatMap(([, value]) => (value === undefined || PATH.test(value) ? [] : [value]));
}

/** By the name of a field in the models file, wherever it stands. */
const SECRET_FIELDS: Readonly<Record<string, (value: unknown, env: Environment) => string[]>> = {
  apiKey: (value, env) => (typeof value === "string" ? valuesIn(readSecret(value, env)) : []),
  headers: (value, env) => textsIn(value).flatMap((text) => valuesIn(readHeader(text, env))),
  baseUrl: (value) => (typeof value === "string" ? secretsInUrl(value) : []),
  options: (value) => secretsInOptions(value),
};

function secretsOfModels(value: ModelsFile, env: Environment): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    Object.hasOwn(SECRET_FIELDS, name) ? SECRET_FIELDS[name]!(field, env) : secretsOfModels(field, env),
  );
}
type ModelsFile = NonNullable<ModelsFiles["models"]>["value"] | undefined;

/** A header is often a word and the key. */
function valuesIn(secret: Secret): string[] {
  return "value" in secret ? [secret.value, ...secret.value.split(/\s+/)] : [];
}

function textsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).filter((item) => typeof item === "string");
}
