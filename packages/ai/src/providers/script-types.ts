import type { ProviderErrorKind } from "../errors.ts";
import type { Delta } from "../provider.ts";

/** What a script may say. The file has exactly these shapes, plus a few short forms that `parseScript` spells out. */

export type OnEnd = "error" | "repeat-last" | "loop";

export interface Script {
  description?: string;
  /** What happens when the model is asked more often than there are turns. Left out: an error that says so. */
  onEnd?: OnEnd;
  turns: Turn[];
}

/** One call of the model. */
export interface Turn {
  /** Fails the call when the conversation looks different. */
  expect?: Expect;
  /** Plays the turn for so many calls in a row. */
  repeat?: number;
  steps: Step[];
}

/** A plain string means "includes". */
export type TextMatch = string | { equals: string } | { includes: string } | { matches: string };

export interface Expect {
  /** The newest user message. */
  user?: TextMatch;
  /** The newest tool result: its text, its tool, and whether it failed. */
  toolResult?: TextMatch;
  toolName?: string;
  isError?: boolean;
  system?: TextMatch;
  /** Tools that must be on offer. */
  tools?: string[];
  /** How many messages the conversation has. */
  messages?: number;
}

/** How a text is cut up and how fast the pieces come. */
export interface Pieces {
  /** Characters per piece; left out, the text is one piece. */
  chunk?: number;
  /** Plays the pieces so many times. */
  times?: number;
  /** Milliseconds between two pieces. */
  pace?: number;
  /** The same as a rate. */
  perSecond?: number;
}

interface Prose extends Pieces {
  /** Neighbouring text (or thinking) steps grow the same block unless this says otherwise. */
  newBlock?: boolean;
}

export type TextStep = Prose & { text: string | string[] };
export type ThinkingStep = Prose & { thinking: string | string[]; signature?: string; redacted?: boolean };
export type ToolCallStep = Pieces & { toolCall: { name: string; arguments?: Record<string, unknown>; id?: string } };
/** The arguments as raw text, which need not be JSON. */
export type RawToolCallStep = Pieces & { toolCallRaw: { name: string; json: string; id?: string } };
export type EndlessStep = { endless: string; pace?: number; perSecond?: number };
export type ErrorStep = {
  error: { message?: string; status?: number; kind?: ProviderErrorKind; retryAfterMs?: number };
};
export type UsageStep = { usage: Omit<Extract<Delta, { type: "usage" }>, "type"> };
export type StopStep = { stopReason: Extract<Delta, { type: "done" }>["stopReason"] };

export type PlainStep =
  | TextStep
  | ThinkingStep
  | ToolCallStep
  | RawToolCallStep
  | EndlessStep
  | ErrorStep
  | UsageStep
  | StopStep
  | { delay: number }
  | { pace: number }
  | { perSecond: number }
  /** The stream ends here, in the middle of whatever it was saying. */
  | { cut: true }
  /** Nothing more comes, and the stream stays open. */
  | { hang: true }
  /** From here on an abort is not listened to. */
  | { ignoreAbort: true };

export type Step = PlainStep | { repeat: number; steps: Step[] };
