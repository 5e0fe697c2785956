import type { WireUsage } from "./usage.ts";

/** What is read of the events of the Anthropic Messages API. Not every server sends all of it, or in these types. */

export interface WireEvent {
  type?: string;
  index?: number | null;
  message?: {
    id?: string | null;
    model?: string | null;
    usage?: WireUsage | null;
    stop_reason?: string | null;
  } | null;
  content_block?: WireBlock | null;
  delta?: {
    text?: string | null;
    thinking?: string | null;
    partial_json?: string | null;
    signature?: string | null;
    stop_reason?: string | null;
    stop_details?: StopDetails | null;
  } | null;
  usage?: WireUsage | null;
  error?: WireError | string | null;
}

export interface WireBlock {
  type?: string;
  text?: string | null;
  thinking?: string | null;
  signature?: string | null;
  data?: string | null;
  id?: string | null;
  name?: string | null;
  input?: unknown;
}

interface WireError {
  type?: string | null;
  code?: string | number | null;
  message?: string | null;
  details?: { error_code?: string | null } | null;
}

export interface StopDetails {
  category?: string | null;
  explanation?: string | null;
}
