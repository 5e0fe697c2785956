import { statSync } from "node:fs";
import type { ParsedFile } from "@tiller/ai/parsed-file";
import { below } from "../lib/below.ts";
import { fileExists, type ReadFile, readJsonFile } from "./json-file.ts";

/** The two files about models in the agent folder, as they stand: what is inside is checked by the model catalogue. */
export interface ModelsFiles {
  /** models.json, models.yml or models.yaml: custom providers and overrides. */
  models?: ParsedFile;
  /** auth.json: credentials by provider. */
  auth?: ParsedFile;
  problems: string[];
}

export const MODELS_NAMES = ["models.json", "models.yml", "models.yaml"] as const;

export async function readModelsFiles(agentDir: string): Promise<ModelsFiles> {
  const problems: string[] = [];
  const take = (path: string, { object, locate, problem }: ReadFile): ParsedFile | undefined => {
    if (problem !== undefined) problems.push(problem);
    return object && { name: path, value: object, locate };
  };
  const modelsPath = modelsFile(agentDir, problems);
  const authPath = below(agentDir, "auth.json");
  const models = take(modelsPath, await readModels(modelsPath));
  const auth = take(authPath, readJsonFile(authPath));
  const exposed = fileExists(authPath) ? exposure(authPath) : undefined;
  if (exposed) problems.push(exposed);
  return { ...(models ? { models } : {}), ...(auth ? { auth } : {}), problems };
}

/** The one that is read. Two would leave people guessing, so the other one is named. */
function modelsFile(agentDir: string, problems: string[]): string {
  const [json = "", ...yaml] = MODELS_NAMES.map((name) => below(agentDir, name));
  const [first = json, ...others] = [json, ...yaml].filter(fileExists);
  for (const other of others) problems.push(`${other}: not read, because there is ${first}; keep one of them`);
  return first;
}

/** Some are made by a program, out of the catalogue of a server. */
const LARGEST_MODELS = 16 * 1024 * 1024;

async function readModels(path: string): Promise<ReadFile> {
  if (path.endsWith(".json")) return readJsonFile(path, LARGEST_MODELS);
  const { readYamlFile } = await import("./yaml-file.ts");
  return readYamlFile(path, LARGEST_MODELS);
}

/** Keys are nobody else's business. Windows has no such modes. */
function exposure(path: string): string | undefined {
  if (process.platform === "win32") return undefined;
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return undefined;
  const shown = (mode & 0o777).toString(8).padStart(4, "0");
  return `${path}: other users of this machine may read it (mode ${shown}); to keep your keys to yourself: chmod 600 ${path}`;
}
