import { filledText, textOf } from "../wire-values.ts";

/** What is read of the events. Nothing is promised by the other side, so everything may be missing. */
export interface WireEvent {
  type?: string;
  output_index?: number;
  item_id?: string | null;
  item?: WireItem;
  content_index?: number;
  summary_index?: number;
  delta?: string;
  text?: string;
  refusal?: string;
  arguments?: string;
  response?: WireResponse | null;
  /** Of an event of type `error`, or of one without a type, as gateways send them. */
  error?: WireError | string | null;
  code?: string | number | null;
  message?: string | null;
}

export interface WireItem {
  type?: string;
  id?: string;
  content?: (WirePart | null)[] | null;
  summary?: (WirePart | null)[] | null;
  phase?: string;
  encrypted_content?: string | null;
  call_id?: string;
  name?: string;
  /** JSON; from some servers already an object. */
  arguments?: unknown;
}

interface WirePart {
  type?: string;
  text?: string;
  refusal?: string;
}

export interface WireError {
  code?: string | number | null;
  type?: string | null;
  message?: string | null;
}

export interface WireResponse {
  id?: string;
  model?: string;
  status?: string | null;
  output?: WireItem[] | null;
  error?: WireError | null;
  incomplete_details?: { reason?: string } | null;
  usage?: {
    input_tokens?: number | null;
    input_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null;
    output_tokens?: number | null;
    output_tokens_details?: { reasoning_tokens?: number | null } | null;
  } | null;
}

export function argumentsOf(item: WireItem): string | undefined {
  const given = item.arguments;
  return typeof given === "object" && given !== null ? JSON.stringify(given) : filledText(given);
}

/** The text of a message item, all its parts. */
export function joinedText(item: WireItem): string {
  return texts(item.content, "output_text").join("");
}

/** The thoughts of a reasoning item: its summary, or the thoughts themselves where a model shows them. */
export function joinedReasoning(item: WireItem): string {
  const summary = texts(item.summary, "summary_text");
  return (summary.length > 0 ? summary : texts(item.content, "reasoning_text")).join("\n\n");
}

export function refusalOf(item: WireItem): string {
  return parts(item.content)
    .map((part) => (part?.type === "refusal" ? textOf(part.refusal) : ""))
    .join("");
}

function texts(list: unknown, type: string): string[] {
  return parts(list).flatMap((part) => (part?.type === type && filledText(part.text) ? [part.text as string] : []));
}

function parts(list: unknown): (WirePart | null)[] {
  return Array.isArray(list) ? list : [];
}
