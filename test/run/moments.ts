import { at, type Frame } from "../support/frame.ts";

/** The moments of a run at which a command may come, each with a model that makes the moment long enough to be met. */

export interface Moment {
  name: MomentName;
  /** A run is on its way. */
  active: boolean;
  /** What the model says for the prompt "go", in the script model's notation; nothing for a moment without a run. */
  model: readonly string[];
  /** The moment has come with this frame. */
  begins?: (frame: Frame) => boolean;
  /** The messages behind the prompt when the run is aborted now. */
  afterAbort: readonly string[];
}

export type MomentName =
  | "idle"
  | "before the first byte"
  | "streaming text"
  | "streaming tool arguments"
  | "running one tool"
  | "running several tools"
  | "retry delay";

/** How long a moment lasts when nothing ends it: long enough for a busy machine to get a command in. */
export const MOMENT_MS = 500;

const seconds = MOMENT_MS / 1000;
const update = (type: string) => (frame: Frame) => at(frame, "assistantMessageEvent", "type") === type;
const event = (type: string) => (frame: Frame) => frame.type === type;

export const MOMENTS: readonly Moment[] = [
  { name: "idle", active: false, model: [], afterAbort: [] },
  {
    name: "before the first byte",
    active: true,
    model: [`delay ${MOMENT_MS} + text "late"`],
    begins: update("start"),
    afterAbort: ["assistant"],
  },
  {
    name: "streaming text",
    active: true,
    model: [`text "on and" + delay ${MOMENT_MS} + text " on"`],
    begins: update("text_delta"),
    afterAbort: ["assistant"],
  },
  {
    name: "streaming tool arguments",
    active: true,
    model: [`toolCall bash {"command":"echo one"} chunk 4 pace ${MOMENT_MS / 5}`],
    begins: update("toolcall_delta"),
    afterAbort: ["assistant", "toolResult"],
  },
  {
    name: "running one tool",
    active: true,
    model: [`toolCall bash {"command":"sleep ${seconds}; echo one"}`],
    begins: event("tool_execution_start"),
    afterAbort: ["assistant", "toolResult"],
  },
  {
    name: "running several tools",
    active: true,
    model: [
      `toolCall bash {"command":"sleep ${seconds}; echo one"} + toolCall bash {"command":"echo two"} + toolCall read {"path":"a.txt"}`,
    ],
    begins: event("tool_execution_start"),
    afterAbort: ["assistant", "toolResult", "toolResult", "toolResult"],
  },
  {
    name: "retry delay",
    active: true,
    model: ['error 529 "overloaded"'],
    begins: event("auto_retry_start"),
    // The failed answer has left the conversation when the pause begins.
    afterAbort: [],
  },
];

/** Moments that this version cannot have yet, and what brings them. */
export const OPEN_MOMENTS: readonly { name: string; comesWith: string }[] = [
  { name: "compacting", comesWith: "compaction" },
  { name: "dialog open", comesWith: "dialogs" },
];
