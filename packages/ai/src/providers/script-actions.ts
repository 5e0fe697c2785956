import { ProviderError, type ProviderErrorKind } from "../errors.ts";
import type { Delta, ModelRequest } from "../provider.ts";
import { estimateInput, estimateTokens, nextCallNumber } from "./offline/local-model.ts";
import type {
  EndlessStep,
  ErrorStep,
  Pieces,
  PlainStep,
  RawToolCallStep,
  Step,
  TextStep,
  ThinkingStep,
  ToolCallStep,
  Turn,
} from "./script-types.ts";

/** What happens in a turn, in order. Pure: time and abort are the player's business. */

export type Pause =
  | { type: "wait"; ms: number }
  /** The time between two pieces. */
  | { type: "gap"; ms: number }
  | { type: "hang" };

/** A delta, or something that happens between deltas. */
export type Action = Delta | Pause | { type: "ignoreAbort" };

const CALL_PREFIX = "script_";
const ENDLESS_PACE_MS = 20;

/** Everything that happens in a turn. Ends with `done` or `error`, unless the script cuts it. */
export function* actionsOf(turn: Turn, request: ModelRequest): Generator<Action> {
  const state = new TurnState(nextCallNumber(request.messages, CALL_PREFIX));
  for (const step of flatten(turn.steps)) {
    if ("cut" in step) return;
    yield* stepActions(step, state);
    if ("error" in step) return;
  }
  yield* state.close();
  if (!state.usageGiven)
    yield { type: "usage", input: estimateInput(request), output: estimateTokens(state.characters) };
  yield { type: "done", stopReason: state.stopReason ?? (state.hasToolCall ? "toolUse" : "stop") };
}

function* flatten(steps: readonly Step[]): Generator<PlainStep> {
  for (const step of steps) {
    if (!("repeat" in step)) yield step;
    else for (let i = 0; i < step.repeat; i++) yield* flatten(step.steps);
  }
}

function* stepActions(step: PlainStep, state: TurnState): Generator<Action> {
  if ("text" in step) yield* prose(step, step.text, { type: "text" }, state);
  else if ("thinking" in step) yield* thinking(step, state);
  else if ("toolCall" in step || "toolCallRaw" in step) yield* toolCall(step, state);
  else if ("endless" in step) yield* endless(step, state);
  else if ("error" in step) yield errorDelta(step);
  else if ("delay" in step) yield { type: "wait", ms: step.delay };
  else if ("hang" in step) yield { type: "hang" };
  else if ("ignoreAbort" in step) yield { type: "ignoreAbort" };
  else if ("stopReason" in step) state.stopReason = step.stopReason;
  else if ("usage" in step) {
    state.usageGiven = true;
    yield { type: "usage", ...step.usage };
  } else if ("pace" in step || "perSecond" in step) state.gapMs = gapOf(step);
}

type OpenBlock = Extract<Delta, { type: "open" }>["block"];

/** Where the turn stands: which block is open, and what the end will say. */
class TurnState {
  gapMs: number | undefined;
  stopReason: Extract<Delta, { type: "done" }>["stopReason"] | undefined;
  usageGiven = false;
  hasToolCall = false;
  characters = 0;
  index = -1;
  private openBlock: OpenBlock["type"] | undefined;
  private ending: { signature?: string; redacted?: boolean } = {};
  private pieces = 0;
  private callNumber: number;

  constructor(firstCallNumber: number) {
    this.callNumber = firstCallNumber;
  }

  /** A block stays open until the next one begins, so that a cut or an error hits it in the middle. */
  *begin(block: OpenBlock, continues: boolean): Generator<Delta> {
    if (continues && this.openBlock === block.type) return;
    yield* this.close();
    this.index++;
    this.openBlock = block.type;
    yield { type: "open", index: this.index, block };
  }

  endWith(ending: { signature?: string; redacted?: boolean }): void {
    this.ending = ending;
  }

  /** True from the second piece on: a pace stands between pieces, not before the first. */
  get hasGrown(): boolean {
    return this.pieces > 0;
  }

  grow(text: string): Delta {
    this.pieces++;
    this.characters += text.length;
    return { type: "grow", index: this.index, text };
  }

  *close(): Generator<Delta> {
    if (this.openBlock === undefined) return;
    yield { type: "close", index: this.index, ...this.ending };
    this.openBlock = undefined;
    this.ending = {};
  }

  nextCallId(): string {
    return `${CALL_PREFIX}${this.callNumber++}`;
  }
}

function* prose(
  step: TextStep | ThinkingStep,
  words: string | string[],
  block: OpenBlock,
  state: TurnState,
): Generator<Action> {
  yield* state.begin(block, !step.newBlock);
  yield* grown(words, step, state);
}

function* thinking(step: ThinkingStep, state: TurnState): Generator<Action> {
  yield* prose(step, step.thinking, { type: "thinking" }, state);
  const { signature, redacted } = step;
  if (signature !== undefined || redacted !== undefined) state.endWith({ signature, redacted });
}

function* toolCall(step: ToolCallStep | RawToolCallStep, state: TurnState): Generator<Action> {
  const { name, id } = "toolCall" in step ? step.toolCall : step.toolCallRaw;
  const json = "toolCall" in step ? JSON.stringify(step.toolCall.arguments ?? {}) : step.toolCallRaw.json;
  state.hasToolCall = true;
  yield* state.begin({ type: "toolCall", id: id ?? state.nextCallId(), name }, false);
  yield* grown(json, step, state);
}

function* endless(step: EndlessStep, state: TurnState): Generator<Action> {
  yield* state.begin({ type: "text" }, true);
  const gapMs = gapOf(step) ?? state.gapMs ?? ENDLESS_PACE_MS;
  while (true) {
    if (state.hasGrown) yield { type: "gap", ms: gapMs };
    yield state.grow(step.endless);
  }
}

function* grown(words: string | string[], options: Pieces, state: TurnState): Generator<Action> {
  const pieces =
    typeof words === "string"
      ? chunksOf(words, options.chunk)
      : words.flatMap((piece) => chunksOf(piece, options.chunk));
  const gapMs = gapOf(options) ?? state.gapMs;
  for (let i = 0; i < (options.times ?? 1); i++) {
    for (const piece of pieces) {
      if (gapMs !== undefined && state.hasGrown) yield { type: "gap", ms: gapMs };
      yield state.grow(piece);
    }
  }
}

/** Pieces of so many characters, never half of one. */
export function chunksOf(text: string, size: number | undefined): string[] {
  if (size === undefined || text.length <= size) return [text];
  const characters = Array.from(text);
  const chunks: string[] = [];
  for (let i = 0; i < characters.length; i += size) chunks.push(characters.slice(i, i + size).join(""));
  return chunks;
}

function gapOf({ pace, perSecond }: { pace?: number; perSecond?: number }): number | undefined {
  return pace ?? (perSecond === undefined ? undefined : 1000 / perSecond);
}

function errorDelta({ error }: ErrorStep): Delta {
  const kind = error.kind ?? kindOfStatus(error.status);
  const message = error.message ?? `The script says: ${error.status ?? kind}`;
  return {
    type: "error",
    error: new ProviderError(kind, message, { status: error.status, retryAfterMs: error.retryAfterMs }),
  };
}

const KINDS: Readonly<Record<number, ProviderErrorKind>> = {
  401: "auth",
  403: "auth",
  408: "network",
  413: "overflow",
  429: "rate_limit",
  503: "overloaded",
  529: "overloaded",
};

function kindOfStatus(status: number | undefined): ProviderErrorKind {
  if (status === undefined) return "server";
  return KINDS[status] ?? (status >= 500 ? "server" : "bad_request");
}
