import { anthropic } from "./anthropic.ts";
import { azureOpenai } from "./azure-openai.ts";
import { cerebras } from "./cerebras.ts";
import { deepseek } from "./deepseek.ts";
import { fireworks } from "./fireworks.ts";
import { githubModels } from "./github-models.ts";
import { google } from "./google.ts";
import { groq } from "./groq.ts";
import { huggingface } from "./huggingface.ts";
import { kimi } from "./kimi.ts";
import { llamacpp } from "./llamacpp.ts";
import { lmstudio } from "./lmstudio.ts";
import { minimax } from "./minimax.ts";
import { mistral } from "./mistral.ts";
import { moonshot } from "./moonshot.ts";
import { ollama } from "./ollama.ts";
import { openai } from "./openai.ts";
import { opencode } from "./opencode.ts";
import { openrouter } from "./openrouter.ts";
import type { ProviderRow } from "./provider-row.ts";
import { together } from "./together.ts";
import { vercelAiGateway } from "./vercel-ai-gateway.ts";
import { vllm } from "./vllm.ts";
import { xai } from "./xai.ts";
import { zai } from "./zai.ts";

/**
 * Every provider we know without being told, in the order their models are listed. Loaded at every start: keep the rows
 * small. What a row does not know (a base URL of your own, other quirks) goes into the user's models.json.
 */
export const PROVIDERS: readonly ProviderRow[] = [
  anthropic,
  openai,
  google,
  azureOpenai,
  openrouter,
  groq,
  xai,
  deepseek,
  mistral,
  cerebras,
  together,
  fireworks,
  githubModels,
  vercelAiGateway,
  zai,
  minimax,
  moonshot,
  kimi,
  opencode,
  huggingface,
  ollama,
  lmstudio,
  llamacpp,
  vllm,
];

const BY_ID: ReadonlyMap<string, ProviderRow> = new Map(PROVIDERS.map((row) => [row.id, row]));

export function providerRow(id: string): ProviderRow | undefined {
  return BY_ID.get(id);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A base URL as it is asked, or the variable that has to be set first. */
export type BaseUrl = { url: string } | { missing: string };

/**
 * Fills in what the environment says about a provider's base URL. `baseUrl` is that of a model or of the row; one that
 * is not the row's own was chosen by the user and only has its `{NAME}`s filled in.
 */
export function resolveBaseUrl(row: ProviderRow, env: Environment, baseUrl: string = row.baseUrl): BaseUrl {
  const given = row.baseUrlVariable === undefined ? undefined : env[row.baseUrlVariable];
  if (given && baseUrl === row.baseUrl) return { url: withVersion(fromVariable(given, row), row, env) };
  const missing = [...baseUrl.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "").find((name) => !env[name]);
  if (missing !== undefined) return { missing };
  return {
    url: withVersion(
      baseUrl.replace(/\{(\w+)\}/g, (_, name: string) => env[name] ?? ""),
      row,
      env,
    ),
  };
}

/** A URL, or the address a local server listens at (`box`, `:1234`, `0.0.0.0:11434`): the rest comes from the row. */
function fromVariable(given: string, row: ProviderRow): string {
  const text = given.trim().replace(/\/+$/, "");
  if (!row.keyless) return text;
  const usual = new URL(row.baseUrl);
  const address = text.startsWith(":") ? `http://${usual.hostname}${text}` : text;
  const isUrl = /^https?:\/\//.test(address);
  if (!URL.canParse(isUrl ? address : `http://${address}`)) return text;
  const url = new URL(isUrl ? address : `http://${address}`);
  if (url.hostname === "0.0.0.0") url.hostname = usual.hostname;
  if (!isUrl && url.port === "") url.port = usual.port;
  const login = url.username === "" ? "" : `${url.username}:${url.password}@`;
  return `${url.protocol}//${login}${url.host}${url.pathname === "/" ? usual.pathname : url.pathname}`;
}

/** `v1` is what the URL says without a version; one that has a query has been here already. */
function withVersion(url: string, row: ProviderRow, env: Environment): string {
  const version = row.versionVariable === undefined ? undefined : env[row.versionVariable];
  return version && version !== "v1" && !url.includes("?") ? `${url}?api-version=${encodeURIComponent(version)}` : url;
}

/** Where the provider tells which models it has. */
export function modelsUrl(row: ProviderRow, baseUrl: string): string | undefined {
  return row.modelsPath === undefined ? undefined : urlBelow(baseUrl, row.modelsPath);
}

/** A path of a row below a base URL, whose own query stays. */
export function urlBelow(baseUrl: string, rowPath: string): string {
  const url = new URL(baseUrl);
  const [path = "", query] = rowPath.split("?");
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  for (const [name, value] of new URLSearchParams(query ?? "")) url.searchParams.set(name, value);
  return url.href;
}
