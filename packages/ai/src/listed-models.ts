import type { Model } from "@tiller/protocol/model";
import type { ProviderRow } from "./providers/provider-row.ts";

/**
 * Reads the list of models of a server. Every server has its own words for the same things, so each thing has a table of
 * the places where it may stand; the first one that holds something counts. Pure.
 */

type Entry = Readonly<Record<string, unknown>>;

const isEntry = (value: unknown): value is Entry =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What a server that tells nothing is taken for. A local one is often set up smaller than its model could be. */
const REMOTE_WINDOW = 128_000;
const LOCAL_WINDOW = 32_768;
const USUAL_ANSWER = 16_384;

/** Undefined when it is no list of models. What is not for chatting is left out. */
export function readModelList(list: unknown, row: ProviderRow): Model[] | undefined {
  const entries = entriesOf(list);
  return entries?.filter(isForChat).flatMap((entry) => toModel(entry, row));
}

function entriesOf(list: unknown): Entry[] | undefined {
  const found = isEntry(list) ? [list.data, list.models].find(Array.isArray) : list;
  return Array.isArray(found) ? found.filter(isEntry) : undefined;
}

function toModel(entry: Entry, row: ProviderRow): Model[] {
  const id = idOf(entry);
  if (id === undefined) return [];
  const contextWindow = count(entry, WINDOWS) ?? (row.keyless ? LOCAL_WINDOW : REMOTE_WINDOW);
  const maxTokens = Math.min(count(entry, ANSWERS) ?? USUAL_ANSWER, contextWindow);
  return [
    {
      id,
      name: text(entry, NAMES) ?? id,
      api: row.api,
      provider: row.id,
      baseUrl: row.baseUrl,
      reasoning: tells(entry, REASONING),
      input: tells(entry, IMAGES) ? ["text", "image"] : ["text"],
      cost: costOf(entry),
      contextWindow,
      maxTokens,
      ...(row.compat ? { compat: { ...row.compat } } : {}),
    },
  ];
}

/** Ollama and Google call the id `name`, LM Studio calls it `key`. */
function idOf(entry: Entry): string | undefined {
  const id = text(entry, ["id", "key", "model", "name"]);
  return id?.replace(/^models\//, "");
}

/**
 * The model with what Ollama tells when it is asked about this one alone. Its window is what the model could do; the
 * server gives less unless it is told, so more than usual is believed only when the model's own settings say it.
 */
export function withShown(model: Model, shown: unknown): Model | undefined {
  if (!isEntry(shown) || (shown.capabilities === undefined && shown.model_info === undefined)) return undefined;
  const info = isEntry(shown.model_info) ? shown.model_info : {};
  const could = Number(info[`${info["general.architecture"]}.context_length`] ?? 0) || model.contextWindow;
  const set = Number(/^num_ctx\s+(\d+)/m.exec(String(shown.parameters ?? ""))?.[1] ?? 0);
  const contextWindow = set || Math.min(could, model.contextWindow);
  return {
    ...model,
    reasoning: model.reasoning || tells(shown, REASONING),
    input: tells(shown, IMAGES) ? ["text", "image"] : model.input,
    contextWindow,
    maxTokens: Math.min(model.maxTokens, contextWindow),
  };
}

// ── Where things stand ─────────────────────────────────────────────────────────────────────────────────────────────

/** What is loaded counts before what could be. */
const WINDOWS = [
  "loaded_instances.0.config.context_length",
  "loaded_context_length",
  "meta.n_ctx",
  "max_model_len",
  "context_length",
  "context_window",
  "max_context_length",
  "inputTokenLimit",
  "max_input_tokens",
  "limits.max_input_tokens",
  "providers.0.context_length",
  "meta.n_ctx_train",
];
const ANSWERS = [
  "top_provider.max_completion_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "outputTokenLimit",
  "limits.max_output_tokens",
  "max_tokens",
];
const NAMES = ["display_name", "displayName", "name"];

/** A place, and the word that must be in its list; without a word the place must say true. */
type Sign = readonly [place: string, word?: string];

const IMAGES: readonly Sign[] = [
  ["architecture.input_modalities", "image"],
  ["input_modalities", "image"],
  ["supported_input_modalities", "image"],
  ["capabilities.vision"],
  ["capabilities.image_input.supported"],
  ["capabilities", "vision"],
  ["tags", "vision"],
  ["supports_image_in"],
  ["supports_image_input"],
];
const REASONING: readonly Sign[] = [
  ["supported_parameters", "reasoning"],
  ["capabilities.reasoning"],
  ["capabilities.thinking.supported"],
  ["capabilities", "thinking"],
  ["capabilities", "reasoning"],
  ["tags", "reasoning"],
  ["supports_reasoning"],
  ["thinking"],
];

/** Texts are dollars for one token, numbers for a million. */
const PRICES: Readonly<Record<keyof Model["cost"], readonly string[]>> = {
  input: ["pricing.prompt", "pricing.input"],
  output: ["pricing.completion", "pricing.output"],
  cacheRead: ["pricing.input_cache_read", "pricing.cached_input"],
  cacheWrite: ["pricing.input_cache_write"],
};

const OTHER_TYPES = new Set([
  "embedding",
  "embeddings",
  "image",
  "audio",
  "rerank",
  "moderation",
  "transcribe",
  "video",
]);
const OTHER_NAMES =
  /embed|rerank|whisper|\btts\b|-tts|transcribe|moderation|guard|dall-e|imagen|veo-|image|audio|realtime|\blive\b|sora|bge-|lyria|ocr|aqa$|search-preview|deep-research|computer-use|robotics/i;

function isForChat(entry: Entry): boolean {
  const type = at(entry, "type") ?? at(entry, "model_type");
  if (typeof type === "string" && OTHER_TYPES.has(type)) return false;
  if (at(entry, "capabilities.completion_chat") === false || at(entry, "supports_chat") === false) return false;
  if (at(entry, "active") === false) return false;
  const methods = at(entry, "supportedGenerationMethods");
  if (Array.isArray(methods) && !methods.includes("generateContent")) return false;
  const abilities = at(entry, "capabilities");
  if (Array.isArray(abilities) && abilities.includes("embedding")) return false;
  const outputs = at(entry, "architecture.output_modalities");
  if (Array.isArray(outputs) && !outputs.includes("text")) return false;
  return !OTHER_NAMES.test(idOf(entry) ?? "");
}

// ── Reading a place ────────────────────────────────────────────────────────────────────────────────────────────────

function at(entry: Entry, place: string): unknown {
  let value: unknown = entry;
  for (const key of place.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function count(entry: Entry, places: readonly string[]): number | undefined {
  const values = places.map((place) => at(entry, place));
  return values.find((value): value is number => typeof value === "number" && value > 0 && Number.isFinite(value));
}

function text(entry: Entry, places: readonly string[]): string | undefined {
  const values = places.map((place) => at(entry, place));
  return values.find((value): value is string => typeof value === "string" && value !== "");
}

function tells(entry: Entry, signs: readonly Sign[]): boolean {
  return signs.some(([place, word]) => {
    const value = at(entry, place);
    return word === undefined ? isYes(value) : Array.isArray(value) && value.includes(word);
  });
}

/** LM Studio describes what it can do in an object where others say true. */
const isYes = (value: unknown): boolean => value === true || isEntry(value);

function costOf(entry: Entry): Model["cost"] {
  const price = (kind: keyof Model["cost"]): number => {
    const told = PRICES[kind].map((place) => at(entry, place)).find((value) => Number(value) > 0);
    return typeof told === "string" ? tidy(Number(told) * 1_000_000) : Number(told ?? 0);
  };
  return {
    input: price("input"),
    output: price("output"),
    cacheRead: price("cacheRead"),
    cacheWrite: price("cacheWrite"),
  };
}

/** 0.0000003 * 1000000 is not quite 0.3. */
const tidy = (value: number): number => Number(value.toPrecision(12));
