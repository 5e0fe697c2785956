import type { ProviderRow } from "./provider-row.ts";

/** The way MiniMax recommends: here its thinking arrives as thinking, not as tagged text. */
export const minimax: ProviderRow = {
  id: "minimax",
  name: "MiniMax",
  api: "anthropic-messages",
  baseUrl: "https://api.minimax.io/anthropic",
  keyVariables: ["MINIMAX_API_KEY"],
  defaultModel: "MiniMax-M3",
  keyPage: "https://platform.minimax.io",
};
