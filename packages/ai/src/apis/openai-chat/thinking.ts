import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { ChatCompat, ThinkingFormat } from "./chat-compat.ts";

/** How a thinking level is said to a server. Every vendor found its own way (`compat.thinkingFormat`). */

type Fields = Record<string, unknown>;

interface Wish {
  thinks: boolean;
  /** Undefined when nothing is to be said about it. */
  effort: string | undefined;
}

const FORMATS: Readonly<Record<ThinkingFormat, (wish: Wish) => Fields>> = {
  /** An effort, and at level `off` nothing unless a word for it is known: most models cannot stop. */
  openai: ({ effort }) => effortField(effort),
  openrouter: ({ thinks, effort }) => ({ reasoning: effort === undefined ? { enabled: thinks } : { effort } }),
  deepseek: switchField,
  zai: switchField,
  qwen: ({ thinks }) => ({ enable_thinking: thinks }),
  "qwen-chat-template": ({ thinks }) => ({ chat_template_kwargs: { enable_thinking: thinks } }),
  together: ({ thinks, effort }) => ({
    reasoning: { enabled: thinks },
    ...effortField(thinks ? effort : undefined),
  }),
};

export const THINKING_FORMATS: readonly string[] = Object.keys(FORMATS);

export function thinkingFields(model: Model, level: ThinkingLevel, compat: ChatCompat): Fields {
  if (!model.reasoning) return {};
  const thinks = level !== "off";
  const named = model.thinkingLevelMap?.[level];
  // A model without the level `off` is not told to stop.
  if (!thinks && named === null) return {};
  const word = named ?? compat.reasoningEffortMap[level] ?? (thinks ? level : undefined);
  return FORMATS[compat.thinkingFormat]({ thinks, effort: compat.supportsReasoningEffort ? word : undefined });
}

function switchField({ thinks, effort }: Wish): Fields {
  return { thinking: { type: thinks ? "enabled" : "disabled" }, ...effortField(thinks ? effort : undefined) };
}

function effortField(effort: string | undefined): Fields {
  return effort === undefined ? {} : { reasoning_effort: effort };
}
