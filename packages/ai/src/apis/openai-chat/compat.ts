import type { Model } from "@tiller/protocol/model";
import { ProviderError } from "../../errors.ts";
import { CAUTIOUS, type ChatCompat } from "./chat-compat.ts";
import { THINKING_FORMATS } from "./thinking.ts";
import { VENDORS } from "./vendors.ts";

/** The words that are allowed where not every text is. */
const CHOICES: Partial<Record<keyof ChatCompat, readonly string[]>> = {
  maxTokensField: ["max_tokens", "max_completion_tokens"],
  thinkingReplay: ["field", "none"],
  thinkingFormat: THINKING_FORMATS,
  cacheControlFormat: ["none", "anthropic"],
};

const KINDS: Readonly<Record<string, string>> = { boolean: "true or false", string: "a text", object: "an object" };

export function compatOf(model: Model): ChatCompat {
  return { ...CAUTIOUS, ...knownCompat(model), ...writtenCompat(model) };
}

function knownCompat(model: Model): Partial<ChatCompat> {
  const host = URL.canParse(model.baseUrl) ? new URL(model.baseUrl).hostname : "";
  const vendor =
    VENDORS.find(({ hosts }) => hosts.some((name) => host === name || host.endsWith(`.${name}`))) ??
    VENDORS.find(({ ids }) => ids.includes(model.provider));
  const compat: Partial<ChatCompat> = { ...vendor?.compat };
  for (const [pattern, special] of vendor?.models ?? []) {
    if (pattern.test(model.id)) Object.assign(compat, special);
  }
  return compat;
}

/** Keys of other API families and of the future are passed over; a value that makes no sense is told. */
function writtenCompat(model: Model): Partial<ChatCompat> {
  const written: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(model.compat ?? {})) {
    if (!Object.hasOwn(CAUTIOUS, key) || value === null || value === undefined) continue;
    const problem = problemWith(key as keyof ChatCompat, value);
    if (problem) throw new ProviderError("bad_request", `compat.${key} of ${model.provider}/${model.id} ${problem}`);
    written[key] = value;
  }
  return written;
}

function problemWith(key: keyof ChatCompat, value: unknown): string | undefined {
  const choices = CHOICES[key];
  const given = JSON.stringify(value);
  if (choices) {
    return choices.includes(value as string) ? undefined : `is ${given}; it can be ${choices.join(", ")}`;
  }
  const wanted = typeof CAUTIOUS[key];
  return typeof value === wanted && !Array.isArray(value) ? undefined : `is ${given}; it must be ${KINDS[wanted]}`;
}
