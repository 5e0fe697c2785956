import { secretsOfAuthFile, secretsOfModelsFile, valuesOf } from "@tiller/ai/configured-secrets";
import { PROVIDERS } from "@tiller/ai/providers/index";
import { readModelsFiles } from "./config/models-file.ts";
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
    ...valuesOf([...secretsOfAuthFile(auth?.value), ...secretsOfModelsFile(models?.value)], env),
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
