import { assistant, sessionText } from "../conformance/session-files.ts";
import { at, type Frame } from "../support/frame.ts";

/** The moments of a run at which a command may come, each with a model that makes the moment last. */

export interface Moment {
  name: MomentName;
  /** A run is on its way. */
  active: boolean;
  /**
   * What the model says for the prompt "go", in the script model's notation, so that the moment lasts so many milliseconds
   * unless something ends it. Nothing for a moment without a run. Tools wait for the file "go" instead.
   */
  model(lastsMs: number): readonly string[];
  /** The moment has come with this frame. */
  begins?: (frame: Frame) => boolean;
  /** The session file that is open then. Without it nothing was said before. */
  session?(cwd: string): string;
  /** A dialog is open then, of the run or of a command that an extension runs beside it. */
  dialog?: "of the run" | "of a command";
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
  | "retry delay"
  | "compacting"
  | "dialog open"
  | "dialog open while idle";

const WAIT_FOR_GO = "while [ ! -e go ]; do sleep 0.02; done; echo one";

/** Something to make a summary of, without a word of the user's. */
const longTalk = (cwd: string): string => sessionText(cwd, [assistant("a1", "Much was said. ".repeat(100))]);

const update = (type: string) => (frame: Frame) => at(frame, "assistantMessageEvent", "type") === type;
const event = (type: string) => (frame: Frame) => frame.type === type;
/** A dialog is shown. */
export const asks = (frame: Frame): boolean => frame.type === "extension_ui_request" && frame.method === "confirm";

export const MOMENTS: readonly Moment[] = [
  { name: "idle", active: false, model: () => [], afterAbort: [] },
  {
    name: "before the first byte",
    active: true,
    model: (ms) => [`delay ${ms} + text "late"`],
    begins: update("start"),
    afterAbort: ["assistant"],
  },
  {
    name: "streaming text",
    active: true,
    model: (ms) => [`text "on and" + delay ${ms} + text " on"`],
    begins: update("text_delta"),
    afterAbort: ["assistant"],
  },
  {
    name: "streaming tool arguments",
    active: true,
    model: (ms) => [`toolCall bash {"command":"echo one"} chunk 4 pace ${ms / 5}`],
    begins: update("toolcall_delta"),
    afterAbort: ["assistant", "toolResult"],
  },
  {
    name: "running one tool",
    active: true,
    model: () => [`toolCall bash {"command":"${WAIT_FOR_GO}"}`],
    begins: event("tool_execution_start"),
    afterAbort: ["assistant", "toolResult"],
  },
  {
    name: "running several tools",
    active: true,
    model: () => [
      `toolCall bash {"command":"${WAIT_FOR_GO}"} + toolCall bash {"command":"echo two"} + toolCall read {"path":"a.txt"}`,
    ],
    begins: event("tool_execution_start"),
    afterAbort: ["assistant", "toolResult", "toolResult", "toolResult"],
  },
  {
    name: "retry delay",
    active: true,
    model: () => ['error 529 "overloaded"'],
    begins: event("auto_retry_start"),
    // The failed answer has left the conversation when the pause begins.
    afterAbort: [],
  },
  {
    name: "compacting",
    active: true,
    model: (ms) => ['error overflow "too long"', `delay ${ms} + text "Notes."`],
    session: longTalk,
    begins: event("auto_compaction_start"),
    // As in the pause before a retry.
    afterAbort: [],
  },
  {
    name: "dialog open",
    active: true,
    // An extension asks whether the tool may run.
    model: () => ['toolCall bash {"command":"echo one"}'],
    begins: asks,
    dialog: "of the run",
    afterAbort: ["assistant", "toolResult"],
  },
  // An extension's command asks.
  {
    name: "dialog open while idle",
    active: false,
    model: () => [],
    begins: asks,
    dialog: "of a command",
    afterAbort: [],
  },
];
