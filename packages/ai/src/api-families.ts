/** The wire formats that can be spoken. Apart from the code that speaks them, which is loaded with the first request. */
const NAMES = [
  "anthropic-messages",
  "openai-completions",
  "openai-responses",
  "azure-openai-responses",
  "google-generative-ai",
  "ai-sdk",
  "offline",
  "script",
] as const;

export const API_FAMILIES: readonly string[] = NAMES;

export type ApiFamilyName = (typeof NAMES)[number];

export function isApiFamily(name: string): name is ApiFamilyName {
  return API_FAMILIES.includes(name);
}
