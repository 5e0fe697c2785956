import type { Model } from "@tiller/protocol/model";
import { builtinModelsOf } from "./catalogue.ts";
import { cutWords } from "./cut-words.ts";
import { readModelList, withShown } from "./listed-models.ts";
import { publicUrl } from "./model-secrets.ts";
import { modelsUrl, urlBelow } from "./providers/index.ts";
import type { ProviderRow } from "./providers/provider-row.ts";

/** Asks a server which models it has. */

/** A GET, or a POST of a body, done by whoever has the network. Rejects when there is no answer. */
export type Get = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
) => Promise<{ status: number; body: string }>;

export interface DiscoverOptions {
  get: Get;
  /** Where the server is; default: the row's. */
  baseUrl?: string;
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
}

export type Discovery = { models: Model[] } | { problem: string };

const USUAL_PATH = "/models";

/** Models we know keep the figures of the catalogue: a server seldom tells prices. */
export async function discoverModels(row: ProviderRow, options: DiscoverOptions): Promise<Discovery> {
  const baseUrl = options.baseUrl ?? row.baseUrl;
  if (row.modelsPath === undefined) return { problem: `${row.name} has no list of models to ask for` };
  if (!URL.canParse(baseUrl)) return { problem: `The base URL of ${row.name} is not a URL: "${publicUrl(baseUrl)}"` };
  let answer = await ask(row, baseUrl, options);
  // An older server may know only the list that all of them have.
  if ("missing" in answer && row.modelsPath !== USUAL_PATH) {
    answer = await ask({ ...row, modelsPath: USUAL_PATH }, baseUrl, options);
  }
  if ("problem" in answer) return { problem: answer.problem };
  const models = readModelList(answer.list, { ...row, baseUrl: publicUrl(baseUrl) });
  if (!models) return { problem: `${row.name} did not answer with a list of models (${publicUrl(answer.url)})` };
  const known = new Map(builtinModelsOf(row.id).map((model) => [model.id, model]));
  return { models: models.map((model) => withKnown(model, known.get(model.id))) };
}

/** What the server says of one model beyond its list; undefined when it says nothing. Rejects when there is no answer. */
export async function showModel(row: ProviderRow, model: Model, options: DiscoverOptions): Promise<Model | undefined> {
  const baseUrl = options.baseUrl ?? row.baseUrl;
  if (row.showPath === undefined || !URL.canParse(baseUrl)) return undefined;
  const body = JSON.stringify({ model: model.id });
  const answer = await options.get(urlBelow(baseUrl, row.showPath), headersFor(row, options), body);
  return answer.status === 200 ? withShown(model, JSON.parse(answer.body)) : undefined;
}

function withKnown(model: Model, known: Model | undefined): Model {
  return known ? { ...known, baseUrl: model.baseUrl } : model;
}

type Answer = { list: unknown; url: string } | { problem: string; missing?: true };

async function ask(row: ProviderRow, baseUrl: string, options: DiscoverOptions): Promise<Answer> {
  const url = modelsUrl(row, baseUrl) ?? baseUrl;
  const shown = publicUrl(url);
  let answer: { status: number; body: string };
  try {
    answer = await options.get(url, headersFor(row, options));
  } catch (error) {
    return { problem: silent(row, url, error) };
  }
  const { status, body } = answer;
  if (status === 401 || status === 403) return { problem: `${row.name} refuses the key (${status}): ${words(body)}` };
  if (status === 404 || status === 405) {
    return { problem: `${row.name} has no list of models at ${shown}`, missing: true };
  }
  if (status < 200 || status > 299) return { problem: `${row.name} answered ${status} (${shown}): ${words(body)}` };
  try {
    return { list: JSON.parse(body), url };
  } catch {
    return { problem: `${row.name} did not answer with JSON (${shown}): ${words(body)}` };
  }
}

function silent(row: ProviderRow, url: string, error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  const advice = row.keyless ? " Is the server running?" : "";
  return `${row.name} does not answer at ${new URL(url).host}: ${why}.${advice}`.replaceAll("..", ".");
}

const LONGEST_QUOTE = 200;

function words(body: string): string {
  const text = body.trim().replace(/\s+/g, " ");
  return cutWords(text, LONGEST_QUOTE) || "(nothing)";
}

function headersFor(row: ProviderRow, { apiKey, headers }: DiscoverOptions): Record<string, string> {
  return { ...authHeaders(row, apiKey), ...row.headers, ...headers };
}

type HeaderRule = (key: string) => Record<string, string>;

const ANTHROPIC_VERSION = { "anthropic-version": "2023-06-01" };
const KEY_HEADERS: Readonly<Record<string, HeaderRule>> = {
  "anthropic-messages": (key) =>
    key.startsWith("sk-ant-oat")
      ? { ...ANTHROPIC_VERSION, authorization: `Bearer ${key}`, "anthropic-beta": "oauth-2025-04-20" }
      : { ...ANTHROPIC_VERSION, "x-api-key": key },
  "google-generative-ai": (key) => ({ "x-goog-api-key": key }),
  "azure-openai-responses": (key) => ({ "api-key": key }),
};

function authHeaders(row: ProviderRow, key: string | undefined): Record<string, string> {
  if (!key) return row.api === "anthropic-messages" ? ANTHROPIC_VERSION : {};
  return KEY_HEADERS[row.api]?.(key) ?? { authorization: `Bearer ${key}` };
}
