import { cutWords } from "../../cut-words.ts";
import { ProviderError } from "../../errors.ts";
import { kindOfError } from "../../http/error-kind.ts";
import { retryAfterOf } from "../../http/retry-after.ts";
import { parseEventObject } from "../../http/sse.ts";
import type { Delta } from "../../provider.ts";
import { countOf, isRecord, textOf } from "../wire-values.ts";
import { learnWrapping, noWrapping, pushWrapped, type Wrapping } from "../wrapped-text.ts";
import { blockedPrompt, failedFinish, type SafetyRating, STOP_REASONS } from "./finish-reason.ts";

/** The event stream of Google's `streamGenerateContent` in neutral deltas. Pure: changes its state and its list only. */

export interface StreamState {
  blockCount: number;
  /** The block that grows. There are no events that open or close one: it ends where another kind of part begins. */
  open: { index: number; kind: "text" | "thinking"; signature: string } | undefined;
  /** Something came that is not carried. */
  hasOtherParts: boolean;
  callIds: Set<string>;
  /** The event whose calls were given ids last, and what stands for it in them. */
  hashed: { data: string; hash: string };
  responseId: string | undefined;
  finishReason: string | undefined;
  finishMessage: string;
  ratings: readonly SafetyRating[];
  /** The counts that were told last, as every event repeats them. */
  usage: string;
  wrapping: Wrapping;
  ended: boolean;
}

export function initial(): StreamState {
  return {
    blockCount: 0,
    open: undefined,
    hasOtherParts: false,
    callIds: new Set(),
    hashed: { data: "", hash: "" },
    responseId: undefined,
    finishReason: undefined,
    finishMessage: "",
    ratings: [],
    usage: "",
    wrapping: noWrapping(),
    ended: false,
  };
}

/** What is read of the events. Nothing is promised by the other side, so everything may be missing. */
interface WireEvent {
  candidates?: (WireCandidate | null)[] | null;
  promptFeedback?: { blockReason?: unknown; blockReasonMessage?: unknown; safetyRatings?: unknown } | null;
  usageMetadata?: WireUsage | null;
  responseId?: unknown;
  modelVersion?: unknown;
  error?: WireError | string | null;
}

interface WireCandidate {
  content?: { parts?: (WirePart | null)[] | null } | null;
  finishReason?: unknown;
  finishMessage?: unknown;
  safetyRatings?: unknown;
}

interface WirePart {
  text?: unknown;
  thought?: unknown;
  thoughtSignature?: unknown;
  functionCall?: { id?: unknown; name?: unknown; args?: unknown } | null;
}

interface WireUsage {
  promptTokenCount?: unknown;
  cachedContentTokenCount?: unknown;
  candidatesTokenCount?: unknown;
  thoughtsTokenCount?: unknown;
  toolUsePromptTokenCount?: unknown;
}

interface WireError {
  code?: unknown;
  status?: unknown;
  message?: unknown;
}

export function step(state: StreamState, data: string, out: Delta[]): void {
  if (state.ended || pushWrapped(state.wrapping, data, out) || data === "[DONE]") return;
  const parsed: unknown = parseEventObject(data);
  const event = (Array.isArray(parsed) ? parsed[0] : parsed) as WireEvent | undefined;
  if (typeof event !== "object" || event === null) {
    fail(state, out, new ProviderError("malformed", `Google sent an event that is not JSON: ${cutWords(data, 200)}`));
  } else if (event.error) fail(state, out, toldError(event.error));
  else onEvent(state, event, data, out);
}

export function finish(state: StreamState, out: Delta[]): void {
  if (state.ended) return;
  const { finishReason } = state;
  if (finishReason === undefined) {
    fail(state, out, new ProviderError("malformed", "Google stream ended before a finishReason"));
    return;
  }
  const stopReason = STOP_REASONS.get(finishReason);
  if (stopReason === undefined) {
    fail(state, out, failedFinish(finishReason, state.finishMessage, state.ratings));
    return;
  }
  if (stopReason === "stop" && state.blockCount === 0 && !state.hasOtherParts) {
    const words = `Google ended the answer without a word (finishReason ${finishReason}, no content)`;
    fail(state, out, new ProviderError("malformed", words));
    return;
  }
  closeOpen(state, out);
  state.ended = true;
  out.push({ type: "done", stopReason: stopReason === "stop" && state.callIds.size > 0 ? "toolUse" : stopReason });
}

function onEvent(state: StreamState, event: WireEvent, data: string, out: Delta[]): void {
  onResponse(state, event, out);
  const { promptFeedback, usageMetadata } = event;
  if (promptFeedback?.blockReason) {
    pushUsage(state, usageMetadata, out);
    const { blockReason, blockReasonMessage, safetyRatings } = promptFeedback;
    fail(state, out, blockedPrompt(String(blockReason), textOf(blockReasonMessage), ratingsOf(safetyRatings)));
    return;
  }
  const candidate = event.candidates?.[0];
  const parts = candidate?.content?.parts;
  const grown = out.length;
  if (Array.isArray(parts)) for (const part of parts) onPart(state, part, data, out);
  if (candidate) onCandidateEnd(state, candidate);
  // Only where nothing but the text can differ: one part, and not in the last event.
  if (parts?.length === 1 && state.finishReason === undefined) {
    learnWrapping(state.wrapping, data, out[grown]);
  }
  pushUsage(state, usageMetadata, out);
}

function onResponse(state: StreamState, event: WireEvent, out: Delta[]): void {
  if (state.responseId !== undefined || typeof event.responseId !== "string") return;
  state.responseId = event.responseId;
  const model = typeof event.modelVersion === "string" ? event.modelVersion : undefined;
  out.push({ type: "response", id: event.responseId, ...(model ? { model } : {}) });
}

/** More events may follow: counts, and on some servers the rest of the answer. The end is the end of the stream. */
function onCandidateEnd(state: StreamState, candidate: WireCandidate): void {
  if (candidate.safetyRatings) state.ratings = ratingsOf(candidate.safetyRatings);
  const reason = textOf(candidate.finishReason);
  if (reason === "") return;
  state.finishReason = reason;
  state.finishMessage = textOf(candidate.finishMessage);
}

/** Images, code and what else a model may answer with is not carried. */
function onPart(state: StreamState, part: WirePart | null, data: string, out: Delta[]): void {
  if (part?.functionCall) onCall(state, part.functionCall, textOf(part.thoughtSignature), data, out);
  else if (typeof part?.text === "string") onText(state, part, part.text, out);
  else if (part) state.hasOtherParts = true;
}

/** The hot path: once per token. The signature of a block may come with any of its pieces, also with an empty last one. */
function onText(state: StreamState, part: WirePart, text: string, out: Delta[]): void {
  const signature = textOf(part.thoughtSignature);
  if (text === "" && signature === "") return;
  const kind = part.thought === true ? "thinking" : "text";
  let { open } = state;
  const isNext = open?.kind === kind && (signature === "" || open.signature === "" || open.signature === signature);
  if (!open || !isNext) {
    closeOpen(state, out);
    open = { index: state.blockCount++, kind, signature: "" };
    state.open = open;
    out.push({ type: "open", index: open.index, block: { type: kind } });
  }
  if (signature !== "") open.signature = signature;
  if (text !== "") out.push({ type: "grow", index: open.index, text });
}

/** A call comes in one piece. */
function onCall(
  state: StreamState,
  call: NonNullable<WirePart["functionCall"]>,
  signature: string,
  data: string,
  out: Delta[],
): void {
  closeOpen(state, out);
  const index = state.blockCount++;
  out.push({
    type: "open",
    index,
    block: { type: "toolCall", id: callId(state, textOf(call.id), data), name: textOf(call.name) },
  });
  if (call.args !== undefined && call.args !== null) {
    out.push({ type: "grow", index, text: JSON.stringify(call.args) });
  }
  out.push(signature === "" ? { type: "close", index } : { type: "close", index, signature });
}

function closeOpen(state: StreamState, out: Delta[]): void {
  if (!state.open) return;
  const { index, signature } = state.open;
  out.push(signature === "" ? { type: "close", index } : { type: "close", index, signature });
  state.open = undefined;
  state.wrapping = noWrapping();
}

/**
 * Older models give no ids. The id of the response and the number of the call make one that is not met again in the
 * conversation; where even that is missing, the event itself stands for it.
 */
function callId(state: StreamState, told: string, data: string): string {
  // Once for all calls of an event: it is as long as they are many.
  if (state.responseId === undefined && state.hashed.data !== data) state.hashed = { data, hash: hashOf(data) };
  const made = `${state.responseId ?? `call_${state.hashed.hash}`}_${state.callIds.size}`;
  const id = told !== "" && !state.callIds.has(told) ? told : made;
  state.callIds.add(id);
  return id;
}

function hashOf(text: string): string {
  let hash = 5381;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 33) ^ text.charCodeAt(i)) >>> 0;
  return hash.toString(36);
}

/** Counts are totals so far. Those of the prompt include what came from the cache; thoughts are counted apart. */
function pushUsage(state: StreamState, usage: WireUsage | null | undefined, out: Delta[]): void {
  if (!usage) return;
  const prompt = countOf(usage.promptTokenCount);
  const cached = countOf(usage.cachedContentTokenCount) ?? 0;
  const tools = countOf(usage.toolUsePromptTokenCount) ?? 0;
  const answer = countOf(usage.candidatesTokenCount);
  const thoughts = countOf(usage.thoughtsTokenCount);
  const counts = `${prompt} ${cached} ${tools} ${answer} ${thoughts}`;
  if (counts === state.usage) return;
  state.usage = counts;
  out.push({
    type: "usage",
    ...(prompt === undefined ? {} : { input: Math.max(0, prompt - cached) + tools, cacheRead: cached }),
    ...(answer === undefined && thoughts === undefined ? {} : { output: (answer ?? 0) + (thoughts ?? 0) }),
    ...(thoughts === undefined ? {} : { reasoning: thoughts }),
  });
}

function toldError(told: WireError | string): ProviderError {
  const error: WireError = typeof told === "string" ? { message: told } : told;
  const code = countOf(error.code);
  const status = textOf(error.status);
  const message = textOf(error.message) || "no message";
  const known = code === undefined ? {} : { status: code };
  const name = [code, status].filter((word) => word !== undefined && word !== "").join(" ") || "error";
  const retryAfterMs = retryAfterOf({ status: code ?? 0, headers: {}, body: { error } }, 0);
  return new ProviderError(kindOfError({ ...known, code: status, message }), `${name}: ${message}`, {
    ...known,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function ratingsOf(value: unknown): SafetyRating[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function fail(state: StreamState, out: Delta[], error: ProviderError): void {
  closeOpen(state, out);
  state.ended = true;
  out.push({ type: "error", error });
}
