import { MOST_BLOCKS } from "../../assemble.ts";
import { cutWords } from "../../cut-words.ts";
import { ProviderError } from "../../errors.ts";
import { parseEventObject } from "../../http/sse.ts";
import type { Delta } from "../../provider.ts";
import { learnWrapping, noWrapping, pushWrapped, type Wrapping } from "../wrapped-text.ts";
import { type Call, callFor, readPiece, settleId } from "./calls.ts";
import { failureOfError, failureOfReason, stopReasonOf } from "./endings.ts";
import { addDetail, type ReasoningDetail, type ReasoningField, THINKING_PARTS } from "./reasoning.ts";
import { readUsage } from "./usage.ts";

/**
 * The event stream of the Chat Completions API in neutral deltas. Pure: `step` changes its state and its list only.
 *
 * A block of text or thinking is closed when the next block opens. Tool calls stay open to the end, as their pieces may
 * come in turns. The answer is complete at `[DONE]`, or when the stream ends after a `finish_reason`; usage may come
 * between the two. `<think>` tags inside the text stay what they are: text.
 */

export interface StreamState {
  blockCount: number;
  /** The block of text or thinking that grows, and the form its thinking comes in. */
  open: { index: number; kind: "text" | "thinking"; form: string } | undefined;
  calls: Call[];
  /** Those that are not yet part of a signature. */
  details: ReasoningDetail[];
  refusal: string;
  finishReason: string | undefined;
  responseId: string;
  responseModel: string;
  /** Something of an answer has come. */
  answered: boolean;
  wrapping: Wrapping;
  /** How often the wrapping of the open block was learned. */
  lessons: number;
  /** The last event did nothing but let a block grow. */
  plain: boolean;
  ended: boolean;
}

export function initial(): StreamState {
  return {
    blockCount: 0,
    open: undefined,
    calls: [],
    details: [],
    refusal: "",
    finishReason: undefined,
    responseId: "",
    responseModel: "",
    answered: false,
    wrapping: noWrapping(),
    lessons: 0,
    plain: false,
    ended: false,
  };
}

/** What is read of the events. Nothing is promised by the other side, so everything may be missing or something else. */
interface WireChunk {
  id?: unknown;
  model?: unknown;
  object?: unknown;
  choices?: unknown;
  usage?: unknown;
  x_groq?: { usage?: unknown; error?: unknown } | null;
  error?: unknown;
}
interface WireChoice {
  delta?: WireDelta | null;
  message?: WireDelta | null;
  finish_reason?: unknown;
  usage?: unknown;
  error?: unknown;
}
interface WireDelta {
  content?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
  reasoning_text?: unknown;
  reasoning_details?: unknown;
  refusal?: unknown;
  tool_calls?: unknown;
  function_call?: unknown;
}

export function step(state: StreamState, data: string, out: Delta[]): void {
  if (state.ended || pushWrapped(state.wrapping, data, out)) return;
  if (data.startsWith("[DONE]")) {
    onDone(state, out);
    return;
  }
  const chunk: WireChunk | undefined = parseEventObject(data);
  if (chunk === undefined) {
    if (data.trim() !== "")
      failMalformed(state, out, `The server sent an event that is not JSON: ${cutWords(data, 200)}`);
    return;
  }
  const before = out.length;
  state.plain = true;
  onChunk(state, chunk, out);
  if (state.plain && out.length === before + 1) learn(state, data, out[before]!);
}

export function finish(state: StreamState, out: Delta[]): void {
  if (state.ended) return;
  if (state.finishReason !== undefined) complete(state, out);
  else failMalformed(state, out, "The stream of the server ended before a finish_reason or [DONE]");
}

function onDone(state: StreamState, out: Delta[]): void {
  if (state.answered) complete(state, out);
  else failMalformed(state, out, "The server said [DONE] without an answer");
}

function onChunk(state: StreamState, chunk: WireChunk, out: Delta[]): void {
  tellResponse(state, chunk, out);
  const error = chunk.error || chunk.x_groq?.error || (chunk.object === "error" ? chunk : undefined);
  if (error) {
    fail(state, out, failureOfError(error));
    return;
  }
  const choice = Array.isArray(chunk.choices) ? (chunk.choices[0] as WireChoice | null | undefined) : undefined;
  if (choice) onChoice(state, choice, out);
  if (state.ended) return;
  const usage = readUsage(chunk.usage) ?? readUsage(chunk.x_groq?.usage) ?? readUsage(choice?.usage);
  if (usage) out.push(usage);
}

function tellResponse(state: StreamState, { id, model }: WireChunk, out: Delta[]): void {
  const isNewId = state.responseId === "" && typeof id === "string" && id !== "";
  const isNewModel = state.responseModel === "" && typeof model === "string" && model !== "";
  if (!isNewId && !isNewModel) return;
  if (isNewId) state.responseId = id;
  if (isNewModel) state.responseModel = model;
  out.push({ type: "response", ...(isNewId ? { id } : {}), ...(isNewModel ? { model } : {}) });
}

function onChoice(state: StreamState, choice: WireChoice, out: Delta[]): void {
  if (choice.error) {
    fail(state, out, failureOfError(choice.error));
    return;
  }
  state.answered = true;
  // Who does not stream sends the whole message; who does may repeat it at the end.
  const delta = choice.delta ?? (state.blockCount === 0 ? choice.message : undefined);
  if (delta) onDelta(state, delta, out);
  if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") {
    state.finishReason = choice.finish_reason;
    state.plain = false;
  }
}

/** The hot path: once per token. */
function onDelta(state: StreamState, delta: WireDelta, out: Delta[]): void {
  const spoken = onReasoning(state, delta, out);
  if (delta.reasoning_details) onDetails(state, delta.reasoning_details, spoken, out);
  const { content } = delta;
  if (typeof content === "string") grow(state, "text", "", content, out);
  else if (Array.isArray(content)) for (const part of content) onPart(state, part, out);
  if (typeof delta.refusal === "string" && delta.refusal !== "") {
    state.refusal += delta.refusal;
    grow(state, "text", "", delta.refusal, out);
    state.plain = false;
  }
  if (Array.isArray(delta.tool_calls)) for (const piece of delta.tool_calls) onCallPiece(state, piece, out);
  else if (delta.tool_calls) onCallPiece(state, delta.tool_calls, out);
  if (delta.function_call) onCallPiece(state, { index: 0, function: delta.function_call }, out);
}

/** Servers that fill several of these fields say the same in all of them. */
function onReasoning(state: StreamState, delta: WireDelta, out: Delta[]): boolean {
  return (
    growThinking(state, "reasoning_content", delta.reasoning_content, out) ||
    growThinking(state, "reasoning", delta.reasoning, out) ||
    growThinking(state, "reasoning_text", delta.reasoning_text, out)
  );
}

function growThinking(state: StreamState, field: ReasoningField, text: unknown, out: Delta[]): boolean {
  if (typeof text !== "string" || text === "") return false;
  grow(state, "thinking", field, text, out);
  return true;
}

/** The details go into the signature whole; their words are told here only where no other field has told them. */
function onDetails(state: StreamState, details: unknown, spoken: boolean, out: Delta[]): void {
  if (!Array.isArray(details) || details.length === 0) return;
  state.plain = false;
  for (const detail of details) {
    const words = addDetail(state.details, detail);
    if (!spoken) grow(state, "thinking", "reasoning_details", words, out);
  }
}

/** A part of a content list: text, or thinking that is a list of texts again (Mistral). */
function onPart(state: StreamState, part: unknown, out: Delta[]): void {
  if (typeof part !== "object" || part === null) return;
  const { type, text, thinking } = part as { type?: unknown; text?: unknown; thinking?: unknown };
  if (type === "text" && typeof text === "string") grow(state, "text", "", text, out);
  if (type !== "thinking") return;
  for (const thought of Array.isArray(thinking) ? thinking : [{ text: thinking }]) {
    const words = (thought as { text?: unknown } | null)?.text;
    if (typeof words === "string") grow(state, "thinking", THINKING_PARTS, words, out);
  }
}

function grow(state: StreamState, kind: "text" | "thinking", form: string, text: string, out: Delta[]): void {
  if (text === "") return;
  if (state.open?.kind !== kind) {
    closeOpen(state, out);
    const index = nextBlock(state);
    state.open = { index, kind, form };
    out.push({ type: "open", index, block: { type: kind } });
  }
  out.push({ type: "grow", index: state.open!.index, text });
}

function onCallPiece(state: StreamState, value: unknown, out: Delta[]): void {
  const piece = readPiece(value);
  // Looking for the call of a piece takes longer with each; whoever puts the answer together ends it because of those there are.
  if (!piece || state.calls.length > MOST_BLOCKS) return;
  const call = callFor(state.calls, piece);
  if (state.calls.length > MOST_BLOCKS) openHeldCalls(state, out);
  if (call.block === -1) {
    call.held += piece.text;
    state.plain = false;
    if (call.id !== "" && call.name !== "") openCall(state, call, out);
  } else if (piece.text !== "") out.push({ type: "grow", index: call.block, text: piece.text });
}

function openCall(state: StreamState, call: Call, out: Delta[]): void {
  closeOpen(state, out);
  settleId(state.calls, call, state.responseId);
  call.block = nextBlock(state);
  out.push({ type: "open", index: call.block, block: { type: "toolCall", id: call.id, name: call.name } });
  if (call.held !== "") out.push({ type: "grow", index: call.block, text: call.held });
  call.held = "";
}

/** From now on the same words may belong to another block. */
function nextBlock(state: StreamState): number {
  state.wrapping = noWrapping();
  state.lessons = 0;
  return state.blockCount++;
}

function closeOpen(state: StreamState, out: Delta[]): void {
  const { open } = state;
  if (!open) return;
  state.open = undefined;
  if (open.kind === "text") out.push({ type: "close", index: open.index });
  else out.push({ type: "close", index: open.index, signature: takeDetails(state) ?? open.form });
}

function takeDetails(state: StreamState): string | undefined {
  if (state.details.length === 0) return undefined;
  const signature = JSON.stringify(state.details);
  state.details = [];
  return signature;
}

/** Calls that were never known well enough are opened with what there is: whoever runs tools says what is wrong. */
function openHeldCalls(state: StreamState, out: Delta[]): void {
  for (const call of state.calls) if (call.block === -1) openCall(state, call, out);
}

function complete(state: StreamState, out: Delta[]): void {
  openHeldCalls(state, out);
  closeOpen(state, out);
  for (const call of state.calls) out.push({ type: "close", index: call.block });
  const late = takeDetails(state);
  if (late !== undefined) pushHidden(state, late, out);
  const failure = refusalOf(state) ?? failureOfReason(state.finishReason);
  if (failure) {
    fail(state, out, failure);
    return;
  }
  state.ended = true;
  out.push({ type: "done", stopReason: stopReasonOf(state.finishReason, state.calls.length > 0) });
}

/** Encrypted thoughts may come with the calls they led to, when all that can be read of the thinking is closed. */
function pushHidden(state: StreamState, signature: string, out: Delta[]): void {
  const index = nextBlock(state);
  out.push({ type: "open", index, block: { type: "thinking" } });
  out.push({ type: "close", index, signature, redacted: true });
}

function refusalOf({ refusal }: StreamState): ProviderError | undefined {
  return refusal === "" ? undefined : new ProviderError("content_filter", `The model refused to answer: ${refusal}`);
}

function failMalformed(state: StreamState, out: Delta[], message: string): void {
  fail(state, out, new ProviderError("malformed", message));
}

function fail(state: StreamState, out: Delta[], error: ProviderError): void {
  openHeldCalls(state, out);
  state.ended = true;
  out.push({ type: "error", error });
}

/** The first token of a block may be wrapped in its own way, so the second may correct it. Then it is not worth it. */
const MOST_LESSONS = 3;
/** Where the text must stand: a text that is escaped in its event could be found in another place. */
const TEXT_FIELD = /"(?:content|reasoning_content|reasoning|reasoning_text|arguments|text)":\s*"$/;

function learn(state: StreamState, data: string, delta: Delta): void {
  if (delta.type !== "grow" || state.lessons >= MOST_LESSONS) return;
  const wrapping = noWrapping();
  learnWrapping(wrapping, data, delta);
  if (wrapping.index === -1 || !TEXT_FIELD.test(wrapping.head.slice(-40))) return;
  state.wrapping = wrapping;
  state.lessons++;
}
