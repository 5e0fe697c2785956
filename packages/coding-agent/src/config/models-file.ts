import { join } from "node:path";
import { fileExists, readJsonFile } from "./json-file.ts";

/** The two files about models in the agent folder, as they stand: what is inside is checked by the model catalogue. */
export interface ModelsFiles {
  /** models.json: custom providers and overrides. */
  models: Record<string, unknown> | undefined;
  modelsPath: string;
  /** auth.json: credentials by provider. */
  auth: Record<string, unknown> | undefined;
  authPath: string;
  problems: string[];
}

export function readModelsFiles(agentDir: string): ModelsFiles {
  const modelsPath = join(agentDir, "models.json");
  const authPath = join(agentDir, "auth.json");
  const models = readJsonFile(modelsPath);
  const auth = readJsonFile(authPath);
  const problems = [models.problem, auth.problem].filter((problem) => problem !== undefined);
  if (!models.object && !models.problem && !fileExists(modelsPath)) {
    const yaml = ["models.yml", "models.yaml"].map((name) => join(agentDir, name)).find(fileExists);
    if (yaml) problems.push(`${yaml}: YAML is not read yet; the same structure as JSON in ${modelsPath} is`);
  }
  return { models: models.object, modelsPath, auth: auth.object, authPath, problems };
}
